r"""Low rank from scattered entries alone: singular values shrunk by a threshold.

.. math:: \min_L \tfrac12 \sum_{(i,j) \in \Omega} w_{ij} (E_{ij} - L_{ij})^2 + \lambda \|L\|_*

The problem is convex, so no start can lead astray, and a large threshold gives zero. Solutions are found for falling
thresholds, each from the one before, as :math:`L = U V^\top` by alternating ridge regressions, for which
:math:`\|L\|_* = \min \tfrac12 (\|U\|_F^2 + \|V\|_F^2)`. Entries left out in turn choose the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.linalg import svds

from ..._sets import NO_INDEX
from ..._typing import FloatArray, IndexVector
from ...evaluation.folds import dealt
from ...observation import Entries
from .als import Measurements, solve_rows
from .factors import Factors
from .offsets import Offsets

__all__ = ["CLEARLY", "chosen_threshold", "low_rank_part", "thresholds"]

RATIO, STEPS = 0.75, 28  # each threshold is this fraction of the one before
CLEARLY = 1.0  # standard errors by which a model must be better than offsets
PATIENCE = 3  # thresholds without improvement before the search ends
MUCH = 3.0  # standard errors by which a threshold must be worse than the best before it to end the search at once
MOST_SWEEPS, STEADY = 10, 2e-3  # until the objective falls by less than this fraction
WIDEST, NARROWEST = 60, 4  # directions; fewer where entries are few for them, or so many that they take long
MOST_PRODUCTS = 4_000_000_000  # of entries and pairs of directions
ROUGH = 1e-2  # to which new directions are found; sweeps turn them
SHORT_SIDE = 250  # up to which singular vectors are found from inner products, which takes less time than iterations
FOLDS, FEW_ENTRIES = 4, 2_000  # with more entries than a few, one fold is left out


def thresholds(entries: Entries) -> FloatArray:
    """Falling thresholds; at the first, the solution is just not zero."""
    return float(_leading(_matrix(entries), 1)[1][0]) * RATIO ** np.arange(1.0, STEPS + 1)


def low_rank_part(entries: Entries, falling: FloatArray) -> Factors:
    """The solution for the last of some falling thresholds; zero where there are none."""
    solution = _zero(entries)
    for solution in solutions(entries, falling):  # noqa: B007
        pass
    return solution


def chosen_threshold(
    entries: Entries,
    falling: FloatArray,
    model_of: Callable[[Entries], Offsets],
    finished: Callable[[Entries, Factors], Factors],
    rng: np.random.Generator,
) -> int:
    """How many of the falling thresholds to go down, by entries left out in turn; 0 where no low rank does better.

    Parameters
    ----------
    entries : Entries
        What is approximated.
    falling : array of shape (k,)
        The thresholds.
    model_of : callable
        Fits the model without low rank, of which the thresholds approximate the residual.
    finished : callable
        What is made of a low-rank part in the end: that must be clearly better than none.
    rng : numpy.random.Generator
        Deals the entries.
    """
    fold = dealt(entries.flat_index, FOLDS, rng)
    n_folds = FOLDS if len(entries) <= FEW_ENTRIES else 1
    total = np.zeros(len(falling) + 1)
    found: list[_LeftOut] = []
    for k in range(n_folds):
        fit, left_out = (entries.take(np.flatnonzero(x)) for x in (fold != k, fold == k))
        if len(fit) and len(left_out):
            model = model_of(fit)
            fit, left_out = model.residual(fit), model.residual(left_out)
            errors, best = _errors(fit, left_out, falling * math.sqrt(1 - 1 / FOLDS))
            total += errors
            found.append(_LeftOut(best, fit, left_out))
    is_better = (
        _gain(found) > MUCH or _gain([x._replace(low_rank=finished(x.fit, x.low_rank)) for x in found]) > CLEARLY
    )
    return int(np.argmin(total)) if is_better else 0


class _LeftOut(NamedTuple):
    """A low rank, the entries that it was fitted to, and those that were left out."""

    low_rank: Factors
    fit: Entries
    left_out: Entries


def _gain(found: list[_LeftOut]) -> float:
    """By how many standard errors low rank is better than none, on what was left out."""
    gains = np.concatenate([np.empty(0), *(_gains(x.low_rank, x.left_out) for x in found)])
    spread = float(np.linalg.norm(gains))
    return (float(np.sum(gains)) - sum(_not_met(*x) for x in found)) / spread if spread else 0.0


def _errors(fit: Entries, left_out: Entries, falling: FloatArray) -> tuple[FloatArray, Factors]:
    """Sums of squares of what is left out, for no low rank and for each threshold, and the best solution.

    The last threshold that was tried holds from there on.
    """
    best = _zero(fit)
    least = _squares(best, left_out)
    errors = [float(np.sum(least))]
    for solution in solutions(fit, falling):
        squares = _squares(solution, left_out)
        errors.append(float(np.sum(squares)))
        if errors[-1] == min(errors):
            best, least = solution, squares
        is_much_worse = best.left.shape[1] and errors[-1] - min(errors) > MUCH * np.linalg.norm(squares - least)
        if is_much_worse or (len(errors) > PATIENCE and min(errors[-PATIENCE:]) > min(errors[:-PATIENCE])):
            break
    return np.array(errors + errors[-1:] * (len(falling) + 1 - len(errors))), best


def _squares(low_rank: Factors, left_out: Entries) -> FloatArray:
    """The square of what is left of each entry, with its weight."""
    squares: FloatArray = left_out.weights * (left_out.values - low_rank.at(left_out.i, left_out.j)) ** 2
    return squares


def _gains(low_rank: Factors, left_out: Entries) -> FloatArray:
    """By how much the square of each entry that is left out falls, with its weight."""
    gains: FloatArray = left_out.weights * left_out.values**2 - _squares(low_rank, left_out)
    return gains


def _not_met(low_rank: Factors, fit: Entries, left_out: Entries) -> float:
    """Squares that a low rank has where it was not fitted, beyond those that what is left out shows of it.

    All of them are known. Where large values are few, it can be large where none of them was left out.
    """
    size = math.prod(fit.shape)
    fitted = float(np.sum(low_rank.at(fit.i, fit.j) ** 2))
    elsewhere = (size * low_rank.mean_square - fitted) / max(size - len(fit), 1)
    return max(float(np.sum(left_out.weights * (elsewhere - low_rank.at(left_out.i, left_out.j) ** 2))), 0.0)


def solutions(entries: Entries, falling: FloatArray) -> Iterator[Factors]:
    """The solution for each of some falling thresholds."""
    affordable = math.isqrt(MOST_PRODUCTS // max(len(entries), 1))
    supported = 2 * len(entries) // sum(entries.shape)  # twice as many directions as there are unknowns for
    widest = min(max(NARROWEST, min(affordable, supported)), WIDEST, *entries.shape)
    entries = entries.take(np.lexsort((entries.j, entries.i)))  # neighbours in memory, and no sparse matrix to sort
    by_rows = Measurements(*_nothing_whole(entries), entries)
    by_columns = by_rows.T
    now = _zero(entries)
    for threshold in falling:
        now = _with_new_directions(entries, now, threshold, widest)
        before = math.inf
        for _ in range(MOST_SWEEPS if now.left.shape[1] else 0):
            left = solve_rows(by_rows, now.right, threshold)
            now, s = _balanced(Factors(left, solve_rows(by_columns, left, threshold)))
            rest = entries.values - now.at(entries.i, entries.j)
            objective = 0.5 * float(np.sum(entries.weights * rest**2)) + threshold * float(np.sum(s))
            if before - objective < STEADY * before:
                break
            before = objective
        yield now


def _with_new_directions(entries: Entries, now: Factors, threshold: float, widest: int) -> Factors:
    """More directions where the gradient exceeds the threshold, as far as there is room."""
    width = now.left.shape[1]
    room = min(widest - width, max(2, width // 2))
    if room <= 0:
        return now
    rest = entries.with_values(entries.values - now.at(entries.i, entries.j))
    U, s, Vt = _leading(_matrix(rest), room)
    new = s > threshold
    root = np.sqrt(np.maximum(s[new] - threshold, 1e-3 * s[new]) / 2)
    return Factors(np.hstack([now.left, U[:, new] * root]), np.hstack([now.right, Vt[new].T * root]))


def _balanced(factors: Factors) -> tuple[Factors, FloatArray]:
    """The same product with factors of equal size and orthogonal columns, and its singular values, zeros left out."""
    (Ql, Rl), (Qr, Rr) = np.linalg.qr(factors.left), np.linalg.qr(factors.right)
    P, s, Qt = np.linalg.svd(Rl @ Rr.T)
    kept = s > 1e-6 * s.max(initial=0.0)
    root = np.sqrt(s[kept])
    return Factors(Ql @ P[:, kept] * root, Qr @ Qt[kept].T * root), s[kept]


def _leading(matrix: Any, count: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Leading singular vectors and values of a sparse matrix."""
    if not np.any(matrix.data):
        return np.zeros((matrix.shape[0], count)), np.zeros(count), np.zeros((count, matrix.shape[1]))
    if matrix.shape[0] < matrix.shape[1]:
        U, s, Vt = _leading(matrix.T, count)
        return Vt.T, s, U.T
    if matrix.shape[1] <= max(SHORT_SIDE, 2 * count):
        return _leading_by_gram(matrix, count)
    start = np.random.default_rng(0).standard_normal(min(matrix.shape))
    U, s, Vt = svds(matrix, k=count, v0=start, tol=ROUGH)
    return U[:, ::-1], s[::-1], Vt[::-1]


def _leading_by_gram(matrix: Any, count: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same for a matrix of few columns: eigenvectors of their inner products, good to the root of rounding."""
    m = matrix.shape[1]
    _, V = scipy.linalg.eigh((matrix.T @ matrix).toarray(), subset_by_index=[max(m - count, 0), m - 1])
    V = V[:, ::-1]
    UV = matrix @ V
    s = np.linalg.norm(UV, axis=0)
    return UV / np.maximum(s, np.finfo(float).tiny), s, V.T


def _matrix(entries: Entries) -> Any:
    values = entries.weights * entries.values
    return scipy.sparse.csr_array((values, (entries.i, entries.j)), shape=entries.shape)


def _zero(entries: Entries) -> Factors:
    return Factors(np.zeros((entries.shape[0], 0)), np.zeros((entries.shape[1], 0)))


def _nothing_whole(entries: Entries) -> tuple[IndexVector, FloatArray, IndexVector, FloatArray]:
    """No row and no column that is known whole."""
    n, m = entries.shape
    return NO_INDEX, np.empty((0, m)), NO_INDEX, np.empty((n, 0))
