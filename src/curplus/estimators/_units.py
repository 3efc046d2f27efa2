r"""Columns of different units (years, dollars, shares), made comparable.

The standard deviation of k values is uncertain by about :math:`1 / \sqrt{2 k}` of itself. It is therefore shrunk
towards those of the other columns, more if these agree: a column with two ratings gets nearly the scale of all,
and a column in dollars keeps its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from .._typing import FloatArray, IndexVector

__all__ = ["Columns", "Units"]

# Standard deviation of the logarithms of those of the columns: 1.46 for the pixels of digits, which are filled better
# as they are; 1.96, 3.4 and more for tables of several units, which are not (benchmarks/imputation.py small).
DIFFERENT = 1.7


class Columns(NamedTuple):
    """Counts, means and variances of the columns of a table."""

    counts: IndexVector  # (m,), known values
    means: FloatArray  # (m,), 0 for an empty column
    variances: FloatArray  # (m,), around the mean; 0 for an empty column, and for a constant one to the last bit

    @classmethod
    def of(cls, table: Any) -> Columns:
        """The known values of each column, summed up as differences from the last one."""
        if scipy.sparse.issparse(table):
            stored = scipy.sparse.coo_array(table)
            j, values = stored.coords[1], stored.data.astype(np.float64)
        else:
            i, j = np.nonzero(~np.isnan(table))
            values = table[i, j].astype(np.float64)
        m = table.shape[1]
        counts, last = np.bincount(j, minlength=m), np.zeros(m)
        last[j] = values
        means = last + np.bincount(j, values - last[j], m) / np.maximum(counts, 1)
        return cls(counts, means, np.bincount(j, (values - means[j]) ** 2, m) / np.maximum(counts, 1))

    def spreads(self) -> tuple[FloatArray, float]:
        """Shrunk standard deviations (m,), those of constant columns alike, and how much their logarithms differ."""
        freedom = self.counts - 1
        used = (freedom > 0) & (self.variances > 0)
        if not used.any():
            return np.ones(len(used)), 0.0
        freedom = freedom[used]
        logs, noise = np.log(self.variances[used] * (freedom + 1) / freedom) / 2, 0.5 / freedom
        centre = float(np.average(logs, weights=freedom))
        between = max(float(np.average((logs - centre) ** 2 - noise, weights=freedom)), 0.0)
        shrunk = np.full(len(used), centre)
        shrunk[used] += between / (between + noise) * (logs - centre)
        return np.exp(shrunk), float(np.sqrt(between))


class Units(NamedTuple):
    """The change of units ``(table - shift) / scale``, one shift and one scale for each column."""

    shift: FloatArray  # (m,)
    scale: FloatArray  # (m,), positive

    @classmethod
    def of(cls, columns: Columns, standardize: bool | str) -> Units:
        """Those of the columns; none if they have one unit and ``standardize`` is "auto"."""
        spreads, difference = columns.spreads()
        if standardize is True or (standardize == "auto" and difference > DIFFERENT):
            return cls(columns.means, spreads)
        return cls(np.zeros(len(spreads)), np.ones(len(spreads)))

    def __call__(self, table: Any) -> Any:
        """The table in comparable units; the input itself if there is nothing to change."""
        if not np.any(self.shift) and np.all(self.scale == 1):
            return table
        if scipy.sparse.issparse(table):
            stored = scipy.sparse.coo_array(table)
            i, j = stored.coords
            return scipy.sparse.csr_array(((stored.data - self.shift[j]) / self.scale[j], (i, j)), shape=table.shape)
        return ((table - self.shift) / self.scale).astype(table.dtype, copy=False)

    def back(self, table: FloatArray) -> FloatArray:
        """The table in the units of the user."""
        return table * self.scale + self.shift
