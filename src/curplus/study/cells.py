"""Sets of cells, as arrays that ascend: sorting is several times faster here than NumPy's set functions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._typing import IndexVector, Shape

__all__ = ["cells_of_lines", "different", "is_in", "union", "without"]


def different(cells: IndexVector) -> IndexVector:
    """Each cell once, ascending."""
    ordered = np.sort(cells)
    return ordered[np.diff(ordered, prepend=-1) > 0]


def union(*sets: IndexVector) -> IndexVector:
    """What is in any of them."""
    return different(np.concatenate(sets))


def is_in(cells: IndexVector, ascending: IndexVector) -> NDArray[np.bool_]:
    """Which cells are in a set."""
    if not len(ascending):
        return np.zeros(cells.shape, dtype=bool)
    place = np.minimum(np.searchsorted(ascending, cells), len(ascending) - 1)
    return np.equal(ascending[place], cells)


def without(cells: IndexVector, ascending: IndexVector) -> IndexVector:
    """Those cells that are not in a set."""
    return cells[~is_in(cells, ascending)]


def cells_of_lines(rows: IndexVector, columns: IndexVector, shape: Shape) -> IndexVector:
    """All cells of some rows and columns, ascending."""
    n, m = shape
    return union(np.add.outer(rows * m, np.arange(m)).ravel(), np.add.outer(np.arange(n) * m, columns).ravel())
