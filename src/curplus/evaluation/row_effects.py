r"""Shrinkage of the means of rows, which matters if a row has few entries or none.

The means of rows spread around a common mean, or around a regression on the mean of the sampled columns of each row,
with a standard deviation :math:`\tau`. That is the model of Fay and Herriot (1979) for small areas: an estimate of
variance :math:`v_i` is shrunk towards the regression by :math:`B_i = v_i / (v_i + \tau^2)`, and a row without entries
gets the value of the regression. With many entries, :math:`B_i` is small and the model hardly matters.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray
from .effective_sample import FEWEST_FOR_T
from .row_sums import RowSample

__all__ = ["RowEffects", "Variances", "pooled_variances", "row_effects"]

BISECTIONS = 100  # steps: down to the rounding of any interval
ROUNDED_SQUARES = 1e-28  # rounding: share of the squares that is rounding error
LEAST_EXCESS = 1e-6  # rounding: kurtosis, and relative variance, so that nothing is divided by zero
DOUBT = 2.0  # usual: standard deviations by which squares around the regression may be too small by chance
# mathematics: degrees of freedom: with four, variances of rows have no variance and Student's t no kurtosis
LEAST_FREEDOM = 4.0


class Variances(NamedTuple):
    """Variance of the estimated mean of each row."""

    of_mean: FloatArray  # (n,), infinite without entries
    if_alike: FloatArray  # (n,), the same if the errors of all rows had one variance
    freedom: FloatArray  # (n,), degrees of freedom
    of_error: float  # variance of a single error, of all rows


def pooled_variances(rows: RowSample) -> Variances:
    r"""Variances of single errors, shrunk towards that of all rows.

    .. math:: \tilde s_i^2 = \frac{d_0 s_0^2 + (n_i - 1) s_i^2}{d_0 + n_i - 1}

    The prior degrees of freedom follow from how far the variances of rows differ beyond chance (Smyth 2004). If
    errors have heavy tails, so have means of few of them: an excess kurtosis of k leaves k / n, which is that of
    Student's t with 4 + 6 n / k degrees of freedom.
    """
    freedom = np.maximum(rows.n_entries - 1, 0.0)
    own = rows.second * rows.n_entries / np.maximum(freedom, 1.0)
    common = float(np.average(own, weights=freedom)) if np.any(freedom) else float(np.mean(rows.second))
    prior = _prior_freedom(rows, own, common, freedom)
    spread = (prior * common + freedom * own) / (prior + freedom)
    # mathematics: the excess kurtosis of Student's t with f degrees of freedom is 6 / (f - 4)
    tails = LEAST_FREEDOM + 6 * rows.n_entries / max(_excess_kurtosis(rows, spread), LEAST_EXCESS)
    of_mean, if_alike = (_times(variance, rows.factor) for variance in (spread, common))
    return Variances(of_mean, if_alike, np.minimum(prior + freedom, tails), common)


def _times(spread: FloatArray | float, each: FloatArray) -> FloatArray:
    """Products, infinite if the second factor is."""
    return np.where(np.isinf(each), np.inf, spread * np.where(np.isinf(each), 0.0, each))


def _prior_freedom(rows: RowSample, own: FloatArray, common: float, freedom: FloatArray) -> float:
    """Degrees of freedom that the variance of all rows is worth in each: many if rows differ by chance alone."""
    by_moments = np.maximum(rows.fourth - rows.second**2, 0.0) / np.maximum(freedom, 1.0)
    normal = 2 * own**2 / (rows.n_entries + 1)
    excess = (own - common) ** 2 - np.where(rows.n_entries < FEWEST_FOR_T, normal, by_moments)
    total = max(float(np.sum(freedom)), 1.0)
    between = float(np.sum(freedom * excess)) / total
    doubt = math.sqrt(float(np.sum((freedom * (excess - between)) ** 2))) / total
    return min(
        LEAST_FREEDOM + 2 * common**2 / max(between - doubt, LEAST_EXCESS * common**2, np.finfo(float).tiny), total
    )


def _excess_kurtosis(rows: RowSample, spread: FloatArray) -> float:
    """Excess kurtosis of errors relative to the spread of their rows."""
    known = (rows.n_entries > 0) & (spread > 0)
    if not known.any():
        return 0.0
    weights, scale = rows.n_entries[known], spread[known]
    second = float(np.average(rows.second[known] / scale, weights=weights))
    fourth = float(np.average(rows.fourth[known] / scale**2, weights=weights))
    return fourth / second**2 - 3 if second > 0 else 0.0


class RowEffects(NamedTuple):
    """Means of the rest of each row, shrunk towards what all rows have in common."""

    mean: FloatArray  # (n,)
    variance: FloatArray  # (n,), of its error
    shrinkage: FloatArray  # (n,), how far each estimate is shrunk towards the regression: B
    spread: float  # standard deviation tau of rows around the regression
    freedom: float  # degrees of freedom of the spread
    covariates: FloatArray  # (n, q)
    regression: FloatArray  # (q, n), coefficients of the regression in terms of the estimates


def row_effects(mean: FloatArray, variances: Variances, covariates: FloatArray, n_places: float) -> RowEffects:
    """Fit the regression and the spread around it; rows without an estimate have an infinite variance.

    The weights of the regression assume one variance for all errors: rows with large values often have large errors.
    Rows differ at least as much as means of ``n_places`` errors do, so their spread is at least that.
    """
    variance = variances.of_mean
    has_own = np.isfinite(variance)
    design, y = covariates[has_own], mean[has_own]
    v = np.maximum(variances.if_alike[has_own], ROUNDED_SQUARES * float(np.mean(y**2)) + np.finfo(float).tiny)
    freedom = max(len(y) - design.shape[1], 0)
    between = max(_between(design, y, v, freedom), variances.of_error / n_places)
    unit = float(np.min(v + between)) if len(y) else 1.0  # weights of tiny variances would overflow
    weights = unit / (v + between)
    inverse = np.linalg.pinv((design.T * weights) @ design)
    regression = np.zeros((covariates.shape[1], len(mean)))
    regression[:, has_own] = inverse @ (design.T * weights)
    common = covariates @ (regression[:, has_own] @ y)
    with np.errstate(invalid="ignore"):
        shrinkage = np.where(has_own, variance / np.maximum(variance + between, np.finfo(float).tiny), 1.0)
    around = np.einsum("ip,pq,iq->i", covariates, inverse, covariates) * unit  # variance of the regression
    own = np.where(has_own, variance, 0.0) * (1 - shrinkage) + shrinkage * between * ~has_own
    pulled = np.where(has_own, common + (1 - shrinkage) * (np.where(has_own, mean, 0.0) - common), common)
    return RowEffects(
        pulled, own + shrinkage**2 * around, shrinkage, math.sqrt(between), freedom, covariates, regression
    )


def _between(design: FloatArray, y: FloatArray, v: FloatArray, freedom: int) -> float:
    """Variance of rows around the regression, from above: the root of Fay and Herriot's equation, by bisection.

    The squares around the regression are compared with their expectation less two standard deviations, so that rows
    which are close to it by chance do not make the spread too small.
    """
    expected = max(freedom - DOUBT * math.sqrt(2 * freedom), freedom / 10, 0.1)  # rounding: it stays positive

    def excess(between: float) -> float:
        weights = np.sqrt(1 / (v + between))
        left = weights[:, None] * design
        right = weights * y
        rest = right - left @ np.linalg.lstsq(left, right, rcond=None)[0]
        return float(rest @ rest) - expected

    low, high = 0.0, float(np.sum((y - np.mean(y)) ** 2)) / expected
    if freedom < 1 or excess(low) <= 0:
        return 0.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high
