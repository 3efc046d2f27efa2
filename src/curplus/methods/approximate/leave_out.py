r"""Leaving sampled rows out: how well each is predicted from its values in the sampled columns, for every ridge.

With :math:`\tilde W = a \Sigma b^\top` the intersection, :math:`g = \lambda / (\sigma^2 + \lambda)` and K the Gram
matrix of the rows, the error of row i is

.. math:: e_i = (Y - a a^\top Y + a g a^\top Y)_i \; / \; (1 - o_i - \|a_i\|^2 + \textstyle\sum_k a_{ik}^2 g_k)

where :math:`o_i` is by how much the first guess for the row contains the row itself. Its square needs only
:math:`K = Y Y^\top`. It costs one singular value decomposition.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._arrays import blocks, largest
from ..._typing import FloatArray

__all__ = ["CUT", "RIDGES", "LeftOut", "Svd", "leading_svd_of", "most_cautious", "svd_of"]

CUT = 1e-12  # singular values of the intersection below this fraction of the largest are rounding
RIDGES = np.concatenate(  # relative to the largest squared singular value
    [[0.0], np.logspace(-20, -11, 10), np.logspace(-10, 4, 57)]
)
MANY = 300  # rows, of which half as many tell the error to a tenth; all of them would cost more than all the rest
MORE = 20  # directions than are wanted, of a random subspace
LEAST_FREE = 1e-9  # a row that is no more free than this is not predicted by the others


class Svd(NamedTuple):
    """The singular value decomposition of the intersection."""

    a: FloatArray  # (d2, k)
    s: FloatArray  # (k,), descending
    bt: FloatArray  # (k, d1)

    @property
    def T(self) -> Svd:
        """That of the transposed matrix."""
        return Svd(self.bt.T, self.s, self.a.T)

    def above(self, fraction: float) -> Svd:
        """The singular values above this fraction of the largest, with their vectors."""
        k = int(np.count_nonzero(self.s > fraction * self.s.max(initial=0.0)))
        return Svd(self.a[:, :k], self.s[:k], self.bt[:k])


def svd_of(W: FloatArray) -> Svd:
    """The singular value decomposition of a matrix."""
    return Svd(*np.linalg.svd(W, full_matrices=False))


def leading_svd_of(W: FloatArray, count: int) -> Svd:
    """The leading part of it, by a random subspace and one step of iteration: some digits, in less time.

    Where the subspace points is found in single precision, in a unit in which that has the range.
    """
    rough = (W / (largest(W) or 1.0)).astype(np.float32)
    start = np.random.default_rng(0).standard_normal((W.shape[1], count + MORE)).astype(np.float32)
    towards = np.linalg.qr(rough.T @ (rough @ start))[0]
    Q = np.linalg.qr(W @ towards)[0]
    B = Q.T @ W
    squares, P = np.linalg.eigh(B @ B.T)
    squares, P = squares[: -count - 1 : -1], P[:, : -count - 1 : -1]
    s = np.sqrt(squares.clip(min=np.finfo(float).tiny))
    return Svd(Q @ P, s, (P / s).T @ B)


class LeftOut:
    """Rows that are left out, of which any number of ridges can be asked; of many rows some stand for the others."""

    def __init__(self, svd: Svd, gram: FloatArray, own: FloatArray) -> None:
        a, self._s, _ = svd.above(CUT)
        count = len(a) if len(a) < MANY else MANY // 2
        chosen = np.linspace(0, len(a) - 1, count).astype(np.int64)
        self._a, self._stands_for, self.chosen = a[chosen], len(a) / count, chosen
        projected = a.T @ gram
        self._inner = projected @ a
        rest = gram[chosen] - self._a @ projected
        self._outside = rest[np.arange(count), chosen] - np.sum((rest @ a) * self._a, axis=1)
        self._between = (projected.T[chosen] - self._a @ self._inner) * self._a
        self._free = (1 - own)[chosen] - np.sum(self._a**2, axis=1)

    def squares(self, ridges: FloatArray = RIDGES) -> FloatArray:
        """Squared error of each row when it is left out, for each of the ridges, shape (len(ridges), rows)."""
        g = ridges[:, None] * self._s.max(initial=0.0) ** 2
        g = g / (self._s**2 + g)
        errors = self._outside + 2 * g @ self._between.T
        for part in blocks(len(ridges), self._a.size, most=2**17):
            held = self._a * g[part, None]
            mixed = held.reshape(-1, held.shape[-1]) @ self._inner if held.size else held
            errors[part] += np.vecdot(mixed.reshape(held.shape), held)
        freedom = self._free + g @ (self._a**2).T
        squares = np.full(errors.shape, math.inf)
        np.divide(errors.clip(min=0), freedom**2, out=squares, where=freedom > LEAST_FREE)
        return squares * self._stands_for


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
        difference = (errors - errors[best]) / totals[best]  # so that squares of it stay in range
        spread = np.std(difference, axis=1) * math.sqrt(errors.shape[1])
        close = difference.sum(axis=1) <= spread
    close[: best + 1] = False
    return best if not close.any() else int(np.flatnonzero(close)[-1])
