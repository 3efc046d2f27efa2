r"""How large errors are at each place: a scale for every row times one for every column.

.. math:: s_{ij} = g \, r_i \, c_j

Rows with few known values are predicted worse, so rows are first grouped by their number of known values, and each
group has a factor. The factor of a row is then shrunk towards that of its group, more if the row has few errors;
columns alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray, IndexVector

__all__ = ["EntryScale", "fit_scale"]

ENTRY_GROUPS = 10  # of rows, or columns, by their number of known values
SCALE_SWEEPS = 3  # rows and columns in turn
LEAST_STRENGTH, MOST_STRENGTH = 2.0, 1e6  # records that a prior is worth


class ScaleFactors(NamedTuple):
    """Sums of relative errors over records, by row or by column, and the factors that they are shrunk towards."""

    prior: FloatArray  # (n,), factor of each row's group
    sums: FloatArray  # (n,), of errors relative to everything else
    counts: FloatArray  # (n,), records, by weight
    strength: float  # records that the prior is worth

    def at(self, index: IndexVector, without: tuple[FloatArray, FloatArray] | None = None) -> FloatArray:
        """The factor at some rows; ``without`` the contribution and the weight of one record each."""
        own, weight = (0.0, 0.0) if without is None else without
        sums, counts = np.maximum(self.sums[index] - own, 0.0), np.maximum(self.counts[index] - weight, 0.0)
        factor: FloatArray = (self.prior[index] * self.strength + sums) / (self.strength + counts)
        return factor


@dataclass(frozen=True, eq=False)
class EntryScale:
    """The scale of errors at every place."""

    size: float  # g, the mean magnitude
    rows: ScaleFactors
    columns: ScaleFactors

    def at(self, i: IndexVector, j: IndexVector) -> FloatArray:
        """The scale at some places."""
        scale: FloatArray = self.size * self.rows.at(i) * self.columns.at(j)
        return scale

    def without_own(self, i: IndexVector, j: IndexVector, magnitudes: FloatArray, weights: FloatArray) -> FloatArray:
        """The scale at the places of records, each as if its own error had not been known."""
        rows, columns = self.rows.at(i), self.columns.at(j)
        relative = weights * magnitudes / self.size
        return (
            self.size * self.rows.at(i, (relative / columns, weights)) * self.columns.at(j, (relative / rows, weights))
        )


def fit_scale(
    magnitudes: FloatArray, i: IndexVector, j: IndexVector, weights: FloatArray, known: tuple[FloatArray, FloatArray]
) -> EntryScale:
    """The scale of errors, from magnitudes at records, weights of mean one, and numbers of ``known`` values by side."""
    size = float(np.average(magnitudes, weights=weights)) or 1.0
    relative = magnitudes / size
    rows = ScaleFactors(np.ones(len(known[0])), np.zeros(len(known[0])), np.zeros(len(known[0])), 1.0)
    columns = ScaleFactors(np.ones(len(known[1])), np.zeros(len(known[1])), np.zeros(len(known[1])), 1.0)
    for _ in range(SCALE_SWEEPS):
        rows = _factors(relative / columns.at(j), i, weights, known[0])
        columns = _factors(relative / rows.at(i), j, weights, known[1])
    return EntryScale(size, rows, columns)


def _factors(relative: FloatArray, index: IndexVector, weights: FloatArray, known: FloatArray) -> ScaleFactors:
    """The factors of rows, or of columns, from errors relative to those of the others."""
    group = _groups(known)
    common = _pulled(relative, group[index], weights, np.ones(int(np.max(group)) + 1))
    return _pulled(relative, index, weights, common.at(group))


def _groups(known: FloatArray) -> IndexVector:
    """Rows grouped by their number of known values, about as many rows in each group, shape (n,)."""
    edges = np.unique(np.quantile(known, np.arange(1, ENTRY_GROUPS) / ENTRY_GROUPS))
    group: IndexVector = np.searchsorted(edges, known, side="right")
    return group


def _pulled(relative: FloatArray, label: IndexVector, weights: FloatArray, prior: FloatArray) -> ScaleFactors:
    """Factors of labels, with the strength of the prior that their differences beyond chance imply."""
    n = len(prior)
    counts: FloatArray = np.bincount(label, weights, n).astype(np.float64)
    sums: FloatArray = np.bincount(label, weights * relative, n).astype(np.float64)
    means = sums / np.maximum(counts, np.finfo(float).tiny)
    within = float(np.sum(weights * (relative - means[label]) ** 2)) / max(float(np.sum(counts)) - n, 1.0)
    between = float(np.sum(counts * (means - prior) ** 2) - within * n) / max(float(np.sum(counts)), 1.0)
    strength = within / max(between, within / MOST_STRENGTH, np.finfo(float).tiny)
    return ScaleFactors(prior, sums, counts, max(strength, LEAST_STRENGTH))
