"""The best columns of each row: what to recommend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import blocks, to_numpy
from .._support.extras import import_extra
from .._typing import FloatArray, IndexVector, Names
from .._validation import check_count, check_index, check_real
from ..exceptions import InvalidArgumentError
from ..observation import Observation
from ..observation.cells import Cells

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["Top", "top_columns"]


@dataclass(frozen=True, eq=False)
class Top:
    """The columns with the largest predictions in each row, best first. Returned by :meth:`curplus.Factorization.top`.

    If a row has fewer columns left than were asked for, there are -1 and NaN at the end.
    """

    rows: IndexVector  # (p,), positions
    columns: IndexVector  # (p, k), positions
    values: FloatArray  # (p, k), predictions
    row_names: Names  # (p,), the positions if there are no names
    column_names: Names  # (m,), of all columns

    def to_frame(self) -> Any:
        """A pandas table with a row for each pick: row, place (1 is the best), column, value."""
        pandas = import_extra("pandas", extra="pandas", purpose="a table of the best columns needs pandas")
        p, place = np.nonzero(self.columns >= 0)
        names = {"row": self.row_names[p], "place": place + 1, "column": self.column_names[self.columns[p, place]]}
        return pandas.DataFrame(names | {"value": self.values[p, place]})


def top_columns(approximation: Factorization, k: int, rows: Any, exclude: Any) -> Top:
    """The best columns of some rows; see :meth:`curplus.Factorization.top`."""
    a, (n, m) = approximation, approximation.shape
    check_real(a.core.Z, "the largest predictions")
    k = check_count(k, name="k", at_most=m, of="columns", at_least=1)
    rows = np.arange(n) if rows is None else check_index(rows, n, name="rows")
    if exclude is not None and (not isinstance(exclude, Observation) or exclude.shape != a.shape):
        raise InvalidArgumentError(
            f"exclude={exclude!r} is no Observation of a matrix of shape {a.shape}. Give the one with the values that "
            "are known already."
        )
    cells = None if exclude is None else Cells.of(exclude)
    columns, values = np.empty((len(rows), k), dtype=np.int64), np.empty((len(rows), k))
    for part in blocks(len(rows), m):
        predicted = to_numpy(a.rows(rows[part])).astype(np.float64)
        if cells is not None:
            predicted[~np.isnan(cells.block(rows[part]))] = -np.inf
        columns[part], values[part] = _best(predicted, k)
    none = np.isneginf(values)
    columns[none], values[none] = -1, np.nan
    row_names = rows if a.row_names is None else a.row_names[rows]
    return Top(rows, columns, values, row_names, np.arange(m) if a.column_names is None else a.column_names)


def _best(scores: FloatArray, k: int) -> tuple[IndexVector, FloatArray]:
    """Positions and values of the k largest of each row; of equal ones, the first."""
    least = np.partition(scores, -k, axis=1)[:, -k, None]
    above, equal = scores > least, scores == least
    equal &= np.cumsum(equal, axis=1) <= k - np.count_nonzero(above, axis=1, keepdims=True)
    columns = np.nonzero(above | equal)[1].reshape(-1, k)
    values = np.take_along_axis(scores, columns, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1), np.take_along_axis(values, order, axis=1)
