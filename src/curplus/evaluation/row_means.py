"""The mean of every row and its standard error, from what is known of it, what its entries say, and what rows share."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray, IndexVector
from ..factorization import Factorization
from ..observation import Observation
from .cross_fit import CrossFit
from .row_effects import RowEffects, pooled_variances, row_effects
from .row_sums import KnownPart, predicted_sums, sample_rows

__all__ = ["RowMeans", "with_entries", "without_entries"]

FEWEST_ROWS = 10  # for a straight line in the mean of the sampled columns


class RowMeans(NamedTuple):
    """Means of rows with standard errors and degrees of freedom: with what rows share, and from their own entries."""

    mean: FloatArray  # (n,)
    error: FloatArray  # (n,), 0 for rows that are known whole, NaN where nothing is known
    freedom: FloatArray  # (n,)
    own_mean: FloatArray  # (n,)
    own_error: FloatArray  # (n,), NaN for rows without entries
    own_freedom: FloatArray  # (n,)
    total: float
    total_error: float
    total_freedom: float = math.inf

    def with_noise(self, of_row: float) -> RowMeans:
        """The same of values without noise, where ``of_row`` is the standard error that noise makes in a whole row."""
        if not of_row:
            return self
        return self._replace(error=np.hypot(self.error, of_row), own_error=np.hypot(self.own_error, of_row))


def without_entries(known: KnownPart, prediction: Factorization, sample: Observation) -> RowMeans:
    """Predicted means, of which nothing is known but where rows were read whole."""
    n, m = sample.shape
    mean = (known.total + predicted_sums(prediction, sample)) / m
    error, freedom = np.where(known.n_values == m, 0.0, math.nan), np.full(n, math.inf)
    return RowMeans(mean, error, freedom, mean, error, freedom, float(np.sum(mean)) * m, math.nan)


def with_entries(known: KnownPart, found: CrossFit) -> RowMeans:
    """Predicted means corrected by entries, with what rows share."""
    n, m = found.sample.shape
    rest = m - known.n_values
    some = np.flatnonzero(rest)  # rows that are not known whole
    rows = sample_rows(found, rest).take(some)
    own = pooled_variances(rows)
    effects = row_effects(rows.mean, own.of_mean, _covariates(known, some))
    share, base = rest[some] / m, known.total / m
    freedom = _freedom(effects, own.freedom)
    total = _total(effects, np.where(np.isfinite(own.of_mean), own.of_mean, 0.0), rest[some])
    mean = _placed(base, some, base[some] + share * effects.mean)
    return RowMeans(
        mean,
        _placed(np.zeros(n), some, share * np.sqrt(effects.variance)),
        _placed(np.full(n, math.inf), some, freedom),
        _placed(base, some, base[some] + share * rows.mean),
        _placed(np.zeros(n), some, share * np.sqrt(np.where(np.isfinite(own.of_mean), own.of_mean, np.nan))),
        _placed(np.full(n, math.inf), some, own.freedom),
        float(np.sum(mean)) * m,
        total,
    )


def _placed(whole: FloatArray, where: IndexVector, part: FloatArray) -> FloatArray:
    """An array with other numbers at some places."""
    changed = np.array(whole, dtype=np.float64)
    changed[where] = part
    return changed


def _covariates(known: KnownPart, some: IndexVector) -> FloatArray:
    """What rows are compared by: nothing, or the mean of what sampled columns show of them, shape (k, 1 or 2)."""
    count = known.n_values[some]
    ones = np.ones((len(some), 1))
    if len(some) < FEWEST_ROWS or not np.all(count):
        return ones
    means = known.total[some] / count
    return np.column_stack([ones, means - np.mean(means)]) if np.ptp(means) > 0 else ones


def _freedom(effects: RowEffects, own: FloatArray) -> FloatArray:
    """Degrees of freedom of estimates of which a part is borrowed."""
    borrowed = effects.shrinkage
    return 1 / ((1 - borrowed) ** 2 / own + borrowed**2 / max(effects.freedom, 1))


def _total(effects: RowEffects, variance: FloatArray, rest: FloatArray) -> float:
    """Standard error of the sum of the estimates, which share the line that they are pulled towards."""
    pull = effects.shrinkage * rest
    along = (1 - effects.shrinkage) * rest + (pull @ effects.covariates) @ effects.line  # of each estimate in the sum
    return math.sqrt(float(np.sum(along**2 * variance)) + effects.spread**2 * float(np.sum((along - rest) ** 2)))
