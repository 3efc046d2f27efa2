"""The reference has a page for every subpackage, with all of its public names, and the prose is plain."""

import importlib
import re
from pathlib import Path

import pytest

from curplus import datasets
from curplus._layout import SUBPACKAGES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

MADE = {"gallery", "generated", "_build"}
PROSE = [path for path in sorted(DOCS.rglob("*.rst")) if not MADE & set(path.parts)]
PROSE += [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "examples").iterdir())]

#: What to say instead of words that only their authors knew.
INSTEAD = {
    "crossing": "intersection",
    "witness": "reference errors",
    "blind": "uniform",
    "blindly": "uniformly",
    "barred": "excluded",
    "front door": "function",
    "recommended door": "recommended method",
    "sticks out": "is far from the span",
    "shrugs off": "hardly changes with",
    "blown up": "amplified",
    "held back": "shrunk by a ridge",
}


def test_every_subpackage_has_a_page():
    assert {path.stem for path in (DOCS / "api").glob("*.rst")} == {*SUBPACKAGES, "exceptions", "index"}


@pytest.mark.parametrize("subpackage", SUBPACKAGES)
def test_the_page_of_a_subpackage_has_all_of_its_public_names(subpackage):
    page = (DOCS / "api" / f"{subpackage}.rst").read_text(encoding="utf-8")
    public = set(importlib.import_module(f"curplus.{subpackage}").__all__)
    if ".. data-sets::" in page:  # a row of this table for every loader
        public -= datasets.LOADERS.keys()
    documented = re.findall(r"^   (\w+)$|^\.\. (?:data|module):: (?:\w+\.)*(\w+)$", page, flags=re.MULTILINE)
    assert public <= {name for names in documented for name in names}


def code_of(text):
    """Lines of code: between fences, in doctests and what they print, and in blocks that are set apart."""
    fenced = re.findall(r"^```\w+\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    doctests = re.findall(r"^>>> .*?(?:\n\n|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^\.\. code-block::.*?\n\n((?:   .*\n|\n)+)", text, flags=re.MULTILINE)
    return [line for part in (*fenced, *doctests, *blocks) for line in part.splitlines()]


@pytest.mark.parametrize("path", [ROOT / "README.md", DOCS / "getting-started.rst"], ids=lambda path: path.name)
def test_code_fits_the_page(path):
    lines = code_of(path.read_text(encoding="utf-8"))
    assert len(lines) > 10
    assert not [line for line in lines if len(line) > 74]


@pytest.mark.parametrize("path", PROSE, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_prose_is_plain(path):
    words = " ".join(path.read_text(encoding="utf-8").split())
    found = {word for word in INSTEAD if re.search(rf"\b{word}\b", words, flags=re.IGNORECASE)}
    assert not found, {word: INSTEAD[word] for word in found}
