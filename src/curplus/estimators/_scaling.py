r"""Columns of different units, made comparable.

A standard deviation from k values is uncertain by about :math:`1 / \sqrt{2 k}` of itself, a mean by
:math:`\sigma / \sqrt{k}`. Both are therefore pulled towards what the other columns show, by as much as these agree: a
column with two ratings gets nearly the scale of all, and a column in dollars keeps its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from .._typing import FloatArray
from ._tables import blocks_of_rows, known_cells

__all__ = ["ColumnMoments", "ColumnScale", "column_moments", "column_scale"]

STEPS = 30  # of the search for the spread between columns
DIFFERENT_UNITS = 1.0  # spread of the logarithms of standard deviations from which on units differ


class ColumnMoments(NamedTuple):
    """What is known of each column."""

    counts: FloatArray  # (m,), known values
    means: FloatArray  # (m,), 0 for an empty column
    variances: FloatArray  # (m,), around the mean; 0 for an empty column


class ColumnScale(NamedTuple):
    """The change of units ``(X - shift) / scale``, one shift and one scale for each column."""

    shift: FloatArray  # (m,)
    scale: FloatArray  # (m,), positive

    def __call__(self, table: Any) -> Any:
        """The table in comparable units; the input itself where there is nothing to change."""
        if not self.changes:
            return table
        if scipy.sparse.issparse(table):
            i, j, values = known_cells(table)
            return scipy.sparse.csr_array(((values - self.shift[j]) / self.scale[j], (i, j)), shape=table.shape)
        changed: FloatArray = np.empty_like(table)
        np.subtract(table, self.shift, out=changed, casting="same_kind")
        return np.divide(changed, self.scale, out=changed, casting="same_kind")

    def back(self, table: FloatArray) -> FloatArray:
        """The table in the units of the user."""
        return table * self.scale + self.shift if self.changes else table

    def part(self, columns: Any) -> ColumnScale:
        """The change of units of some columns."""
        return ColumnScale(self.shift[columns], self.scale[columns])

    def then(self, other: ColumnScale) -> ColumnScale:
        """The change of units that makes this one, and after it another one."""
        return ColumnScale(self.shift + self.scale * other.shift, self.scale * other.scale)

    @property
    def changes(self) -> bool:
        """Whether there is anything to change."""
        return bool(np.any(self.shift) or np.any(self.scale != 1))


def column_moments(table: Any) -> ColumnMoments:
    """Counts, means and variances of the known values of a table with NaN at gaps; in double, block by block.

    Values are summed up as differences from the first of their column: a constant column has no variance at all.
    """
    n, m = table.shape
    if scipy.sparse.issparse(table):
        return _moments_of_stored(table)
    first, counts, sums, squares = np.full(m, np.nan), np.zeros(m), np.zeros(m), np.zeros(m)
    for rows in blocks_of_rows((n, m)):
        known = ~np.isnan(table[rows])
        first = np.where(np.isnan(first), table[rows][np.argmax(known, axis=0), np.arange(m)], first)
        counts += np.count_nonzero(known, axis=0)
        sums += np.nansum(table[rows] - first, axis=0, dtype=np.float64)
    means = np.where(counts > 0, first + sums / np.maximum(counts, 1), 0.0)
    for rows in blocks_of_rows((n, m)):
        squares += np.nansum((table[rows] - means) ** 2, axis=0, dtype=np.float64)
    return ColumnMoments(counts, means, squares / np.maximum(counts, 1))


def _moments_of_stored(matrix: Any) -> ColumnMoments:
    _, j, values = known_cells(matrix)
    m = matrix.shape[1]
    counts = np.bincount(j, minlength=m).astype(np.float64)
    first = np.zeros(m)
    first[j[::-1]] = values[::-1]  # of several, the last that is put stays
    means = first + np.bincount(j, values - first[j], minlength=m) / np.maximum(counts, 1)
    squares = np.bincount(j, (values - means[j]) ** 2, minlength=m)
    return ColumnMoments(counts, means, squares / np.maximum(counts, 1))


def column_scale(moments: ColumnMoments, standardize: bool | str) -> ColumnScale:
    """Shift and scale for each column; none where the columns have one unit and ``standardize`` is "auto"."""
    m = len(moments.counts)
    log_scale, spread = _log_scales(moments)
    if standardize is False or (standardize == "auto" and spread <= DIFFERENT_UNITS):
        return ColumnScale(np.zeros(m), np.ones(m))
    scale = np.exp(log_scale)
    return ColumnScale(_shrunken_means(moments, scale), scale)


def _log_scales(moments: ColumnMoments) -> tuple[FloatArray, float]:
    """Logarithms of the standard deviations, shrunk, and how far they spread; constant columns have the common one."""
    freedom = moments.counts - 1
    used = (freedom > 0) & (moments.variances > _rounding(moments))
    if not used.any():
        return np.zeros(len(used)), 0.0
    sample = moments.variances[used] * moments.counts[used] / freedom[used]
    centre, shrunk, spread = _shrunk(np.log(sample) / 2, 0.5 / freedom[used])
    log_scale = np.full(len(used), centre)
    log_scale[used] = shrunk
    return log_scale, spread


def _rounding(moments: ColumnMoments) -> FloatArray:
    """Variances that rounding alone can make."""
    return (8 * np.finfo(np.float64).eps * np.abs(moments.means)) ** 2


def _shrunken_means(moments: ColumnMoments, scale: FloatArray) -> FloatArray:
    known = moments.counts > 0
    means = moments.means.copy()
    means[known] = _shrunk(moments.means[known], scale[known] ** 2 / moments.counts[known])[1]
    return means


def _shrunk(values: FloatArray, noise: FloatArray) -> tuple[float, FloatArray, float]:
    """Centre, values pulled towards it by their noise (a variance), and their standard deviation without noise."""
    unit = float(np.ptp(values)) or 1.0
    x, noise = values / unit, noise / unit / unit
    between = float(np.var(x))
    centre = float(np.mean(x))
    for _ in range(STEPS):
        weights = 1 / (noise + between + 1e-12)
        centre = float(np.average(x, weights=weights))
        between = max(float(np.average((x - centre) ** 2 - noise, weights=weights**2)), 0.0)
    kept = between / (between + noise + 1e-300)
    return centre * unit, (centre + kept * (x - centre)) * unit, float(np.sqrt(between)) * unit
