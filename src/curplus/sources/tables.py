"""A pandas DataFrame, whose row and column names travel to the result."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import real_array
from .._typing import IndexVector, Matrix, Names, Shape, Vector
from .._validation import check_names

__all__ = ["TableSource", "is_table"]


def is_table(matrix: Any) -> bool:
    """Whether ``matrix`` is a pandas DataFrame, found out without importing pandas."""
    return any(
        kind.__name__ == "DataFrame" and kind.__module__.split(".")[0] == "pandas" for kind in type(matrix).__mro__
    )


class TableSource:
    """A pandas DataFrame of numbers; only the cells that are asked for are converted.

    Parameters
    ----------
    frame : pandas.DataFrame of shape (n, m)
        Its index and columns become the names of rows and columns.
    """

    row_names: Names | None
    column_names: Names | None

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.row_names = check_names(frame.index, len(frame.index), name="row_names")
        self.column_names = check_names(frame.columns, len(frame.columns), name="column_names")
        self.dtype = _numbers(frame.iloc[:0]).dtype

    @property
    def shape(self) -> Shape:
        return int(self._frame.shape[0]), int(self._frame.shape[1])

    def rows(self, index: IndexVector) -> Matrix:
        return _numbers(self._frame.iloc[index])

    def columns(self, index: IndexVector) -> Matrix:
        return _numbers(self._frame.iloc[:, index])

    def entries(self, i: IndexVector, j: IndexVector) -> Vector:
        if len(i) == 0:
            return np.empty(0, dtype=self.dtype)
        values = np.empty(len(i), dtype=self.dtype)
        order = np.argsort(j, kind="stable")
        starts = np.flatnonzero(np.diff(j[order], prepend=-1))
        for here in np.split(order, starts[1:]):  # a frame stores columns: one gather for each that is needed
            values[here] = _numbers(self._frame.iloc[i[here], j[here[0]]])
        return values


def _numbers(part: Any) -> Any:
    return real_array(part.to_numpy(), name="the table")
