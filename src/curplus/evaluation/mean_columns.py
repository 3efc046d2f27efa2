r"""Columns from which the mean of a row is predicted best, chosen one by one, and how well they do for later rows.

In a factor model, with the covariance :math:`L L^\top + D`, the mean of a row has the variance
:math:`\bar\ell^\top P \bar\ell`, where :math:`P` is the covariance of its scores given the columns that are known.
Each time the column is taken that reduces it most,

.. math:: \frac{(\ell_j^\top P \bar\ell)^2}{\ell_j^\top P \ell_j + d_j}.

Columns chosen so are fitted to the rows at hand. If these are few, random columns predict new rows better, and errors
at these very rows are too small, even if each is left out of the regression. So the choice is repeated without each
fold of the rows, and its errors are measured there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .._typing import FloatArray, IndexVector
from .history import History, HistoryModel
from .left_out import FOLDS

__all__ = ["choice_errors", "columns_for_mean", "explaining_mean"]

SHARES = (0.0, 0.5, 1.0)  # steps: of random columns, from which left-out rows choose
RANDOM_DRAWS = 3  # cost: for each fold, if all columns are random


def explaining_mean(
    model: HistoryModel, k: int, *, start: IndexVector | Sequence[int] = (), cost: FloatArray | None = None
) -> IndexVector:
    """The next ``k`` columns that reduce the variance of the mean of a row most, after those that are known.

    Costs O(m r) for each column.
    """
    L, price = model.directions, np.ones(len(model.noise)) if cost is None else cost
    P, covariance, variance = np.eye(L.shape[1]), L @ np.mean(L, axis=0), np.sum(L**2, axis=1)
    is_open, chosen = np.ones(len(L), dtype=bool), list[int]()
    for t in range(len(start) + k):
        gain = covariance**2 / ((variance + model.noise) * price)
        j = int(start[t]) if t < len(start) else int(np.argmax(np.where(is_open, gain, -1.0)))
        chosen.append(j)
        is_open[j] = False
        w = P @ L[j]
        spread, shown = float(L[j] @ w) + float(model.noise[j]), L @ w
        covariance = covariance - shown * (covariance[j] / spread)
        variance = np.maximum(variance - shown**2 / spread, 0.0)
        P = P - np.outer(w, w / spread)
    return np.array(chosen[len(start) :], dtype=np.int64)


def columns_of(
    history: History, k: int, share: float, rng: np.random.Generator, cost: FloatArray | None = None
) -> IndexVector:
    """``k`` columns, of which a share is random and the others are chosen to go with them."""
    start = rng.choice(history.shape[1], round(share * k), replace=False)
    if len(start) == k:
        return start.astype(np.int64)
    return np.concatenate([start, explaining_mean(history.factor_model(), k - len(start), start=start, cost=cost)])


def columns_for_mean(history: History, k: int, rng: np.random.Generator, cost: FloatArray | None = None) -> IndexVector:
    """``k`` columns with the share of random ones that is best for rows that had no part in the choice."""
    errors = choice_errors(history, k, rng)
    return columns_of(history, k, min(SHARES, key=lambda share: errors[share]), rng, cost)


def choice_errors(history: History, k: int, rng: np.random.Generator) -> dict[float, float]:
    """Root mean square error of the means of other columns, for each share of random ones, at left-out rows."""
    n = history.shape[0]
    fold = rng.permutation(n) % min(FOLDS, n)
    squares: dict[float, list[FloatArray]] = {share: [np.zeros(0)] for share in SHARES}
    for f in range(min(FOLDS, n) if n > 1 else 0):
        others, left_out = history.rows(np.flatnonzero(fold != f)), history.rows(np.flatnonzero(fold == f))
        for share, found in squares.items():
            for _ in range(RANDOM_DRAWS if share == 1 else 1):
                columns = columns_of(others, k, share, rng)
                fit = others.regression(columns)
                errors = left_out.other_means(columns) - fit.predict(left_out.known(columns))
                found.append(errors**2 + fit.noise**2)
    return {
        share: math.sqrt(float(np.mean(np.concatenate(found)))) if n > 1 else 0.0 for share, found in squares.items()
    }
