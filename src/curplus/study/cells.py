"""Cells of rows and columns."""

from __future__ import annotations

import numpy as np

from .._sets import union
from .._typing import IndexVector, Shape

__all__ = ["cells_of_lines"]


def cells_of_lines(rows: IndexVector, columns: IndexVector, shape: Shape) -> IndexVector:
    """All cells of some rows and columns, ascending."""
    n, m = shape
    return union(np.add.outer(rows * m, np.arange(m)).ravel(), np.add.outer(np.arange(n) * m, columns).ravel())
