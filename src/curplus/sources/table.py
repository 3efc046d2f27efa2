"""A pandas DataFrame, whose row and column names are kept in the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._arrays import real_array
from .._extras import is_kind
from .._typing import IndexVector, Matrix, Names, Shape, Vector
from .._validation import check_names
from ..exceptions import InvalidArgumentError

__all__ = ["TableSource", "is_table", "refuse_words"]

MOST_NAMED = 10  # columns in an error


def is_table(matrix: Any) -> bool:
    """Whether ``matrix`` is a pandas DataFrame, found out without importing pandas."""
    return is_kind(matrix, "pandas", "DataFrame")


class TableSource:
    """A pandas DataFrame of numbers; only the cells that are asked for are converted.

    Parameters
    ----------
    frame : pandas.DataFrame of shape (n, m)
        Its index and columns become the names of rows and columns.
    """

    row_names: Names | None
    column_names: Names | None
    gaps = False
    notes: tuple[Any, ...] = ()  # what was found out about the file it was read from

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.row_names = check_names(frame.index, len(frame.index), name="row_names")
        self.column_names = check_names(frame.columns, len(frame.columns), name="column_names")
        found = {name: _numpy_kind(kind) for name, kind in frame.dtypes.items()}
        refuse_words({name: f"dtype {kind}" for name, kind in found.items() if not _is_numeric(kind)})
        kinds = [_numpy_kind(kind) for kind in frame.dtypes]
        self._uniform = len(set(frame.dtypes)) == 1 and isinstance(frame.dtypes.iloc[0], np.dtype)
        self.dtype = real_array(np.empty(0, dtype=np.result_type(*kinds, np.bool_)), name="the table").dtype

    @property
    def shape(self) -> Shape:
        return int(self._frame.shape[0]), int(self._frame.shape[1])

    def rows(self, index: IndexVector) -> Matrix:
        return self._frame.iloc[np.asarray(index)].to_numpy(self.dtype, na_value=np.nan)

    def columns(self, index: IndexVector) -> Matrix:
        return self._frame.iloc[:, np.asarray(index)].to_numpy(self.dtype, na_value=np.nan)

    def entries(self, i: IndexVector, j: IndexVector) -> Vector:
        i, j = np.asarray(i), np.asarray(j)
        if self._uniform:  # one block of numbers, which pandas returns as it is
            return self._frame.to_numpy()[i, j].astype(self.dtype, copy=False)
        values = np.empty(len(i), dtype=self.dtype)
        order = np.argsort(j, kind="stable")
        starts = np.flatnonzero(np.diff(j[order], prepend=-1))
        for here in (
            np.split(order, starts[1:]) if len(i) else ()
        ):  # a frame stores columns: one gather for each that is needed
            values[here] = self._frame.iloc[i[here], j[here[0]]].to_numpy(self.dtype, na_value=np.nan)
        return values


def _numpy_kind(kind: Any) -> Any:
    """The NumPy type of a column; pandas' nullable and sparse types have one too."""
    inner = "subtype" if type(kind).__name__ == "SparseDtype" else "numpy_dtype"  # an interval has a subtype as well
    return getattr(kind, inner, kind)


def _is_numeric(kind: Any) -> bool:
    return isinstance(kind, np.dtype) and kind.kind in "biufc"


def refuse_words(kinds: Mapping[Any, str], *, advice: str = "") -> None:
    """An error that names the columns of a table that are not numeric, with their types, if there are any."""
    if not kinds:
        return
    names = [f"{name!r}" for name in kinds]
    if len(names) == 1:
        what = f"column {names[0]} of the table has {next(iter(kinds.values()))}, which is"
    else:
        listed = ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if names[MOST_NAMED:] else "")
        what = f"columns {listed} of the table have {', '.join(dict.fromkeys(kinds.values()))}, which are"
    it = "it" if len(names) == 1 else "them"
    raise InvalidArgumentError(f"{what} not numeric. Drop {it} or convert {it} to numbers{advice}.")
