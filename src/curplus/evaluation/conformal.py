"""Scores: errors at held-out entries, relative to the scale of errors at their places, and intervals from them.

The score of a predicted entry has the same distribution as those of held-out entries, if both were drawn alike. So a
quantile of the scores, times the scale at its place, bounds its error: conformal prediction.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray, IndexVector
from .entry_scale import EntryScale, fit_scale

__all__ = ["Scores", "fit_scores", "weighted_quantile"]


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
    place = int(np.searchsorted(reached, wanted * (1 - 1e-12)))
    return float(scores[order[place]]) if place < len(order) else math.inf
