"""Every example of the gallery and every docstring runs."""

import doctest
import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import curplus

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
MODULES = [m.name for m in pkgutil.walk_packages(curplus.__path__, "curplus.") if not m.name.endswith("__main__")]


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_the_example_runs(path, tmp_path):
    environment = os.environ | {"MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, path], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", MODULES)
def test_the_docstrings_of_a_module_are_true(name):
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0
