"""Every docstring, the README and the code of every page are true; the gallery runs with ``make docs``."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

import curplus

SOURCE = Path(curplus.__file__).parent
WITH_EXAMPLES = [path for path in sorted(SOURCE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_the_docstrings_of_a_module_are_true(path):
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
    failed, attempted = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert attempted
    assert failed == 0


def test_the_code_of_the_readme_prints_what_stands_below_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    (code, printed) = re.findall(r"^```(?:python|text)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    made = {}
    exec(compile(code, "README.md", "exec"), made)
    assert capsys.readouterr().out.split() == printed.split()
    assert made["answers"].mean(axis=1).argmax() in made["means"].best(1)


DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.rst") if ">>> " in path.read_text())
PAGES = [page for page in PAGES if not {"gallery", "generated", "_build"} & set(page.relative_to(DOCS).parts)]


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_what_a_page_of_the_documentation_prints_is_true(page):
    failed, attempted = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert attempted
    assert failed == 0
