r"""The additive model: a constant, an offset for each row and one for each column.

.. math:: M_{ij} \approx \mu + a_i + b_j

An offset is shrunk towards zero, more if its row has few cells: with k cells of noise :math:`\sigma^2` and offsets
of variance :math:`\tau^2`, it is the sum of their residuals divided by :math:`k + \sigma^2 / \tau^2` (the best linear
unbiased prediction of a random effect [1]_). The three variances start from the analysis of variance and are improved
by steps of an EM algorithm. If offsets cannot be separated from noise, the start has no offsets, and EM adds none.
Of complex values, offsets are complex, and variances are those of magnitudes.

References
----------
.. [1] G. K. Robinson. That BLUP is a good thing: the estimation of random effects. Statistical Science, 1991.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._arrays import abs_squared, conjugate, distinct, double, gather, is_complex, to_numpy
from .._support.sets import different, evenly_spaced, is_in
from .._typing import FloatArray, IndexVector
from ..observation import Entries, Observation

__all__ = ["AdditiveModel", "additive_model", "additive_without"]

MOST_OF_SAMPLES = 100_000  # cost: cells of rows, and of columns, that the baseline of a certificate is fitted to
MOST_EM_STEPS, STEADY_VARIANCE = 100, 1e-3  # steps: until no variance changes by more than this fraction
NEGLIGIBLE_VARIANCE = 1e-12  # rounding: of the variance of the cells, below which a variance counts as this


class AdditiveModel(NamedTuple):
    """The matrix ``constant + rows[:, None] + columns``."""

    constant: Any
    rows: FloatArray  # (n,)
    columns: FloatArray  # (m,)
    noise: float  # variance of a cell around it

    def at(self, i: IndexVector, j: IndexVector) -> FloatArray:
        """Values at ``(i[t], j[t])``."""
        values: FloatArray = self.constant + self.rows[i] + self.columns[j]
        return values

    def residual(self, entries: Entries) -> Entries:
        """What is left of some entries."""
        return entries.with_values(entries.values - self.at(entries.i, entries.j))

    def factors(self) -> tuple[FloatArray, FloatArray]:
        """Two factors, of shape (n, 2) and (m, 2): it is ``left @ right.H``."""
        left = np.column_stack([self.constant + self.rows, np.ones(len(self.rows))])
        return left, np.column_stack([np.ones(len(self.columns)), conjugate(self.columns)])


def additive_without(observation: Observation, left_out: IndexVector, unit: float = 1.0) -> AdditiveModel:
    """The additive model of what was read, in units, without the places of some records; of many rows, some cells.

    Rows and columns are not copied, so they may be arrays of any library.
    """
    o, (n, m) = observation, observation.shape
    others = o.outside.copy()
    others[left_out] = False
    kept = np.flatnonzero(others)
    if o.entries.has_repeats:
        place = o.entries.flat_index
        kept = kept[~is_in(place[kept], different(place[left_out]))]
    i, j, values = [o.i[kept]], [o.j[kept]], [to_numpy(o.values)[kept]]
    for lines, index, width, turn in ((o.rows, o.row_index, m, False), (o.columns.T, o.column_index, n, True)):
        size = len(index) * width
        a, b = np.divmod(evenly_spaced(size, MOST_OF_SAMPLES), width)
        found = to_numpy(gather(lines, a, b))
        kept = ~np.isnan(found) & ~(is_in(b, np.sort(o.row_index)) if turn else np.zeros(len(b), dtype=bool))
        values.append(found[kept])
        i.append((b if turn else index[a])[kept])
        j.append((index[a] if turn else b)[kept])
    known = np.concatenate(values) / unit
    return additive_model(Entries(o.shape, np.concatenate(i), np.concatenate(j), known, weights=np.ones(len(known))))


def additive_model(entries: Entries) -> AdditiveModel:
    """The additive model of weighted entries; a row without entries has offset zero."""
    values, weights = double(np.asarray(entries.values)), np.asarray(entries.weights)
    constant = np.average(values, weights=weights).item() if len(values) else 0.0
    variance = float(np.average(abs_squared(values - constant), weights=weights)) if len(values) else 0.0
    floor = NEGLIGIBLE_VARIANCE * variance
    sides = [
        _SideOffsets(index, size, weights, values - constant, floor)
        for index, size in zip((entries.i, entries.j), entries.shape, strict=True)
    ]
    if variance == 0:
        return AdditiveModel(constant, sides[0].of_all(), sides[1].of_all(), 0.0)
    noise = max(variance - sides[0].variance - sides[1].variance, variance / 10)  # steps: where they begin
    total = float(np.sum(weights))
    for _ in range(MOST_EM_STEPS):
        before = (noise, *(side.variance for side in sides))
        for side, other in (sides, sides[::-1]):
            constant += side.update(values - constant - other.at_entries(), noise, floor)
        rest = values - sides[0].at_entries() - sides[1].at_entries()
        constant = np.average(rest, weights=weights).item()
        freedom = max(total - sides[0].freedom - sides[1].freedom, total / 10)  # steps: it stays positive
        noise = max(float(np.sum(weights * abs_squared(rest - constant))) / freedom, floor)
        now = (noise, *(side.variance for side in sides))
        if all(abs(a / b - 1) < STEADY_VARIANCE for a, b in zip(now, before, strict=True)):
            break
    return AdditiveModel(constant, sides[0].of_all(), sides[1].of_all(), noise)


class _SideOffsets:
    """The offsets of the rows that have entries, or of the columns."""

    def __init__(
        self, index: IndexVector, size: int, weights: FloatArray, deviations: FloatArray, floor: float
    ) -> None:
        self._hit, self._index = distinct(index, size)
        self._size, self._weights = size, weights
        self._known = np.bincount(self._index, weights)  # total weight of the cells of each
        self._offsets: FloatArray = np.zeros(len(self._known), dtype=deviations.dtype)
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
        means = _sums_by(self._index, self._weights * deviations)[repeated] / known
        sums = np.bincount(self._index, self._weights * abs_squared(deviations))[repeated]
        within = max(float(np.sum(sums - known * abs_squared(means))), 0.0)
        between = float(np.sum(known * abs_squared(means - np.average(means, weights=known))))
        size = (total - float(np.sum(known**2)) / total) / (groups - 1)
        return max(between / (groups - 1) - within / (total - groups), 0.0) / max(size, 1.0)

    def at_entries(self) -> FloatArray:
        """The offset at each entry."""
        offsets: FloatArray = self._offsets[self._index]
        return offsets

    def of_all(self) -> FloatArray:
        """The offsets of all rows: zero for those without entries."""
        offsets = np.zeros(self._size, dtype=self._offsets.dtype)
        offsets[self._hit] = self._offsets
        return offsets

    def update(self, residuals: FloatArray, noise: float, floor: float) -> Any:
        """Offsets for the residuals of the other side, and their variance; returns their mean, part of the constant."""
        known = self._known + noise / self.variance
        self._offsets = _sums_by(self._index, self._weights * residuals) / known
        self.freedom = float(np.sum(self._known / known))
        mean = np.mean(self._offsets).item()  # zero at the optimum
        self._offsets -= mean
        self.variance = max(
            float(np.mean(abs_squared(self._offsets) + noise / known)), floor
        )  # with the posterior variance of each
        return mean


def _sums_by(index: IndexVector, x: FloatArray) -> FloatArray:
    """Sums of the numbers of each index."""
    if is_complex(x):
        return np.asarray(np.bincount(index, x.real) + 1j * np.bincount(index, x.imag))
    return np.asarray(np.bincount(index, x))
