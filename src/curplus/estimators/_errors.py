"""How well hidden values are predicted, by column and by rank."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from .._arrays import to_numpy
from .._typing import FloatArray, IndexVector
from ..factorization import Factorization
from ._scaling import ColumnMoments, ColumnScale
from ._tables import known_cells

__all__ = ["ErrorPath", "HiddenValues", "measured", "without_hidden"]


class ErrorPath(NamedTuple):
    """The error at hidden values for each number of directions that are kept.

    Errors are root mean squares, each column in units of its standard deviation: about 1 is what its mean achieves.
    """

    rank: IndexVector  # (k,), 1 to the rank of the approximation
    error: FloatArray  # (k,)
    error_of_means: float  # if every gap gets the mean of its column
    n_hidden: int  # values that were hidden

    @property
    def best_rank(self) -> int:
        """The rank with the least error; 0 where the means of the columns do better than all."""
        best = int(np.argmin(self.error))
        return int(self.rank[best]) if self.error[best] < self.error_of_means else 0


class HiddenValues(NamedTuple):
    """Values that a fit did not see."""

    i: IndexVector  # (t,)
    j: IndexVector  # (t,)
    values: FloatArray  # (t,)
    n_columns: int


def without_hidden(table: Any, share: float, rng: np.random.Generator) -> tuple[Any, HiddenValues]:
    """The table without a share of the known values of each column, drawn at random and never all; and these."""
    i, j, values = known_cells(table)
    hidden = _chosen_in_each_column(j, table.shape[1], share, rng)
    values_hidden = HiddenValues(i[hidden], j[hidden], values[hidden].astype(np.float64), table.shape[1])
    if scipy.sparse.issparse(table):
        rest = (i[~hidden], j[~hidden])
        return scipy.sparse.csr_array((values[~hidden], rest), shape=table.shape), values_hidden
    fitted = table.copy()
    fitted[i[hidden], j[hidden]] = np.nan
    return fitted, values_hidden


def _chosen_in_each_column(j: IndexVector, m: int, share: float, rng: np.random.Generator) -> Any:
    """Whether each of some cells in columns ``j`` is chosen: a share of every column, and never all of it."""
    counts = np.bincount(j, minlength=m)
    place = np.empty(len(j), dtype=np.int64)
    place[np.lexsort((rng.random(len(j)), j))] = np.arange(len(j)) - np.repeat(np.cumsum(counts) - counts, counts)
    return place < np.minimum(np.ceil(share * counts), counts - 1)[j]


def measured(
    approximation: Factorization, units: ColumnScale, hidden: HiddenValues, moments: ColumnMoments
) -> tuple[FloatArray, ErrorPath]:
    """Errors of the columns in the units of the user, NaN where nothing was hidden; and errors against rank."""
    scale = units.scale[hidden.j]
    spreads = np.sqrt(np.where(moments.variances > 0, moments.variances, 1.0))[hidden.j]
    U, s, Vt = (to_numpy(part).astype(np.float64) for part in approximation.svd())
    rest = hidden.values - units.shift[hidden.j]
    errors = []
    for k in range(len(s)):
        rest = rest - scale * s[k] * U[hidden.i, k] * Vt[k, hidden.j]
        errors.append(_root_mean_square(rest / spreads))
    of_means = _root_mean_square((hidden.values - moments.means[hidden.j]) / spreads)
    path = ErrorPath(np.arange(1, len(s) + 1), np.asarray(errors), of_means, len(hidden.values))
    return _by_column(hidden, rest), path


def _by_column(hidden: HiddenValues, errors: FloatArray) -> FloatArray:
    counts = np.bincount(hidden.j, minlength=hidden.n_columns)
    sums = np.bincount(hidden.j, errors**2, minlength=hidden.n_columns)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sqrt(sums / counts))


def _root_mean_square(errors: FloatArray) -> float:
    return float(np.sqrt(np.mean(errors**2)))
