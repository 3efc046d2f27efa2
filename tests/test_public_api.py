"""The public surface is complete, loads lazily, and every module imports only what comes before it in the story.

A rule for all modules is one test, which lists every module that breaks it.
"""

import ast
import importlib
import importlib.metadata
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import curplus
from curplus import exceptions
from curplus._layout import PUBLIC_NAMES, SHARED_MODULES, SUBPACKAGES
from tests import public_names

PACKAGE = Path(curplus.__file__).parent
ROOT = Path(__file__).parent.parent

STORY = (*SHARED_MODULES, *SUBPACKAGES, "__main__")
FILES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
TREES = {file: ast.parse((PACKAGE / file).read_text(encoding="utf-8")) for file in FILES}
INIT = TREES[Path("__init__.py")]


def step_of(file):
    """The step of the story that a file belongs to."""
    return file.parts[0].removesuffix(".py")


def imported_modules(file):
    """Absolute names of all that a file imports, wherever in the file it does."""
    for node in ast.walk(TREES[file]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module
        elif isinstance(node, ast.ImportFrom):
            base = ("curplus", *file.parent.parts)
            base = ".".join(base[: len(base) - node.level + 1])
            if node.module:
                yield f"{base}.{node.module}"
            else:
                yield from (f"{base}.{alias.name}" for alias in node.names)


IMPORTED = {file: tuple(imported_modules(file)) for file in FILES}


def names_for_type_checkers():
    """Names that ``__init__`` imports under TYPE_CHECKING, with the module each comes from."""
    (block,) = (node for node in INIT.body if isinstance(node, ast.If) and node.test.id == "TYPE_CHECKING")
    return {alias.asname or alias.name: node.module for node in block.body for alias in node.names}


# The surface


def test_every_public_name_can_be_had():
    assert [name for name in curplus.__all__ if getattr(curplus, name) is None] == []


def test_names_and_signatures_are_those_that_are_listed():
    """Users have written these; for a change that is meant, run ``python -m tests.public_names``."""
    listed = public_names.LISTED.read_text(encoding="utf-8").splitlines()
    found = public_names.listing()
    gone, new = [line for line in listed if line not in found], [line for line in found if line not in listed]
    assert (gone, new) == ([], []), "run `python -m tests.public_names` if this is meant"
    assert found == listed


def test_public_names_are_sorted_and_unique():
    """Constants first, then classes, then functions and modules, as the linter sorts them."""
    assert len(set(curplus.__all__)) == len(curplus.__all__)
    ranked = sorted(curplus.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert curplus.__all__ == ranked


def test_type_checkers_and_users_see_the_same_names():
    assert names_for_type_checkers().keys() | {"__version__"} == set(curplus.__all__)


def test_a_name_is_what_type_checkers_believe_it_is():
    for name, module in names_for_type_checkers().items():
        home = importlib.import_module(f"curplus.{module or name}")
        assert getattr(curplus, name) is (getattr(home, name) if module else home), name
        assert module is None or name in home.__all__, name


def test_only_public_names_are_listed():
    assert dir(curplus) == sorted(curplus.__all__)
    assert PUBLIC_NAMES.keys() | {"__version__"} == set(curplus.__all__)


@pytest.mark.parametrize("name", ["cur_minus", "distinct", "check_rank", "Estimators"])
def test_an_unknown_name_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=f"module 'curplus' has no attribute '{name}'"):
        getattr(curplus, name)


def test_a_star_import_gives_every_public_name():
    names = {}
    exec("from curplus import *", names)
    assert set(curplus.__all__) <= names.keys()


def test_a_module_exports_only_what_it_has():
    for file in FILES:
        name = ".".join(("curplus", *file.with_suffix("").parts)).removesuffix(".__init__")
        module = importlib.import_module(name)
        public = getattr(module, "__all__", ())
        assert sorted(set(public)) == sorted(public), name
        assert [exported for exported in public if not hasattr(module, exported)] == [], name


def test_every_public_name_is_documented():
    names = set(curplus.__all__) - {"__version__"}
    assert [name for name in names if not inspect.getdoc(getattr(curplus, name))] == []


def test_the_guide_for_contributors_has_the_list_of_subpackages():
    rows = [f"| `{name}/` | {meaning} |" for name, meaning in SUBPACKAGES.items()]
    table = "\n".join(["| subpackage | what it is |", "| --- | --- |", *rows, ""])
    assert table in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_version_is_that_of_the_installed_package():
    assert curplus.__version__ == importlib.metadata.version("curplus")


# What is loaded when

HEAVY = ("sklearn", "matplotlib", "pandas", "dask", "typer", "rich", "PIL", "scipy.stats")


def loaded_by(code, modules):
    """Which of ``modules`` are loaded in a new process that has run ``code``."""
    listing = f"import sys\n{code}\nprint(*(name for name in {modules!r} if name in sys.modules))"
    ended = subprocess.run([sys.executable, "-W", "error", "-c", listing], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split()


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_by("import curplus", (*HEAVY, "scipy", "numpy")) == []


def test_one_name_does_not_load_scikit_learn_or_any_extra():
    assert loaded_by("import curplus; curplus.cur_plus", HEAVY) == []


def test_working_through_the_algorithm_does_not_load_scikit_learn_or_any_extra():
    code = """
import numpy as np, curplus
M = np.ones((5, 4))
seen = curplus.observe(curplus.as_source(M.tolist()), n_columns=2, n_rows=2, n_entries=4)
repr(curplus.cur_plus(seen, rank=1)), curplus.cur_full(M, seen), curplus.cur_unbiased(seen).cur()
curplus.load, curplus.CallableSource, curplus.theory, curplus.metrics
"""
    assert loaded_by(code, HEAVY) == []


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("open_source", {"sources"}),
        ("observe", {"sources", "observation"}),
        ("certify", {"sources", "observation", "factorization", "evaluation"}),
        ("cur_plus", {"sources", "observation", "factorization", "evaluation", "solvers", "methods"}),
        ("acquire", {"sources", "observation", "factorization", "evaluation", "solvers", "methods", "acquisition"}),
    ],
)
def test_a_name_loads_the_subpackages_it_needs_and_no_more(name, needed):
    subpackages = {f"curplus.{subpackage}" for subpackage in SUBPACKAGES}
    loaded = loaded_by(f"import curplus; curplus.{name}", sorted(subpackages))
    assert set(loaded) == {f"curplus.{subpackage}" for subpackage in needed}


def test_a_name_is_found_once():
    assert "certify" in vars(curplus) or curplus.certify
    assert vars(curplus)["certify"] is curplus.certify


# The order of the story


def test_every_module_has_its_place_in_the_story():
    assert {step_of(file) for file in FILES} <= {"__init__", *STORY}


def test_a_module_imports_only_what_comes_before_it():
    """Nor the package that it is a part of, nor what has no place in the story."""
    wrong = []
    for file in FILES:
        allowed = STORY[: STORY.index(step_of(file)) + 1] if step_of(file) in STORY else STORY
        own = [module for module in IMPORTED[file] if module.split(".")[0] == "curplus"]
        wrong += [f"{file} imports {module}" for module in own if [*module.split("."), ""][1] not in allowed]
    assert wrong == []


def test_the_parts_of_the_recommended_method_are_its_own():
    """Others use what the folder exports; estimators fit tables with its factor model."""
    parts = [(file, module) for file in FILES for module in IMPORTED[file] if step_of(file) != "estimators"]
    inside = [(file, module) for file, module in parts if module.startswith("curplus.methods.approximate.")]
    assert {file.parent.as_posix() for file, _ in inside} <= {"methods/approximate"}


def test_only_the_estimators_import_scikit_learn():
    users = {file for file, modules in IMPORTED.items() if any(module.split(".")[0] == "sklearn" for module in modules)}
    assert {step_of(file) for file in users} == {"estimators"}, users


def test_only_declared_dependencies_are_imported_at_the_top():
    """Extras are imported where they are used, so that the rest works without them; the command line is one."""
    wrong = []
    for file, tree in TREES.items():
        allowed = {"numpy", "scipy", "array_api_compat", "threadpoolctl"} | sys.stdlib_module_names
        allowed |= {"estimators": {"sklearn"}, "cli": {"typer", "rich"}}.get(step_of(file), set())
        for node in tree.body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
            wrong += [f"{file} imports {name}" for name in names if name.split(".")[0] not in allowed]
    assert wrong == []


def test_every_module_begins_with_a_sentence():
    first = {file: (ast.get_docstring(tree) or "").split("\n")[0] for file, tree in TREES.items()}
    assert [file for file, line in first.items() if not line.endswith((".", "?"))] == []


def test_the_package_is_typed():
    assert (PACKAGE / "py.typed").exists()


# The tree of errors

DRAWN = re.compile(r"^(?P<branch>[│├└─ ]*)(?P<name>\w+Error)(?: \((?P<also>\w+)\))?(?P<meaning> {2,}\S.*)?$")


def drawn_errors():
    """Name -> (parent in the tree, built-in parent) of every error that the docstring draws."""
    tree, path = {}, []
    for line in inspect.getdoc(exceptions).splitlines():
        found = DRAWN.match(line.removeprefix("    "))
        if found:
            depth = len(found["branch"]) // 4
            path[depth:] = [found["name"]]
            tree[found["name"]] = (path[depth - 1] if depth else "Exception", found["also"])
    return tree


def test_every_error_is_in_the_drawn_tree():
    defined = {name for name, kind in vars(exceptions).items() if inspect.isclass(kind)}
    assert defined == set(exceptions.__all__) == drawn_errors().keys()


def test_errors_have_the_parents_that_are_drawn():
    drawn = {name: [parent for parent in parents if parent] for name, parents in drawn_errors().items()}
    assert {name: [base.__name__ for base in getattr(exceptions, name).__bases__] for name in drawn} == drawn
    assert all(issubclass(getattr(exceptions, name), exceptions.CURPlusError) for name in drawn)


def test_errors_about_arguments_are_value_errors():
    assert issubclass(exceptions.InvalidArgumentError, ValueError)
    assert issubclass(exceptions.MissingExtraError, ImportError)
