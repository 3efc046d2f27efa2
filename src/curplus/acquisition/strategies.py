"""How to choose the rows and columns to read next: one small object per rule.

A strategy looks at all columns in the rows that are known so far, or at all rows in the known columns, turned into
columns, and names those to be read whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from .._arrays import float64, largest, power_of_two, to_device, to_numpy
from .._typing import IndexVector, Matrix
from .._validation import check_count
from ..factorization import leading_basis
from ..observation.plan import distinct_others
from .greedy import ResidualColumns
from .scores import gumbel_keys, leverage_scores, squared_norms, weighted_draw

__all__ = [
    "Adaptive",
    "Candidates",
    "Leverage",
    "Pivoted",
    "ResidualNorm",
    "Strategy",
    "Uniform",
    "scaled",
]


class Candidates(NamedTuple):
    """The columns that could be read next, or the rows, turned into columns; and what is known of them."""

    sample: Matrix  # (d, size), float64, at most 1: all candidates, in the d rows (or columns) known
    taken: IndexVector  # (t,): those already read whole
    wanted_more: bool  # whether more of these are wanted than of the other kind

    @property
    def available(self) -> IndexVector:
        """Those not read yet."""
        return self.available_except([])

    def available_except(self, chosen: IndexVector | list[int]) -> IndexVector:
        """Those neither read yet nor chosen now."""
        free = np.ones(self.sample.shape[1], dtype=bool)
        free[self.taken] = False
        free[np.asarray(chosen, dtype=np.int64)] = False
        return np.flatnonzero(free)


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
        return distinct_others(rng, candidates.sample.shape[1], count, candidates.taken)


@dataclass(frozen=True)
class Pivoted:
    """Each time the candidate furthest from the span of those taken: pivoted QR of what is known.

    Once those taken span all that is known, the choice starts again among the others. Good on dense data, where
    candidates are of similar size and what matters is that they differ.
    """

    rounds: int = 8

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
        sample, taken, _ = candidates
        residual = ResidualColumns(sample, taken)
        chosen: list[int] = []
        while more := residual.pick(count - len(chosen), residual.norms):
            chosen += more
            residual = ResidualColumns(sample, excluded=np.concatenate([taken, chosen]).astype(np.int64))
        index = np.asarray(chosen, dtype=np.int64)
        others = distinct_others(rng, sample.shape[1], count - len(index), np.concatenate([taken, index]))
        return np.concatenate([index, others])


@dataclass(frozen=True)
class ResidualNorm:
    r"""Draws with chances :math:`\|e_j\|^2`, the squared distance from the span of those taken.

    The scheme of Deshpande and Vempala [1]_. Once those taken span all that is known, the
    chances are the squared norms.

    References
    ----------
    .. [1] A. Deshpande and S. Vempala, "Adaptive sampling and fast low-rank matrix approximation", RANDOM, 2006.
    """

    rounds: int = 8

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
        sample, taken, _ = candidates
        residual = ResidualColumns(sample, taken)
        selectable = np.flatnonzero(to_numpy(residual.selectable))
        chosen = selectable[weighted_draw(to_numpy(residual.residual_norms)[selectable], count, rng)]
        others = candidates.available_except(chosen)
        norms = to_numpy(squared_norms(sample))[others]
        return np.concatenate([chosen, others[weighted_draw(norms, count - len(chosen), rng)]])


@dataclass(frozen=True)
class Leverage:
    r"""Draws with chances :math:`\|v_j\|^2`, the leverage in the leading singular vectors of what is known.

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
        return available[weighted_draw(to_numpy(leverage_scores(V))[available], count, rng)]


@dataclass(frozen=True)
class Adaptive:
    r"""The automatic choice: something of each rule, in proportions that suit dense and sparse matrices alike.

    A good sample has one column of every large group of columns that are alike, the few that are like no other, and
    those so large that they are best known exactly; and rows likewise. Of the kind of which fewer are wanted (columns,
    say) and of the other, each round takes in this order

    ====================================  ===============  ===============
    the candidate that ...                of the fewer     of the more
    ====================================  ===============  ===============
    explains most of the residuals        half             a quarter
    has the largest residual              half             a quarter
    is drawn by its norm                  none             half
    ====================================  ===============  ===============

    A draw by norm has chances :math:`\|a_j\|^6`: it almost follows the order of size where sizes are very unequal, and
    is almost uniform where they are not. It must bring something new as long as there is such a candidate. When those
    taken span all that is known, draws by norm fill the round; where more are wanted, a second choice among the others
    comes first. The fewer are chosen first in each round, so that the more are judged by all of them.

    Parameters
    ----------
    rounds : int, default 8
        More rounds are slightly better and take more time.

    Notes
    -----
    Pivoting alone misses groups: none of a hundred documents that are nearly alike has a large residual, but together
    they can be a leading singular vector. Proportions and power were settled on four real matrices (Dexter, Farm Ads,
    KOS, MNIST) and serve all alike; ``benchmarks/acquisition.py`` measures them on those and others.
    """

    rounds: int = 8

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
        sample, taken, wanted_more = candidates
        keys = gumbel_keys(to_numpy(squared_norms(sample)) ** 3, rng)
        residual = ResidualColumns(sample, taken)
        n_new = math.ceil(count / 2) if wanted_more else count
        chosen = _different_ones(residual, n_new)
        if wanted_more and len(chosen) < n_new:
            residual = ResidualColumns(sample, excluded=np.concatenate([taken, chosen]).astype(np.int64))
            chosen += _different_ones(residual, n_new - len(chosen))
        by_key = to_device(keys, residual.residual_norms)
        chosen += residual.pick(count - len(chosen), lambda: by_key)
        others = candidates.available_except(chosen)
        more = others[np.argsort(-keys[others], kind="stable")][: count - len(chosen)]
        return np.concatenate([chosen, more]).astype(np.int64)


def _different_ones(residual: ResidualColumns, count: int) -> list[int]:
    """Up to ``count`` picks: the first half explain most of the residuals, the others have the largest."""
    explaining = residual.pick(math.ceil(count / 2), lambda: residual.explained(ridge=0.1))
    return explaining + residual.pick(count - len(explaining), residual.norms)


def scaled(known: Matrix) -> Matrix:
    """A float64 copy whose squares neither overflow nor vanish."""
    return float64(known) / power_of_two(largest(known), known)
