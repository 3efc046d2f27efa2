r"""What the sampled rows and columns say of the rest: a prediction C X R of everything that was not read.

Where sampled rows and columns intersect, both are known. If rows depend on one another in the rest of the matrix as
they do in the sampled columns, then :math:`M \approx C W^+ R` with W the intersection. On real data W is noisy, so
its inverse is held back by a ridge, and how much is decided by leaving sampled rows out: predict each from its entries
in the sampled columns, compare with what was read. The same with columns. All of it works on d x d matrices. With too
few rows and columns for that, scattered entries decide.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._arrays import blocks, float64, take, to_device, to_numpy
from ..._typing import FloatArray, IndexVector
from ...observation import Observation

__all__ = ["Skeleton", "ridge_skeleton"]

CUT = 1e-12  # singular values of the intersection below this fraction of the largest are rounding
FEWEST_ENTRIES, ENOUGH_ENTRIES = 10, 50_000  # that choose a ridge; more than enough are not used
RIDGES = np.concatenate([[0.0], np.logspace(-10, 4, 57)])  # relative to the largest squared singular value


class Skeleton(NamedTuple):
    """The prediction ``C @ X @ R``, and what leaving rows and columns out says of it."""

    X: FloatArray  # (d1, d2)
    row_ridge: float = math.nan  # relative ridge chosen by leaving rows out; nan where that was not possible
    column_ridge: float = math.nan  # and by leaving columns out
    sum_coefficient: float = 0.0  # of the part made of sums, C 1 1' R
    condition: float = 1.0  # of the intersection, after the cut
    left_out_error: float = math.nan  # share of the squares of left-out rows and columns that is not predicted
    entry_ridge: float = math.nan  # relative ridge chosen by entries, where nothing could be left out


class _Side(NamedTuple):
    """One side's problem: predict a row (or column) from its entries in the intersection."""

    W: FloatArray  # (d, k), the intersection, what is left out in rows
    gram: FloatArray  # (d, d), inner products of those rows outside the intersection
    unread: float  # how many rows each of them stands for

    def mixed(self, S: FloatArray) -> _Side:
        """The problem for the rows that ``S`` makes of these."""
        return _Side(S @ self.W, S @ self.gram @ S.T, self.unread)


def ridge_skeleton(observation: Observation, rank: int, use: IndexVector | None = None) -> Skeleton:
    r"""Predict the rest of the matrix from sampled rows and columns.

    .. math:: \hat M = C X R, \qquad X = \alpha \mathbf 1 \mathbf 1^\top + T \, W_\lambda^{+} \, S

    :math:`\alpha` weighs the product of row sums and column sums, the one pattern that few samples estimate well;
    :math:`S` and :math:`T` subtract it, and :math:`W_\lambda^+` is the ridge inverse of what is left of the
    intersection.

    Parameters
    ----------
    observation : Observation
        At least one row and one column.
    rank : int
        How many directions the matrix is thought to have. With no more rows than that, none can be left out; columns
        likewise.
    use : array, optional
        Which entries choose the ridge where nothing can be left out; with fewer than ten, there is none.

    Notes
    -----
    Leaving out is exact and costs one SVD of W: with :math:`W = a \Sigma b^\top`, the squared error of row i is
    :math:`\|(Y - a F a^\top Y)_i\|^2 / (1 - h_i)^2`, computed without cancellation. The sums are used only where rows
    and columns were drawn uniformly: a chosen row says nothing of those that were not chosen.
    """
    by_rows, by_columns = _sides(observation)
    rows_count, columns_count = observation.n_rows > rank, observation.n_columns > rank
    if not (rows_count or columns_count):
        return _without_leaving_out(observation, by_rows.W, use)
    uniform = observation.design.columns == observation.design.rows == "uniform"
    alpha = _sum_coefficient(by_rows, by_columns) if uniform and rows_count and columns_count else 0.0
    W = by_rows.W
    ones_r, ones_c = np.ones((len(W), 1)), np.ones((W.shape[1], 1))
    S = np.eye(len(W)) - alpha * (W @ ones_c) @ ones_r.T
    T = np.eye(W.shape[1]) - alpha * ones_c @ (ones_r.T @ W)
    larger = observation.n_rows >= observation.n_columns
    row_ridge = column_ridge = math.nan
    ridges, errors = [], []
    if rows_count and (uniform or larger or not columns_count):
        row_ridge, error = _leave_out(by_rows.mixed(S), float(np.trace(by_rows.gram)))
        ridges, errors = [row_ridge], [error]
    if columns_count and (uniform or not larger or not rows_count):
        column_ridge, error = _leave_out(by_columns.mixed(T.T), float(np.trace(by_columns.gram)))
        ridges, errors = [*ridges, column_ridge], [*errors, error]
    inverses = [_inverse(S @ W, ridge) for ridge in ridges]
    X = alpha * ones_c @ ones_r.T + T @ (sum(X for X, _ in inverses) / len(inverses)) @ S
    known = [error for error in errors if not math.isnan(error)]
    left_out_error = sum(known) / len(known) if known else math.nan
    return Skeleton(X, row_ridge, column_ridge, alpha, inverses[-1][1], left_out_error)


def _sides(observation: Observation) -> tuple[_Side, _Side]:
    """The problems of both sides: only the small products leave the device of the sample."""
    n, m = observation.shape
    C, R = float64(observation.columns), float64(observation.rows)
    W = to_numpy(take(R.T, observation.column_index, axis=0)).T
    D = to_numpy(take(C, observation.row_index, axis=0))
    outside_rows, outside_columns = to_numpy(R @ R.T) - W @ W.T, to_numpy(C.T @ C) - D.T @ D
    d2, d1 = W.shape
    return _Side(W, outside_rows, (n - d2) / d2), _Side(W.T, outside_columns, (m - d1) / d1)


def _sum_coefficient(*sides: _Side) -> float:
    """The coefficient of the product of sums that predicts left-out rows and columns best, both together."""
    fit = size = 0.0
    for side in sides:
        sums, inner = side.W.sum(axis=1), side.gram.sum(axis=1)
        own = np.diag(side.gram)
        fit += side.unread * float(sums @ (inner - own))
        size += side.unread * float(sums**2 @ (inner.sum() - 2 * inner + own))
    return fit / size if size > 0 else 0.0


def _leave_out(side: _Side, total: float) -> tuple[float, float]:
    r"""The relative ridge that predicts left-out rows best, and the share of ``total`` that it does not predict.

    With :math:`W = a \Sigma b^\top`, :math:`g = \lambda / (\sigma^2 + \lambda)` and K the Gram matrix of the rows, the
    error of row i is :math:`e_i = (Y - a a^\top Y + a g a^\top Y)_i / (1 - \|a_i\|^2 + \sum_k a_{ik}^2 g_k)`; its
    square needs only :math:`K = Y Y^\top`.
    """
    a, s, _ = np.linalg.svd(side.W, full_matrices=False)
    keep = s > CUT * s[0]
    if total <= 0 or not keep.any():
        return 0.0, math.nan
    a, s = a[:, keep], s[keep]
    K = side.gram
    aK = a.T @ K
    inner = aK @ a
    rest = K - a @ aK
    outside = np.diag(rest) - np.sum((rest @ a) * a, axis=1)
    between = aK.T - a @ inner
    free = 1 - np.sum(a**2, axis=1)
    errors = np.empty((len(RIDGES), len(a)))
    for k, ridge in enumerate(RIDGES * s[0] ** 2):
        g = ridge / (s**2 + ridge)
        held = a * g
        squares = outside + 2 * np.sum(between * held, axis=1) + np.sum((held @ inner) * held, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            errors[k] = squares.clip(min=0) / (free + a**2 @ g) ** 2
    errors[~np.isfinite(errors)] = math.inf
    chosen = _most_cautious(errors, 1e-13 * total)
    return float(RIDGES[chosen]), float(errors[chosen].sum()) / total


def _without_leaving_out(observation: Observation, W: FloatArray, use: IndexVector | None) -> Skeleton:
    """No more rows and columns than directions: entries choose the ridge, if there are enough of them."""
    ridge = math.nan
    if use is not None and len(use) >= FEWEST_ENTRIES:
        ridge = _ridge_for_entries(observation, W, use)
    X, condition = _inverse(W, 0.0 if math.isnan(ridge) else ridge)
    return Skeleton(X, condition=condition, entry_ridge=ridge)


def _ridge_for_entries(observation: Observation, W: FloatArray, use: IndexVector) -> float:
    """The relative ridge that predicts some of the entries best."""
    a, s, bt = np.linalg.svd(W, full_matrices=False)
    if not s[0]:
        return 0.0
    keep = s > CUT * s[0]
    a, s, bt = a[:, keep], s[keep], bt[keep]
    if len(use) > ENOUGH_ENTRIES:
        use = np.random.default_rng(0).choice(use, ENOUGH_ENTRIES, replace=False)
    C, R = float64(observation.columns), float64(observation.rows)
    P, Q = C @ to_device(bt.T, C), (to_device(a.T, R) @ R).T
    at, weights = observation.entries.take(use), observation.entries.fit_weights[use]
    y = to_numpy(float64(at.values))
    errors = np.empty((len(RIDGES), len(use)))
    for part in blocks(len(use), len(s)):
        # the share of each singular value in each prediction, times the value
        share = to_numpy(take(P, at.i[part], axis=0) * take(Q, at.j[part], axis=0))
        for k, ridge in enumerate(RIDGES * s[0] ** 2):
            errors[k, part] = weights[part] * (y[part] - share @ (s / (s**2 + ridge))) ** 2
    return float(RIDGES[_most_cautious(errors, 1e-13 * float(np.sum(weights * y**2)))])


def _most_cautious(errors: FloatArray, rounding: float) -> int:
    """The largest ridge that is not clearly worse than the best; the least one where all that is left is rounding.

    Not clearly worse: on average over the rows, by less than one standard error of the difference. On heavy-tailed
    data a single row can make a small ridge look good, and a prediction that rests on it can be worse than none.
    """
    totals = errors.sum(axis=1)
    best = int(np.argmin(totals))
    if totals[best] <= rounding:
        return int(np.argmax(totals <= rounding))
    with np.errstate(invalid="ignore"):
        difference = errors - errors[best]
        spread = np.std(difference, axis=1) * math.sqrt(errors.shape[1])
        close = difference.sum(axis=1) <= spread
    close[: best + 1] = False
    return best if not close.any() else int(np.flatnonzero(close)[-1])


def _inverse(W: FloatArray, ridge: float) -> tuple[FloatArray, float]:
    """The ridge inverse of the intersection, shape (d1, d2), and its condition."""
    a, s, bt = np.linalg.svd(W, full_matrices=False)
    keep = s > CUT * s[0]
    a, s, bt = a[:, keep], s[keep], bt[keep]
    if not len(s):
        return np.zeros(W.shape[::-1]), 1.0
    return (bt.T * (s / (s**2 + ridge * s[0] ** 2))) @ a.T, float(s[0] / s[-1])
