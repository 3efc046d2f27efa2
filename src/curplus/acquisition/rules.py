"""Rules for choosing columns of a matrix that is known as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._arrays import adjoint
from .._typing import IndexVector
from ..observation.plan import distinct
from .score import FloatVector, ResidualColumns, leverage_scores, right_vectors, squared_norms, weighted_draw

__all__ = ["Drawn", "EquallyLikely", "Ranked", "Rule", "explaining", "leverage", "pivoted", "qdeim"]


class Rule(Protocol):
    """A way to choose columns of a matrix known as a whole; any object with this method is one."""

    def select(
        self, matrix: Any, k: int, rank: int, rng: np.random.Generator, *, cost: FloatVector | None = None
    ) -> IndexVector:
        """``k`` distinct columns of a float64 array or CSC matrix; ``rank`` singular vectors may be looked at.

        ``cost``, of shape (m,), is passed only if the user gives it.
        """


@dataclass(frozen=True)
class Drawn:
    """Columns drawn with chances in proportion to a score."""

    score: Callable[[Any, int], FloatVector]

    def select(
        self, matrix: Any, k: int, rank: int, rng: np.random.Generator, *, cost: FloatVector | None = None
    ) -> IndexVector:
        return weighted_draw(_for_money(self.score(matrix, rank), cost), k, rng)


@dataclass(frozen=True)
class Ranked:
    """Columns picked one by one, then those with the best scores."""

    pick: Callable[[Any, int, int, FloatVector | None], tuple[list[int], FloatVector]]

    def select(
        self, matrix: Any, k: int, rank: int, rng: np.random.Generator, *, cost: FloatVector | None = None
    ) -> IndexVector:
        chosen, scores = self.pick(matrix, k, rank, cost)
        order = np.lexsort((rng.random(len(scores)), -_for_money(scores, cost)))  # ties in random order
        rest = order[~np.isin(order, chosen)]
        return np.concatenate([np.asarray(chosen, dtype=np.int64), rest])[:k].astype(np.int64)


@dataclass(frozen=True)
class EquallyLikely:
    """Columns drawn with equal chances."""

    def select(
        self, matrix: Any, k: int, rank: int, rng: np.random.Generator, *, cost: FloatVector | None = None
    ) -> IndexVector:
        return distinct(rng, matrix.shape[1], k)


def leverage(M: Any, rank: int) -> FloatVector:
    """Leverage scores in the leading singular vectors."""
    return np.asarray(leverage_scores(right_vectors(M, rank)[0]))


def qdeim(M: Any, k: int, rank: int, cost: FloatVector | None = None) -> tuple[list[int], FloatVector]:
    """Discrete empirical interpolation by pivoted QR of the singular vectors, then the largest leverage scores."""
    V, _ = right_vectors(M, rank)
    residual = ResidualColumns(adjoint(V), prices=cost)
    return residual.pick(k, residual.norms), leverage_scores(V)


def pivoted(M: Any, k: int, _rank: int, cost: FloatVector | None = None) -> tuple[list[int], FloatVector]:
    """Pivoted QR of the matrix, then the largest norms."""
    residual = ResidualColumns(M, prices=cost)
    return residual.pick(k, residual.norms), squared_norms(M)


def explaining(M: Any, k: int, rank: int, cost: FloatVector | None = None) -> tuple[list[int], FloatVector]:
    """Greedy column subset selection, then the largest leverage scores."""
    V, s = right_vectors(M, rank)
    residual = ResidualColumns(adjoint(V * s), prices=cost)
    return residual.pick(k, residual.explained), leverage_scores(V)


def _for_money(squares: FloatVector, cost: FloatVector | None) -> FloatVector:
    """Squares divided by the costs."""
    return squares if cost is None else squares / cost
