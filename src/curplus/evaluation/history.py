r"""Known rows, from which new rows are predicted: their scores, the right factor, and the noise around them.

The matrix of n rows is ``left @ right.T``, so that its columns, their means and its directions follow without forming
it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._arrays import float64, take, to_numpy
from .._support.sets import evenly_spaced
from .._typing import FloatArray, IndexVector
from ..factorization import Factorization
from ..factorization.new_rows import residual_at_samples

__all__ = ["History", "HistoryModel", "MeanRegression"]

MEAN_RIDGES = np.logspace(-12, 3, 46)  # steps: in terms of the mean sum of squares of a column
LEAST_LEFT = 1e-6  # rounding: of the leverage of a row: with less, its left-out residual is rounding


class MeanRegression(NamedTuple):
    r"""The mean of many columns of a row, predicted from a few others, and the errors at left-out rows.

    With the known columns :math:`X` of n rows and the means :math:`t` of their other columns, both without their own
    means,

    .. math:: \hat t(x) = \bar t + (x - \bar x)^\top b, \qquad
              b = w \, (X^\top X + \lambda I)^{-1} X^\top t + (1 - w) \, \tfrac1k \mathbf 1,

    a blend of ridge regression and of the sample mean, corrected for the different means of the columns. Both
    :math:`\lambda` and w are chosen by left-out rows, each predicted from the others; leaving a row out divides its
    residual by one minus its leverage, so that nothing is fitted again.

    Rows that are approximations have the values of X with a noise of :math:`\sigma` each, which new rows have too. It
    adds :math:`\sigma^2 |b|^2` to the square of every error.
    """

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


MOST_HISTORY_ROWS = 5000  # cost: of an approximation, evenly spaced, that regressions are fitted to
MOST_DIRECTIONS = 80  # tuned: flat from 40 to 80 to 4 % of the error of chosen columns (benchmarks/new_rows.py)
LEAST_COLUMN_NOISE = 0.05  # tuned: of the mean variance of a column; flat from .05 to .2 (the same)


class HistoryModel(NamedTuple):
    """Rows as leading directions and independent noise: the covariance is ``L @ L.T + diag(noise)``."""

    directions: FloatArray  # L, (m, r)
    noise: FloatArray  # (m,), variances


class History(NamedTuple):
    """Rows ``left @ right.T``, each value with an independent error."""

    left: FloatArray  # (n, r)
    right: FloatArray  # (m, r)
    error: float  # standard deviation of a value around them

    @classmethod
    def of(cls, approximation: Factorization, unit: float = 1.0) -> History:
        """The rows of an approximation, or 5,000 of them, in a unit."""
        n, model = approximation.shape[0], approximation.provenance.model
        some = evenly_spaced(n, MOST_HISTORY_ROWS)
        left = to_numpy(float64(take(approximation.left.vectors, some, axis=0)))
        error = residual_at_samples(approximation) if model is None else model.error
        scores = left @ (to_numpy(float64(approximation.core.Z)) / unit)
        return cls(scores, to_numpy(float64(approximation.right.vectors)), error / unit)

    @classmethod
    def of_matrix(cls, matrix: Any, right: FloatArray) -> History:
        """The rows of a matrix in the span of orthonormal vectors; what lies outside counts as noise."""
        left = np.asarray(matrix @ right)
        values = matrix.data if hasattr(matrix, "tocsr") else matrix
        outside = float(np.linalg.norm(values)) ** 2 - float(np.linalg.norm(left)) ** 2
        return cls(left, right, math.sqrt(max(outside, 0.0) / max(math.prod(matrix.shape), 1)))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self.left), len(self.right)

    def rows(self, index: IndexVector) -> History:
        """Some of the rows."""
        return self._replace(left=self.left[index])

    def known(self, columns: IndexVector) -> FloatArray:
        """Values in some columns, shape (n, k)."""
        return np.asarray(self.left @ self.right[columns].T)

    def other_means(self, columns: IndexVector) -> FloatArray:
        """Means over all other columns, shape (n,)."""
        rest = np.sum(self.right, axis=0) - np.sum(self.right[columns], axis=0)
        return np.asarray(self.left @ rest / max(len(self.right) - len(columns), 1))

    def regression(self, columns: IndexVector) -> MeanRegression:
        """The regression of the means of the other columns on these."""
        return MeanRegression.fit(self.known(columns), self.other_means(columns), self.error)

    def factor_model(self) -> HistoryModel:
        """Leading directions of the rows, and the variance of each column that they do not explain.

        Directions are fitted to these rows, so that they explain more than they would of others: of n rows without
        their mean, r directions leave n - 1 - r degrees of freedom.
        """
        n = len(self.left)
        _, s, Qt = np.linalg.svd(self.left - np.mean(self.left, axis=0), full_matrices=False)
        r = min(MOST_DIRECTIONS, max(n - 2, 0), len(s))
        whole = self.right @ (Qt.T * (s / math.sqrt(max(n, 1))))
        left_over = np.sum(whole[:, r:] ** 2, axis=1) * (n / max(n - 1 - r, 1)) + self.error**2
        least = LEAST_COLUMN_NOISE * float(np.mean(np.sum(whole**2, axis=1) + self.error**2))
        return HistoryModel(whole[:, :r], np.maximum(left_over, least or 1.0))
