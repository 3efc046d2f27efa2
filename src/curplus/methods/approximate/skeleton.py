r"""What the cross says of the rest: a prediction C X R of everything that was not read.

Where sampled rows and columns meet, both are known. If rows depend on one another in the rest of the matrix as they do
in the sampled columns, then :math:`M \approx C W^+ R` with W the crossing. On real data W is noisy, so its inverse is
held back by a ridge, and how much is decided by leaving sampled rows out: predict each from its entries in the sampled
columns, compare with what was read. The same with columns. All of it works on d x d matrices. With too few lines for
that, scattered entries decide.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._arrays import blocks
from ..._typing import IndexVector
from ...observation.observation import Observation

__all__ = ["Skeleton", "ridge_skeleton"]

FloatArray = NDArray[np.floating[Any]]

CUT = 1e-12  # singular values of the crossing below this fraction of the largest are rounding
FEWEST_ENTRIES, ENOUGH_ENTRIES = 10, 50_000  # that choose a ridge; more than enough are not asked
RIDGES = np.concatenate([[0.0], np.logspace(-10, 4, 57)])  # relative to the largest squared singular value


class Skeleton(NamedTuple):
    """The prediction ``C @ X @ R``, and what leaving lines out says of it."""

    X: FloatArray  # (d1, d2)
    row_ridge: float  # relative ridge chosen by leaving rows out; nan where that was not possible
    column_ridge: float  # and by leaving columns out
    sum_coefficient: float  # coefficient of the part made of sums, C 1 1' R
    condition: float  # of the crossing, after the cut
    left_out_error: float  # share of the squares of left-out lines that is not predicted; nan where none were left out
    entry_ridge: float = math.nan  # relative ridge chosen by entries, where no line could be left out


class _Side(NamedTuple):
    """One side's problem: predict a line of ``gram`` from its entries in the crossing."""

    W: FloatArray  # (d, k), lines to be left out in rows
    gram: FloatArray  # (d, d), inner products of those lines outside the crossing
    unseen: float  # how many lines each of them stands for

    def mixed(self, S: FloatArray) -> _Side:
        """The problem for the lines ``S`` makes of these."""
        return _Side(S @ self.W, S @ self.gram @ S.T, self.unseen)


def ridge_skeleton(observation: Observation, rank: int, use: IndexVector | None = None) -> Skeleton:
    r"""Predict the rest of the matrix from sampled rows and columns.

    .. math:: \hat M = C X R, \qquad X = \alpha \mathbf 1 \mathbf 1^\top + T \, W_\lambda^{+} \, S

    :math:`\alpha` weighs the product of row sums and column sums, the one pattern that few samples estimate well;
    :math:`S` and :math:`T` subtract it, and :math:`W_\lambda^+` is the ridge inverse of what is left of the crossing.

    Parameters
    ----------
    observation : Observation
        At least one row and one column.
    rank : int
        How many directions the matrix is thought to have. A side with no more lines than that cannot be left out from.
    use : array, optional
        Which entries choose the ridge where no line can be left out; with fewer than ten, there is none.

    Notes
    -----
    Leaving out is exact and costs one SVD of W: with :math:`W = a \Sigma b^\top`, the squared error of line i is
    :math:`\|(Y - a F a^\top Y)_i\|^2 / (1 - h_i)^2`, computed without cancellation. The sums are used only where rows
    and columns were drawn uniformly: a chosen line says nothing of those that were not chosen.
    """
    by_rows, by_columns = _sides(observation)
    rows_count, columns_count = observation.n_rows > rank, observation.n_columns > rank
    if not (rows_count or columns_count):
        ridge = math.nan
        if use is not None and len(use) >= FEWEST_ENTRIES:
            ridge = _ridge_for_entries(observation, by_rows.W, use)
        X, condition = _inverse(by_rows.W, 0.0 if math.isnan(ridge) else ridge)
        return Skeleton(X, math.nan, math.nan, 0.0, condition, math.nan, ridge)
    uniform = observation.design.columns == observation.design.rows == "uniform"
    alpha = _mean_part(by_rows, by_columns) if uniform and rows_count and columns_count else 0.0
    W = by_rows.W
    ones_r, ones_c = np.ones((len(W), 1)), np.ones((W.shape[1], 1))
    S = np.eye(len(W)) - alpha * (W @ ones_c) @ ones_r.T
    T = np.eye(W.shape[1]) - alpha * ones_c @ (ones_r.T @ W)
    answers: list[FloatArray] = []
    row_ridge = column_ridge = left_out_error = math.nan
    condition = 1.0
    larger = observation.n_rows >= observation.n_columns
    if rows_count and (uniform or larger or not columns_count):
        row_ridge, left_out_error = _leave_out(by_rows.mixed(S), float(np.trace(by_rows.gram)))
        X, condition = _inverse(S @ W, row_ridge)
        answers.append(X)
    if columns_count and (uniform or not larger or not rows_count):
        column_ridge, share = _leave_out(by_columns.mixed(T.T), float(np.trace(by_columns.gram)))
        X, condition = _inverse(S @ W, column_ridge)
        answers.append(X)
        left_out_error = share if math.isnan(left_out_error) else (left_out_error + share) / 2
    X = alpha * ones_c @ ones_r.T + T @ (sum(answers) / len(answers)) @ S
    return Skeleton(X, row_ridge, column_ridge, alpha, condition, left_out_error)


def _sides(observation: Observation) -> tuple[_Side, _Side]:
    n, m = observation.shape
    C, R = (np.asarray(lines, dtype=np.float64) for lines in (observation.columns, observation.rows))
    W, D = R[:, observation.column_index], C[observation.row_index]
    outside_rows, outside_columns = R @ R.T - W @ W.T, C.T @ C - D.T @ D
    d2, d1 = W.shape
    return _Side(W, outside_rows, (n - d2) / d2), _Side(W.T, outside_columns, (m - d1) / d1)


def _mean_part(*sides: _Side) -> float:
    """The coefficient of the product of sums that predicts left-out lines best, both sides together."""
    fit = size = 0.0
    for side in sides:
        sums, inner = side.W.sum(axis=1), side.gram.sum(axis=1)
        own = np.diag(side.gram)
        fit += side.unseen * float(sums @ (inner - own))
        size += side.unseen * float(sums**2 @ (inner.sum() - 2 * inner + own))
    return fit / size if size > 0 else 0.0


def _leave_out(side: _Side, total: float) -> tuple[float, float]:
    """The relative ridge that predicts left-out lines best, and the share of ``total`` that it does not predict."""
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


def _ridge_for_entries(observation: Observation, W: FloatArray, use: IndexVector) -> float:
    """The relative ridge that predicts some of the entries best."""
    a, s, bt = np.linalg.svd(W, full_matrices=False)
    if not s[0]:
        return 0.0
    keep = s > CUT * s[0]
    a, s, bt = a[:, keep], s[keep], bt[keep]
    if len(use) > ENOUGH_ENTRIES:
        use = np.random.default_rng(0).choice(use, ENOUGH_ENTRIES, replace=False)
    P, Q, y = observation.columns @ bt.T, (a.T @ observation.rows).T, observation.values[use]
    weights = observation.fit_weights[use]
    errors = np.empty((len(RIDGES), len(use)))
    for part in blocks(len(use), len(s)):
        at = use[part]
        share = P[observation.i[at]] * Q[observation.j[at]]  # of each singular value in each prediction, times it
        for k, ridge in enumerate(RIDGES * s[0] ** 2):
            errors[k, part] = weights[part] * (y[part] - share @ (s / (s**2 + ridge))) ** 2
    return float(RIDGES[_most_cautious(errors, 1e-13 * float(np.sum(weights * y**2)))])


def _most_cautious(errors: FloatArray, rounding: float) -> int:
    """The largest ridge that is not clearly worse than the best; the least one where all that is left is rounding.

    Not clearly worse: on average over the lines, by less than one standard error of the difference. On heavy-tailed
    data a single line can make a small ridge look good, and a prediction that rests on it can be worse than none.
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
    """The ridge inverse of the crossing, shape (d1, d2), and the crossing's condition."""
    a, s, bt = np.linalg.svd(W, full_matrices=False)
    keep = s > CUT * s[0]
    a, s, bt = a[:, keep], s[keep], bt[keep]
    if not len(s):
        return np.zeros(W.shape[::-1]), 1.0
    return (bt.T * (s / (s**2 + ridge * s[0] ** 2))) @ a.T, float(s[0] / s[-1])
