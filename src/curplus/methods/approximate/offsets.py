r"""The additive model: a constant, an offset for each row and one for each column.

.. math:: M_{ij} \approx \mu + a_i + b_j

An offset is shrunk towards zero by how little is known of its row: with k entries of noise :math:`\sigma^2` and offsets
of variance :math:`\tau^2`, it is the sum of their residuals divided by :math:`k + \sigma^2 / \tau^2`. The three
variances are found from the entries themselves, by the steps of an EM algorithm.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._arrays import array_namespace, to_numpy
from ..._typing import FloatArray, IndexVector
from ...factorization import Factorization
from ...observation import Entries

__all__ = ["Offsets", "additive_model", "no_offsets", "offsets_of"]

MOST_STEPS, STEADY = 100, 1e-4  # until no variance changes by more than this fraction
NEGLIGIBLE = 1e-12  # of the variance of the entries, below which a variance counts as this


class Offsets(NamedTuple):
    """The matrix ``constant + rows[:, None] + columns``."""

    constant: float
    rows: FloatArray  # (n,)
    columns: FloatArray  # (m,)
    noise: float  # variance of an entry around it

    def at(self, i: IndexVector, j: IndexVector) -> FloatArray:
        """Values at ``(i[t], j[t])``."""
        return self.constant + self.rows[i] + self.columns[j]

    def residual(self, entries: Entries) -> Entries:
        """What is left of some entries."""
        return entries.with_values(entries.values - self.at(entries.i, entries.j))

    def factors(self) -> tuple[FloatArray, FloatArray]:
        """Two factors, of shape (n, 2) and (m, 2), whose product it is."""
        n, m = len(self.rows), len(self.columns)
        return np.column_stack([self.constant + self.rows, np.ones(n)]), np.column_stack([np.ones(m), self.columns])


def additive_model(entries: Entries, most_steps: int = MOST_STEPS) -> Offsets:
    """The additive model of weighted entries; a row without entries has offset zero."""
    values, weights = np.asarray(entries.values, dtype=np.float64), np.asarray(entries.weights)
    constant = float(np.average(values, weights=weights)) if len(values) else 0.0
    variance = float(np.average((values - constant) ** 2, weights=weights)) if len(values) else 0.0
    sides = [
        _Side(entries.i, entries.shape[0], weights, variance),
        _Side(entries.j, entries.shape[1], weights, variance),
    ]
    if variance == 0:
        return Offsets(constant, sides[0].of_all(), sides[1].of_all(), 0.0)
    floor, noise, total = NEGLIGIBLE * variance, variance / 3, float(np.sum(weights))
    for _ in range(most_steps):
        before = (noise, *(side.variance for side in sides))
        for side, other in (sides, sides[::-1]):
            constant += side.update(values - constant - other.at_entries(), noise, floor)
        rest = values - sides[0].at_entries() - sides[1].at_entries()
        constant = float(np.average(rest, weights=weights))
        freedom = max(total - sides[0].freedom - sides[1].freedom, total / 10)
        noise = max(float(np.sum(weights * (rest - constant) ** 2)) / freedom, floor)
        now = (noise, *(side.variance for side in sides))
        if all(abs(a / b - 1) < STEADY for a, b in zip(now, before, strict=True)):
            break
    return Offsets(constant, sides[0].of_all(), sides[1].of_all(), noise)


def no_offsets(entries: Entries) -> Offsets:
    """Zero, for those who want no offsets."""
    n, m = entries.shape
    return Offsets(0.0, np.zeros(n), np.zeros(m), math.nan)


def offsets_of(approximation: Factorization) -> Offsets:
    """The means of the rows and columns of an approximation, as offsets."""
    Z = approximation.core.Z
    xp, left, right = array_namespace(Z), approximation.left.vectors, approximation.right.vectors
    of_rows = to_numpy(left @ (Z @ xp.mean(right, axis=0)))
    of_columns = to_numpy(right @ (Z.T @ xp.mean(left, axis=0)))
    constant = float(of_rows.mean())
    return Offsets(constant, of_rows - constant, of_columns - constant, math.nan)


class _Side:
    """The offsets of the rows that have entries, or of the columns."""

    def __init__(self, index: IndexVector, size: int, weights: FloatArray, variance: float) -> None:
        self._hit = np.zeros(size, dtype=bool)
        self._hit[index] = True
        self._index, self._weights = (np.cumsum(self._hit) - 1)[index], weights
        self._known = np.bincount(self._index, weights)  # how much is known of each
        self._offsets: FloatArray = np.zeros(len(self._known))
        self.variance, self.freedom = variance / 3, 0.0

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
        self.variance = max(float(np.mean(self._offsets**2 + noise / known)), floor)  # and what is not known of each
        return mean
