"""Places that must not be read: samples, errors and means represent the other places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import is_among
from .._support.sets import NO_INDEX, is_in
from .._typing import FloatArray, IndexVector, Shape
from .._validation import check_index
from ..exceptions import InvalidArgumentError

__all__ = ["OPEN_PLACES", "Region", "check_region"]

OPEN_PLACES = "the places that may be read"  # what every sentence is about if some places are forbidden

FORBIDDEN_PARTS = ("forbidden_rows", "forbidden_columns", "forbidden_i", "forbidden_j")


class Region(NamedTuple):
    """Some rows, columns and cells of a matrix; rows and columns are never listed cell by cell."""

    rows: IndexVector = NO_INDEX  # (p,)
    columns: IndexVector = NO_INDEX  # (q,)
    cells: tuple[IndexVector, IndexVector] = (NO_INDEX, NO_INDEX)  # positions (i, j), each (k,)

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return any(map(len, (self.rows, self.columns, self.cells[0])))

    @property
    def T(self) -> Region:
        """The same places of the transposed matrix."""
        return Region(self.columns, self.rows, self.cells[::-1])

    def parts(self) -> dict[str, IndexVector]:
        """The positions as arrays, for a file."""
        return dict(zip(FORBIDDEN_PARTS, (self.rows, self.columns, *self.cells), strict=True))

    @classmethod
    def of_parts(cls, arrays: dict[str, Any]) -> Region:
        """The places that :meth:`parts` made arrays of, taken out of these."""
        rows, columns, i, j = (np.asarray(arrays.pop(name, NO_INDEX)) for name in FORBIDDEN_PARTS)
        return cls(rows, columns, (i, j))

    def union(self, other: Region, shape: Shape) -> Region:
        """Both, each once and ascending; cells outside the rows and columns."""
        if not other.any:
            return self
        rows, columns = np.union1d(self.rows, other.rows), np.union1d(self.columns, other.columns)
        flat = np.union1d(*(i * shape[1] + j for i, j in (self.cells, other.cells)))
        i, j = np.divmod(flat[~Region(rows, columns).cover(flat // shape[1], flat % shape[1], shape)], shape[1])
        return Region(rows, columns, (i, j))

    def cover(self, i: IndexVector, j: IndexVector, shape: Shape) -> NDArray[np.bool_]:
        """Which positions are among them; i and j may be broadcast."""
        if not self.any:
            return np.zeros(np.broadcast(i, j).shape, dtype=bool)
        on_row, on_column = (is_among(x, size) for size, x in zip(shape, self[:2], strict=True))
        cells = np.sort(self.cells[0] * shape[1] + self.cells[1])
        covered: NDArray[np.bool_] = on_row[i] | on_column[j] | is_in(i * shape[1] + j, cells)
        return covered

    def open_rows_and_columns(self, shape: Shape) -> tuple[IndexVector, IndexVector]:
        """The rows, and the columns, that are not among them, ascending."""
        rows, columns = (np.setdiff1d(np.arange(size), x) for size, x in zip(shape, self[:2], strict=True))
        return rows, columns

    def others(self, shape: Shape) -> FloatArray:
        """How many places of each row are not among them, which are as a union has them, shape (n,)."""
        others = shape[1] - len(self.columns) - np.bincount(self.cells[0], minlength=shape[0]).astype(np.float64)
        others[self.rows] = 0
        return others

    def size(self, shape: Shape) -> int:
        """Number of these places, each counted once."""
        return shape[0] * shape[1] - int(np.sum(self.others(shape))) if self.any else 0


def check_region(places: Any, shape: Shape, *, name: str) -> Region:
    """The places that a dict names, of a matrix of this size, each at most once."""
    if places is None:
        return Region()
    if isinstance(places, Region):
        places = places._asdict()
    if not isinstance(places, Mapping) or not set(places) <= set(Region._fields):
        raise InvalidArgumentError(
            f"{name}={places!r} is no dict of places. Give {name}={{'rows': [...], 'columns': [...], 'cells': (i, j)}} "
            "or some of these."
        )
    places = Region(**places)
    n, m = shape
    rows, columns = (
        np.unique(check_index(x, size, name=f"{name} {what}"))
        for x, size, what in ((places.rows, n, "rows"), (places.columns, m, "columns"))
    )
    try:
        i, j = places.cells
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"the cells of {name}= are not two arrays (i, j) of positions.") from None
    i, j = check_index(i, n, name=f"{name} cells i"), check_index(j, m, name=f"{name} cells j")
    if len(i) != len(j):
        raise InvalidArgumentError(f"the cells of {name}= have {len(i)} rows and {len(j)} columns. Give pairs.")
    flat = np.unique(i * m + j)
    return Region(rows, columns, (flat // m, flat % m))
