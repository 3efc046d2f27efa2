"""Every number in methods and evaluation says what it is, and a tuned one also how far its value is free.

A comment on the statement, or right above it, begins with one of the words of ``KINDS``. In functions, small whole
numbers and a half need none, nor do defaults of arguments and what is written in text.
"""

import ast
import re
from pathlib import Path
from typing import NamedTuple

import curplus

ROOMS = ("methods", "evaluation")
KINDS = {
    "tuned": "a benchmark decides: with the range in which it is flat, or listed in NOT_FLAT",
    "usual": "a convention of statistics, or of what is shown",
    "mathematics": "it follows from a formula",
    "cost": "a limit of time or memory",
    "rounding": "what counts as zero, or as equal",
    "steps": "of an iteration or a grid: where it begins, how fine it is, when it ends",
}
PLAIN = {0, 1, 2, 3, 4, 0.5}  # in functions
MOST_TUNED = 30
FLAT = re.compile(r"flat\s+from\s+\S+.*\s+to\s+\S+", flags=re.DOTALL)

#: Tuned numbers of which no range has been measured. A name may leave the list; none may come.
NOT_FLAT = {
    "MOST_FACTORS, MANY_FACTORS, FEWEST_FACTORS",
    "ENOUGH_ENTRIES",
    "MOST_OF_FULL_LEVERAGE",
    "MOST_GROWTH",
    "FEWEST_FOR_INTERPOLATION",
    "NO_NOISE",
    "OVERFITTED",
    "LEAVE_OUT_INFLATION",
    "MIN_EFFECTIVE_SIZE",
    "EXCESS_ERROR",
    "FOR_EACH",
    "FIRST_COLUMNS",
    "LEAST_STRENGTH",
    "MIN_TAIL_INDEX",
}


class Number(NamedTuple):
    """A number in the code."""

    where: str
    name: str  # of the constant; empty in a function
    comment: str


def statements(tree):
    """All statements, the inner ones after those that contain them."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]


def own_numbers(statement, in_function):
    """Numbers of a statement that do not belong to a statement in it, to text, to a default or to an index."""
    todo, found = [statement], []
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            found += [node] if not in_function or node.value not in PLAIN else []
        skipped = (ast.JoinedStr, ast.Slice, ast.arguments, ast.stmt)
        todo += [child for child in ast.iter_child_nodes(node) if not isinstance(child, skipped)]
    return found


def comment_of(lines, statement):
    """Comments on the lines of a statement, and on those right above it."""
    first, last = statement.lineno - 1, statement.end_lineno
    if hasattr(statement, "body"):
        last = statement.body[0].lineno - 1
    above = first
    while above and lines[above - 1].strip().startswith("#"):
        above -= 1
    return "\n".join(line.split("# ", 1)[1] for line in lines[above:last] if "# " in line)


def numbers():
    root = Path(curplus.__file__).parent
    for path in sorted(path for room in ROOMS for path in (root / room).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree, lines = ast.parse(text), text.splitlines()
        for statement in statements(tree):
            is_constant = statement in tree.body and isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign))
            for node in own_numbers(statement, not is_constant):
                name = re.split(r" \|?= ", ast.unparse(statement))[0] if is_constant else ""
                where = f"{path.relative_to(root)}:{node.lineno}: {lines[node.lineno - 1].strip()}"
                yield Number(where, name, comment_of(lines, statement))


def kind(number):
    return next((word for word in KINDS if re.search(rf"^{word}: ", number.comment, flags=re.MULTILINE)), None)


def test_every_number_says_what_it_is():
    unmarked = [number.where for number in numbers() if kind(number) is None]
    assert not unmarked, "mark these numbers:\n" + "\n".join(unmarked)


def test_tuned_numbers_are_few_and_are_constants():
    tuned = [number for number in numbers() if kind(number) == "tuned"]
    assert all(number.name for number in tuned)
    assert len(tuned) <= MOST_TUNED, "\n".join(number.where for number in tuned)


def test_a_tuned_number_has_the_range_in_which_it_is_flat():
    without = {number.name for number in numbers() if kind(number) == "tuned" and not FLAT.search(number.comment)}
    assert without == NOT_FLAT
