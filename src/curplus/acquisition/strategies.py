"""How to choose the rows and columns to read next: one small object per rule.

A strategy looks at all columns in the rows that are known so far, or at all rows in the known columns, turned into
columns, and names those to be read whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from .._arrays import to_numpy
from .._typing import IndexVector
from .._validation import check_count
from ..factorization import leading_basis
from ..observation.plan import distinct
from .candidates import Candidates
from .score import ResidualColumns, leverage_scores, squared_norms, weighted_draw

__all__ = [
    "Leverage",
    "Pivoted",
    "ResidualNorm",
    "Strategy",
    "Uniform",
]


@runtime_checkable
class Strategy(Protocol):
    """A way to choose rows and columns. Any object with these two members is one."""

    @property
    def rounds(self) -> int:
        """How often to read before the totals are reached; 0 draws uniformly and at once."""

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
        """Positions of ``count`` distinct candidates that are not taken yet."""


@dataclass(frozen=True)
class Uniform:
    """Every row and column is as likely as any other: what :func:`curplus.observe` does."""

    rounds: ClassVar[int] = 0

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
        available = candidates.available
        return available[distinct(rng, len(available), count)]


@dataclass(frozen=True)
class Pivoted:
    """Each time the candidate furthest from the span of those taken: pivoted QR of the sample.

    Once those taken span the sample, the choice starts again among the others. Good on dense data, if candidates are of
    similar size and should differ.
    """

    rounds: int = 8

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
        sample, taken, prices = candidates.sample, candidates.taken, candidates.prices
        residual = ResidualColumns(sample, taken, candidates.excluded, prices)
        chosen: list[int] = []
        while more := residual.pick(count - len(chosen), residual.norms):
            chosen += more
            residual = ResidualColumns(sample, excluded=_others_than(candidates, chosen), prices=prices)
        others = candidates.available_except(chosen)
        return np.concatenate([chosen, others[distinct(rng, len(others), count - len(chosen))]]).astype(np.int64)


@dataclass(frozen=True)
class ResidualNorm:
    r"""Draws with chances :math:`\|e_j\|^2`, the squared distance from the span of those taken.

    The scheme of Deshpande and Vempala [1]_. Once those taken span the sample, the
    chances are the squared norms.

    References
    ----------
    .. [1] A. Deshpande and S. Vempala, "Adaptive sampling and fast low-rank matrix approximation", RANDOM, 2006.
    """

    rounds: int = 8

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
        sample, worth = candidates.sample, candidates.worth
        residual = ResidualColumns(sample, candidates.taken, candidates.excluded)
        selectable = np.flatnonzero(to_numpy(residual.selectable))
        chosen = selectable[weighted_draw(worth(to_numpy(residual.residual_norms))[selectable], count, rng)]
        others = candidates.available_except(chosen)
        norms = worth(to_numpy(squared_norms(sample)))[others]
        return np.concatenate([chosen, others[weighted_draw(norms, count - len(chosen), rng)]])


@dataclass(frozen=True)
class Leverage:
    r"""Draws with chances :math:`\|v_j\|^2`, the leverage in the leading singular vectors of the sample.

    The two-phase scheme of Chen, Bhojanapalli, Sanghavi and Ward [1]_, for rows and columns.

    Parameters
    ----------
    rank : int, optional
        How many singular vectors count; half of the known rows (or columns) if left out.

    References
    ----------
    .. [1] Y. Chen, S. Bhojanapalli, S. Sanghavi and R. Ward, "Coherent matrix completion", ICML, 2014.
    """

    rank: int | None = None
    rounds: int = 8

    def __post_init__(self) -> None:
        if self.rank is not None:
            check_count(self.rank, name="rank", at_least=1)

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
        sample, available = candidates.sample, candidates.available
        rank = self.rank or math.ceil(sample.shape[0] / 2)
        V = leading_basis(sample.T, min(rank, *sample.shape)).vectors
        return available[weighted_draw(candidates.worth(to_numpy(leverage_scores(V)))[available], count, rng)]


def _others_than(candidates: Candidates, chosen: list[int]) -> IndexVector:
    """Those that cannot be chosen any more."""
    return np.concatenate([candidates.taken, candidates.excluded, chosen]).astype(np.int64)
