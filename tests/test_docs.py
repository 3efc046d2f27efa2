"""The reference has a page for every subpackage, with all of its public names, and the prose is plain."""

import csv
import doctest
import importlib
import io
import operator
import re
import tokenize
from pathlib import Path
from statistics import median

import numpy as np
import pytest

import curplus
from curplus._layout import SUBPACKAGES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

MADE = {"gallery", "generated", "_build"}
PROSE = [path for path in sorted(DOCS.rglob("*.rst")) if not MADE & set(path.relative_to(DOCS).parts)]
GALLERY = sorted((ROOT / "examples").glob("*.py"))
PROSE += [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples" / "GALLERY_HEADER.rst", *GALLERY]

#: What to write instead of old words, at most 25 of them; each is a pattern of whole words.
INSTEAD = {
    "crossing": "intersection",
    "witness": "reference errors",
    "blind(?:ly)?": "uniform, uniformly",
    "barred": "excluded",
    "front door": "function",
    "recommended door": "recommended method",
    "sticks out": "is far from the span",
    "shrugs off": "hardly changes with",
    "blown up": "amplified",
    "held back": "shrunk by a ridge",
    "as such": "by itself",
    "shall": "should, will or must",
    "there is to say": "the facts, the report",
    "dear(?:er|est)?": "expensive",
    "bent": "overfitted",
    "(?:say|tell)s? nothing": "does not represent, is no evidence of",
    "(?:say|tell)s? enough": "is enough",
    "(?:data|entries|rows|columns|values|cells|samples) (?:say|tell|know|ask|speak)": "what follows from them",
    "(?:by|for) what they hold": "by their values",
    "and it takes": "and at least ... are needed",
    "scattered ones": "scattered entries",
    "errs? together": "have correlated errors",
    "best guess": "estimate",
    "comes? home": "is brought to the host",
    "purse": "budget",
}
OLD = re.compile(rf"\b(?:{'|'.join(INSTEAD)})\b".replace(" ", r"[ \t]*[ \n][ \t]*"), flags=re.IGNORECASE)
WRITTEN = [
    *PROSE,
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "benchmarks").glob("*.py")),
    *sorted((ROOT / "src").rglob("*.py")),
]


def test_every_subpackage_has_a_page():
    assert {path.stem for path in (DOCS / "api").glob("*.rst")} == {*SUBPACKAGES, "exceptions", "index"}


@pytest.mark.parametrize("subpackage", SUBPACKAGES)
def test_the_page_of_a_subpackage_has_all_of_its_public_names(subpackage):
    page = (DOCS / "api" / f"{subpackage}.rst").read_text(encoding="utf-8")
    public = set(importlib.import_module(f"curplus.{subpackage}").__all__)
    documented = re.findall(r"^   (\w+)$|^\.\. (?:data|module):: (?:\w+\.)*(\w+)$", page, flags=re.MULTILINE)
    assert public <= {name for names in documented for name in names}


PAGES = [path for path in PROSE if path.suffix == ".rst" and "api" not in path.parts]
IS_TABLE = re.compile(r"\S {2,}\S")  # columns of numbers may be wider, and are moved sideways


def code_of(text):
    """Lines of code: of doctests and what they print, of blocks that are set apart, and between fences."""
    examples = [part for part in doctest.DocTestParser().parse(text) if isinstance(part, doctest.Example)]
    typed = [f"... {line}" for example in examples for line in example.source.splitlines()]
    printed = [line for example in examples for line in example.want.splitlines() if not IS_TABLE.search(line)]
    blocks = re.findall(r"^\.\. code-block::.*\n(?:   :.*\n)*\n((?:   .*\n|\n)+)", text, flags=re.MULTILINE)
    fenced = re.findall(r"^```\w+\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [*typed, *printed, *(line for part in (*blocks, *fenced) for line in part.splitlines())]


IS_PROSE = re.compile(r'\A\w?"""(?s:.*?)"""\n|^# %%.*\n(?:#.*\n)*', flags=re.MULTILINE)


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.name)
def test_code_of_the_gallery_fits_the_page(path):
    code = IS_PROSE.sub("", path.read_text(encoding="utf-8"))
    assert "import" in code
    assert not [line for line in code.splitlines() if len(line) > 74]


@pytest.mark.parametrize("path", [ROOT / "README.md", *PAGES], ids=lambda path: str(path.relative_to(ROOT)))
def test_code_fits_the_page(path):
    """A line of 75 characters is cut off in a window of 1280 pixels."""
    assert not [line for line in code_of(path.read_text(encoding="utf-8")) if len(line) > 74]


def test_all_kinds_of_code_are_seen():
    page = ">>> 1 + 1\n2\n\n.. code-block:: bash\n   :caption: x\n\n   ls\n\nText.\n\n```python\nx = 1\n```\n"
    assert [line.strip() for line in code_of(page) if line.strip()] == ["... 1 + 1", "2", "ls", "x = 1"]


def test_the_claim_of_the_readme_is_that_of_the_table():
    with (DOCS / "_static" / "accuracy.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    ratios = [float(row["error"]) / float(row["offsets"]) for row in rows]
    worst = max(float(row["worst"]) for row in rows)
    claim = (
        f"On {len(rows)} cases, `approximate` has a smaller error than offsets of rows and columns in "
        f"{sum(ratio < 1 for ratio in ratios)}**, {1 - median(ratios):.0%} smaller in the median, and at most "
        f"{max(ratios) - 1:.1%} larger in the others. It is at most {worst - 1:.1%} worse than zero;"
    )
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert claim.replace("%", " %") in text


def test_the_shares_that_the_readme_names_are_those_of_the_picture():
    """Where an additive model has the error that it has with 40 %, and the sentence of the picture."""
    with (DOCS / "_static" / "less_read.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    found = []
    for matrix in ("llm_answers", "oboe_errors"):
        curve = {way: [] for way in ("additive", "uniform", "acquire")}
        for row in rows:
            if row["matrix"] == matrix:
                curve[row["way"]].append((float(row["error"]), np.log(float(row["budget"]))))
        least = min(curve["additive"])[0]
        found.append(min(np.exp(np.interp(least, *zip(*sorted(curve[way]), strict=True))) for way in curve))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "need 40 % of either matrix above; `approximate` has the same error with " in text
    assert f"with {100 * found[0]:.0f} % and {100 * found[1]:.0f} %." in text


NAMED = re.compile(r"`(?:curplus\.)([\w.]+)(?:\([^`]*\))?`")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_what_is_named_exists(name):
    """Calls and attributes of the package, commands, and files of the repository."""
    text = (ROOT / name).read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    named = set(NAMED.findall(text))
    assert named
    for path in named - {"readthedocs.io"}:
        operator.attrgetter(path)(curplus)
    attributes = set(re.findall(r"`(?:approx|means|seen|study|observation)\.(\w+)", text))
    owners = (curplus.Factorization, curplus.MeanEstimates, curplus.Observation, curplus.Study)
    assert not {word for word in attributes if not any(hasattr(owner, word) for owner in owners)}
    files = set(re.findall(r"`((?:src|tests|docs|examples|benchmarks|conda|\.ci)/[\w./]+\.\w+)`", text))
    files |= {f"src/curplus/{path}" for path in re.findall(r"`([a-z]+/(?:\w+/)*\w+\.py)`", text)} - {
        f"src/curplus/{path}" for path in files
    }
    files |= set(re.findall(r"python ((?:benchmarks|examples|docs)/\w+\.py)", text))
    assert not {path for path in files if not (ROOT / path).exists()}
    for words, path in re.findall(r"((?:`\w+`(?:, | and )?)+) in `((?:tests/)?[a-z_]\w*(?:/\w+)*\.py)`", text):
        code = (
            (ROOT if path.startswith("tests/") else ROOT / "src" / "curplus").joinpath(path).read_text(encoding="utf-8")
        )
        assert set(re.findall(r"\w+", words)) - {"and"} <= set(re.findall(r"\w+", code)), path
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert set(re.findall(r"`make ([\w-]+)`", text)) <= targets


def texts(path, text):
    """Line and text of what people read: comments and strings of Python, all of any other file."""
    if path.suffix != ".py":
        yield 1, text
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if tokenize.tok_name[token.type] in ("COMMENT", "STRING", "FSTRING_MIDDLE"):
            yield token.start[0], token.string


def old_words(path, text):
    """The old words of a file, each with its line and what to write instead."""
    for line, part in texts(path, text):
        for word in OLD.finditer(part):
            better = next(
                INSTEAD[old] for old in INSTEAD if re.fullmatch(old, " ".join(word[0].split()), re.IGNORECASE)
            )
            yield f"{path.name}:{line + part[: word.start()].count(chr(10))}: instead of {word[0]!r} write {better!r}"


def test_the_prose_is_plain():
    assert len(INSTEAD) <= 25
    found = [word for path in WRITTEN for word in old_words(path, path.read_text(encoding="utf-8"))]
    assert not found, "\n".join(found)


def test_old_words_are_found_in_comments_messages_and_pages():
    code = 'bent = 1  # a dear one\n"""Rows\nsay it."""\nf"{blink} errs together"\n'
    assert [word.split(" write")[0] for word in old_words(Path("a.py"), code)] == [
        "a.py:1: instead of 'dear'",
        "a.py:2: instead of 'Rows\\nsay'",
        "a.py:4: instead of 'errs together'",
    ]
    assert list(old_words(Path("a.rst"), "One.\nAs\n  such.")) == [
        "a.rst:2: instead of 'As\\n  such' write 'by itself'"
    ]
