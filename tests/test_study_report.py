"""The report of a study: the data behind it, and the page in a real browser."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import curplus
from curplus import Study
from curplus.evaluation.cross_fit import cross_fit
from curplus.exceptions import InvalidArgumentError
from curplus.study.report import cells
from curplus.study.report.cells import number, percent
from curplus.study.report.facts import facts_of
from curplus.study.report.pictures import pictures_of, shares_of

from .browser import browser, find_browser

pd = pytest.importorskip("pandas")
pytest.importorskip("jinja2")

SHAPE = (60, 40)
EVIL = "<script>alert(1)</script>"
ROWS = [EVIL, *(f"row {k}" for k in range(1, SHAPE[0] - 1)), "a long name without a space" + "_and_more" * 60]
COLUMNS = [f"column {k} & <b>" for k in range(SHAPE[1])]
SECTIONS = ("measured", "money", "means", "answer", "picks", "held-out", "next", "cite")


def filled(cells, truth, rng):
    """A work list that was filled in: one measurement in twenty fails."""
    values = [truth[ROWS.index(row), COLUMNS.index(column)] for row, column in cells[["row", "column"]].to_numpy()]
    return cells.assign(value=np.where(rng.random(len(values)) < 0.05, math.nan, values))


@pytest.fixture(scope="module")
def screen(tmp_path_factory):
    """A study of three rounds, with failures, repeats, and a list that is out."""
    rng = np.random.default_rng(3)
    truth = rng.standard_normal((SHAPE[0], 3)) @ rng.standard_normal((3, SHAPE[1]))
    truth += 0.3 * rng.standard_normal(SHAPE) + np.linspace(0, 3, SHAPE[0])[:, None]
    path = tmp_path_factory.mktemp("study") / "a <i>screen</i>.study".replace("/", "|")
    study = Study.create(path, rows=ROWS, columns=COLUMNS, budget=0.9, noise="unknown")
    for whole in (True, True, False):
        study.tell(filled(study.ask(0.2, required={"rows": [EVIL, ROWS[-1]]}, whole=whole).cells, truth, rng))
        study.certify()
    study.tell(filled(study.records()[["row", "column"]].head(30), truth + 0.1, rng))
    study.ask(50)
    return study


@pytest.fixture(scope="module")
def facts(screen):
    return facts_of(screen)


@pytest.fixture(scope="module")
def page(screen, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    screen.report(path)
    return path


# The data behind it


def test_every_cell_is_counted_once_and_the_map_has_them_all(screen, facts):
    status, measured = screen.status(), facts["measured"]
    counts = {kind: count for kind, count, _ in measured["kinds"]}
    records = screen.records()
    known = records.dropna(subset="value")[["row", "column"]].drop_duplicates()
    assert counts["on whole rows and columns"] + counts["single cells"] == measured["n_known"] == len(known)
    assert counts["pending"] == status.n_pending == 50
    shares = shares_of(SHAPE, list(measured["places"].values()))
    assert shares.shape == (*SHAPE, 4)
    assert shares.sum(axis=(0, 1)).tolist() == list(counts.values())


@pytest.mark.parametrize("shape", [(7, 5), (480, 481), (1000, 3), (3, 5000), (961, 700)])
def test_a_point_of_the_map_is_the_share_of_its_cells(shape, rng):
    n, m = shape
    is_known = rng.random(shape) < 0.3
    shares = shares_of(shape, [np.flatnonzero(is_known), np.empty(0, dtype=np.int64)])
    h, w = shares.shape[:2]
    assert (h, w) == (min(n, 480), min(m, 480))
    sums, sizes = np.zeros((h, w)), np.zeros((h, w))
    at = np.ix_(np.arange(n) * h // n, np.arange(m) * w // m)
    np.add.at(sums, at, is_known)
    np.add.at(sizes, at, 1)
    np.testing.assert_allclose(shares[..., 0], sums / sizes)
    assert not shares[..., 1].any()


def test_what_a_row_explains_is_what_a_projection_says(screen, facts):
    approximation, seen = screen.fit(), screen.observation()
    dense = approximation.to_array()
    rows = np.where(np.isnan(seen.rows), dense[seen.row_index], seen.rows)
    picks = facts["picks"]["sides"][0]["merits"]
    place = {int(at): k for k, at in enumerate(seen.row_index)}
    for k in range(1, len(picks.index) + 1):
        span = rows[[place[int(at)] for at in picks.index[:k]]]
        projected = dense @ np.linalg.pinv(span) @ span
        share = np.linalg.norm(projected) ** 2 / np.linalg.norm(dense) ** 2
        assert picks.explained[k - 1] == pytest.approx(share, abs=1e-8)


def test_picks_are_those_of_importance_where_there_are_no_gaps(tmp_path, low_rank):
    truth = low_rank((40, 30), 3)
    study = Study.create(tmp_path / "a.study", rows=40, columns=30)
    todo = study.ask(0.4)
    study.tell(todo.cells.assign(value=[truth[i, j] for i, j in todo.cells[["row", "column"]].to_numpy()]))
    rows, columns = (side["merits"] for side in facts_of(study)["picks"]["sides"])
    importance = curplus.approximate(study.observation(), form="cur").importance()
    for found, wanted in ((rows, importance.rows), (columns, importance.columns)):
        np.testing.assert_allclose(found.explained, wanted.explained, atol=1e-6)


def test_means_are_those_of_the_study_the_best_first(screen, facts):
    lines, table = facts["means"]["table"].lines, screen.means(1).to_frame().sort_values("estimate", ascending=False)
    assert [line[1].text for line in lines] == table.index.tolist()
    for k, name in ((2, "estimate"), (3, "low"), (4, "high")):
        np.testing.assert_allclose([line[k].sort for line in lines], table[name])
    known = screen.records().dropna(subset="value").drop_duplicates(["row", "column"])["row"].value_counts()
    assert [line[5].sort for line in lines] == known[table.index].tolist()
    assert {ROWS[k] for k in screen.means(1).best(5)} == {line[1].text for line in lines if line[6].text == "yes"}


@pytest.mark.parametrize(("axis", "what"), [(1, "row"), (0, "column")])
def test_small_means_can_be_the_good_ones(screen, axis, what):
    table = facts_of(screen, axis=axis, n_best=3, largest=False)["means"]["table"]
    assert table.labels[1] == what
    assert np.all(np.diff([line[2].sort for line in table.lines]) >= 0)
    assert sum(line[6].text == "yes" for line in table.lines) >= 3


def test_cells_are_predicted_by_fits_that_did_not_use_them(screen, facts):
    approximation, seen, part = screen.fit(), screen.observation(), facts["held_out"]
    fits = cross_fit(approximation, seen)
    assert not len(approximation.held_out)
    np.testing.assert_array_equal(part["measured"], seen.values[fits.counted])
    for k, fit in enumerate(fits.fits):
        held = fits.counted[fits.fold[fits.counted] == k]
        predicted = part["predicted"][np.searchsorted(fits.counted, held)]
        np.testing.assert_allclose(predicted, fit.to_array()[seen.i[held], seen.j[held]])
    assert part["error"] == pytest.approx(np.sqrt(np.mean((part["measured"] - part["predicted"]) ** 2)))


@pytest.mark.parametrize(("whole", "call"), [(True, "study.ask(600)"), (False, "study.ask(600, whole=False)")])
def test_the_next_list_is_what_ask_would_give_and_nothing_is_asked_for(tmp_path, low_rank, whole, call):
    truth = low_rank((40, 30), 3)
    study = Study.create(tmp_path / "a.study", rows=40, columns=30)
    todo = study.ask(0.5, whole=whole)
    study.tell(todo.cells.assign(value=[truth[i, j] for i, j in todo.cells[["row", "column"]].to_numpy()]))
    before = study.worklists()
    said = facts_of(study)["next"]
    pd.testing.assert_frame_equal(study.worklists(), before)
    assert said["call"] == call
    given = study.ask(600, whole=whole)
    assert [set(map(str, side)) for side in (given.rows, given.columns)] == [set(x["names"]) for x in said["sides"]]
    assert said["words"] == f"{given._words}, for {len(given)} values"


def test_the_error_is_remembered_and_the_rounds_are_those_of_the_study(screen, facts):
    rounds = facts["money"]["rounds"]
    assert rounds == screen.status().rounds
    assert len(rounds) == 4
    assert facts["sentence"].startswith("Error about")


def test_a_study_that_cannot_be_written_has_a_report_too(tmp_path, low_rank):
    truth = low_rank((40, 30), 3)
    path = tmp_path / "a.study"
    with Study.create(path, rows=40, columns=30) as study:
        todo = study.ask(0.4)
        study.tell(todo.cells.assign(value=[truth[i, j] for i, j in todo.cells[["row", "column"]].to_numpy()]))
    study = Study.open(path)
    study._storage.is_read_only = True  # as for a user who may only read: tests may run as one who may do everything
    assert len(facts_of(study)["money"]["rounds"]) == 1
    assert study.status().rounds == ()


def told(values):
    return lambda study: study.tell(pd.DataFrame(values, columns=["row", "column", "value"]))


FEW = {
    "nothing": lambda study: None,
    "a list that is out": lambda study: study.ask(0.5),
    "one value": told([(0, 0, 1.0)]),
    "one failure": told([(0, 0, math.nan)]),
    "two values": told([(0, 0, 1.0), (3, 2, -2.0)]),
    "zeros": told([(i, i, 0.0) for i in range(6)]),
    "everything": told([(i, j, i * j + 1.0) for i in range(9) for j in range(7)]),
    "a row": told([(2, j, float(j)) for j in range(7)]),
}


@pytest.mark.parametrize("what", FEW)
def test_hardly_any_data_make_a_page_that_says_why(tmp_path, what):
    study = Study.create(tmp_path / "few.study", rows=9, columns=7, budget=63)
    FEW[what](study)
    study.report(tmp_path / "few.html")
    page = (tmp_path / "few.html").read_text(encoding="utf-8")
    for name in SECTIONS:
        assert f'<section id="{name}">' in page
    assert page.count("<section") == len(SECTIONS)
    assert ">nan" not in page
    assert 'nan"' not in page
    parts = facts_of(study)
    for name in ("answer", "picks", "means", "held_out", "next"):
        assert parts[name]["why_not"] == "" or parts[name]["why_not"].endswith(".")


def test_money_has_no_unit(tmp_path, low_rank):
    truth = low_rank((40, 30), 3)
    study = Study.create(tmp_path / "a.study", rows=40, columns=30, costs={"row": 20, "column": 30, "entry": 2.5})
    todo = study.ask(600)
    study.tell(todo.cells.assign(value=[truth[i, j] for i, j in todo.cells[["row", "column"]].to_numpy()]))
    facts = facts_of(study)
    assert facts["unit"] == ""
    assert facts["budget"] == ""
    assert facts["money"]["words"] == ""


@pytest.mark.parametrize(("options", "message"), [({"axis": 2}, "axis=2"), ({"n_best": 0}, "n_best")])
def test_wrong_options_are_refused(screen, tmp_path, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        screen.report(tmp_path / "a.html", **options)


def test_a_place_that_cannot_be_written_is_said_before_the_work_and_an_older_page_stays(screen, tmp_path):
    with pytest.raises(FileNotFoundError):
        screen.report(tmp_path / "no folder" / "a.html")
    page = tmp_path / "a.html"
    page.write_text("older")
    page.chmod(0o400)
    with pytest.raises(PermissionError):
        screen.report(page)
    assert page.read_text() == "older"
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_without_jinja_the_error_says_what_to_install(tmp_path):
    script = (
        "import sys; sys.modules['jinja2'] = None; import curplus; "
        f"s = curplus.Study.create({str(tmp_path / 'a.study')!r}, rows=3, columns=3); "
        f"s.report({str(tmp_path / 'a.html')!r})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "MissingExtraError: reports need Jinja2: pip install 'curplus[report]'." in done.stderr


def test_the_citation_is_that_of_the_repository(page):
    cited = page.read_text(encoding="utf-8").partition('<section id="cite">')[2]
    known = Path(__file__).parent.parent.joinpath("CITATION.cff").read_text(encoding="utf-8")
    software, paper = known.split("preferred-citation:")
    for text, fields in ((software, ("title", "version")), (paper, ("title", "volume"))):
        for field in fields:
            assert f"  {field} = {{{re.search(rf'^ *{field}: (.+)$', text, re.MULTILINE)[1].strip(chr(34))}}}" in cited
    for name in re.findall(r"family-names: (.+)", paper):
        assert f"{name}, " in cited
    assert "pages = {" + "--".join(re.findall(r"(?:start|end): (\d+)", paper)) + "}" in cited
    for address in re.findall(r"^ *(?:url|repository-code): (.+)$", known, re.MULTILINE):
        assert address.strip('"') in cited


# Pictures and numbers


def test_pictures_have_no_colour_letters_or_ends_of_their_own(facts):
    """So that a page can be light or dark, and no name can end its picture."""
    made = pictures_of(facts)
    assert list(made) == ["map", "rounds", "spectrum", "row", "column", "means", "held_out"]
    for svg in made.values():
        assert svg.startswith('<svg role="img" aria-label="')
        assert svg.count("<svg") == svg.count("</svg>") == 1
        assert set(re.findall(r"(?:fill|stroke): ([^;\"]+)", svg)) <= {"none", "currentColor", *VARIABLES}
        assert set(re.findall(r"font(?:-size)?: ([\d.]+)px", svg)) == {"11.5"}
        assert "<script" not in svg
    assert "&lt;script&gt;" in made["row"]
    names = [name for svg in made.values() for name in re.findall(r'id="([^"]+)"', svg)]
    assert len(names) == len(set(names))


VARIABLES = {f"var(--{name})" for name in ("rule", "soft", "blue", "orange", "pale", "grey")}


def test_pictures_are_the_same_whatever_the_user_has_set(facts):
    matplotlib = pytest.importorskip("matplotlib")
    usual = pictures_of(facts)
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "lines.linewidth": 9, "text.color": "red"}):
        assert pictures_of(facts) == usual


def test_names_in_pictures_are_names_in_every_alphabet(tmp_path, low_rank):
    names = ["$\\frac{1$", "化合物 A", "two\nlines", "مركب", "<b>&amp;", *(f"r{k}" for k in range(25))]
    truth = low_rank((30, 20), 2)
    study = Study.create(tmp_path / "a.study", rows=names, columns=20)
    todo = study.ask(0.6)
    study.tell(todo.cells.assign(value=[truth[names.index(i), j] for i, j in todo.cells[["row", "column"]].to_numpy()]))
    means = pictures_of(facts_of(study, n_best=1))["means"] + pictures_of(facts_of(study, largest=False))["means"]
    for name in ("$\\frac{1$", "化合物 A", "two lines", "مركب", "&lt;b&gt;&amp;amp;"):
        assert f">{name}</text>" in means, name


def test_a_page_on_a_large_matrix_is_a_small_file(tmp_path, rng):
    """Every point of the map stands for cells of three kinds, in shares of its own: nothing can be compressed."""
    n, m = 3000, 2500
    study = Study.create(tmp_path / "large.study", rows=[f"compound {k}" for k in range(n)], columns=m)
    cells = rng.choice(n * m, 120_000, replace=False)
    values = np.where(rng.random(len(cells)) < 0.3, np.nan, 1.0)
    study.tell(pd.DataFrame({"row": [f"compound {k}" for k in cells // m], "column": cells % m, "value": values}))
    study.ask(60_000, whole=False)
    measured = facts_of(study)
    assert sum(map(len, pictures_of(measured).values())) < 1_000_000
    study.report(tmp_path / "large.html")
    assert (tmp_path / "large.html").stat().st_size < 1_500_000


def test_without_matplotlib_the_page_has_tables_only_and_says_so(screen, facts, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    screen.report(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "This page has tables only: pictures need Matplotlib (pip install 'curplus[plot]')." in page
    assert "<svg" not in page
    assert "<figure" not in page
    assert page.count("<table") == 6
    for k in range(1, facts["answer"]["rank"] + 1):
        assert f'data-sort="{k}"' in page.partition('<section id="answer">')[2].partition("</section>")[0]


def test_what_is_not_known_is_a_dash_that_sorts_nowhere():
    assert number(math.nan).text == percent(math.inf).text == "–"
    table = cells.table_of({"name": cells.text, "value": number}, [("a", math.nan), ("b", math.inf)])
    assert table.is_number == (False, True)
    assert math.isnan(table.lines[0][1].sort)


# The page in a browser

needs_browser = pytest.mark.skipif(find_browser() is None, reason="no Chromium is installed (apt install chromium)")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("chromium")) as running:
        yield running


@needs_browser
def test_what_a_bad_page_does_is_noticed(chromium, tmp_path):
    """The other tests mean something: requests, errors and wide tables are seen."""
    bad = tmp_path / "bad.html"
    bad.write_text('<img src="http://example.invalid/a.png"><script>console.error(1)</script><pre>' + "wide " * 999)
    chromium.open(bad, width=390)
    assert "http://example.invalid/a.png" in chromium.addresses()
    assert chromium.complaints()
    assert chromium.run("document.documentElement.scrollWidth") > 390


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_asks_for_nothing_complains_of_nothing_and_fits(chromium, page, width):
    chromium.open(page, width=width)
    assert all(address.startswith(("data:", page.as_uri())) for address in chromium.addresses())
    assert chromium.complaints() == []
    assert chromium.run("document.documentElement.scrollWidth") <= width
    beyond = """Array.from(document.querySelectorAll("body *")).filter(x => !x.closest(".scroll, figure")
        && x.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5).map(x => x.outerHTML)"""
    assert chromium.run(beyond) == []


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
def test_every_picture_and_section_is_visible(chromium, page, width):
    chromium.open(page, width=width)
    sizes = chromium.run(
        """Array.from(document.querySelectorAll("figure svg, section, svg image"), x => {
        const box = x.getBoundingClientRect(); return [x.tagName, box.width, box.height] })"""
    )
    assert sum(name == "svg" for name, *_ in sizes) == 7
    assert all(w > 100 and h > 10 for _, w, h in sizes)
    assert chromium.run("document.querySelector('svg image').decode?.().then(() => 1) ?? 1") == 1


@needs_browser
@pytest.mark.parametrize("width", [1280, 390, 320])
def test_no_letters_are_smaller_than_eleven_pixels(chromium, page, width):
    chromium.open(page, width=width)
    sizes = chromium.run(
        """Array.from(document.querySelectorAll("body *")).filter(x => !["SCRIPT", "STYLE"].includes(x.tagName)
        && Array.from(x.childNodes).some(y => y.nodeType === 3 && y.data.trim())).map(x => {
        const svg = x.closest("svg"), scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
        return parseFloat(getComputedStyle(x).fontSize) * scale })"""
    )
    assert len(sizes) > 500
    assert min(sizes) >= 11


#: Contrast of words with what is behind them, as WCAG 2 defines it.
CONTRASTS = """(() => {
    const parts = colour => { const x = colour.match(/[\\d.]+/g).map(Number); return x.length < 4 ? [...x, 1] : x };
    const light = colour => { const [r, g, b] = parts(colour).map(x => x / 255)
        .map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b };
    const behind = x => { while (parts(getComputedStyle(x).backgroundColor)[3] === 0) x = x.parentElement;
        return getComputedStyle(x).backgroundColor };
    return Array.from(document.querySelectorAll("body *")).filter(x => !["SCRIPT", "STYLE"].includes(x.tagName)
        && Array.from(x.childNodes).some(y => y.nodeType === 3 && y.data.trim())).map(x => {
        const style = getComputedStyle(x);
        const ends = [light(x.closest("svg") ? style.fill : style.color), light(behind(x))];
        return [(Math.max(...ends) + 0.05) / (Math.min(...ends) + 0.05), x.textContent.slice(0, 30)] })
})()"""


@needs_browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_stand_out_in_the_light_and_in_the_dark(chromium, page, theme):
    chromium.open(page, theme=theme)
    contrasts = chromium.run(CONTRASTS)
    assert len(contrasts) > 500
    assert min(contrasts)[0] >= 4.5, min(contrasts)
    paper = chromium.run("getComputedStyle(document.querySelector('section')).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", paper))) > 600) == (theme == "light")


@needs_browser
def test_what_is_printed_is_light(chromium, page):
    chromium.open(page, theme="dark")
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    chromium.call("Emulation.setEmulatedMedia", media="print", features=features)
    assert chromium.run("getComputedStyle(document.querySelector('section')).backgroundColor") == "rgb(255, 255, 255)"
    assert min(chromium.run(CONTRASTS))[0] >= 4.5
    chromium.call("Emulation.setEmulatedMedia", media="")


@needs_browser
def test_a_name_that_is_a_script_is_text(chromium, page):
    chromium.open(page)
    assert chromium.run("document.scripts.length") == 1
    assert chromium.run("document.body.innerText").count(EVIL) >= 2  # in the means and among the picks
    assert chromium.run("document.querySelectorAll('td b, td script, svg script, .names b, h1 i').length") == 0


def shown(name):
    """A name as tables show it."""
    return name if len(name) <= 80 else name[:79] + "…"


@needs_browser
@pytest.mark.parametrize("column", [1, 2, 3])
def test_tables_sort_on_a_click_and_back_on_the_next(chromium, page, facts, column):
    chromium.open(page)
    sort = f"""(() => {{ const table = document.querySelector("#means table");
        table.tHead.rows[0].cells[{column}].querySelector("button").click();
        return Array.from(table.tBodies[0].rows, x => [x.cells[{column}].textContent, x.cells[{column}].dataset.sort])
        }})()"""
    up, down = chromium.run(sort), chromium.run(sort)
    lines = [line[column] for line in facts["means"]["table"].lines]
    if column > 1:
        numbers = [float(x) for _, x in up if x is not None]
        assert numbers == sorted(cell.sort for cell in lines if not math.isnan(cell.sort))
    assert sorted(x for x, _ in up) == sorted(shown(cell.text) for cell in lines)
    assert [x for x in down if x[1] or column == 1] == [x for x in up[::-1] if x[1] or column == 1]
    assert chromium.run("document.querySelector('#means th[aria-sort]').ariaSort") == "descending"


@needs_browser
def test_the_page_can_be_printed(chromium, page):
    chromium.open(page)
    assert chromium.pdf().startswith(b"%PDF")


@needs_browser
@pytest.mark.parametrize("what", FEW)
def test_a_page_with_hardly_any_data_works_too(chromium, tmp_path, what):
    study = Study.create(tmp_path / "few.study", rows=9, columns=7, budget=63)
    FEW[what](study)
    study.report(tmp_path / "few.html")
    chromium.open(tmp_path / "few.html", width=390)
    assert chromium.complaints() == []
    assert chromium.run("document.documentElement.scrollWidth") <= 390
    assert chromium.run("document.querySelectorAll('section').length") == len(SECTIONS)


def test_facts_without_arrays_are_plain(facts):
    json.dumps([facts[name] for name in ("title", "sentence", "verdict", "error", "spent", "budget")])
