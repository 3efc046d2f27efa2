r"""Offsets, and singular values of the rest shrunk by a threshold.

.. math:: \min_L \tfrac12 \sum_{(i,j)} w_{ij} (E_{ij} - L_{ij})^2 + \lambda \|L\|_*

with E what the additive model leaves (Mazumder, Hastie and Tibshirani 2010). The problem is convex, so the start does
not matter, and a large threshold gives zero. Solutions are found for falling thresholds, each from the one before, as
:math:`L = U V^*` by alternating ridge regressions, for which
:math:`\|L\|_* = \min \tfrac12 (\|U\|_F^2 + \|V\|_F^2)`. Left-out cells choose the threshold. The posterior mean of
both factors (:mod:`.posterior`) then replaces the solution.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..._arrays import abs_squared, adjoint, distinct
from ..._typing import FloatArray, IndexVector
from ...evaluation.additive import additive_model
from ...evaluation.left_out import dealt
from ...factorization import Fact
from ...observation import Cells, Entries
from .offsets import is_affordable
from .posterior import Pair, SparseSums, posterior_mean, solve
from .prediction import Prediction

__all__ = ["Shrunken"]

MOST_ENTRIES = 2_000_000  # cost: a path of thresholds for more takes minutes
THRESHOLD_RATIO, PATH_STEPS = 2 / 3, 20  # steps: each threshold is this fraction of the one before
STRIDE = 2  # cost: thresholds at a time on the way to one that is known
THRESHOLDS_IN_VAIN = 2  # cost: thresholds without improvement before the search ends
MOST_SWEEPS, STEADY_OBJECTIVE = 10, 2e-3  # steps: until the objective falls by less than this fraction
SWEEPS_TO_CHOOSE = 2  # steps: for each threshold, from the one before
SWEEPS_AGAIN = 1  # steps: from a fit of nearly the same cells
WIDEST_PATH = 60  # cost: directions; fewer if cells are few for them, or take too long
MOST_PRODUCTS, MOST_TO_CHOOSE = 1_000_000_000, 250_000_000  # cost: of cells and pairs of directions
OVERSAMPLED, POWERS = 5, 2  # steps: of the subspace iteration that finds new directions roughly; sweeps turn them
NEW_DIRECTIONS = 8  # cost: directions that may be added at a threshold; if there are more already, as many as those
PATH_FOLDS, FEW_CELLS = 4, 2_000  # cost: with more cells, one fold is enough


@dataclass(frozen=True)
class Shrunken:
    """Offsets with shrunken singular values, as a model."""

    n_thresholds: int | None = None  # number of falling thresholds; None: left-out cells choose
    name: ClassVar[str] = "shrunken"
    uses_entries: ClassVar[bool] = True

    def applies(self, cells: Cells) -> bool:
        """If the path of thresholds is affordable, on the host."""
        return is_affordable(cells) and cells.n_values <= MOST_ENTRIES

    def settled(self, cells: Cells) -> Shrunken:
        """The same model with its threshold chosen by left-out cells."""
        return self if self.n_thresholds is not None else Shrunken(_chosen(cells.scattered))

    def fit(self, cells: Cells) -> Prediction:
        """The prediction."""
        return self.refit(cells, None)

    def refit(self, cells: Cells, near: Prediction | None) -> Prediction:
        """The prediction, from one that was fitted to nearly the same cells, if there is one."""
        offsets = additive_model(cells.scattered)
        rest, *known = _of_known_rows(offsets.residual(cells.scattered))
        if not len(rest):
            return Prediction.of(*offsets.factors())
        chosen, sums = self.settled(cells).n_thresholds or 0, SparseSums.of(rest)
        if near is None:
            found = posterior_mean(sums, _solution(sums, chosen))
        else:
            left, right = (x[index, 2:] for x, index in zip((near.left, near.right), known, strict=True))
            found = posterior_mean(sums, Pair(left, right), SWEEPS_AGAIN)
        factors = []
        for low_rank, of_offsets, index in zip(found, offsets.factors(), known, strict=True):
            factors.append(np.hstack([of_offsets, np.zeros((len(of_offsets), low_rank.shape[1]), low_rank.dtype)]))
            factors[-1][index, 2:] = low_rank
        of, why = f"of {PATH_STEPS} that fall by a third", "left-out cells are predicted best"
        decided = Fact("threshold", chosen, "threshold of the shrunken model", of, why, is_decision=True)
        return Prediction.of(*factors)._replace(decisions=(decided,))


def _solution(sums: SparseSums, number: int) -> Pair:
    """That of one threshold."""
    falling, pair = _thresholds(sums)[:number], _zero(sums)
    for pair in _solutions(sums, falling[(number - 1) % STRIDE :: STRIDE]):  # noqa: B007
        pass
    return pair


def _of_known_rows(entries: Entries) -> tuple[Entries, IndexVector, IndexVector]:
    """The entries in the rows and columns that have any, and which these are."""
    (rows, i), (columns, j) = (distinct(x, size) for x, size in zip((entries.i, entries.j), entries.shape, strict=True))
    return replace(entries, shape=(len(rows), len(columns)), i=i, j=j), rows, columns


def _thresholds(sums: SparseSums) -> FloatArray:
    """Falling thresholds; at the first, the solution is just not zero."""
    return float(_leading(sums.values, 1)[1][0]) * THRESHOLD_RATIO ** np.arange(1.0, PATH_STEPS + 1)


def _chosen(entries: Entries) -> int:
    """How many of the falling thresholds to go down, by cells left out in turn."""
    entries = _of_known_rows(entries)[0]
    fold = dealt(entries.flat_index, PATH_FOLDS, np.random.default_rng(0))
    total = np.zeros(PATH_STEPS + 1)
    for k in range(PATH_FOLDS if len(entries) <= FEW_CELLS else 1):
        fit, left_out = (entries.take(np.flatnonzero(x)) for x in (fold != k, fold == k))
        if len(fit) and len(left_out):
            offsets = additive_model(fit)
            total += _errors(offsets.residual(fit), offsets.residual(left_out))
    return int(np.argmin(total))


def _errors(fit: Entries, left_out: Entries) -> FloatArray:
    """Sums of squares of what is left out, for no low rank and for each threshold; the last one tried holds on."""
    errors = [float(np.sum(left_out.weights * abs_squared(left_out.values)))]
    sums = SparseSums.of(fit)
    for pair in _solutions(sums, _thresholds(sums), SWEEPS_TO_CHOOSE, MOST_TO_CHOOSE):
        rest = left_out.values - pair.at(left_out.i, left_out.j)
        errors.append(float(np.sum(left_out.weights * abs_squared(rest))))
        if len(errors) > THRESHOLDS_IN_VAIN and min(errors[-THRESHOLDS_IN_VAIN:]) > min(errors[:-THRESHOLDS_IN_VAIN]):
            break
    return np.array(errors + errors[-1:] * (PATH_STEPS + 1 - len(errors)))


def _solutions(
    sums: SparseSums, falling: FloatArray, sweeps: int = MOST_SWEEPS, products: int = MOST_PRODUCTS
) -> Iterator[Pair]:
    """The solution for each of some falling thresholds."""
    affordable = math.isqrt(products // max(sums.values.nnz, 1))
    supported = 2 * sums.values.nnz // sum(sums.shape)  # twice as many directions as there are unknowns for
    widest = min(max(1, min(affordable, supported)), WIDEST_PATH, *sums.shape)
    now = _zero(sums)
    for threshold in falling:
        now = _with_new_directions(sums, now, threshold, widest)
        before = math.inf
        for _ in range(sweeps if now.left.shape[1] else 0):
            now, objective = _sweep(sums, now, threshold)
            if before - objective < STEADY_OBJECTIVE * before:
                break
            before = objective
        yield now


def _sweep(sums: SparseSums, now: Pair, threshold: float) -> tuple[Pair, float]:
    """Both factors, each solved for the other, and the objective."""
    left, _ = solve(sums, now.right, threshold)
    right, explained = solve(sums.H, left, threshold)
    squares = sums.squares - explained - threshold * float(np.sum(abs_squared(right)))
    now, s = _balanced(Pair(left, right))
    return now, 0.5 * squares + threshold * float(np.sum(s))


def _with_new_directions(sums: SparseSums, now: Pair, threshold: float, widest: int) -> Pair:
    """More directions where the gradient exceeds the threshold, as far as there is room."""
    width = now.left.shape[1]
    room = min(widest - width, max(NEW_DIRECTIONS, width))
    if room <= 0:
        return now
    U, s, Vh = _leading(sums.gradient(now), room)
    new = s > threshold
    root = np.sqrt(np.maximum(s[new] - threshold, 1e-3 * s[new]) / 2)  # steps: where they begin
    return Pair(np.hstack([now.left, U[:, new] * root]), np.hstack([now.right, adjoint(Vh[new]) * root]))


def _balanced(factors: Pair) -> tuple[Pair, FloatArray]:
    r"""The same product with factors of equal size and orthogonal columns, and its singular values, zeros left out.

    Inner products are enough for what is kept: with U = left and :math:`U^* U = Q a Q^*`, the squared singular values
    are the eigenvalues of :math:`\sqrt a \, Q^* V^* V Q \sqrt a`.
    """
    (left, right), k = factors, factors.left.shape[1]
    a, Q = np.linalg.eigh(adjoint(left) @ left)
    root = np.sqrt(np.maximum(a, 1e-14 * a.max(initial=0.0) + np.finfo(float).tiny))  # rounding: not zero
    turned = Q * root
    squares, P = np.linalg.eigh(adjoint(turned) @ (adjoint(right) @ right) @ turned)
    kept = np.arange(k)[::-1][squares[::-1] > 1e-12 * squares.max(initial=0.0)]  # rounding: zero
    s, P = np.sqrt(squares[kept]), P[:, kept]
    half = np.sqrt(s)
    return Pair(left @ ((Q / root) @ P * half), right @ (turned @ P / half)), s


def _leading(matrix: Any, count: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Leading singular vectors and values of a sparse matrix, by subspace iteration (Halko, Martinsson, Tropp 2011)."""
    V = np.random.default_rng(0).standard_normal((matrix.shape[1], min(count + OVERSAMPLED, *matrix.shape)))
    for _ in range(POWERS):
        V = np.linalg.qr(matrix.conj(copy=False).T @ (matrix @ V))[0]
    U, s, Qh = np.linalg.svd(matrix @ V, full_matrices=False)
    return U[:, :count], s[:count], adjoint(V @ adjoint(Qh[:count]))


def _zero(sums: SparseSums) -> Pair:
    return Pair(*(np.zeros((size, 0), dtype=sums.values.dtype) for size in sums.shape))
