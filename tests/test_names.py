"""One name has one meaning, across all modules: constants and classes. Bodies of functions are short."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "curplus"
ROOMS = (
    "",
    "_support",
    "datasets",
    "estimators",
    "evaluation",
    "factorization",
    "methods",
    "observation",
    "paper",
    "plotting",
    "solvers",
    "theory",
)
ALLOWED = {
    "EXPERIMENT": "every module of a figure or table of the paper has one",
    "CURPlus": "the method is saved by this name; the transformer is its scikit-learn form",
}
MOST_LINES = 45


def trees():
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE), ast.parse(path.read_text(encoding="utf-8"))


def room_of(path):
    return path.parts[0] if len(path.parts) > 1 else ""


def names_of(tree):
    """Names of the classes and constants that a module defines; a single letter is a type variable."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        named = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        yield from (name for name in named if name.isupper() and len(name) > 1)


def used_twice(modules):
    """Names that several modules define, one of them in a room that is checked."""
    homes = defaultdict(list)
    for path, tree in modules:
        for name in names_of(tree):
            homes[name].append(path)
    return {
        name: [path.as_posix() for path in paths]
        for name, paths in homes.items()
        if len(paths) > 1 and name not in ALLOWED and any(room_of(path) in ROOMS for path in paths)
    }


def body_lines(function):
    """Lines of a function below its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return function.end_lineno - body[0].lineno + 1 if body else 0


def test_constants_and_classes_have_one_meaning():
    assert used_twice(trees()) == {}


@pytest.mark.parametrize("code", ["A_B, C_D = 1, 2", "A_B: int = 1", "class A_B:\n    pass"])
def test_a_name_with_two_homes_is_found(code):
    modules = [(Path("evaluation/one.py"), ast.parse("A_B = 3")), (Path("study/two.py"), ast.parse(code))]
    assert used_twice(modules) == {"A_B": ["evaluation/one.py", "study/two.py"]}


def test_bodies_are_short():
    nodes = ((path, node) for path, tree in trees() for node in ast.walk(tree))
    functions = ((path, node) for path, node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    assert [f"{path}: {node.name}" for path, node in functions if body_lines(node) > MOST_LINES] == []


def test_docstrings_do_not_count():
    code = 'def f():\n    """One.\n\n    Two.\n    """\n    x = 1\n    return x\n'
    assert body_lines(ast.parse(code).body[0]) == 2
