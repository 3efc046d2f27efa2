"""How a table is written: its separator, decimal mark, header and names of rows, found out from its first lines.

Each choice is a small function. What was said by the user is not asked again, and what was found is kept as notes.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._support.spelling import option
from ..exceptions import InvalidArgumentError, SourceError
from .notation import Notation, has_decimal_comma

__all__ = [
    "INTEGER",
    "Layout",
    "Note",
    "Record",
    "check_long",
    "counts_up",
    "find_layout",
    "find_marks",
    "looks_long",
    "records_of",
    "repeated_names",
]

#: Separators and decimal marks that go together; of those that fit equally well, the first is taken.
MARKS = tuple((sep, decimal) for decimal in ".," for sep in (",", "\t", ";", "|", " "))
WORDS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar", " ": "blanks"}
ID_NAME = re.compile(r"(?i:(.*[ _.-])?(id|index|idx|key|row|name|sample))|.*[a-z](ID|Id)|#")  # neither acid nor grid
NAMELESS = re.compile(r"\s*(Unnamed: 0)?\s*")
INTEGER = re.compile(r"0|-?[1-9]\d{0,17}")  # that can be a name
MOST_CELLS = 500  # of a line are looked at
#: Names by which the columns of a long table are known.
LONG_NAMES = (("row", "user", "i"), ("column", "col", "item", "film", "movie", "j"), ("value", "val", "rating", "v"))
FEWEST_ROWS = 5  # that ascend by chance once in 5! = 120 tables

Record: TypeAlias = list[str]


class Note(NamedTuple):
    """One thing that was found out about a file, and how to say otherwise."""

    name: str  # the keyword of open_source that says it
    value: object
    text: str


class Layout(NamedTuple):
    """Which cells of a table are names, and which are numbers."""

    names: tuple[str, ...] | None  # of all columns, as the header has them; None if there is no header
    n_fields: int  # of a line of data
    index_col: int | None  # the column that holds names of rows
    index_is_doubtful: bool  # numbers that name rows if all of them are different
    is_long: bool  # whether it is a long table: row, column, value
    notes: tuple[Note, ...]


def repeated_names(names: Iterable[Any], what: str) -> tuple[Note, ...]:
    """What to say if several rows, or columns, have one name."""
    name, count = next(iter(Counter(filter(None, map(str, names))).most_common(1)), ("", 0))
    return (Note("", None, f"{count} {what} are called {name!r}, and each is kept"),) if count > 1 else ()


def records_of(lines: Iterable[str], sep: str, *, strict: bool = True) -> Iterator[tuple[int, Record]]:
    """The cells of each line that is not blank, and the number of the line."""
    reader = csv.reader(lines, delimiter=sep, skipinitialspace=sep == " ", strict=strict)
    try:
        for cells in reader:
            found = [cell for cell in cells if cell] if sep == " " else cells
            if found and (len(found) > 1 or found[0].strip()):
                yield reader.line_num, found
    except csv.Error as error:
        raise SourceError(
            f"line {reader.line_num} is not one of a table ({error}). Check its quotation marks, and that each row has "
            "a line"
        ) from error


def find_marks(
    lines: Sequence[str], usual: str, sep: str | None, decimal: str | None, na_values: Iterable[str]
) -> tuple[str, Notation, tuple[Note, ...]]:
    """The separator and the notation under which the most cells are numbers; what is not None was said."""
    if sep is not None and sep not in WORDS:
        raise SourceError(f"{option('sep', sep)} is not one of {', '.join(map(repr, WORDS))}")
    notations = {mark: Notation(mark, na_values) for mark in (".," if decimal is None else decimal)}
    pairs = [pair for pair in MARKS if sep in (None, pair[0]) and pair[1] in notations]
    pairs.sort(key=lambda pair: pair[0] != usual)  # stable: the others keep their order
    heads = {mark: _head(lines, mark) for mark, _ in pairs}
    if decimal is None:  # a comma is a decimal mark if it separates no cells and is no mark of thousands, as in 1,000
        sure = {mark for mark, head in heads.items() if any(map(has_decimal_comma, itertools.chain(*head)))} - {","}
        pairs = [pair for pair in pairs if pair[1] == "." or pair[0] in sure]
    best = max(pairs, key=lambda pair: _agreement(heads[pair[0]], pair[0], notations[pair[1]]))
    notes = []
    if sep is None and best[0] != usual:
        notes.append(Note("sep", best[0], f"cells are separated by {WORDS[best[0]]}"))
    if decimal is None and best[1] == ",":
        notes.append(Note("decimal", ",", "numbers have a decimal comma"))
    return best[0], notations[best[1]], tuple(notes)


def _head(lines: Sequence[str], sep: str) -> list[Record]:
    """The first cells of the first lines, if they can be separated so."""
    try:
        return [[cell.strip() for cell in record[:MOST_CELLS]] for _, record in records_of(lines, sep, strict=False)]
    except SourceError:  # without its separator, a wide line is one cell that is too long
        return []


def _agreement(records: Sequence[Record], sep: str, notation: Notation) -> float:
    """How well marks explain the first lines: of equal length, more than one column, cells that are numbers."""
    body = records[1:] or records
    width = max(map(len, body), default=0)
    if width == 0:
        return 0.0
    others = [mark for mark in "\t;|," if mark != sep and (mark != "," or sep == " ")]
    cells = [cell for record in body for cell in record]
    alike = sum(len(record) == width for record in body) / len(body)
    alike *= 1.0 if len(records[0]) in (width, max(width - 1, 2)) else 0.6
    texts = [cell for cell in cells if not notation.fits(cell)]  # less plausible, and not at all with another separator
    wrong = sum(1.0 if any(mark in text for mark in others) else 0.25 for text in texts) / len(cells)
    in_first = sum(map(notation.is_number, records[0])) / len(records[0])
    return (alike if width > 1 else 0.5) * (1 - wrong) + 1e-3 * in_first  # the first line decides where others agree


def find_layout(
    records: Sequence[Record],
    notation: Notation,
    *,
    header: bool | None = None,
    index_col: int | str | bool | None = None,
) -> Layout:
    """The layout of a table that begins with these lines; what is not None was said by the user."""
    if not records:
        raise SourceError("there is no line in it that is not blank")
    lengths = Counter(map(len, records[1:] or records))
    n_fields = max(lengths, key=lambda length: (lengths[length], length == len(records[0]), length))
    has_header, why = _find_header(records, n_fields, notation) if header is None else (header, ())
    body = [record for record in records[int(has_header) :] if len(record) == n_fields]
    if not body:
        raise SourceError("it has a line of names and no line of data")
    names = _names(records[0], body, n_fields) if has_header else None
    columns = [[record[k].strip() for record in body] for k in range(min(n_fields, MOST_CELLS))]
    fits = [list(map(notation.fits, column)) for column in columns] if n_fields == 3 else []
    kinds = ["number" if all(some) else "mixed" if any(some) else "text" for some in fits]
    is_long = looks_long(names, kinds, columns[0])
    if index_col is not None:
        return Layout(names, n_fields, _said_index(names, n_fields, index_col), False, is_long, why)
    found, is_doubtful = _find_index(names, n_fields, columns, notation)
    if found:
        why = (*why, Note("index_col", 0, found))
    elif n_fields > 1 and _counts_rows(columns[0]) and not any(map(_counts_rows, columns[1:])):
        why = (*why, Note("index_col", False, "the first column counts the rows, and is taken for numbers"))
    return Layout(names, n_fields, 0 if found else None, is_doubtful, is_long, why)


def _names(first: Record, body: Sequence[Record], n_fields: int) -> tuple[str, ...]:
    """The names in the first line: as many as lines have cells, or one fewer, where the first names the row."""
    names = tuple(name.strip() for name in first)
    if len(names) == n_fields - 1 and not any(record[-1].strip() for record in body):
        return (*names, "")  # lines end with a separator, and the header does not
    if len(names) not in (n_fields, n_fields - 1):
        raise SourceError(
            f"the first line has {len(names)} names, and others have {n_fields} cells. If the file was cut off, get "
            f"it again; if the first line has no names, say {option('header', False)}; if the table begins further "
            f"down, leave lines out: {option('skip_rows', 1)}"
        )
    return names


def _find_header(records: Sequence[Record], n_fields: int, notation: Notation) -> tuple[bool, tuple[Note, ...]]:
    """Whether the first line has names, and what to say of it where they would be numbers."""
    first, *others = cells = [cell.strip() for cell in records[0]]
    if len(cells) == n_fields - 1 or not _is_like_data(records, notation):
        return True, ()
    if not all(map(notation.fits, others)):
        return False, (Note("header", False, "the first line is like those below, so it is data"),)
    values, is_nameless = notation.numbers(others), bool(NAMELESS.fullmatch(first))
    if is_nameless or not notation.fits(first):  # names may increase, as years do; pandas writes integers in any order
        integers = is_nameless and len(set(others)) == len(others) and all(map(INTEGER.fullmatch, others))
        has_names = bool(np.all(np.diff(values) > 0) and not np.isnan(values).any()) or integers
    else:
        has_names = len(cells) > 1 and cells == [str(k) for k in range(len(cells))]
    known = "the names of columns, which are numbers" if has_names else "only numbers, so it is data"
    return has_names, (Note("header", has_names, f"the first line has {known}"),) if others or not has_names else ()


def _is_like_data(records: Sequence[Record], notation: Notation) -> bool:
    """Whether the first line has numbers, or gaps, wherever the other lines have nothing else."""
    first, *body = records
    wide = [record for record in body if len(record) == len(first)]
    places = range(1, min(len(first), MOST_CELLS))
    numeric = [k for k in places if all(notation.fits(record[k]) for record in wide)]
    return all(notation.fits(first[k]) for k in numeric or range(1, len(first)))


def counts_up(numbers: Any) -> bool:
    """Whether a column of enough whole numbers has each larger than the one before: it can hold names of rows."""
    return len(numbers) >= FEWEST_ROWS and bool(np.all(np.diff(numbers) > 0))


def _counts_up(cells: Sequence[str]) -> bool:
    return all(map(INTEGER.fullmatch, cells)) and counts_up(list(map(int, cells)))


def _counts_rows(cells: Sequence[str]) -> bool:
    """Whether cells count rows from 0 or 1 on, and are more than two."""
    return len(cells) > 2 and any(list(cells) == [str(k + start) for k in range(len(cells))] for start in (0, 1))


def _find_index(
    names: tuple[str, ...] | None, n_fields: int, columns: Sequence[Sequence[str]], notation: Notation
) -> tuple[str, bool]:
    """Why the first column holds the names of rows, or nothing; and whether that is doubtful."""
    first, name = columns[0], None if names is None else names[0]
    if n_fields < 2:
        return "", False
    if names is not None and len(names) == n_fields - 1:
        return "lines have one cell more than the header: the first names the row", False
    if name is not None and NAMELESS.fullmatch(name):
        return "the first column has no name and holds the names of rows", False
    if not all(map(notation.fits, first)):
        return "the first column is text and holds the names of rows", False
    if not all(map(INTEGER.fullmatch, first)):
        return "", False
    if name is not None and ID_NAME.fullmatch(name):
        return f"the first column, {name!r}, holds the names of rows", True
    if name is None and first[0] == "0" and _counts_rows(first):
        return "the first column counts the rows", True
    if _counts_up(first) and not any(map(_counts_up, columns[1:])):
        called = "the first column" if name is None else f"the first column, {name!r},"
        return f"{called} counts up, alone of all, and holds the names of rows", True
    return "", False


def _said_index(names: tuple[str, ...] | None, n_fields: int, said: int | str | bool) -> int | None:
    """The position of the column that the user has named."""
    if said is False or said is True:
        return 0 if said else None
    if isinstance(said, str) and names is not None and said in names:
        return names.index(said) + (n_fields - len(names))
    place = int(said) if isinstance(said, int) or said.isdigit() else -1
    if not 0 <= place < n_fields:
        listed = ", ".join(names[:10]) if names else f"0 to {n_fields - 1}"
        raise SourceError(f"{option('index_col', said)} is no column of it. Its columns are {listed}")
    return place


def looks_long(names: Sequence[str] | None, kinds: Sequence[str], keys: Sequence[Any]) -> bool:
    """Whether a table is a long one: by the names of its columns, or by a second column of text.

    A table with names of rows and one more column of words, such as name, sex, height, is none: there, no row occurs
    twice among the first ``keys``. ``kinds`` are those of the columns of a table of three: "text", "number" or "mixed".
    """
    found = [] if names is None else [name for name in map(_word, names) if any(name in known for known in LONG_NAMES)]
    if long_places(names or ()) is not None and (len(names or ()) == 3 or min(map(len, found)) > 1):
        return True
    return list(kinds[1:]) == ["text", "number"] and kinds[0] != "mixed" and len(set(keys)) < len(keys)


def _word(name: Any) -> str:
    """A name of a column without what is added to words: userId, user_ids and Users are user."""
    text = str(name).strip().lower()
    return re.sub(r"(?<=..)[ _.-]?ids?$|(?<=...)s$", "", text)


def long_places(names: Sequence[Any]) -> tuple[int, int, int] | None:
    """Where the row, the column and the value stand, by the names of the columns; None if one of them is not found."""
    words = [_word(name) for name in names]
    found = [next((words.index(word) for word in known if word in words), -1) for known in LONG_NAMES]
    return None if -1 in found else (found[0], found[1], found[2])


def check_long(long: Any, names: Sequence[Any]) -> tuple[int, int, int]:
    """Positions of the row, the column and the value among the columns of a table."""
    if long is True:
        long = long_places(names) or range(3)
    wanted = [] if isinstance(long, (str, bytes)) or not isinstance(long, Iterable) else list(long)
    places = [list(names).index(name) if name in names else name for name in wanted]
    if len(places) != 3 or not all(isinstance(k, (int, np.integer)) and 0 <= k < len(names) for k in places):
        three = option("long", ("row", "column", "value"))
        raise InvalidArgumentError(
            f"{option('long', long)} does not name three of the columns {', '.join(map(str, list(names)[:10]))}. Give "
            f"the names of the columns that hold the row, the column and the value: {three}."
        )
    return places[0], places[1], places[2]
