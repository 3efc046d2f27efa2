"""How a text table is written: its separator, decimal mark, header and names of rows, found out from its first lines.

Each choice is a small function. What was said by the user is not asked again, and what was found is kept as notes.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from ..exceptions import SourceError
from .long import looks_long

__all__ = ["GAPS", "Note", "TextLayout", "find_layout", "is_number"]

#: What stands for a gap in a text table, besides nothing.
GAPS = frozenset(
    {"", "NA", "na", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None"}
    | {"-", "--", ".", "?"}
)

#: Separators and decimal marks that go together; of those that fit equally well, the first is taken.
MARKS = tuple((sep, decimal) for decimal in ".," for sep in (",", "\t", ";", "|", " "))
WORDS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar", " ": "blanks"}
NUMBER = {mark: re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?".replace(r"\.", re.escape(mark))) for mark in ".,"}
OTHER_NUMBERS = re.compile(r"[+-]?(inf|infinity)|true|false", re.IGNORECASE)
ID_NAME = re.compile(r"(?i:(.*[ _.-])?(id|index|idx|key|row|name|sample))|.*[a-z](ID|Id)|#")  # neither acid nor grid
NAMELESS = re.compile(r"\s*(Unnamed: 0)?\s*")
MOST_CELLS = 500  # of a line are looked at

Record: TypeAlias = list[str]


class Note(NamedTuple):
    """One thing that was found out about a file, and how to say otherwise."""

    name: str  # the keyword of open_source that says it
    value: object
    text: str


class TextLayout(NamedTuple):
    """How a text table is written."""

    encoding: str
    sep: str  # one character; a blank stands for any number of them
    decimal: str  # "." or ","
    names: tuple[str, ...] | None  # of all columns, as the header has them; None if there is no header
    n_fields: int  # of a line of data
    index_col: int | None  # the column that holds names of rows
    index_is_doubtful: bool  # an id column, if its numbers are all different
    n_skipped: int  # lines before the data: blank ones, and the header
    is_long: bool  # whether it is a long table: row, column, value
    notes: tuple[Note, ...]


def find_layout(
    lines: Sequence[str],
    *,
    encoding: str,
    ending: str,
    sep: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    index_col: int | str | bool | None = None,
) -> TextLayout:
    """The layout of a table that begins with these lines; what is not None was said by the user."""
    sep, decimal, marks = _find_marks(lines, ending, sep, decimal)
    records = _records(lines, sep)
    if not records:
        raise SourceError("there is no line in it that is not blank")
    n_fields = max((len(record) for record in records[1:]), default=len(records[0]))
    has_header, why = _find_header(records, n_fields, decimal) if header is None else (header, ())
    body = records[1:] if has_header else records
    if not body:
        raise SourceError("it has a line of names and no line of data")
    names = _names(records[0], body, n_fields) if has_header else None
    index, doubtful, found = _find_index(names, body, n_fields, decimal, index_col)
    notes = (*marks, *why, *found)
    kinds = [_kind([record[k].strip() for record in body if len(record) > k], decimal) for k in range(min(n_fields, 4))]
    is_long = looks_long(names, kinds, [record[0] for record in body])
    n_skipped = next(k for k, line in enumerate(lines) if _not_blank([line])) + has_header
    return TextLayout(encoding, sep, decimal, names, n_fields, index, doubtful, n_skipped, is_long, notes)


def _names(first: Record, body: Sequence[Record], n_fields: int) -> tuple[str, ...]:
    """The names in the first line: as many as lines have cells, or one fewer, where the first names the row."""
    names = tuple(name.strip() for name in first)
    if len(names) == n_fields - 1 and not any(record[-1].strip() for record in body if len(record) == n_fields):
        return (*names, "")  # lines end with a separator, and the header does not
    if len(names) not in (n_fields, n_fields - 1):
        raise SourceError(
            f"the first line has {len(names)} names, and others have up to {n_fields} cells. Check its separators; if "
            "it has no names, say so: header=False"
        )
    return names


def is_number(cell: str, decimal: str) -> bool:
    """Whether a cell holds a number."""
    return bool(NUMBER[decimal].fullmatch(cell) or OTHER_NUMBERS.fullmatch(cell))


def _fits(cell: str, decimal: str) -> bool:
    return cell.strip() in GAPS or is_number(cell.strip(), decimal)


def _kind(cells: Sequence[str], decimal: str) -> str:
    """Whether a column has numbers and gaps only, or no number at all."""
    numbers = [_fits(cell, decimal) for cell in cells]
    return "number" if all(numbers) else "mixed" if any(numbers) else "text"


def _records(lines: Sequence[str], sep: str) -> list[Record]:
    """The cells of each line that is not blank."""
    try:
        found = list(csv.reader(_not_blank(lines), delimiter=sep, skipinitialspace=sep == " "))
    except csv.Error as error:
        raise SourceError(f"its first lines are not those of a table ({error})") from error
    if sep == " ":
        found = [[cell for cell in record if cell] or record[:1] for record in found]
    return [record for record in found if record]


def _not_blank(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line.strip(" \r\n")]  # a line of tabs has cells


def _find_marks(
    lines: Sequence[str], ending: str, sep: str | None, decimal: str | None
) -> tuple[str, str, tuple[Note, ...]]:
    """The separator and the decimal mark under which the most cells are numbers."""
    for name, value, known in (("sep", sep, WORDS), ("decimal", decimal, ".,")):
        if value is not None and value not in known:
            marks = ", ".join(map(repr, known))
            raise SourceError(f"{name}={value!r} is not one of {marks}")
    usual = "\t" if ending == ".tsv" else ","
    pairs = [pair for pair in MARKS if sep in (None, pair[0]) and decimal in (None, pair[1])]
    pairs.sort(key=lambda pair: pair[0] != usual)  # stable: the others keep their order
    best = max(pairs, key=lambda pair: _agreement(lines, *pair))
    notes = []
    if sep is None and best[0] != usual:
        notes.append(Note("sep", best[0], f"cells are separated by {WORDS[best[0]]}"))
    if decimal is None and best[1] == ",":
        notes.append(Note("decimal", ",", "numbers have a decimal comma"))
    return *best, tuple(notes)


def _agreement(lines: Sequence[str], sep: str, decimal: str) -> float:
    """How well marks explain the first lines: of equal length, more than one column, cells that are numbers."""
    try:
        records = [record[:MOST_CELLS] for record in _records(lines, sep)]
    except SourceError:  # without its separator, a wide line is one cell that is too long
        return 0.0
    body = records[1:] or records
    width = max(map(len, body), default=0)
    if width == 0:
        return 0.0
    strange = [mark for mark in "\t;|," if mark != sep and (mark != "," or sep == " ")]
    cells = [cell.strip() for record in body for cell in record]
    alike = sum(len(record) == width for record in body) / len(body)
    alike *= 1.0 if len(records[0]) in (width, width - 1) else 0.6
    plausible = sum(_plausible(cell, decimal, strange) for cell in cells) / len(cells)
    in_first = sum(is_number(cell.strip(), decimal) for cell in records[0]) / len(records[0])
    return (alike if width > 1 else 0.5) * plausible + 1e-3 * in_first  # the first line decides where others agree


def _plausible(cell: str, decimal: str, strange: Sequence[str]) -> float:
    """1 for a number or a gap, less for text, nothing for text in which there is another separator."""
    if _fits(cell, decimal):
        return 1.0
    return 0.0 if any(mark in cell for mark in strange) else 0.75


def _find_header(records: Sequence[Record], n_fields: int, decimal: str) -> tuple[bool, tuple[Note, ...]]:
    """Whether the first line has names, and what to say of it where they would be numbers."""
    first, *others = cells = [cell.strip() for cell in records[0]]
    if len(cells) == n_fields - 1 or not _is_like_data(records, decimal):
        return True, ()
    if not all(_fits(cell, decimal) for cell in others):
        return False, (Note("header", False, "the first line is like those below, so it is data"),)
    nameless = bool(NAMELESS.fullmatch(first))
    if nameless or not _fits(first, decimal):
        names = not others or _ascends(others, decimal) or (nameless and _are_different_integers(others))
        known = "the names of columns, which are numbers" if names else "numbers that do not ascend, so it is data"
    else:
        names = _counts(cells)
        known = "the names of columns: it counts from 0" if names else "only numbers, so it is data without names"
    return names, (Note("header", names, f"the first line has {known}"),) if others or not names else ()


def _is_like_data(records: Sequence[Record], decimal: str) -> bool:
    """Whether the first line has numbers, or gaps, wherever the other lines have nothing else."""
    first, *body = records
    wide = [record for record in body if len(record) == len(first)]
    numeric = [
        k for k in range(1, min(len(first), MOST_CELLS)) if all(_fits(record[k].strip(), decimal) for record in wide)
    ]
    return all(_fits(first[k].strip(), decimal) for k in numeric or range(1, len(first)))


def _counts(cells: Sequence[str], start: int = 0) -> bool:
    """Whether cells are 0, 1, 2, ... as pandas numbers what has no names."""
    return len(cells) > 1 and all(cell.strip() == str(k) for k, cell in enumerate(cells, start))


def _ascends(cells: Sequence[str], decimal: str) -> bool:
    """Whether numbers increase, as years and wavelengths do; those of data seldom do."""
    values = [float(cell.replace(decimal, ".")) for cell in cells if NUMBER[decimal].fullmatch(cell)]
    return len(values) == len(cells) > 0 and all(a < b for a, b in itertools.pairwise(values))


def _are_different_integers(cells: Sequence[str]) -> bool:
    return len(set(cells)) == len(cells) and all(re.fullmatch(r"[+-]?\d+", cell) for cell in cells)


def _find_index(
    names: tuple[str, ...] | None,
    body: Sequence[Record],
    n_fields: int,
    decimal: str,
    said: int | str | bool | None,
) -> tuple[int | None, bool, tuple[Note, ...]]:
    """Which column holds the names of rows, whether that is doubtful, and what to say of it."""
    if said is False or said is True or isinstance(said, (int, str)):
        return _said_index(names, n_fields, said), False, ()
    if n_fields < 2:
        return None, False, ()
    first = [record[0] for record in body if record]
    if names is not None and len(names) == n_fields - 1:
        return 0, False, (Note("index_col", 0, "lines have one cell more than the header: the first names the row"),)
    if names is not None and NAMELESS.fullmatch(names[0]):
        return 0, False, (Note("index_col", 0, "the first column has no name and holds the names of rows"),)
    if not all(_fits(cell, decimal) for cell in first):
        return 0, False, (Note("index_col", 0, "the first column is text and holds the names of rows"),)
    if names is None:
        counted = _counts(first) and len(first) > 2
        return (0, True, (Note("index_col", 0, "the first column counts the rows"),)) if counted else (None, False, ())
    if ID_NAME.fullmatch(names[0]) and all(re.fullmatch(r"[+-]?\d+", cell.strip()) for cell in first):
        return 0, True, (Note("index_col", 0, f"the first column, {names[0]!r}, holds the names of rows"),)
    return None, False, ()


def _said_index(names: tuple[str, ...] | None, n_fields: int, said: int | str | bool) -> int | None:
    """The position of the column that the user has named."""
    if said is False or said is True:
        return 0 if said else None
    if isinstance(said, str) and names is not None and said in names:
        return names.index(said) + (n_fields - len(names))
    place = int(said) if isinstance(said, int) or said.isdigit() else -1
    if not 0 <= place < n_fields:
        listed = ", ".join(names[:10]) if names else f"0 to {n_fields - 1}"
        raise SourceError(f"index_col={said!r} is no column of it. Its columns are {listed}")
    return place
