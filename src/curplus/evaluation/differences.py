r"""Which of several means is larger: differences of two estimates, and what follows from all of them at once.

Errors of two rows are independent if each row has entries of its own. If all rows were read in the same columns, a
large part of the errors is common to them and cancels in a difference: with :math:`d` of :math:`m` columns drawn
uniformly,

.. math:: \operatorname{var}(\hat\theta_a - \hat\theta_b) = \Big(1 - \frac dm\Big) \frac{s_{a-b}^2}{d},

where :math:`s_{a-b}^2` is the sample variance of :math:`M_{aj} - M_{bj}`. :class:`Means` keeps what each column adds to
the error of each row, so that covariances are inner products.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.special
from numpy.typing import NDArray

from .._arrays import blocks
from .._typing import FloatArray, IndexVector

__all__ = ["Difference", "Means", "largest_possible", "means_of_columns", "rank_limits", "shared_errors"]

SPARE = 64  # rows besides the k best that are compared with all others; more can only shorten the list


class Difference(NamedTuple):
    """The difference of two means, with an interval at ``level``."""

    estimate: float
    low: float
    high: float
    level: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low > 0 or self.high < 0


class Means(NamedTuple):
    """Estimated means with their errors, which are independent, or have parts in common."""

    mean: FloatArray  # (n,)
    error: FloatArray  # (n,), standard errors; NaN if nothing is known
    freedom: FloatArray  # (n,), degrees of freedom of the errors
    shared: FloatArray | None = None  # (n, d): errors of rows a and b have the covariance shared[a] @ shared[b]

    def difference(self, a: int, b: int, level: float) -> Difference:
        """How much larger the mean of row ``a`` is than that of row ``b``."""
        gap, error, freedom = self._between(np.array([a]), np.array([b]))
        reach = float((error * scipy.special.stdtrit(freedom, (1 + level) / 2))[0, 0]) if a != b else 0.0
        return Difference(float(gap[0, 0]), float(gap[0, 0]) - reach, float(gap[0, 0]) + reach, level)

    def is_above(self, a: IndexVector, b: IndexVector, chance: float) -> NDArray[np.bool_]:
        """Which rows ``a`` (p,) are above which rows ``b`` (q,), shape (p, q); each one is false with ``chance``."""
        gap, error, freedom = self._between(a, b)
        above: NDArray[np.bool_] = gap > error * -scipy.special.stdtrit(freedom, chance)
        return above

    def _between(self, a: IndexVector, b: IndexVector) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Differences, standard errors and degrees of freedom of all pairs, shape (p, q)."""
        gap = self.mean[a][:, None] - self.mean[b]
        one, other = self.error[a][:, None] ** 2, self.error[b] ** 2
        squares = one + other
        if self.shared is not None:
            squares = squares - 2 * self.shared[a] @ self.shared[b].T
            return gap, np.sqrt(np.maximum(squares, 0.0)), np.minimum(self.freedom[a][:, None], self.freedom[b])
        with np.errstate(divide="ignore", invalid="ignore"):  # Welch and Satterthwaite
            freedom = squares**2 / (one**2 / self.freedom[a][:, None] + other**2 / self.freedom[b])
        return gap, np.sqrt(squares), np.where(np.isnan(freedom), math.inf, freedom)

    def times(self, unit: float) -> Means:
        """The same in units that are ``unit`` times smaller."""
        shared = None if self.shared is None else self.shared * unit
        return Means(self.mean * unit, self.error * unit, self.freedom, shared)

    def with_noise(self, error: float) -> Means:
        """The same with another error, which is independent."""
        return self._replace(error=np.hypot(self.error, error))


def shared_errors(values: FloatArray, n_columns: float) -> FloatArray:
    """What each of d columns, drawn uniformly of ``n_columns``, adds to the errors of the means of rows, (n, d)."""
    d = values.shape[1]
    around = values - np.mean(values, axis=1, keepdims=True)
    return np.asarray(around * math.sqrt((1 - d / n_columns) / (d * max(d - 1, 1))))


def means_of_columns(values: FloatArray, n_columns: float) -> Means:
    """Means of rows from their values (n, d) in the same columns, drawn uniformly of ``n_columns``."""
    shared = shared_errors(values, n_columns)
    freedom = np.full(len(values), max(values.shape[1] - 1.0, 1.0))
    return Means(np.mean(values, axis=1), np.sqrt(np.sum(shared**2, axis=1)), freedom, shared)


def largest_possible(means: Sequence[Means], k: int, level: float) -> NDArray[np.bool_]:
    """Which rows may be among the ``k`` with the largest means, with confidence ``level`` for all at once, shape (n,).

    A row is out if at least k others are above it, by each of the estimates of ``means`` that are known there. If one
    of the k best is out, then a row that is not among them was taken to be above it: there are k (n - k) such pairs,
    and each is mistaken with a chance of (1 - level) / (k (n - k)) at most.
    """
    n = len(means[0].mean)
    if k >= n:
        return np.ones(n, dtype=bool)
    chance = (1 - level) / (k * (n - k))
    low = means[0].mean + means[0].error * scipy.special.stdtrit(means[0].freedom, chance)
    leaders = np.argsort(-np.where(np.isnan(low), -math.inf, low), kind="stable")[: 4 * k + SPARE]
    n_above = np.zeros(n, dtype=np.int64)
    for part in blocks(n, len(leaders)):
        n_above[part] = np.sum(_above(means, leaders, np.arange(n)[part], chance), axis=0)
    return n_above < k


def rank_limits(means: Sequence[Means], level: float) -> tuple[IndexVector, IndexVector]:
    """The best and the worst rank that each row may have, 1 for the largest mean, for all at once, each (n,).

    All pairs are compared, in O(n^2) time.
    """
    n = len(means[0].mean)
    best, worst = np.ones(n, dtype=np.int64), np.full(n, n)
    everyone, chance = np.arange(n), (1 - level) / max(n * (n - 1) / 2, 1)
    for part in blocks(n, n):
        above = _above(means, everyone, everyone[part], chance)
        best[part] += np.sum(above, axis=0)
        worst -= np.sum(above, axis=1)
    return best, worst


def _above(means: Sequence[Means], a: IndexVector, b: IndexVector, chance: float) -> NDArray[np.bool_]:
    """Which rows ``a`` are above which rows ``b`` by all estimates that are known for both, of which one must be."""
    above, is_known = np.ones((len(a), len(b)), dtype=bool), np.zeros((len(a), len(b)), dtype=bool)
    for each in means:
        known = ~np.isnan(each.error[a])[:, None] & ~np.isnan(each.error[b])
        above &= ~known | each.is_above(a, b, chance)
        is_known |= known
    return above & is_known
