r"""The mean of many columns of a row, predicted from a few others: a ridge regression on rows that are known.

With the known columns :math:`X` of n rows and the means :math:`t` of their other columns, both without their own means,

.. math:: \hat t(x) = \bar t + (x - \bar x)^\top b, \qquad b = w \, (X^\top X + \lambda I)^{-1} X^\top t
          + (1 - w) \, \tfrac1k \mathbf 1,

a blend of ridge regression and of the sample mean, corrected for the different means of the columns. Both
:math:`\lambda` and w are chosen by left-out rows, each predicted from the others; leaving a row out divides its
residual by one minus its leverage, so that nothing is fitted again.

Rows that are approximations have the values of X with a noise of :math:`\sigma` each, which new rows have too. It adds
:math:`\sigma^2 |b|^2` to the square of every error.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray

__all__ = ["MeanRegression"]

MEAN_RIDGES = np.logspace(-12, 3, 46)  # in terms of the mean sum of squares of a column
LEAST_LEFT = 1e-6  # of the leverage of a row: with less, its left-out residual is rounding


class MeanRegression(NamedTuple):
    """The mean of the other columns as a function of the known ones, and the errors at left-out rows."""

    centre: FloatArray  # (k,), means of the known columns
    target: float  # mean of the means
    slope: FloatArray  # (k,)
    left_out: FloatArray  # (n,), error of each row, predicted from the others
    noise: float  # standard deviation of the error that the noise of the values adds

    @classmethod
    def fit(cls, known: FloatArray, means: FloatArray, noise: float = 0.0) -> MeanRegression:
        """From the known columns (n, k) of n rows, and the means (n,) of their other columns."""
        (n, k), centre, target = known.shape, np.mean(known, axis=0), float(np.mean(means))
        X, t = known - centre, means - target
        ridge, of_ridge = _ridge(X, t, noise)
        plain = np.full(k, 1 / max(k, 1))
        of_plain = (t - X @ plain) * (n / max(n - 1, 1))
        weight = _weight(_all_errors(of_ridge, ridge, noise), _all_errors(of_plain, plain, noise))
        slope = weight * ridge + (1 - weight) * plain
        left_out = weight * of_ridge + (1 - weight) * of_plain if weight else of_plain
        return cls(centre, target, slope, left_out, noise * float(np.linalg.norm(slope)))

    def predict(self, known: FloatArray) -> FloatArray:
        """The means of other columns, from these known columns (p, k) of rows."""
        return np.asarray(self.target + (known - self.centre) @ self.slope)

    @property
    def error(self) -> float:
        """Root mean square error of a prediction."""
        return math.hypot(float(np.linalg.norm(self.left_out)) / math.sqrt(len(self.left_out)), self.noise)


def _ridge(X: FloatArray, t: FloatArray, noise: float) -> tuple[FloatArray, FloatArray]:
    """Coefficients (k,) of the ridge that predicts left-out rows best, and its errors there (n,)."""
    n = len(X)
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    projected, squares = U.T @ t, s**2
    ridges = np.maximum(MEAN_RIDGES * float(np.mean(np.sum(X**2, axis=0)) if X.size else 0.0), np.finfo(float).tiny)
    shares = squares / (squares + ridges[:, None])  # (ridges, r)
    left = 1 - 1 / n - shares @ (U**2).T
    left_out = np.full(left.shape, math.inf)
    np.divide(t - (shares * projected) @ U.T, left, out=left_out, where=left > LEAST_LEFT)
    slopes = (shares / np.where(s > 0, s, 1.0) * projected) @ Vt
    totals = np.mean(left_out**2, axis=1) + noise**2 * np.sum(slopes**2, axis=1)
    best = len(totals) - 1 - int(np.argmin(totals[::-1]))  # if several are equally good, the largest
    return slopes[best], left_out[best]


def _all_errors(left_out: FloatArray, slope: FloatArray, noise: float) -> FloatArray:
    """The errors at rows and those that noise adds, such that their squares add up, shape (n + k,)."""
    return np.concatenate([left_out, math.sqrt(len(left_out)) * noise * slope])


def _weight(one: FloatArray, other: FloatArray) -> float:
    """The weight of the first of two predictions that makes the squared errors of their blend least."""
    if not np.isfinite(one).all():
        return 0.0
    gap = other - one
    size = float(gap @ gap)
    return 1.0 if size == 0 else min(max(float(other @ gap) / size, 0.0), 1.0)
