r"""Leaving sampled rows out: how well each is predicted from its values in the sampled columns, for every ridge.

With :math:`\tilde W = a \Sigma b^\top` the intersection, :math:`g = \lambda / (\sigma^2 + \lambda)` and K the Gram
matrix of the rows, the error of row i is

.. math:: e_i = (Y - a a^\top Y + a g a^\top Y)_i \; / \; (1 - o_i - \|a_i\|^2 + \textstyle\sum_k a_{ik}^2 g_k)

where :math:`o_i` is by how much the first guess for the row contains the row itself. Its square needs only
:math:`K = Y Y^\top`. It costs one singular value decomposition.
"""

from __future__ import annotations

import math

import numpy as np

from ..._typing import FloatArray

__all__ = ["CUT", "RIDGES", "left_out_squares", "most_cautious"]

CUT = 1e-12  # singular values of the intersection below this fraction of the largest are rounding
RIDGES = np.concatenate(  # relative to the largest squared singular value
    [[0.0], np.logspace(-20, -11, 10), np.logspace(-10, 4, 57)]
)
LEAST_FREE = 1e-9  # a row that is no more free than this is not predicted by the others


def left_out_squares(W: FloatArray, gram: FloatArray, own: FloatArray) -> FloatArray:
    """Squared error of each row when it is left out, for each of the ridges, shape (len(RIDGES), d)."""
    a, s, _ = np.linalg.svd(W, full_matrices=False)
    kept = s > CUT * s.max(initial=0.0)
    a, s = a[:, kept], s[kept]
    projected = a.T @ gram
    inner = projected @ a
    rest = gram - a @ projected
    outside = np.diagonal(rest) - np.sum((rest @ a) * a, axis=1)
    between = projected.T - a @ inner
    free = 1 - own - np.sum(a**2, axis=1)
    squares = np.empty((len(RIDGES), len(W)))
    for k, ridge in enumerate(RIDGES * s.max(initial=0.0) ** 2):
        g = ridge / (s**2 + ridge)
        held = a * g
        errors = outside + 2 * np.sum(between * held, axis=1) + np.sum((held @ inner) * held, axis=1)
        freedom = free + a**2 @ g
        squares[k] = math.inf
        np.divide(errors.clip(min=0), freedom**2, out=squares[k], where=freedom > LEAST_FREE)
    return squares


def most_cautious(errors: FloatArray, rounding: float) -> int:
    """The largest ridge that is not clearly worse than the best; the least one where all that is left is rounding.

    Not clearly worse: on average over the rows, by less than one standard error of the difference. On heavy-tailed
    data a single row can make a small ridge look good, and a prediction that rests on it can be worse than none.
    """
    totals = errors.sum(axis=1)
    best = int(np.argmin(totals))
    if totals[best] <= rounding:
        return int(np.argmax(totals <= rounding))
    if not math.isfinite(totals[best]):
        return len(errors) - 1
    with np.errstate(invalid="ignore"):
        difference = errors - errors[best]
        spread = np.std(difference, axis=1) * math.sqrt(errors.shape[1])
        close = difference.sum(axis=1) <= spread
    close[: best + 1] = False
    return best if not close.any() else int(np.flatnonzero(close)[-1])
