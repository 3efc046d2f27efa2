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

from .._arrays import blocks, index_table, take, to_numpy
from .._support.sets import is_in
from .._typing import FloatArray, IndexVector, Matrix
from ..observation import Observation

__all__ = [
    "Difference",
    "Means",
    "Paired",
    "columns_in_turn",
    "features_of",
    "largest_possible",
    "means_of_columns",
    "means_with_controls",
    "paired_means",
    "rank_limits",
    "shared_errors",
    "values_at",
    "whole_rows",
]

SPARE = 64  # cost: rows besides the k best that are compared with all others; more can only shorten the list


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

    @classmethod
    def exact(cls, mean: FloatArray) -> Means:
        """Means that are known."""
        return cls(mean, np.zeros(len(mean)), np.full(len(mean), math.inf))

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Both ends of Student's t interval of each mean."""
        reach = self.error * scipy.special.stdtrit(self.freedom, (1 + level) / 2)
        return self.mean - reach, self.mean + reach

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


FOR_EACH = 5  # tuned: columns for each feature: with fewer, residuals are too small (benchmarks/best.py, coverage)
MOST_FEATURES = 20  # tuned: features; flat from 5 to 100 to 2 % of the answers (benchmarks/best.py)
FEATURE_RIDGES = np.geomspace(1e-3, 1e3, 13)  # steps: in terms of the mean square of a feature


def features_of(rows: FloatArray) -> FloatArray:
    """Leading components of rows (h, m) that are known whole: how columns differ, shape (m, r)."""
    _, s, Vt = np.linalg.svd(rows - np.mean(rows, axis=1, keepdims=True), full_matrices=False)
    r = int(np.count_nonzero(s[:MOST_FEATURES] > np.finfo(float).eps * max(rows.shape) * (s[0] if len(s) else 0.0)))
    return np.asarray(Vt[:r].T * s[:r])


def means_with_controls(values: FloatArray, features: FloatArray, mean_feature: FloatArray, n_columns: float) -> Means:
    r"""Means of rows from their values (n, d) in columns with features (d, r), which rows that are known whole give.

    With features :math:`f_j` of all m columns, whose mean :math:`\bar f` is known, and the values of a row in d columns
    drawn uniformly, the regression estimator of its mean is

    .. math:: \hat\theta = \bar y + (\bar f - \bar f_d)^\top b, \qquad b = (F^\top F + \lambda I)^{-1} F^\top y,

    and its variance that of the residuals (Cochran, Sampling Techniques, 1977, chapter 7). One :math:`\lambda` serves
    all rows, so that differences of rows have the differences of their residuals. It is the one with which each column
    is predicted best from the others, and residuals are those at columns that were left out; if the plain mean predicts
    better, it is taken.
    """
    plain, d = means_of_columns(values, n_columns), values.shape[1]
    features, mean_feature = features[:, : d // FOR_EACH], mean_feature[: d // FOR_EACH]
    if not features.shape[1]:
        return plain
    centre = np.mean(features, axis=0)
    around = values - plain.mean[:, None]
    U, s, Vt = np.linalg.svd(features - centre, full_matrices=False)
    squares, shown, best = s**2, around @ U, float(np.sum(around**2)) * (d / (d - 1)) ** 2
    found = None
    for ridge in FEATURE_RIDGES * float(np.mean(squares)):
        share = squares / np.maximum(squares + ridge, np.finfo(float).tiny)
        residuals = (around - (shown * share) @ U.T) / np.maximum(1 - 1 / d - U**2 @ share, 1 / d)
        if (total := float(np.sum(residuals**2))) < best:
            best, found = total, (residuals, share)
    if found is None:
        return plain
    residuals, share = found
    slope = (shown * (share / np.where(s > 0, s, 1.0))) @ Vt
    shared = shared_errors(residuals, n_columns) * math.sqrt((d - 1) / d)
    error = np.sqrt(np.sum(shared**2, axis=1))
    return Means(plain.mean + slope @ (mean_feature - centre), error, plain.freedom - float(np.sum(share)), shared)


class Paired(NamedTuple):
    """Values of some rows in columns that were drawn uniformly, in the order of drawing."""

    rows: IndexVector  # (p,)
    columns: IndexVector  # (d,)
    values: FloatArray  # (p, d), NaN where they are not known
    is_gap: NDArray[np.bool_]  # (p, d), where it is known that they cannot be measured
    n_columns: int  # how many the columns were drawn from

    @classmethod
    def of(cls, observation: Observation, rows: IndexVector) -> Paired:
        """Those of some rows of an observation."""
        m = observation.shape[1]
        columns = columns_in_turn(observation)
        cells = rows[:, None] * m + columns
        is_gap = is_in(cells.ravel(), observation.gap_index()).reshape(cells.shape)
        values = values_at(observation, rows, columns)
        return cls(rows, columns, values, is_gap, m - len(observation.forbidden.columns))

    def columns_of(self, some: IndexVector) -> IndexVector:
        """Places of columns that are known in some rows, up to the first one that is not known yet, without gaps."""
        usable = np.flatnonzero(~np.any(self.is_gap[some], axis=0))
        missing = np.flatnonzero(np.isnan(self.values[some][:, usable]).any(axis=0))
        return usable[: missing[0]] if len(missing) else usable


def columns_in_turn(observation: Observation) -> IndexVector:
    """Columns drawn uniformly, in the order of drawing; sampled columns without such an order follow in any order."""
    drawn, seen = observation.drawn_columns, observation
    if seen.design.columns == "uniform":
        others = np.setdiff1d(seen.column_index, drawn)
        drawn = np.concatenate([drawn, np.random.default_rng(len(others)).permutation(others)])
    kept: IndexVector = drawn[~np.isin(drawn, seen.forbidden.columns)]
    return kept


def values_at(observation: Observation, rows: IndexVector, columns: IndexVector) -> FloatArray:
    """What is known where rows and columns cross, NaN elsewhere, shape (p, d)."""
    seen, (n, m) = observation, observation.shape
    row, column = index_table(rows, n), index_table(columns, m)
    here = np.flatnonzero((row[seen.i] >= 0) & (column[seen.j] >= 0))
    place, size = row[seen.i[here]] * len(columns) + column[seen.j[here]], len(rows) * len(columns)
    values = to_numpy(take(seen.values, here, axis=0)).astype(np.float64)
    count = np.bincount(place, minlength=size)
    with np.errstate(invalid="ignore"):
        found = (np.bincount(place, values, size) / np.where(count, count, np.nan)).reshape(len(rows), len(columns))
    _overlay(found, column[seen.column_index], seen.columns, rows)
    _overlay(found.T, row[seen.row_index], seen.rows.T, columns)
    return found


def _overlay(found: FloatArray, place: IndexVector, lines: Matrix, others: IndexVector) -> None:
    """Put what sampled columns (n, d1) have into columns of ``found``; a negative place is none of them."""
    at = np.flatnonzero(place >= 0)
    part = to_numpy(take(take(lines, at, axis=1), others, axis=0)).astype(np.float64)
    found[:, place[at]] = np.where(np.isnan(part), found[:, place[at]], part)


def paired_means(observation: Observation, rows: list[int]) -> Means:
    """Means of some rows from the columns that were drawn and are known in all of them; of too few without an error."""
    paired = Paired.of(observation, np.asarray(rows))
    values = paired.values[:, ~np.isnan(paired.values).any(axis=0)]
    if values.shape[1] < 2:
        nothing = np.full(len(rows), np.nan)
        return Means(nothing, nothing, np.ones(len(rows)))
    return means_of_columns(values, paired.n_columns if observation.noise is None else np.inf)


def whole_rows(observation: Observation) -> IndexVector:
    """Rows that are known at every column that is not forbidden, ascending."""
    seen, (n, m) = observation, observation.shape
    n_known = np.bincount(seen.i[seen.outside], minlength=n) + seen.n_columns
    n_known[seen.row_index] = m
    some = np.flatnonzero(n_known >= m - len(seen.forbidden.columns))
    columns = seen.forbidden.open_rows_and_columns(seen.shape)[1]
    return some[~np.isnan(values_at(seen, some, columns)).any(axis=1)]
