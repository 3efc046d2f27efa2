"""Known entries of a matrix, from a long table: one line for each, with its row, its column and its value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from .._sets import NO_INDEX
from .._typing import IndexVector, Matrix, Names, Shape, Vector
from .._validation import check_index, check_names, check_shape
from ..exceptions import InvalidArgumentError, SourceError

__all__ = ["LongBlock", "LongSource", "check_long", "collect", "looks_long"]

#: Names by which the columns of a long table are known.
LONG_NAMES = (("row", "rows", "i"), ("column", "columns", "col", "j"), ("value", "values", "val", "v"))
INTEGER = re.compile(r"0|-?[1-9]\d{0,17}")


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


class LongBlock(NamedTuple):
    """Some lines of a long table: numbers of keys, -1 for none, the keys themselves, and the values."""

    rows: IndexVector  # (k,)
    row_keys: Sequence[Any]
    columns: IndexVector  # (k,)
    column_keys: Sequence[Any]
    values: Vector  # (k,)


class _Keys:
    """Keys, numbered in the order in which they came."""

    def __init__(self) -> None:
        self._number: dict[Any, int] = {}
        self._parts: list[IndexVector] = []

    def add(self, codes: IndexVector, keys: Sequence[Any]) -> None:
        """Number some more lines, whose codes are positions in ``keys``; keys that no line has get no number."""
        used, inverse = np.unique(codes, return_inverse=True)
        names = (key.strip() if isinstance(key, str) else key for key in (keys[k] for k in used.tolist()))
        number = np.array([self._number.setdefault(name, len(self._number)) for name in names], dtype=np.int64)
        self._parts.append(number[inverse])

    def finish(self) -> tuple[IndexVector, Names]:
        """The number of each line, and the names; whole numbers are put in order."""
        names, index = list(self._number), np.concatenate([NO_INDEX, *self._parts])
        if names and all(INTEGER.fullmatch(str(name)) for name in names):
            numbers, back = np.unique(np.array([int(name) for name in names]), return_inverse=True)
            return back[index], numbers
        return index, np.array([str(name) for name in names])


def collect(blocks: Iterable[LongBlock]) -> LongSource:
    """The source that blocks of a long table make."""
    rows, columns, values = _Keys(), _Keys(), [np.empty(0)]
    n_lines = 0
    for block in blocks:
        for what, codes in (("row", block.rows), ("column", block.columns)):
            if (codes < 0).any():
                line = n_lines + int(np.flatnonzero(codes < 0)[0])
                raise SourceError(f"line {line} of the values (counted from 0) has no {what}. Name it, or leave it out")
        rows.add(block.rows, block.row_keys)
        columns.add(block.columns, block.column_keys)
        values.append(np.asarray(block.values, dtype=np.float64))
        n_lines += len(block.values)
    (i, row_names), (j, column_names) = rows.finish(), columns.finish()
    shape = len(row_names), len(column_names)
    return LongSource(shape, i, j, np.concatenate(values), row_names=row_names, column_names=column_names)


def looks_long(names: Sequence[str] | None, kinds: Sequence[str], keys: Sequence[Any]) -> bool:
    """Whether a table of three columns, "text", "number" or "mixed", is a long one: by their names, or by two of text.

    A table with names of rows and one more column of words, such as name, sex, height, is none: there, no row occurs
    twice among the first ``keys``.
    """
    if len(kinds) != 3:
        return False
    pairs = zip(names, LONG_NAMES, strict=False) if names is not None and len(names) == 3 else ()
    by_name = [name.strip().lower() in known for name, known in pairs]
    return (any(by_name) and all(by_name)) or (list(kinds) == ["text", "text", "number"] and len(set(keys)) < len(keys))


def check_long(long: Any, names: Sequence[Any]) -> tuple[int, int, int]:
    """Positions of the row, the column and the value among the columns of a table."""
    if long is True:
        lower = [str(name).strip().lower() for name in names]
        found = [next((lower.index(word) for word in known if word in lower), None) for known in LONG_NAMES]
        long = range(3) if None in found else found
    wanted = [] if isinstance(long, (str, bytes)) or not isinstance(long, Iterable) else list(long)
    places = [list(names).index(name) if name in names else name for name in wanted]
    if len(places) != 3 or not all(isinstance(k, int) and 0 <= k < len(names) for k in places):
        raise InvalidArgumentError(
            f"long={long!r} does not name three of the columns {', '.join(map(str, list(names)[:10]))}. Give the names "
            "of the columns that hold the row, the column and the value: long=('row', 'column', 'value')."
        )
    return places[0], places[1], places[2]
