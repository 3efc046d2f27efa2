r"""The ridge skeleton: predict what was not read from sampled rows and columns alone.

If rows depend on one another in the rest of the matrix as they do in the sampled columns, then
:math:`M \approx C W^+ R` with W the intersection (the skeleton of Goreinov, Tyrtyshnikov and Zamarashkin 1997). On real
data W is noisy, so its inverse is shrunk by a ridge, towards a target (:mod:`.cross`). Target and ridge are chosen by
leaving sampled rows and columns out: with :math:`\tilde W = a \Sigma b^\top` the intersection of the deviations from
the target, :math:`g = \lambda / (\sigma^2 + \lambda)` and :math:`Y` their rows, the error of row i is

.. math:: e_i = (Y - a a^\top Y + a g a^\top Y)_i \; / \; (1 - o_i - \|a_i\|^2 + \textstyle\sum_k a_{ik}^2 g_k)

where :math:`o_i` is the share of the row in its own target (Allen's PRESS statistic, 1974). Only d x d matrices are
needed, and one singular value decomposition. No entry is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from ..._arrays import (
    abs_squared,
    adjoint,
    array_namespace,
    blocks,
    conjugate,
    float64,
    power_of_two,
    put_rows,
    take,
)
from ..._support.sets import evenly_spaced
from ..._typing import FloatArray, Matrix
from ...factorization import Fact
from ...observation import Cells
from .cross import Cross, Target, cross_of, offset_target, zero_target
from .prediction import Prediction

__all__ = ["Skeleton", "Svd", "inverse_of", "svd_of", "without_gaps"]

FEWEST_SAMPLED = 2  # mathematics: rows, and columns: a single one cannot be left out
CUT = 1e-12  # rounding: singular values of the intersection below this fraction of the largest are rounding
RIDGES = np.concatenate([[0.0], np.logspace(-20, -11, 10), np.logspace(-10, 4, 57)])  # steps: of the largest square
MOST_LEFT_OUT = 300  # cost: rows; if there are more, 150 are left out, which gives the error to about 10 %
LEAST_FREE = 1e-9  # rounding: denominator of a left-out error; below, the others do not predict the row


@dataclass(frozen=True)
class Skeleton:
    """The ridge skeleton, as a model."""

    name: ClassVar[str] = "skeleton"
    uses_entries: ClassVar[bool] = False

    def applies(self, cells: Cells) -> bool:
        """If some rows and some columns were read."""
        return cells.is_cross and min(cells.n_rows, cells.n_columns) >= FEWEST_SAMPLED

    def settled(self, cells: Cells) -> Skeleton:
        """The model itself: it has no settings."""
        return self

    def fit(self, cells: Cells) -> Prediction:
        """The prediction; gaps of rows and columns are filled by means."""
        whole = without_gaps(cells) if cells.has_gaps else cells
        cross = cross_of(whole)
        if not any(np.trace(gram[:-1, :-1]).real > 0 for gram in (cross.row_gram, cross.column_gram)):
            return inverse_of(whole, zero_target(cross), svd_of(cross.W), math.inf)
        found = [_best_ridge(target, cross) for target in (zero_target(cross), offset_target(cross))]
        best = min(found, key=lambda choice: choice.error)
        why = f"left-out ones are predicted to {best.error:.1%}"
        of = f"towards {best.target.name}"
        fact = Fact("ridge", best.ridge, "ridge of the skeleton", of, why, is_decision=True)
        return inverse_of(whole, best.target, best.svd, best.ridge)._replace(decisions=(fact,))


def without_gaps(cells: Cells) -> Cells:
    """The cells with the mean of its row or column in each gap of a sampled one; of both, where they intersect."""
    C, R = _with_means(cells.columns), _with_means(cells.rows.T).T
    both = (take(C, cells.row_index, axis=0) + take(R, cells.column_index, axis=1)) / 2
    C, R = put_rows(C, cells.row_index, both), put_rows(R.T, cells.column_index, both.T).T
    return replace(cells, columns=C, rows=R, has_gaps=False)


def _with_means(values: Matrix) -> Matrix:
    """An array (n, d) with the mean of its column in place of NaN; zero if it has no known value."""
    xp = array_namespace(values)
    known = ~xp.isnan(values)
    count = xp.clip(xp.sum(float64(known), axis=0), min=1.0)
    means = xp.sum(xp.where(known, values, xp.zeros_like(values)), axis=0) / xp.astype(count, values.dtype)
    return xp.where(known, values, means)


class Svd(NamedTuple):
    """The singular value decomposition of the intersection."""

    a: FloatArray  # (d2, k)
    s: FloatArray  # (k,), descending
    bh: FloatArray  # (k, d1)

    @property
    def H(self) -> Svd:
        """That of the adjoint."""
        return Svd(adjoint(self.bh), self.s, adjoint(self.a))

    def above(self, fraction: float) -> Svd:
        """The singular values above this fraction of the largest, with their vectors."""
        k = int(np.count_nonzero(self.s > fraction * self.s.max(initial=0.0)))
        return Svd(self.a[:, :k], self.s[:k], self.bh[:k])


def svd_of(W: FloatArray) -> Svd:
    """The singular value decomposition of a matrix."""
    return Svd(*np.linalg.svd(W, full_matrices=False))


def inverse_of(cells: Cells, target: Target, svd: Svd, ridge: float) -> Prediction:
    """The target, and the ridge inverse of the deviations from it, in factored form; only the target, if infinite."""
    a, s, bh = svd.above(np.finfo(float).eps)
    unit = power_of_two(float(s.max(initial=0.0)), s)  # squares of an intersection of nearly nothing are zero
    s = s / unit
    inverse = s / (s**2 + ridge * s.max(initial=0.0) ** 2) / unit if math.isfinite(ridge) else 0 * s
    mixing = np.hstack([target.by_columns(adjoint(bh)), target.left])
    coefficients = np.vstack([adjoint(target.H.by_columns(a * inverse)), target.right])
    C, Rh = cells.columns, cells.turned_rows
    if target.name == "zero":
        return Prediction(C, mixing[:-1], coefficients[:, :-1], Rh, is_of_samples=True)
    left, right = (array_namespace(x).concat([x, array_namespace(x).ones_like(x[:, :1])], axis=1) for x in (C, Rh))
    return Prediction(left, mixing, coefficients, right, is_of_samples=True)


class _Choice(NamedTuple):
    """A target with its ridge."""

    target: Target
    svd: Svd  # of the deviations from it, where rows and columns intersect
    ridge: float  # relative to the largest squared singular value
    error: float  # of left-out rows and columns, relative


def _best_ridge(target: Target, cross: Cross) -> _Choice:
    """The ridge with which left-out rows and columns are predicted best; the least, if the rest is rounding.

    Each side counts by the share of its squares that is not predicted.
    """
    shares, svd = np.zeros(len(RIDGES)), svd_of(target.intersection(cross))
    sides = [(target, cross, svd), (target.H, cross.H, svd.H)]
    for side, part, own in sides:
        gram = side.of_rows(adjoint(side.of_rows(part.row_gram)))
        whole = float(np.trace(part.row_gram[:-1, :-1]).real)
        shares += _left_out_squares(own, gram, side.own_rows, RIDGES).sum(axis=1) / (len(sides) * whole or 1.0)
    best = float(np.min(shares))
    if not best < shares[-1]:
        return _Choice(target, svd, math.inf, math.sqrt(best))
    least = max(best, 1e-13 * shares[-1])  # rounding: of the shares
    return _Choice(target, svd, float(RIDGES[np.argmax(shares <= least)]), math.sqrt(best))


def _left_out_squares(svd: Svd, gram: FloatArray, own: FloatArray, ridges: FloatArray) -> FloatArray:
    """Squared error of each left-out row, for each of the ridges, shape (len(ridges), rows).

    Some rows stand for the others if they are many; infinite if the others do not predict a row.
    """
    a, s, _ = svd.above(CUT)
    s = s / power_of_two(float(s.max(initial=0.0)), s)  # ridges are relative, and squares stay in range
    count = len(a) if len(a) < MOST_LEFT_OUT else MOST_LEFT_OUT // 2
    chosen = evenly_spaced(len(a), count)
    some, projected = a[chosen], adjoint(a) @ gram
    inner, rest = projected @ a, gram[chosen] - some @ projected
    outside = (rest[np.arange(count), chosen] - np.sum((rest @ a) * conjugate(some), axis=1)).real
    between = ((adjoint(projected)[chosen] - some @ inner) * conjugate(some)).real
    g = ridges[:, None] * s.max(initial=0.0) ** 2
    g = g / (s**2 + g)
    errors = outside + 2 * g @ between.T
    for part in blocks(len(ridges), some.size, most=2**17):  # cost: memory
        held = some * g[part, None]
        mixed = held.reshape(-1, held.shape[-1]) @ inner if held.size else held
        errors[part] += np.vecdot(mixed.reshape(held.shape), held).real
    freedom = (1 - own)[chosen] - np.sum(abs_squared(some), axis=1) + g @ abs_squared(some).T
    squares = np.full(errors.shape, math.inf)
    np.divide(errors.clip(min=0), abs_squared(freedom), out=squares, where=freedom.real > LEAST_FREE)
    return squares * (len(a) / count)
