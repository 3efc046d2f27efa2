"""Bounds and logarithms where people meet them: in files, frames, CURImputer, studies and on the command line."""

import numpy as np
import pytest

import curplus
from curplus.exceptions import InvalidArgumentError, SourceError
from curplus.observation import Bounds, Observation
from tests.test_cli_files import printed, run

pd = pytest.importorskip("pandas")

TABLE = pd.DataFrame({"k1": ["1.5", "≥3", None], "k2": [">10000", "2.25", "<= 0.5"]}, index=["x", "y", "z"])
EXPECTED = [(0, 1, 10000.0, 1), (1, 0, 3.0, 1), (2, 1, 0.5, -1)]
LINES = TABLE.rename_axis("row").reset_index().melt("row", var_name="column").dropna()

WRITERS = {
    "wide.csv": TABLE.to_csv,
    "comma.csv": lambda path: TABLE.map(lambda x: str(x or "").replace(".", ",")).to_csv(path, sep=";"),
    "wide.tsv": lambda path: TABLE.to_csv(path, sep="\t"),
    "wide.xlsx": TABLE.to_excel,
    "wide.parquet": TABLE.to_parquet,
    "long.csv": lambda path: LINES.to_csv(path, index=False),
    "long.parquet": lambda path: LINES.to_parquet(path, index=False),
}


def found_in(seen):
    """The bounds by the place of their names."""
    rows, columns = (list(names) for names in (seen.row_names, seen.column_names))
    at = (
        (["x", "y", "z"].index(rows[i]), ["k1", "k2"].index(columns[j]))
        for i, j in zip(seen.bounds.i, seen.bounds.j, strict=True)
    )
    return sorted(
        (*where, value, side) for where, value, side in zip(at, seen.bounds.value, seen.bounds.side, strict=True)
    )


@pytest.mark.parametrize("name", WRITERS)
def test_bounds_are_read_from_every_kind_of_table(tmp_path, name):
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    WRITERS[name](tmp_path / name)
    seen = Observation.from_table(curplus.open_source(tmp_path / name))
    assert found_in(seen) == EXPECTED
    assert seen.n_values_read == 2


def test_bounds_are_read_from_frames():
    assert found_in(Observation.from_table(TABLE)) == EXPECTED
    named = TABLE.rename_axis("name").reset_index()
    assert found_in(Observation.from_table(named)) == EXPECTED
    assert found_in(Observation.from_table(curplus.open_source(LINES, long=True))) == EXPECTED
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    assert found_in(Observation.from_table(polars.DataFrame(named.to_dict("list")))) == EXPECTED


def test_what_is_read_of_a_table_in_part_has_its_bounds(tmp_path):
    TABLE.to_csv(tmp_path / "t.csv")
    seen = curplus.observe(curplus.open_source(tmp_path / "t.csv"), n_columns=0, n_rows=1, n_entries=0, rng=0)
    assert [tuple(x)[2:] for x in found_in(seen)] == [x[2:] for x in EXPECTED if x[0] == seen.row_index[0]]


def test_text_without_bounds_and_words_beside_bounds_are_refused_as_before(tmp_path):
    with pytest.raises(InvalidArgumentError, match="'a'"):
        curplus.as_source(pd.DataFrame({"b": [1.0, 2.0], "a": ["1", "2"]}))
    with pytest.raises(InvalidArgumentError, match="'a'"):
        curplus.as_source(pd.DataFrame({"b": [1.0, 2.0], "a": [">1", "word"]}))
    for cell, words in ((">1,000", "mark between thousands"), (">high", "leave the cell empty")):
        (tmp_path / "t.csv").write_text(f'n,a,b\nx,"{cell}",2\ny,3,4\nz,5,6\n')
        with pytest.raises(SourceError, match=words):
            curplus.open_source(tmp_path / "t.csv")


# Logarithms


def concentrations(seed=0, n=60, m=24):
    """Values, the largest third of those measured as bounds: the whole, the frame, and which are bounds and values."""
    rng = np.random.default_rng(seed)
    logs = 1.5 * rng.standard_normal((n, 2)) @ rng.standard_normal((2, m)) + 5 + 0.2 * rng.standard_normal((n, m))
    whole, measured = np.exp(logs), rng.random((n, m)) < 0.6
    limit = float(np.quantile(whole[measured], 2 / 3))
    above = measured & (whole > limit)
    frame = pd.DataFrame(np.where(measured, whole, np.nan)).add_prefix("c").astype(object).mask(above, f">{limit!r}")
    return whole, frame, above, measured & ~above, limit


def test_the_imputer_fills_logarithms_beyond_bounds():
    estimators = pytest.importorskip("curplus.estimators")
    whole, frame, above, exact, limit = concentrations()
    imputer = estimators.CURImputer(scale="log", max_value=1e9)
    filled = imputer.fit_transform(frame)
    assert np.all(filled > 0)
    assert np.all(filled[above] >= limit * (1 - 1e-12))
    np.testing.assert_array_equal(filled[exact], whole[exact])
    gaps = frame.mask(above, None).astype(float)
    without = estimators.CURImputer(scale="log").fit_transform(gaps)
    hidden = ~exact & ~above
    ours, theirs = (np.sqrt(np.mean(np.log(x / whole)[hidden] ** 2)) for x in (filled, without))
    assert ours < theirs
    i, j = np.nonzero(above)
    same = estimators.CURImputer(scale="log", max_value=1e9).fit_transform(
        gaps, bounds=Bounds(i, j, np.full(len(i), limit), np.ones(len(i)))
    )
    np.testing.assert_array_equal(same, filled)
    low, high, _ = imputer.intervals(frame)
    assert np.all(low[hidden] > 0)
    like_known = hidden & (whole <= limit)
    assert 0.85 < np.mean((low <= whole) & (whole <= high), where=like_known) < 1
    np.testing.assert_allclose(low[above], limit)
    assert np.isnan(high[above]).all()
    assert np.all(imputer.transform(frame.head(9))[above[:9]] >= limit * (1 - 1e-12))


def test_values_without_a_logarithm_are_refused_with_their_place():
    estimators = pytest.importorskip("curplus.estimators")
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, -4.0, np.nan]})
    with pytest.raises(
        InvalidArgumentError, match=r"the value -4 in row '1', column 'b' has no logarithm.*bound, such"
    ):
        estimators.CURImputer(scale="log").fit(frame)
    with pytest.raises(InvalidArgumentError, match="scale='root' is unknown"):
        estimators.CURImputer(scale="root").fit(frame)


@pytest.mark.parametrize("name", ["wide.csv", "long.csv"])
def test_complete_fits_logarithms_and_hints_at_them(tmp_path, name):
    pytest.importorskip("typer")
    _, frame, above, _, limit = concentrations()
    frame.index = [f"r{k}" for k in range(len(frame))]
    if name == "long.csv":
        lines = frame.rename_axis("row").reset_index().melt("row", var_name="column").dropna()
        lines.to_csv(tmp_path / name, index=False)
    else:
        frame.to_csv(tmp_path / name)
    hint = printed("complete", tmp_path / name)["hint"]
    assert "powers of ten: --scale log fits their logarithms" in hint
    facts = printed("complete", tmp_path / name, "--scale", "log", "--out", tmp_path / "filled.csv", "--max-value", 1e9)
    assert facts["hint"] is None
    assert facts["n_bounds"] == above.sum()
    filled = pd.read_csv(tmp_path / "filled.csv", index_col=0).loc[frame.index, frame.columns].to_numpy()
    assert np.all((filled > 0) & (filled <= 1e9))
    assert np.all(filled[above] >= limit * (1 - 1e-12))
    done = run("complete", tmp_path / name, "--scale", "root")
    assert done.returncode
    assert "scale" in done.stderr


# Studies


@pytest.fixture
def told(tmp_path):
    """A study of logarithms that was told half of a matrix, and what it holds."""
    whole, *_, limit = concentrations()
    study = curplus.Study.create(
        tmp_path / "s.study", rows=whole.shape[0], columns=whole.shape[1], scale="log", budget=0.9
    )
    todo = study.ask(0.5, whole=False).cells
    values = whole[todo["row"], todo["column"]]
    table = todo.assign(value=[f">{limit!r}" if x > limit else x for x in values])
    with study:
        yield study, whole, table, limit, study.tell(table)


def test_a_study_keeps_bounds_and_they_cost_like_values(told, tmp_path):
    study, _, table, limit, receipt = told
    is_bound = table["value"].map(lambda x: isinstance(x, str))
    assert (receipt.n_values, receipt.n_bounds, receipt.n_failed) == (len(table), is_bound.sum(), 0)
    assert f"{is_bound.sum()} of them bounds" in str(receipt)
    assert study.status().spent == len(table)
    assert study.tell(table).n_again == len(table)
    kept = study.records()
    assert kept["value"].tolist() == table["value"].tolist()
    study.export(tmp_path / "out")
    assert f">{limit!r}" in set(pd.read_csv(tmp_path / "out" / "records.csv", dtype=str)["value"])
    seen = study.observation()
    assert len(seen.bounds) == is_bound.sum()
    assert seen.design.entries == "uniform"  # all of the list came back
    np.testing.assert_allclose(seen.bounds.value, np.log(limit))
    again = curplus.Study.create(
        tmp_path / "again.study", rows=study.settings.shape[0], columns=study.settings.shape[1], scale="log"
    )
    again.tell(kept[["row", "column", "value"]], history=True)
    assert len(again.observation().bounds) == is_bound.sum()
    cells = {(i, j) for i, j in zip(seen.bounds.i.tolist(), seen.bounds.j.tolist(), strict=True)}
    more = study.ask(0.3).cells
    assert not cells & set(zip(more["row"], more["column"], strict=True))


def test_a_value_of_a_study_replaces_its_bound_and_not_the_other_way(told):
    study, whole, *_ = told
    seen = study.observation()
    i, j = int(seen.bounds.i[0]), int(seen.bounds.j[0])
    study.tell(pd.DataFrame({"row": [i], "column": [j], "value": [whole[i, j]]}))
    study.tell(pd.DataFrame({"row": [i], "column": [j], "value": [">1"]}))
    assert len(study.observation().bounds) == len(seen.bounds) - 1
    assert study.observation().n_entries == seen.n_entries + 1


def test_a_study_of_logarithms_predicts_in_units(told, tmp_path):
    study, whole, _, limit, _ = told
    found = study.predict(max_value=1e9)
    value, low, high = (found[name].to_numpy().reshape(whole.shape) for name in ("value", "low", "high"))
    seen = study.observation()
    assert np.all((value > 0) & (value <= 1e9))
    assert np.all(value[seen.bounds.i, seen.bounds.j] >= limit * (1 - 1e-12))
    unread = ~seen.is_known(*np.indices(whole.shape).reshape(2, -1)).reshape(whole.shape)
    unread[seen.bounds.i, seen.bounds.j] = False
    assert np.all(low[unread] > 0)
    assert np.mean(((low <= whole) & (whole <= high))[unread & (whole <= limit)]) > 0.85
    assert "bounds only" in study.certify().reason
    with pytest.raises(InvalidArgumentError, match="geometric mean"):
        study.means()
    pytest.importorskip("jinja2")
    study.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "bounds, such as" in page
    assert "geometric mean" in page


def test_a_study_of_logarithms_refuses_what_has_none(told):
    study, *_ = told
    for value in (0, -1.5, "<0"):
        with pytest.raises(InvalidArgumentError, match=r"of row 3, column 4 has no logarithm.*Nothing was kept"):
            study.tell(pd.DataFrame({"row": [3], "column": [4], "value": [value]}))
    with pytest.raises(InvalidArgumentError, match="scale='root' is unknown"):
        curplus.Study.create("unused", rows=2, columns=2, scale="root")


def test_the_number_of_a_list_is_no_bound(told):
    study, *_ = told
    with pytest.raises(InvalidArgumentError, match="not the number of a work list"):
        study.tell(pd.DataFrame({"row": [0], "column": [0], "value": [1.0], "list": [">1"]}))


def test_the_command_line_keeps_a_study_of_logarithms_with_bounds(tmp_path):
    pytest.importorskip("typer")
    _, frame, *_, limit = concentrations()
    frame = frame.set_axis([f"r{k}" for k in range(len(frame))], axis=0)
    for name, names in (("rows", frame.index), ("columns", frame.columns)):
        (tmp_path / name).write_text("\n".join(names))
    frame.to_csv(tmp_path / "old.csv")
    study = tmp_path / "s.study"
    sides = ("--rows", tmp_path / "rows", "--columns", tmp_path / "columns")
    assert run("study", "create", study, *sides, "--scale", "log").returncode == 0
    told = run("study", "tell", study, tmp_path / "old.csv", "--history")
    assert told.returncode == 0, told.stderr
    out = tmp_path / "predicted.csv"
    assert run("study", "predict", study, "--out", out, "--max-value", "1e9").returncode == 0
    value = pd.read_csv(out)["value"].to_numpy().reshape(frame.shape)
    assert np.all((value > 0) & (value <= 1e9))
    assert np.all(value[frame.map(lambda x: isinstance(x, str))] >= limit * (1 - 1e-12))


def test_a_long_table_of_what_was_read_has_its_bounds():
    write = pytest.importorskip("curplus.cli.write")
    seen = Observation.from_table(TABLE)
    frame = write.long_frame(seen)
    assert set(frame["value"].dropna()) == {1.5, 2.25, ">10000", ">3", "<0.5"}
    assert found_in(Observation.from_table(curplus.open_source(frame, long=True))) == EXPECTED
