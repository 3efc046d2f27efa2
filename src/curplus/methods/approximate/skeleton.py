r"""The ridge skeleton: predict what was not read from sampled rows and columns alone.

If rows depend on one another in the rest of the matrix as they do in the sampled columns, then
:math:`M \approx C W^+ R` with W the intersection (the skeleton of Goreinov, Tyrtyshnikov and Zamarashkin 1997). On real
data W is noisy, so its inverse is shrunk by a ridge, towards a target (:mod:`.cross`). Target and ridge are chosen by
leaving sampled rows and columns out: with :math:`\tilde W = a \Sigma b^\top` the intersection,
:math:`g = \lambda / (\sigma^2 + \lambda)` and :math:`Y` the rows, the error of row i is

.. math:: e_i = (Y - a a^\top Y + a g a^\top Y)_i \; / \; (1 - o_i - \|a_i\|^2 + \textstyle\sum_k a_{ik}^2 g_k)

where :math:`o_i` is the share of the row in its own target (Allen's PRESS statistic, 1974). Only d x d matrices are
needed, and one singular value decomposition. No entry is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from ..._arrays import abs_squared, adjoint, array_namespace, blocks, conjugate, power_of_two, to_device, to_numpy
from ..._typing import FloatArray
from ...observation import Cells
from .cross import Cross, Target, cross_of, targets
from .prediction import Prediction

__all__ = ["Skeleton", "Svd", "inverse_of", "svd_of", "without_gaps"]

FEWEST_SAMPLED = 2  # rows, and columns: a single one cannot be left out
CUT = 1e-12  # singular values of the intersection below this fraction of the largest are rounding
RIDGES = np.concatenate([[0.0], np.logspace(-20, -11, 10), np.logspace(-10, 4, 57)])  # of the largest squared one
FEW_SAMPLED, RIDGE_STRIDE = 64, 4  # with more rows and columns, every fourth ridge is tried first
MOST_LEFT_OUT = 300  # rows; if there are more, 150 are left out, which gives the error to about 10 %
LEAST_FREE = 1e-9  # denominator of a left-out error; below, the others do not predict the row


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
            return inverse_of(whole, targets(cross, False)[0], svd_of(cross.W), math.inf)
        found = [_best_ridge(target, cross, whole.is_uniform) for target in targets(cross, whole.is_uniform)]
        best = min(found, key=lambda choice: choice.left_out)
        return inverse_of(whole, best.target, best.svd, best.ridge)


def without_gaps(cells: Cells) -> Cells:
    """The cells with the mean of its row or column in each gap of a sampled one; of both, where they intersect."""
    C, R = _with_means(to_numpy(cells.columns)), _with_means(to_numpy(cells.rows).T).T
    both = (C[cells.row_index] + R[:, cells.column_index]) / 2
    C[cells.row_index], R[:, cells.column_index] = both, both
    return replace(cells, columns=to_device(C, cells.columns), rows=to_device(R, cells.rows), has_gaps=False)


def _with_means(values: FloatArray) -> FloatArray:
    """An array (n, d) with the mean of its column in place of NaN; zero if it has no known value."""
    known = ~np.isnan(values)
    means = np.sum(values, axis=0, where=known) / np.maximum(np.count_nonzero(known, axis=0), 1)
    return np.where(known, values, means)


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


class _Choice(NamedTuple):
    """A target with its ridge."""

    target: Target
    svd: Svd  # of the deviations from it, where rows and columns intersect
    ridge: float  # relative to the largest squared singular value
    left_out: float  # share of the squares of left-out rows and columns that is not predicted


def inverse_of(cells: Cells, target: Target, svd: Svd, ridge: float) -> Prediction:
    """The target, and the ridge inverse of the deviations from it, in factored form."""
    a, s, bh = svd.above(np.finfo(float).eps)
    unit = power_of_two(float(s.max(initial=0.0)), s)  # squares of an intersection of nearly nothing are zero
    s = s / unit
    inverse = s / (s**2 + ridge * s.max(initial=0.0) ** 2) / unit if math.isfinite(ridge) else 0 * s
    mixing = np.hstack([target.by_columns(adjoint(bh)), target.left])
    coefficients = np.vstack([adjoint(target.H.by_columns(a * inverse)), target.right])
    C, Rh = cells.columns, cells.turned_rows
    if target.name != "offsets":
        return Prediction(C, mixing[:-1], coefficients[:, :-1], Rh, is_of_samples=True)
    left, right = (array_namespace(x).concat([x, array_namespace(x).ones_like(x[:, :1])], axis=1) for x in (C, Rh))
    return Prediction(left, mixing, coefficients, right, is_of_samples=True)


class _Side(NamedTuple):
    """Rows, or columns, that are left out."""

    left_out: _LeftOut
    number: int
    total: float  # sum of their squares
    stands_for: float  # number of rows that each of them stands for


def _best_ridge(target: Target, cross: Cross, is_uniform: bool) -> _Choice:
    """The ridge with which left-out rows and columns are predicted best.

    With many rows and columns, some of the ridges are tried, and then those beside the best.
    """
    svd = svd_of(target.intersection(cross))
    sides = [_side(*part) for part in ((target, cross, svd), (target.H, cross.H, svd.H))]
    sides = [side for side in sides if side.number > 1 and side.total > 0]
    if min(cross.W.shape) <= FEW_SAMPLED:
        return _best_of(target, svd, sides, is_uniform, RIDGES)
    about = _best_of(target, svd, sides, is_uniform, RIDGES[::RIDGE_STRIDE])
    k = int(np.flatnonzero(about.ridge == RIDGES)[0])
    return _best_of(target, svd, sides, is_uniform, RIDGES[max(k - RIDGE_STRIDE + 1, 0) : k + RIDGE_STRIDE])


def _side(target: Target, cross: Cross, svd: Svd) -> _Side:
    plain = cross.row_gram[:-1, :-1]
    gram = target.of_rows(adjoint(target.of_rows(cross.row_gram)))
    stands_for = max(cross.unread_rows, np.finfo(float).tiny)
    return _Side(_LeftOut(svd, gram, target.own_rows), len(plain), float(np.trace(plain).real), stands_for)


def _best_of(target: Target, svd: Svd, sides: list[_Side], is_uniform: bool, ridges: FloatArray) -> _Choice:
    """The largest of the ridges that is not clearly worse than the best.

    Chosen rows and columns represent the others less well, so only the side with more of them is left out.
    """
    squares = [side.left_out.squares(ridges) for side in sides]
    shares = [x.sum(axis=1) / side.total for x, side in zip(squares, sides, strict=True)]
    estimates = [x * side.stands_for for x, side in zip(squares, sides, strict=True)]
    larger = max(range(len(sides)), key=lambda k: sides[k].number)
    errors = np.hstack(estimates) / len(sides) if is_uniform else estimates[larger]
    chosen = _most_cautious(errors, 1e-13 * float(errors[-1].sum()))
    return _Choice(target, svd, float(ridges[chosen]), float(np.mean([share[chosen] for share in shares])))


class _LeftOut:
    """Left-out rows, with their errors for any ridges; some rows stand for the others if they are many."""

    def __init__(self, svd: Svd, gram: FloatArray, own: FloatArray) -> None:
        a, s, _ = svd.above(CUT)
        self._s = s / power_of_two(float(s.max(initial=0.0)), s)  # ridges are relative, and squares stay in range
        count = len(a) if len(a) < MOST_LEFT_OUT else MOST_LEFT_OUT // 2
        chosen = np.linspace(0, len(a) - 1, count).astype(np.int64)
        self._a, self._stands_for = a[chosen], len(a) / count
        projected = adjoint(a) @ gram
        self._inner = projected @ a
        rest = gram[chosen] - self._a @ projected
        self._outside = (rest[np.arange(count), chosen] - np.sum((rest @ a) * conjugate(self._a), axis=1)).real
        self._between = ((adjoint(projected)[chosen] - self._a @ self._inner) * conjugate(self._a)).real
        self._free = (1 - own)[chosen] - np.sum(abs_squared(self._a), axis=1)

    def squares(self, ridges: FloatArray) -> FloatArray:
        """Squared error of each left-out row, for each of the ridges, shape (len(ridges), rows)."""
        g = ridges[:, None] * self._s.max(initial=0.0) ** 2
        g = g / (self._s**2 + g)
        errors = self._outside + 2 * g @ self._between.T
        for part in blocks(len(ridges), self._a.size, most=2**17):
            held = self._a * g[part, None]
            mixed = held.reshape(-1, held.shape[-1]) @ self._inner if held.size else held
            errors[part] += np.vecdot(mixed.reshape(held.shape), held).real
        freedom = self._free + g @ abs_squared(self._a).T
        squares = np.full(errors.shape, math.inf)
        np.divide(errors.clip(min=0), abs_squared(freedom), out=squares, where=freedom.real > LEAST_FREE)
        return squares * self._stands_for


def _most_cautious(errors: FloatArray, rounding: float) -> int:
    """The largest ridge that is not clearly worse than the best; the least one if all that is left is rounding.

    Not clearly worse: on average over the rows, by less than one standard error of the difference (the rule of one
    standard error, Breiman et al. 1984). On heavy-tailed data a single row can make a small ridge look good.
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
