r"""How large errors are at each place: a scale for every row times one for every column.

.. math:: s_{ij} = g \, r_i \, c_j

Rows with few known values are predicted worse, so rows are first grouped by their number of known values, and each
group has a factor. The factor of a row is then shrunk towards that of its group, more if the row has few errors;
columns alike.

A score is an error relative to the scale at its place. If a predicted entry and held-out entries were drawn alike,
their scores have the same distribution. So a quantile of the scores, times the scale at its place, bounds its error:
conformal prediction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray, IndexVector

__all__ = ["EntryScale", "Scores", "fit_scale", "fit_scores", "weighted_quantile"]

ENTRY_GROUPS = 10  # usual: deciles of rows, or columns, by their number of known values
SCALE_SWEEPS = 3  # steps: rows and columns in turn
LEAST_STRENGTH = 2.0  # tuned: records that a prior is worth, at least
MOST_STRENGTH = 1e6  # rounding: and at most


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


class Scores(NamedTuple):
    """Scores of held-out entries, and the scale of errors everywhere."""

    values: FloatArray  # (h,), magnitudes of errors relative to their scale
    weights: FloatArray  # (h,), for how many places each stands
    scale: EntryScale
    unit: float  # of the scale

    def reach(self, i: IndexVector, j: IndexVector, level: float) -> tuple[FloatArray, str]:
        """How far intervals reach at some places; NaN, and the reason, if the scores are too few."""
        quantile = weighted_quantile(self.values, self.weights, level)
        if math.isinf(quantile):
            few = f"{len(self.values)} values were held out, too few for a level of {level:g}"
            return np.full(len(i), np.nan), few
        return quantile * self.scale.at(i, j) * self.unit, ""


def fit_scores(
    errors: FloatArray, i: IndexVector, j: IndexVector, weights: FloatArray, known: tuple[FloatArray, FloatArray]
) -> Scores:
    """Scores of errors at some places; ``known`` are the numbers of known values of each row and of each column."""
    magnitudes, weights = np.abs(errors), weights / np.mean(weights)
    unit = float(np.max(magnitudes, initial=0.0)) or 1.0
    scale = fit_scale(magnitudes / unit, i, j, weights, known)
    return Scores(magnitudes / unit / scale.without_own(i, j, magnitudes / unit, weights), weights, scale, unit)


def weighted_quantile(scores: FloatArray, weights: FloatArray, level: float) -> float:
    """The weighted quantile of the scores and of one more that is infinite; it may be infinite itself.

    The one more stands for the entry that is predicted; its weight is the largest of the others, to be safe.
    """
    order = np.argsort(scores)
    reached = np.cumsum(weights[order])
    wanted = level * (reached[-1] + float(np.max(weights)))
    place = int(np.searchsorted(reached, wanted * (1 - 1e-12)))  # rounding: of the sums
    return float(scores[order[place]]) if place < len(order) else math.inf
