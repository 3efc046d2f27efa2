"""Every docstring, the README and the code of every page are true; the gallery runs with ``make docs``."""

import ast
import doctest
import importlib
import re
from pathlib import Path

import numpy as np
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


DOCS = Path(__file__).parent.parent / "docs"


def test_the_readme_has_the_example_of_the_front_page():
    """The front page is run below, so that both print what stands there."""
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    code, printed = re.findall(r"^```(?:python|text)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    front = doctest.DocTestParser().get_examples((DOCS / "index.rst").read_text(encoding="utf-8"))
    assert ast.dump(ast.parse(code)) == ast.dump(ast.parse("".join(example.source for example in front)))
    assert printed.split() == [word for example in front for word in example.want.split()]


def test_the_best_model_is_among_those_that_the_readme_counts(capsys):
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    made = {}
    exec(re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)[0], made)
    possible = made["means"].best(1)
    assert np.argmax(made["answers"].mean(axis=1)) in possible
    assert f"the best model is among these {len(possible)}." in text
    assert f"{len(possible)} of 448 models" in capsys.readouterr().out


PAGES = sorted(path for path in DOCS.rglob("*.rst") if ">>> " in path.read_text(encoding="utf-8"))
PAGES = [page for page in PAGES if not {"gallery", "generated", "_build"} & set(page.relative_to(DOCS).parts)]


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_what_a_page_of_the_documentation_prints_is_true(page):
    failed, attempted = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert attempted
    assert failed == 0
