r"""All rows are complete: nothing is left to predict but rows that come later, so left-out rows say how.

A new row is completed from its known values J by the ridge regression that
:meth:`~curplus.Factorization.complete_rows` stands for,

.. math:: \hat x = c + (x_J - c_J) \, (S_{JJ} + \sigma^2 W)^{-1} (S_{J\cdot} + \kappa \sigma^2), \qquad
          W = I + \kappa \mathbf 1 \mathbf 1^\top,

with the mean c and the covariance S of all rows: every direction helps, and the noise :math:`\sigma` decides how much.
The fitted rows choose it. Random sets of columns are taken as known, of several sizes, and each row is predicted from
the others; leaving a row out divides its residual by one minus its leverage, so that nothing is fitted again.
"""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import array_namespace, float64, small_svd, take, to_device, to_numpy
from ..._typing import FloatArray, IndexVector, Matrix
from ...factorization import Basis, Core, Factorization, FittedModel, leading_basis
from ...factorization.new_rows import OFFSET_VARIANCE

__all__ = ["complete_matrix", "held_rows_noise"]

SIZES, DRAWS = (8, 32, 128), 2  # how many columns are taken as known, and how often
MOST_ROWS, MOST_COLUMNS = 500, 300  # that are predicted
NOISES = 10.0 ** np.arange(-12, 2, 0.5)  # in terms of the variance of the values
EXACT = 1e-12  # squared errors below this, relative to the variance, are as good as none
INTERPOLATED = 1e-6  # rows with less than this of their leverage left do not say how they would be predicted


def complete_matrix(matrix: Matrix, rank: int) -> tuple[Factorization, FittedModel]:
    """Best approximation of rank ``rank`` of a known matrix, and its model; ``matrix`` (n, d) has d rows as columns."""
    turned = matrix.shape[0] < matrix.shape[1]
    tall = matrix.T if turned else matrix
    left = leading_basis(tall).vectors
    P, s, Qt = small_svd(float64(left.T @ tall))
    whole = Factorization(Basis(float64(left) @ P), Core(_diagonal(s), "approximate"), Basis(Qt.T))
    whole = whole.T if turned else whole
    model = FittedModel.of(whole, held_rows_noise(matrix.T))
    if rank >= whole.rank:
        return whole, model
    answer = whole.truncate(rank)
    left_over = np.linalg.norm(to_numpy(s)[rank:]) / math.sqrt(math.prod(matrix.shape))
    return answer, model.with_more_noise(float(left_over))


def held_rows_noise(rows: Matrix) -> float:
    """The noise (a standard deviation) with which left-out rows are predicted best from part of their values.

    Parameters
    ----------
    rows : array of shape (n, m)
        Complete rows, in a unit in which their squares are numbers.

    Returns
    -------
    float
        0 where rows are predicted exactly; the standard deviation of the values where no row can be left out.
    """
    n, m = (int(size) for size in rows.shape)
    xp = array_namespace(rows)
    variance = float(xp.mean(xp.var(rows, axis=0)))
    sizes = sorted({min(size, m // 2) for size in SIZES if m > 1})
    if n < 3 or variance == 0 or not sizes:
        return math.sqrt(variance)
    rng = np.random.default_rng(0)
    total = np.zeros(len(NOISES))
    for size in sizes:
        squares = sum(_left_out_squares(rows, size, variance, rng) for _ in range(DRAWS))
        total += np.log(squares / (DRAWS * variance) + EXACT)
    best = int(np.argmin(total))
    return math.sqrt(NOISES[best] * variance) if best else 0.0


def _left_out_squares(rows: Matrix, size: int, variance: float, rng: np.random.Generator) -> FloatArray:
    """Mean squared errors of left-out rows, predicted from ``size`` random columns, for each noise."""
    n, m = rows.shape
    known, others = np.split(rng.permutation(m)[: size + MOST_COLUMNS], [size])
    some = np.sort(rng.permutation(n)[:MOST_ROWS])
    X, Y = _centred(rows, known), _centred(rows, others)
    S, C = to_numpy(X.T @ X) / n, to_numpy(X.T @ Y) / n
    X, Y = to_numpy(take(X, some, axis=0)), to_numpy(take(Y, some, axis=0))
    whitened, D = _whitened(S)
    X, C, offset = X @ whitened, whitened.T @ C, OFFSET_VARIANCE * np.sum(whitened, axis=0)[:, None]
    found = []
    for noise in NOISES * variance:
        weights = X / (D + noise)
        left = 1 - 1 / n - np.sum(weights * X, axis=1) / n
        errors = np.mean((Y - weights @ (C + noise * offset)) ** 2, axis=1)
        found.append(float(np.mean(errors / left**2)) if np.min(left) > INTERPOLATED else np.inf)
    return np.asarray(found)


def _whitened(S: FloatArray) -> tuple[FloatArray, FloatArray]:
    """P and D such that ``P @ diag(1 / (D + noise)) @ P.T`` is the inverse of ``S + noise * W``, for every noise."""
    k = len(S)
    root = np.eye(k) + (1 / math.sqrt(1 + k * OFFSET_VARIANCE) - 1) / k  # of the inverse of W
    D, Q = np.linalg.eigh(root @ S @ root)
    return root @ Q, np.maximum(D, 0.0)


def _centred(rows: Matrix, columns: IndexVector) -> Matrix:
    """Some columns, without their means."""
    part = float64(take(rows, columns, axis=1))
    return part - array_namespace(part).mean(part, axis=0)


def _diagonal(s: Matrix) -> Matrix:
    return s[:, None] * to_device(np.eye(s.shape[0]), s)
