r"""Known rows, from which new rows are predicted: their scores, the right factor, and the noise around them.

The matrix of n rows is ``left @ right.T``, so that its columns, their means and its directions follow without forming
it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._arrays import float64, take, to_numpy
from .._typing import FloatArray, IndexVector
from ..factorization import Factorization
from ..factorization.new_rows import residual_at_samples
from .mean_regression import MeanRegression

__all__ = ["History", "HistoryModel"]

MOST_HISTORY_ROWS = 5000  # of an approximation, evenly spaced, that regressions are fitted to
MOST_DIRECTIONS = 80  # benchmarks/new_row_means.py: from 40 to 80 the error of chosen columns changes by less than 4 %
LEAST_COLUMN_NOISE = 0.05  # of the mean variance of a column; the same benchmark is flat from .05 to .2


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
        some = np.linspace(0, n - 1, min(n, MOST_HISTORY_ROWS)).astype(np.int64)
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
