r"""What rows have in common, where a row has few entries or none.

The means of rows spread around a common mean, or around a straight line in the mean of what the sampled columns show of
each row, with a standard deviation :math:`\tau`. That is the model of Fay and Herriot (1979) for small areas: an
estimate of variance :math:`v_i` is pulled towards the line by :math:`B_i = v_i / (v_i + \tau^2)`, and a row without
entries lies around the line. With entries enough, :math:`B_i` is small and nothing is assumed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray
from .row_sums import RowSample

__all__ = ["RowEffects", "Variances", "pooled_variances", "row_effects"]

STEPS = 100
ROUNDING = 1e-28  # share of the squares that is rounding error
LEAST_FREEDOM = 4.0  # of what rows have in common of their variances: fewer would have no variance


class Variances(NamedTuple):
    """Variance of the estimated mean of each row."""

    of_mean: FloatArray  # (n,), infinite without entries
    freedom: FloatArray  # (n,), degrees of freedom


def pooled_variances(rows: RowSample) -> Variances:
    r"""Variances of single errors, pulled towards that of all rows.

    .. math:: \tilde s_i^2 = \frac{d_0 s_0^2 + (n_i - 1) s_i^2}{d_0 + n_i - 1}

    The prior degrees of freedom follow from how far the variances of rows differ beyond chance (Smyth 2004).
    """
    freedom = np.maximum(rows.n_entries - 1, 0.0)
    own = np.where(np.isnan(rows.spread), 0.0, rows.spread)
    total = max(float(np.sum(freedom)), np.finfo(float).tiny)
    common = float(np.sum(freedom * own)) / total
    chance = np.where(np.isnan(rows.spread_error), 0.0, rows.spread_error)
    between = float(np.sum(freedom * ((own - common) ** 2 - chance))) / total
    prior = min(LEAST_FREEDOM + 2 * common**2 / max(between, np.finfo(float).tiny), total)
    spread = (prior * common + freedom * own) / (prior + freedom)
    with np.errstate(divide="ignore"):
        return Variances(np.where(rows.n_entries > 0, spread * rows.unread / rows.n_entries, np.inf), prior + freedom)


class RowEffects(NamedTuple):
    """Means of the rest of each row, with what all rows have in common."""

    mean: FloatArray  # (n,)
    variance: FloatArray  # (n,), of its error
    shrinkage: FloatArray  # (n,), how far each estimate was pulled towards the line: B
    spread: float  # standard deviation tau of rows around the line
    freedom: float  # rows that tell it
    covariates: FloatArray  # (n, q)
    line: FloatArray  # (q, n), coefficients of the line in terms of the estimates


def row_effects(mean: FloatArray, variance: FloatArray, covariates: FloatArray) -> RowEffects:
    """Fit the line and the spread around it; rows without an estimate have an infinite variance."""
    told = np.isfinite(variance)
    design, y = covariates[told], mean[told]
    v = np.maximum(variance[told], ROUNDING * float(np.mean(y**2)) + np.finfo(float).tiny)
    freedom = max(len(y) - design.shape[1], 0)
    between = _between(design, y, v, freedom)
    weights = 1 / (v + between)
    inverse = np.linalg.pinv((design.T * weights) @ design)
    line = np.zeros((covariates.shape[1], len(mean)))
    line[:, told] = inverse @ (design.T * weights)
    common = covariates @ (line[:, told] @ y)
    with np.errstate(invalid="ignore"):
        shrinkage = np.where(told, variance / np.maximum(variance + between, np.finfo(float).tiny), 1.0)
    around = np.einsum("ip,pq,iq->i", covariates, inverse, covariates)  # variance of the line
    own = np.where(told, variance, 0.0) * (1 - shrinkage) + shrinkage * between * ~told
    pulled = np.where(told, common + (1 - shrinkage) * (np.where(told, mean, 0.0) - common), common)
    variances = own + shrinkage**2 * around
    return RowEffects(pulled, variances, shrinkage, math.sqrt(between), freedom, covariates, line)


def _between(design: FloatArray, y: FloatArray, v: FloatArray, freedom: int) -> float:
    """Variance of rows around the line, from above: the root of Fay and Herriot's equation, by bisection.

    The squares around the line are compared with one standard deviation less than is expected of them, so that rows
    which happen to lie close to it promise nothing.
    """
    expected = max(freedom - math.sqrt(2 * freedom), freedom / 10, 0.1)

    def excess(between: float) -> float:
        weights = np.sqrt(1 / (v + between))
        left = weights[:, None] * design
        right = weights * y
        rest = right - left @ np.linalg.lstsq(left, right, rcond=None)[0]
        return float(rest @ rest) - expected

    low, high = 0.0, float(np.sum((y - np.mean(y)) ** 2)) / expected
    if freedom < 1 or excess(low) <= 0:
        return 0.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high
