r"""All rows are complete: only later rows are left to predict, and left-out rows choose how.

A new row is completed from its known values J by the ridge regression that
:meth:`~curplus.Factorization.complete_rows` stands for,

.. math:: \hat x = c + (x_J - c_J) \, (S_{JJ} + \sigma^2 I)^{-1} S_{J\cdot},

with the mean c and the covariance S of all rows: every direction helps, and the noise :math:`\sigma` decides how much.
Left-out rows choose it. Random sets of columns are taken as known, of several sizes, and each row is predicted from
the others; leaving a row out divides its residual by one minus its leverage, so that nothing is fitted again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._arrays import abs_squared, adjoint, array_namespace, conjugate, double, small_svd, take, to_numpy
from .._typing import FloatArray, IndexVector, Matrix
from ..factorization import Basis, Core, Factorization, FittedModel, leading_basis

__all__ = ["complete_matrix", "held_rows_noise"]

SIZES, SETS_OF_COLUMNS = (8, 32, 128), 2  # cost: numbers of columns that are taken as known, and sets of each
MOST_ROWS, MOST_COLUMNS = 500, 300  # cost: that are predicted
NOISES = 10.0 ** np.arange(-16, 2, 0.5)  # steps: in terms of the variance of the values
AS_GOOD_NOISE = 1e-3  # usual: the least noise with squared errors within this share of the best ones
EXACT_FIT = 1e-12  # rounding: squared errors below this, relative to the variance, are as good as none
INTERPOLATED = 1e-6  # rounding: with less of one minus its leverage, the left-out residual of a row is rounding


def complete_matrix(matrix: Matrix, rank: int | None) -> tuple[Factorization, FittedModel]:
    """Best approximation of a known matrix, with the noise for later columns, which left-out columns choose.

    Parameters
    ----------
    matrix : array of shape (n, m)
        In a unit in which squares of its squares are numbers.
    rank : int, optional
        At most as many directions are kept.

    Returns
    -------
    Factorization, FittedModel
        The noise of the model is the one with which left-out columns are predicted best from part of their values,
        with the part that the approximation does not explain.
    """
    whole = _factorized(matrix)
    noise = held_rows_noise(matrix.T)
    answer = whole.truncate(rank) if rank is not None and rank < whole.rank else whole
    s = np.linalg.svdvals(to_numpy(whole.core.Z))
    left_over = float(np.linalg.norm(s[answer.rank :])) / math.sqrt(math.prod(matrix.shape))
    return answer, FittedModel.of(whole, noise, error=0.0).with_more_noise(left_over)


def _factorized(matrix: Matrix) -> Factorization:
    """The whole matrix, by its smaller side."""
    turned = matrix.shape[0] < matrix.shape[1]
    tall = adjoint(matrix) if turned else matrix
    left = leading_basis(tall).vectors
    P, s, Qh = small_svd(double(adjoint(left) @ tall))
    whole = Factorization(Basis(double(left)), Core(P * s, "approximate"), Basis(adjoint(Qh)))
    return whole.H if turned else whole


def held_rows_noise(rows: Matrix) -> float:
    """The noise (a standard deviation) with which left-out rows are predicted best from part of their values.

    Parameters
    ----------
    rows : array of shape (n, m)
        Complete rows, in a unit in which their squares are numbers.

    Returns
    -------
    float
        0 if rows are predicted exactly; the standard deviation of the values if no row can be left out.
    """
    n, m = (int(size) for size in rows.shape)
    variance = float(array_namespace(rows).mean(abs_squared(_centred(rows, np.arange(m))))) if m else 0.0
    sizes = sorted({min(size, m // 2) for size in SIZES if m > 1})
    if n < 3 or variance == 0 or not sizes:
        return math.sqrt(variance)
    noises = NOISES * variance
    rng = np.random.default_rng(0)
    squares = np.asarray(
        [sum(_left_out_squares(rows, size, noises, rng) for _ in range(SETS_OF_COLUMNS)) for size in sizes]
    )
    squares /= SETS_OF_COLUMNS * variance
    total = np.sum(np.log(squares + EXACT_FIT), axis=0)
    first = int(np.argmax(total < np.min(total) + len(sizes) * AS_GOOD_NOISE))
    return 0.0 if first == 0 and squares[-1, 0] < EXACT_FIT else math.sqrt(noises[first])


class _Regression(NamedTuple):
    """Known columns and others, without their means, in the coordinates in which the covariance is diagonal."""

    X: FloatArray  # (p, k), known values of some rows
    Y: FloatArray  # (p, q), others
    D: FloatArray  # (k,), variances of the known values
    C: FloatArray  # (k, q), covariances
    n: int  # number of all rows

    def left_out_squares(self, noise: float) -> float:
        """Mean squared error of rows that are left out in turn, for a given variance of noise."""
        X = self.X / (self.D + noise)
        predicted = X @ self.C
        left = 1 - 1 / self.n - np.sum((X * conjugate(self.X)).real, axis=1) / self.n
        if np.min(left) < INTERPOLATED:
            return math.inf
        return float(np.mean(np.mean(abs_squared(self.Y - predicted), axis=1) / left**2))


def _left_out_squares(rows: Matrix, size: int, noises: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Mean squared errors of left-out rows, predicted from ``size`` random columns, for each noise."""
    n, m = (int(side) for side in rows.shape)
    known, others = np.split(rng.permutation(m)[: size + MOST_COLUMNS], [size])
    some = np.sort(rng.permutation(n)[:MOST_ROWS])
    X, Y = _centred(rows, known), _centred(rows, others)
    D, Q = np.linalg.eigh(to_numpy(adjoint(X) @ X) / n)
    regression = _Regression(
        to_numpy(take(X, some, axis=0)) @ Q,
        to_numpy(take(Y, some, axis=0)),
        np.maximum(D, 0.0),
        adjoint(Q) @ to_numpy(adjoint(X) @ Y) / n,
        n,
    )
    return np.asarray([regression.left_out_squares(noise) for noise in noises])


def _centred(rows: Matrix, columns: IndexVector) -> Matrix:
    """Some columns, without their means."""
    part = double(take(rows, columns, axis=1))
    return part - array_namespace(part).mean(part, axis=0)
