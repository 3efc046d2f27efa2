r"""The additive model: a constant, an offset for each row and one for each column.

.. math:: M_{ij} \approx \mu + a_i + b_j

An offset is shrunk towards zero, more if its row has few cells: with k cells of noise :math:`\sigma^2` and offsets
of variance :math:`\tau^2`, it is the sum of their residuals divided by :math:`k + \sigma^2 / \tau^2` (the best linear
unbiased prediction of a random effect [1]_). The three variances start from the analysis of variance and are improved
by steps of an EM algorithm. If offsets cannot be separated from noise, the start has no offsets, and EM adds none.

References
----------
.. [1] G. K. Robinson. That BLUP is a good thing: the estimation of random effects. Statistical Science, 1991.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import FloatArray, IndexVector
from ..observation import Entries

__all__ = ["AdditiveModel", "additive_model"]

MOST_EM_STEPS, STEADY_VARIANCE = 100, 1e-3  # until no variance changes by more than this fraction
NEGLIGIBLE_VARIANCE = 1e-12  # of the variance of the cells, below which a variance counts as this


class AdditiveModel(NamedTuple):
    """The matrix ``constant + rows[:, None] + columns``."""

    constant: float
    rows: FloatArray  # (n,)
    columns: FloatArray  # (m,)
    noise: float  # variance of a cell around it

    def at(self, i: IndexVector, j: IndexVector) -> FloatArray:
        """Values at ``(i[t], j[t])``."""
        return self.constant + self.rows[i] + self.columns[j]

    def residual(self, entries: Entries) -> Entries:
        """What is left of some entries."""
        return entries.with_values(entries.values - self.at(entries.i, entries.j))

    def factors(self) -> tuple[FloatArray, FloatArray]:
        """Two factors, of shape (n, 2) and (m, 2), with this matrix as their product."""
        n, m = len(self.rows), len(self.columns)
        return np.column_stack([self.constant + self.rows, np.ones(n)]), np.column_stack([np.ones(m), self.columns])


def additive_model(entries: Entries, most_steps: int = MOST_EM_STEPS) -> AdditiveModel:
    """The additive model of weighted entries; a row without entries has offset zero."""
    values, weights = np.asarray(entries.values, dtype=np.float64), np.asarray(entries.weights)
    constant = float(np.average(values, weights=weights)) if len(values) else 0.0
    variance = float(np.average((values - constant) ** 2, weights=weights)) if len(values) else 0.0
    floor = NEGLIGIBLE_VARIANCE * variance
    sides = [
        _SideOffsets(index, size, weights, values - constant, floor)
        for index, size in zip((entries.i, entries.j), entries.shape, strict=True)
    ]
    if variance == 0:
        return AdditiveModel(constant, sides[0].of_all(), sides[1].of_all(), 0.0)
    noise = max(variance - sides[0].variance - sides[1].variance, variance / 10)
    total = float(np.sum(weights))
    for _ in range(most_steps):
        before = (noise, *(side.variance for side in sides))
        for side, other in (sides, sides[::-1]):
            constant += side.update(values - constant - other.at_entries(), noise, floor)
        rest = values - sides[0].at_entries() - sides[1].at_entries()
        constant = float(np.average(rest, weights=weights))
        freedom = max(total - sides[0].freedom - sides[1].freedom, total / 10)
        noise = max(float(np.sum(weights * (rest - constant) ** 2)) / freedom, floor)
        now = (noise, *(side.variance for side in sides))
        if all(abs(a / b - 1) < STEADY_VARIANCE for a, b in zip(now, before, strict=True)):
            break
    return AdditiveModel(constant, sides[0].of_all(), sides[1].of_all(), noise)


class _SideOffsets:
    """The offsets of the rows that have entries, or of the columns."""

    def __init__(
        self, index: IndexVector, size: int, weights: FloatArray, deviations: FloatArray, floor: float
    ) -> None:
        self._hit = np.zeros(size, dtype=bool)
        self._hit[index] = True
        self._index, self._weights = (np.cumsum(self._hit) - 1)[index], weights
        self._known = np.bincount(self._index, weights)  # total weight of the cells of each
        self._offsets: FloatArray = np.zeros(len(self._known))
        self.variance, self.freedom = max(self._variance_between(deviations), floor), 0.0

    def _variance_between(self, deviations: FloatArray) -> float:
        """Variance of the offsets by the analysis of variance of one factor, of those with more than one cell.

        It is zero if there are fewer than two of them: offsets cannot be separated from noise then.
        """
        repeated = np.bincount(self._index, minlength=len(self._known)) > 1
        groups, known = int(np.count_nonzero(repeated)), self._known[repeated]
        total = float(np.sum(known))
        if total - groups < 1 or groups < 2:
            return 0.0
        means = np.bincount(self._index, self._weights * deviations)[repeated] / known
        sums = np.bincount(self._index, self._weights * deviations**2)[repeated]
        within = max(float(np.sum(sums - known * means**2)), 0.0)
        between = float(np.sum(known * (means - np.average(means, weights=known)) ** 2))
        size = (total - float(np.sum(known**2)) / total) / (groups - 1)
        return max(between / (groups - 1) - within / (total - groups), 0.0) / max(size, 1.0)

    def at_entries(self) -> FloatArray:
        """The offset at each entry."""
        offsets: FloatArray = self._offsets[self._index]
        return offsets

    def of_all(self) -> FloatArray:
        """The offsets of all rows: zero for those without entries."""
        offsets = np.zeros(len(self._hit))
        offsets[self._hit] = self._offsets
        return offsets

    def update(self, residuals: FloatArray, noise: float, floor: float) -> float:
        """Offsets for the residuals of the other side, and their variance; returns their mean, part of the constant."""
        known = self._known + noise / self.variance
        self._offsets = np.bincount(self._index, self._weights * residuals) / known
        self.freedom = float(np.sum(self._known / known))
        mean = float(np.mean(self._offsets))  # zero at the optimum
        self._offsets -= mean
        self.variance = max(
            float(np.mean(self._offsets**2 + noise / known)), floor
        )  # with the posterior variance of each
        return mean
