"""Known entries of a matrix, from a long table: one line for each, with its row, its column and its value."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from .._support.sets import NO_INDEX
from .._support.spelling import option
from .._typing import IndexVector, Matrix, Names, Shape, Vector
from .._validation import check_index, check_names, check_shape
from ..exceptions import InvalidArgumentError, SourceError
from .cells import CellTable, open_cells, read_wide
from .frames import as_frame, is_frame, is_numeric, without_bounds
from .layout import INTEGER, Note, check_long, looks_long
from .notation import CellValues
from .parquet import arrow_schema, open_arrow, read_arrow
from .source import Source

__all__ = ["LongSource", "long_of_blocks", "long_source", "open_arrow_table", "open_text_table"]

BLOCK_ROWS = 2**17
FIRST_ROWS = 100  # are looked at
BLANK = ("None", "nan", "<NA>", "NaT")  # how missing keys of libraries look
IS_LONG = Note("long", True, "the table is long: each line has a row, a column and a value")


class LongSource:
    """A matrix of which some entries are known, and the others are gaps.

    Reading it gives NaN at gaps, and the mean where a place has several values. ``Observation.from_table(source)`` has
    all values, as scattered entries.

    Parameters
    ----------
    shape : (int, int)
        Numbers of rows and columns of the matrix.
    i, j : arrays of shape (k,)
        Positions of the values.
    values : array of shape (k,)
        The values; NaN is one that could not be measured.
    sides : array of shape (k,), optional
        Which values are bounds: 1, the true value is at least this; -1, at most; 0, it is this. Bounds read as gaps.
    row_names, column_names : sequence, optional
        One name per row and per column.

    Examples
    --------
    >>> from curplus.sources import LongSource
    >>> source = LongSource((2, 3), i=[0, 1, 1], j=[0, 2, 2], values=[5.0, 1.0, 2.0])
    >>> source.rows([1])
    array([[nan, nan, 1.5]])
    """

    gaps = True
    notes: tuple[Any, ...] = ()  # what was found out about the file it was read from

    def __init__(
        self,
        shape: Shape,
        i: Any,
        j: Any,
        values: Any,
        *,
        sides: Any = None,
        row_names: Iterable[Any] | None = None,
        column_names: Iterable[Any] | None = None,
    ) -> None:
        n, m = self._shape = check_shape(shape)
        self.i, self.j = check_index(i, n, name="i"), check_index(j, m, name="j")
        self.values = np.asarray(values, dtype=np.float64)
        if not len(self.i) == len(self.j) == len(self.values):
            raise InvalidArgumentError(
                f"i, j and values have lengths {len(self.i)}, {len(self.j)} and {len(self.values)}. Give one of each "
                "for every value."
            )
        self.bounds: tuple[Any, ...] | None = None
        if sides is not None and np.any(sides):
            t = np.flatnonzero(sides)
            self.bounds = self.i[t], self.j[t], self.values[t], np.asarray(sides)[t]
            self.values = np.where(sides, np.nan, self.values)
        self.dtype = self.values.dtype
        self.row_names: Names | None = check_names(row_names, n, name="row_names")
        self.column_names: Names | None = check_names(column_names, m, name="column_names")

    @property
    def shape(self) -> Shape:
        return self._shape

    @property
    def n_known(self) -> int:
        """Number of places that have a value."""
        return len(self._means[0])

    def rows(self, index: IndexVector) -> Matrix:
        return _with_gaps(self._by_row[np.asarray(index, dtype=np.int64)])

    def columns(self, index: IndexVector) -> Matrix:
        return _with_gaps(self._by_column[np.asarray(index, dtype=np.int64)]).T

    def entries(self, i: IndexVector, j: IndexVector) -> Vector:
        flat, means = self._means
        wanted = np.asarray(i, dtype=np.int64) * self._shape[1] + np.asarray(j, dtype=np.int64)
        if not len(flat):
            return np.full(len(wanted), np.nan)
        place = np.minimum(np.searchsorted(flat, wanted), len(flat) - 1)
        return np.where(flat[place] == wanted, means[place], np.nan)

    @cached_property
    def _means(self) -> tuple[IndexVector, Vector]:
        """Positions with a value, ascending, and the mean of the values there."""
        known = np.isfinite(self.values)
        flat, inverse = np.unique(self.i[known] * self._shape[1] + self.j[known], return_inverse=True)
        return flat, np.bincount(inverse, self.values[known], len(flat)) / np.bincount(inverse, minlength=len(flat))

    @cached_property
    def _by_row(self) -> Any:
        flat, means = self._means
        i, j = np.divmod(flat, self._shape[1])
        return scipy.sparse.csr_array((means, (i, j)), shape=self._shape)

    @cached_property
    def _by_column(self) -> Any:
        return self._by_row.T.tocsr()

    def __repr__(self) -> str:
        n, m = self._shape
        return f"<LongSource of a {n} x {m} matrix: {len(self.values)} values>"


def _with_gaps(lines: Any) -> Matrix:
    """What some lines of a sparse matrix store, with NaN elsewhere."""
    full = np.full(lines.shape, np.nan)
    full[np.repeat(np.arange(lines.shape[0]), np.diff(lines.indptr)), lines.indices] = lines.data
    return full


def open_text_table(path: Path, *, ending: str, long: Any = None, **said: Any) -> Source:
    """The table in a text file or a workbook, long or wide, as is said or as it looks."""

    def read(table: CellTable) -> Source:
        is_guess = long is None and table.layout.is_long
        if not is_guess and long in (None, False):
            return read_wide(table)
        names = table.column_names if table.layout.names is not None else list(range(table.layout.n_fields))
        source = long_of_blocks(_blocks_of_cells(table, check_long(long or True, names)))
        notes = tuple(note for note in table.layout.notes if note.name != "index_col")
        source.notes = (*notes, IS_LONG) if is_guess else notes
        return source

    opened: Source = open_cells(path, ending, read, **said)
    return opened


def _blocks_of_cells(table: CellTable, places: tuple[int, int, int]) -> Iterator[tuple[Any, Any, CellValues]]:
    for lines, rows in table.blocks():
        row, column, values = ([cells[k].strip() for cells in rows] for k in places)
        yield row, column, table.numbers(values, lines, row, places[2:])


def open_arrow_table(path: Path, *, ending: str, long: Any = None) -> Source:
    """The table in a Parquet or Arrow file, long or wide, as is said or as it looks."""
    schema = arrow_schema(path, ending)
    is_guess = long is None and _looks_long(path, ending, schema)
    if not is_guess and long in (None, False):
        return open_arrow(path, ending)
    three = [schema.names[k] for k in check_long(long or True, schema.names)]
    source = long_source(read_arrow(path, ending, three).select(three), range(3))
    source.notes = (IS_LONG,) if is_guess else ()
    return source


def _looks_long(path: Path, ending: str, schema: Any) -> bool:
    """Whether the table in a Parquet or Arrow file is a long one, by its columns and the first of them."""
    if len(schema.names) != 3:
        return looks_long(schema.names, (), ())
    empty = as_frame(schema.empty_table().replace_schema_metadata(None))
    kinds = ["number" if is_numeric(empty.iloc[:, k]) else "text" for k in range(3)]
    return looks_long(
        schema.names, kinds, read_arrow(path, ending, schema.names[:1]).column(0)[:FIRST_ROWS].to_pylist()
    )


def long_source(table: Any, long: Any) -> LongSource:
    """The long table in an object of pandas, Polars or Arrow."""
    if not is_frame(table):
        raise InvalidArgumentError(
            f"{option('long', long)} was given, and a {type(table).__name__} is no table with named columns. Give a "
            "file or a table of pandas, Polars or Arrow."
        )
    frame = as_frame(table)
    places = check_long(long, list(frame.columns))
    row, column, value = (frame.iloc[:, k] for k in places)
    numbers, bounds = without_bounds(frame.iloc[:, [places[2]]])
    value, sides = numbers.iloc[:, 0], np.zeros(len(frame), dtype=np.int64)
    if not is_numeric(value):
        raise SourceError(f"column {value.name!r} of the values has type {value.dtype}, which is not numeric")
    found = value.to_numpy(np.float64, na_value=np.nan)
    if bounds is not None:
        found, sides[bounds[0]] = found.copy(), bounds[3]
        found[bounds[0]] = bounds[2]
    blocks = (slice(start, start + BLOCK_ROWS) for start in range(0, len(frame), BLOCK_ROWS))
    return long_of_blocks((row[b].tolist(), column[b].tolist(), CellValues(found[b], sides[b])) for b in blocks)


def long_of_blocks(blocks: Iterable[tuple[Sequence[Any], Sequence[Any], CellValues]]) -> LongSource:
    """The source that blocks of rows, columns and values make; names are numbered in the order in which they come."""
    numbers: list[dict[Any, int]] = [defaultdict(itertools.count().__next__) for _ in range(2)]
    parts: list[list[Any]] = [[NO_INDEX], [NO_INDEX], [np.empty(0)], [NO_INDEX]]
    for *keys, values in blocks:
        for number, part, some in zip(numbers, parts, keys, strict=False):
            part.append(np.fromiter(map(number.__getitem__, some), np.int64, len(some)))
        parts[2].append(values.values)
        parts[3].append(np.zeros(len(values.values), dtype=np.int64) if values.sides is None else values.sides)
    i, j, known, sides = map(np.concatenate, parts)
    (i, rows), (j, columns) = _named(i, list(numbers[0]), "row"), _named(j, list(numbers[1]), "column")
    return LongSource((len(rows), len(columns)), i, j, known, sides=sides, row_names=rows, column_names=columns)


def _named(index: IndexVector, keys: list[Any], what: str) -> tuple[IndexVector, Names]:
    """The number of each line, and the names; whole numbers are put in order."""
    blank = [k for k, key in enumerate(keys) if (not key if isinstance(key, str) else str(key) in BLANK)]
    if blank:
        line = int(np.flatnonzero(index == blank[0])[0])
        raise SourceError(f"line {line} of the values (counted from 0) has no {what}. Name it, or leave the line out")
    names = list(map(str, keys))
    if names and all(map(INTEGER.fullmatch, names)):
        numbers, back = np.unique(np.array(list(map(int, names))), return_inverse=True)
        return back[index], numbers
    return index, np.array(names)
