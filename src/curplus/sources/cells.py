"""A table of text cells, from a text file or a workbook: read a few thousand rows at a time, refused with the place.

Numbers come bit for bit. What was found out about the file is kept beside them, so that it can be written as it was.
"""

from __future__ import annotations

import codecs
import gzip
import io
import itertools
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._support.sets import NO_INDEX
from .._support.spelling import option
from .._support.tables import Form
from .._typing import FloatArray, IndexVector, Names
from ..exceptions import InvalidArgumentError, SourceError
from .array import ArraySource
from .excel import workbook_records
from .layout import INTEGER, Layout, Note, Record, find_layout, find_marks, records_of, repeated_names
from .notation import CellValues, Notation

__all__ = ["CellTable", "TableSource", "bounds_among", "open_cells", "read_wide", "text_lines"]

BLOCK_CELLS = 2**19  # are worked on at a time
LONGEST_LINE = 2**25  # characters; a line of a million numbers has fewer
HEAD = 2**16  # bytes that are looked at for the encoding
HEAD_LINES, FEWEST_LINES, HEAD_SIZE = 100, 4, 2**20  # lines that are looked at for the layout, fewer if they are long

#: First bytes that say how a text is encoded. The longer come first.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
HEAD_ROWS = 101
LATIN = Note("encoding", "latin-1", "the encoding is not utf-8, so it is read as latin-1")


class TableSource(ArraySource):
    """A table of numbers that was read from a file, with its names.

    Parameters
    ----------
    matrix : array of shape (n, m)
        The numbers, NaN where there is a gap or a bound.
    bounds : tuple of arrays (i, j, value, side), optional
        Cells that say ``>10`` (side 1: the true value is at least this) or ``<0.5`` (side -1: at most).
    """

    notes: tuple[Note, ...] = ()  # what was found out about the file
    form = Form()

    def __init__(self, matrix: FloatArray, bounds: tuple[Any, ...] | None = None) -> None:
        super().__init__(matrix)
        self.bounds = bounds
        self.gaps = bool(np.isnan(matrix).any())


class CellTable:
    """The cells of a table in a file: how they are laid out, and their rows, a few thousand at a time."""

    def __init__(
        self, records: Callable[[], Iterator[tuple[int, Record]]], layout: Layout, notation: Notation, sep: str = ","
    ) -> None:
        self._records, self.layout, self.notation = records, layout, notation
        names, n_fields, index = layout.names, layout.n_fields, layout.index_col
        self.column_names = (
            [str(k) for k in range(n_fields)] if names is None else [*[""] * (n_fields - len(names)), *names]
        )
        called = None if index is None else "" if names is None else self.column_names[index]
        self.form = Form(called, names is not None, sep, notation.decimal)

    def blocks(self) -> Iterator[tuple[list[int], list[Record]]]:
        """All rows below the header with the numbers of their lines, some at a time; all are of one length."""
        records, n_fields = self._records(), self.layout.n_fields
        if self.layout.names is not None:
            next(records)
        while some := list(itertools.islice(records, max(1, BLOCK_CELLS // n_fields))):
            for line, cells in some:
                if len(cells) != n_fields:
                    raise SourceError(
                        f"line {line} has {len(cells)} cells, and {n_fields} are expected. If the file was cut off, "
                        "get it again; if cells are empty, keep their separators; a text with a separator in it needs "
                        "quotation marks"
                    )
            yield [line for line, _ in some], [cells for _, cells in some]

    def numbers(
        self, cells: list[str], lines: Sequence[int], names: Sequence[str], columns: Sequence[int]
    ) -> CellValues:
        """The values of cells, row by row; the first that has none is refused with its line, its row and its column."""
        try:
            return self.notation.readings(cells)
        except ValueError:
            k = self.notation.wrong(cells)[0]
        cell, (row, column) = cells[k].strip(), divmod(k, len(columns))
        shown = cell if len(cell) <= 60 else f"{cell[:60]}..."
        where = f"line {lines[row]} (row {names[row]!r})" if names[row] else f"line {lines[row]}"
        called = self.column_names[columns[column]]
        line = cells[row * len(columns) : (row + 1) * len(columns)]
        leave_out = f"if the line holds units or a title, {option('skip_rows', [lines[row]])} leaves it out; "
        otherwise = (
            f"; {'' if any(self.notation.is_number(x.strip()) for x in line) else leave_out}if each line has a row, a "
            f"column and a value, say {option('long', True)}; if the column holds names, say "
            f"{option('index_col', called)}"
        )
        raise SourceError(
            f"{shown!r} in {where}, column {called if self.layout.names is None else repr(called)} is not a number. "
            f"{self.notation.advice(shown)}{'' if any(map(str.isdigit, shown)) else otherwise}"
        )


def open_cells(path: Path, ending: str, read: Callable[[CellTable], Any], **said: Any) -> Any:
    """What ``read`` makes of the cells of a file; options are those of :func:`curplus.open_source` for tables."""
    if ending == ".xlsx":
        return read(_workbook(path, **said))
    encoding = said.pop("encoding", None)
    found = encoding or encoding_of(path)
    notes = () if found in ("utf-8", encoding) else (Note("encoding", found, f"the encoding is {found}"),)
    try:
        return read(_text(path, ending, found, notes, **said))
    except UnicodeDecodeError as error:
        if encoding is not None or found != "utf-8":
            raise SourceError(
                f"byte {error.start} of a part is not {found} ({error.reason}). Say the encoding: "
                f"{option('encoding', 'latin-1')}, for example"
            ) from error
    return read(_text(path, ending, "latin-1", (LATIN,), **said))  # only later lines show it


def _text(
    path: Path,
    ending: str,
    encoding: str,
    notes: tuple[Note, ...],
    *,
    sep: str | None = None,
    decimal: str | None = None,
    na_values: Any = (),
    skip_rows: Any = (),
    **said: Any,
) -> CellTable:
    """The table in a text file."""
    skipped = _lines_to_skip(skip_rows)

    def lines() -> Iterator[str]:
        for number, line in enumerate(text_lines(path, encoding), start=1):
            yield "\n" if number in skipped else line  # the others keep their numbers

    head = head_of(lines())
    mark, notation, found = find_marks(head, "\t" if ending == ".tsv" else ",", sep, decimal, na_values)
    layout = find_layout([cells for _, cells in records_of(head, mark, strict=False)], notation, **said)
    layout = layout._replace(notes=(*notes, *found, *layout.notes))
    return CellTable(lambda: records_of(lines(), mark), layout, notation, mark)


def _workbook(path: Path, *, sheet: Any = None, na_values: Any = (), skip_rows: Any = (), **said: Any) -> CellTable:
    """The table in a sheet of a workbook."""
    skipped, notation = _lines_to_skip(skip_rows), Notation(na_values=na_values)

    def records() -> Iterator[tuple[int, Record]]:
        return (record for record in workbook_records(path, sheet) if record[0] not in skipped)

    layout = find_layout([cells for _, cells in itertools.islice(records(), HEAD_ROWS)], notation, **said)
    return CellTable(records, layout, notation)


def _lines_to_skip(skip_rows: Any) -> Container[int]:
    """Numbers of lines, from 1 on: the first few, or those that are listed."""
    if isinstance(skip_rows, int) and not isinstance(skip_rows, bool) and skip_rows >= 0:
        return range(1, skip_rows + 1)
    if isinstance(skip_rows, Iterable) and not isinstance(skip_rows, (str, bytes)):
        return frozenset(map(int, skip_rows))
    raise InvalidArgumentError(
        f"{option('skip_rows', skip_rows)} is neither a number of lines at the top nor a list of line numbers. For the "
        f"second line alone, say {option('skip_rows', [2])}"
    )


def _open_bytes(path: Path) -> Any:
    """The bytes of a file, unpacked where it is packed."""
    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else path.open("rb")


def encoding_of(path: Path) -> str:
    """How a text is encoded, by its first bytes: UTF-8 unless they say otherwise."""
    with _open_bytes(path) as stream:
        head = stream.read(HEAD)
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def text_lines(path: Path, encoding: str) -> Iterator[str]:
    """The lines of a text, with their ends; a NUL character and a line without end are refused."""
    try:
        codecs.lookup(encoding)
    except LookupError:
        known = "Use utf-8, utf-16 or latin-1, or any other that Python knows"
        raise SourceError(f"{option('encoding', encoding)} is not known. {known}") from None
    with io.TextIOWrapper(_open_bytes(path), encoding=encoding, newline=None) as stream:
        for number in itertools.count(1):
            line = stream.readline(LONGEST_LINE)
            if "\0" in line:
                raise SourceError(
                    f"line {number} has a NUL character, so it is not a text, or not in the encoding {encoding}. Say "
                    f"which: {option('encoding', 'utf-16')}, for example"
                )
            if len(line) == LONGEST_LINE:
                raise SourceError(
                    f"line {number} has more than {LONGEST_LINE:,} characters, which no line of a table has. Check "
                    "that each row has a line"
                )
            if not line:
                return
            yield line


def head_of(lines: Iterator[str]) -> list[str]:
    """The first lines of a text: about a hundred, or a few if they are long."""
    head, size = list[str](), 0
    for line in lines:
        head.append(line)
        size += len(line)
        if len(head) > HEAD_LINES or (len(head) >= FEWEST_LINES and size > HEAD_SIZE):
            break
    return head


def read_wide(table: CellTable) -> TableSource:
    """A table whose rows are rows of the matrix."""
    layout, parts, labels, bounds = table.layout, list[FloatArray](), list[str](), list[tuple[Any, ...]]()
    index = layout.index_col
    columns = [k for k in range(layout.n_fields) if k != index]
    if not columns:
        raise SourceError("it has one column, which holds names, and no column of numbers")
    for lines, rows in table.blocks():
        names = [""] * len(rows) if index is None else [row.pop(index).strip() for row in rows]
        cells = list(itertools.chain.from_iterable(rows))
        found = table.numbers(cells, lines, names, columns)
        bounds.append(bounds_among(found, np.arange(len(cells)) + len(labels) * len(columns), len(columns)))
        parts.append(found.values.reshape(-1, len(columns)))
        labels += names
    together = tuple(map(np.concatenate, zip(*bounds, strict=True))) if any(len(x[0]) for x in bounds) else None
    return _named(table, np.concatenate(parts), None if index is None else labels, columns, together)


def bounds_among(found: CellValues, flat: IndexVector, width: int) -> tuple[Any, ...]:
    """The bounds among readings at places ``i * width + j``, as i, j, value and side; the others stay numbers."""
    if found.sides is None:
        return NO_INDEX, NO_INDEX, np.empty(0), NO_INDEX
    t = np.flatnonzero(found.sides)
    value = found.values[t]
    found.values[t] = np.nan
    return (*np.divmod(flat[t], width), value, found.sides[t])


def _named(
    table: CellTable, values: FloatArray, labels: list[str] | None, columns: list[int], bounds: tuple[Any, ...] | None
) -> TableSource:
    """The numbers with their names; names that are doubtful and occur twice are numbers after all."""
    form, notes = table.form, table.layout.notes
    if labels is not None and table.layout.index_is_doubtful and len(set(labels)) < len(labels):
        values, columns = np.column_stack([table.notation.numbers(labels), values]), [0, *columns]
        labels, form = None, form._replace(index_name=None)
        bounds = None if bounds is None else (bounds[0], bounds[1] + 1, *bounds[2:])
        notes = tuple(note for note in notes if note.name != "index_col")
    names = [table.column_names[k] for k in columns]
    bounded = set() if bounds is None else set(bounds[1].tolist())
    while len(names) > 1 and not names[-1] and np.isnan(values[:, -1]).all() and len(names) - 1 not in bounded:
        values, names = values[:, :-1], names[:-1]
        notes = (*notes, Note("", None, "every line ends with a separator; the empty last column is left out"))
    notes += (*repeated_names(names if form.has_header else [], "columns"), *repeated_names(labels or [], "rows"))
    source = TableSource(values, bounds)
    source.notes, source.form = notes, form
    source.column_names = np.array(names) if form.has_header else None
    source.row_names = None if labels is None else _row_names(labels)
    return source


def _row_names(labels: list[str]) -> Names:
    """Names of rows as they are written; whole numbers are numbers."""
    return np.array(list(map(int, labels)) if all(map(INTEGER.fullmatch, labels)) else labels)
