"""The public surface is complete, loads lazily, and every module imports only what comes before it in the story."""

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
from curplus._layout import NAMES, SHARED, SUBPACKAGES

PACKAGE = Path(curplus.__file__).parent
ROOT = Path(__file__).parent.parent

STORY = (*SHARED, *SUBPACKAGES, "__main__")
FILES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
INIT = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))


def step_of(file):
    """The step of the story that a file belongs to."""
    return file.parts[0].removesuffix(".py")


def imported_modules(file):
    """Absolute names of all that a file imports, wherever in the file it does."""
    for node in ast.walk(ast.parse((PACKAGE / file).read_text(encoding="utf-8"))):
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


def names_for_type_checkers():
    """Names that ``__init__`` imports under TYPE_CHECKING, with the module each comes from."""
    (block,) = (node for node in INIT.body if isinstance(node, ast.If) and node.test.id == "TYPE_CHECKING")
    return {alias.asname or alias.name: node.module for node in block.body for alias in node.names}


# The surface


@pytest.mark.parametrize("name", curplus.__all__)
def test_every_public_name_can_be_had(name):
    assert getattr(curplus, name) is not None


def test_public_names_are_sorted_and_unique():
    """Constants first, then classes, then functions and modules, as the linter sorts them."""
    assert len(set(curplus.__all__)) == len(curplus.__all__)
    ranked = sorted(curplus.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert curplus.__all__ == ranked


def test_type_checkers_and_users_see_the_same_names():
    assert names_for_type_checkers().keys() | {"__version__"} == set(curplus.__all__)


@pytest.mark.parametrize(("name", "module"), names_for_type_checkers().items())
def test_a_name_is_what_type_checkers_believe_it_is(name, module):
    if module is None:
        assert getattr(curplus, name) is importlib.import_module(f"curplus.{name}")
    else:
        home = importlib.import_module(f"curplus.{module}")
        assert getattr(curplus, name) is getattr(home, name)
        assert name in home.__all__


def test_only_public_names_are_listed():
    assert dir(curplus) == sorted(curplus.__all__)
    assert NAMES.keys() | {"__version__"} == set(curplus.__all__)


@pytest.mark.parametrize("name", ["cur_minus", "distinct", "check_rank", "Estimators"])
def test_an_unknown_name_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=f"module 'curplus' has no attribute '{name}'"):
        getattr(curplus, name)


def test_a_star_import_gives_every_public_name():
    names = {}
    exec("from curplus import *", names)
    assert set(curplus.__all__) <= names.keys()


@pytest.mark.parametrize("file", FILES, ids=str)
def test_a_module_exports_only_what_it_has(file):
    name = ".".join(("curplus", *file.with_suffix("").parts)).removesuffix(".__init__")
    module = importlib.import_module(name)
    public = getattr(module, "__all__", ())
    assert sorted(set(public)) == sorted(public)
    for exported in public:
        assert hasattr(module, exported), exported


@pytest.mark.parametrize("name", sorted(set(curplus.__all__) - {"__version__"}))
def test_every_public_name_is_documented(name):
    documented = getattr(curplus, name)
    assert inspect.getdoc(documented), name


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


@pytest.mark.parametrize("file", [file for file in FILES if step_of(file) in STORY], ids=str)
def test_a_module_imports_only_what_comes_before_it(file):
    here = STORY.index(step_of(file))
    for module in imported_modules(file):
        parts = module.split(".")
        if parts[0] == "curplus":
            assert len(parts) > 1, f"{file} imports the package that it is a part of"
            assert parts[1] in STORY, f"{file} imports {module}, which has no place in the story"
            assert STORY.index(parts[1]) <= here, f"{file} imports {module}, which comes after it"


def test_the_parts_of_the_recommended_method_are_its_own():
    """Others use what the folder exports; estimators fit tables with its factor model."""
    parts = [(file, module) for file in FILES for module in imported_modules(file) if step_of(file) != "estimators"]
    inside = [(file, module) for file, module in parts if module.startswith("curplus.methods.approximate.")]
    assert {file.parent.as_posix() for file, _ in inside} <= {"methods/approximate"}


@pytest.mark.parametrize("file", FILES, ids=str)
def test_only_the_estimators_import_scikit_learn(file):
    libraries = {module.split(".")[0] for module in imported_modules(file)}
    assert "sklearn" not in libraries or step_of(file) == "estimators"


@pytest.mark.parametrize("file", FILES, ids=str)
def test_only_declared_dependencies_are_imported_at_the_top(file):
    """Extras are imported where they are used, so that the rest works without them; the command line is one."""
    allowed = {"numpy", "scipy", "array_api_compat", "threadpoolctl"}
    allowed |= {"estimators": {"sklearn"}, "cli": {"typer", "rich"}}.get(step_of(file), set())
    for node in ast.parse((PACKAGE / file).read_text(encoding="utf-8")).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
        libraries = {name.split(".")[0] for name in names}
        assert libraries <= allowed | sys.stdlib_module_names, file


@pytest.mark.parametrize("file", FILES, ids=str)
def test_every_module_says_which_step_it_is(file):
    docstring = ast.get_docstring(ast.parse((PACKAGE / file).read_text(encoding="utf-8")))
    assert docstring, file
    assert docstring.splitlines()[0].endswith((".", "?"))


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


@pytest.mark.parametrize(("name", "parents"), drawn_errors().items())
def test_an_error_has_the_parents_that_are_drawn(name, parents):
    bases = [base.__name__ for base in getattr(exceptions, name).__bases__]
    assert bases == [parent for parent in parents if parent]
    assert issubclass(getattr(exceptions, name), exceptions.CURPlusError)


def test_errors_about_arguments_are_value_errors():
    assert issubclass(exceptions.InvalidArgumentError, ValueError)
    assert issubclass(exceptions.MissingExtraError, ImportError)
