r"""How to choose what to read next: one small object per rule.

A strategy looks at all columns in the rows that are known so far (or at all rows in the known columns, which is the
same thing lying down) and names those to be read in full. Its rules are those of :mod:`curplus.selection`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from .._arrays import to_numpy
from .._typing import IndexVector, Matrix, Vector
from .._validation import check_count
from ..exceptions import InvalidArgumentError
from ..factorization.basis import leading_basis
from ..observation.observation import Observation
from ..observation.plan import distinct
from .select_columns import Remainder, draw_heavy, heavy_keys, leverage_scores, squared_norms

__all__ = [
    "STRATEGIES",
    "Adaptive",
    "Candidates",
    "EntryDraws",
    "Leverage",
    "Pivoted",
    "ProductLeverage",
    "ResidualNorm",
    "Strategy",
    "Uniform",
    "distinct_others",
    "scaled",
]


class Candidates(NamedTuple):
    """The columns that could be read next, or the rows, turned into columns; and what is known of them."""

    sample: Matrix  # (d, size), float64, at most 1: all candidates, in the d rows (or columns) known
    taken: IndexVector  # (t,): those already read in full
    longer: bool  # whether more of these are wanted than of the other kind

    @property
    def free(self) -> IndexVector:
        """Those not read yet."""
        return self.besides([])

    def besides(self, chosen: IndexVector | list[int]) -> IndexVector:
        """Those neither read yet nor chosen now."""
        free = np.ones(self.sample.shape[1], dtype=bool)
        free[self.taken] = False
        free[np.asarray(chosen, dtype=np.int64)] = False
        return np.flatnonzero(free)


class EntryDraws(NamedTuple):
    """Positions to read one by one."""

    i: IndexVector  # (n_entries,)
    j: IndexVector
    probabilities: Vector | None = None  # chance of each position in one draw, None if all were alike


@runtime_checkable
class Strategy(Protocol):
    """A way to choose rows and columns. Any object with these two members is one."""

    @property
    def rounds(self) -> int:
        """How often to read before the budget is spent; 0 reads blindly and at once."""

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
        """Positions of ``count`` distinct candidates that are not taken yet."""


@dataclass(frozen=True)
class Uniform:
    """Every row, column and entry is as likely as any other: what :func:`curplus.observe` does."""

    rounds: ClassVar[int] = 0

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
        return distinct_others(rng, candidates.sample.shape[1], count, candidates.taken)


@dataclass(frozen=True)
class Pivoted:
    """Each time the candidate that sticks out furthest from the span of those taken: pivoted QR of what is known.

    Once those taken span all that is known, a new sweep starts among the others. Good on dense data, where candidates
    are of similar size and what matters is that they differ.
    """

    rounds: int = 8

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
        sample, taken, _ = candidates
        remainder = Remainder(sample, taken)
        chosen: list[int] = []
        while more := remainder.pick(count - len(chosen), remainder.energies):
            chosen += more
            remainder = Remainder(sample, barred=np.concatenate([taken, chosen]).astype(np.int64))
        return _and_others(chosen, candidates, count, rng)


@dataclass(frozen=True)
class ResidualNorm:
    r"""Draws with chances :math:`\|e_j\|^2`, the squared distance from the span of those taken [1]_.

    Once those taken span all that is known, the chances are the squared norms.

    References
    ----------
    .. [1] A. Deshpande and S. Vempala, "Adaptive sampling and fast low-rank matrix approximation", RANDOM, 2006.
    """

    rounds: int = 8

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
        sample, taken, _ = candidates
        remainder = Remainder(sample, taken)
        visible = np.flatnonzero(remainder.visible)
        chosen = visible[draw_heavy(remainder.energy[visible], count, rng)]
        others = candidates.besides(chosen)
        more = others[draw_heavy(squared_norms(sample[:, others]), count - len(chosen), rng)]
        return np.concatenate([chosen, more])


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
        _check_rank(self.rank)

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
        sample, free = candidates.sample, candidates.free
        rank = self.rank or math.ceil(len(sample) / 2)
        V = leading_basis(sample.T, min(rank, *sample.shape)).vectors
        return free[draw_heavy(leverage_scores(V)[free], count, rng)]


@dataclass(frozen=True)
class Adaptive:
    r"""The automatic choice: something of each, in proportions that suit dense and sparse matrices alike.

    A good sample has one column of every large group of columns that are alike, the few that are like no other, and
    those so heavy that they are best known exactly; and rows likewise. Of the kind of which fewer are wanted (columns,
    say) and of the other, each round takes in this order

    ===============================  ===============  ===============
    the candidate that ...           of the fewer     of the more
    ===============================  ===============  ===============
    explains most of what is left    half             a quarter
    sticks out furthest              half             a quarter
    is drawn as heavy                none             half
    ===============================  ===============  ===============

    A heavy draw has chances :math:`\|a_j\|^6`: it almost follows the order of size where sizes are very unequal, and is
    almost blind where they are not. It must bring something new as long as there is such a candidate. When those taken
    span all that is known, heavy draws fill the round; where more are wanted, a second sweep among the others comes
    first. The fewer are chosen first in each round, so that the more are judged by all of them.

    Parameters
    ----------
    rounds : int, default 8
        More rounds are slightly better and take more time.

    Notes
    -----
    Pivoting alone misses groups: none of a hundred documents that are nearly alike sticks out, but together they can be
    a leading singular vector. Proportions and power were settled on four real matrices (Dexter, Farm Ads, KOS, MNIST)
    and serve all alike; ``benchmarks/acquisition.py`` measures them on those and others.
    """

    rounds: int = 8

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
        sample, taken, longer = candidates
        keys = heavy_keys(squared_norms(sample) ** 3, rng)
        remainder = Remainder(sample, taken)
        n_new = math.ceil(count / 2) if longer else count
        chosen = _different_ones(remainder, n_new)
        if longer and len(chosen) < n_new:
            remainder = Remainder(sample, barred=np.concatenate([taken, chosen]).astype(np.int64))
            chosen += _different_ones(remainder, n_new - len(chosen))
        chosen += remainder.pick(count - len(chosen), lambda: keys)
        others = candidates.besides(chosen)
        more = others[np.argsort(-keys[others], kind="stable")][: count - len(chosen)]
        return np.concatenate([chosen, more]).astype(np.int64)


def _different_ones(remainder: Remainder, count: int) -> list[int]:
    """Up to ``count`` picks: the first half explain most of what is left, the others stick out furthest."""
    explaining = remainder.pick(math.ceil(count / 2), lambda: remainder.explained(ridge=0.1))
    return explaining + remainder.pick(count - len(explaining), remainder.energies)


@dataclass(frozen=True)
class ProductLeverage:
    r"""Entries drawn where they matter to the core, after the rows and columns have been read.

    .. math:: \pi_{ij} = \frac{\|u_i\|^2}{r_1} \frac{\|v_j\|^2}{r_2}

    are the leverage scores of the regression for the core: with them the incoherence drops out of the theory. The draws
    are independent, with replacement, so these are the exact ``probabilities`` of the observation.

    Parameters
    ----------
    lines : Strategy
        How rows and columns are chosen.
    rank : int, optional
        How many leading directions of the columns and rows count; all they span if left out.
    uniform_share : float, default 0.0
        Share of the entries drawn uniformly, from 0 to 1: pi becomes a mixture, as exactly known. Above 0 every
        position has a chance, as an estimate of the error at all positions needs.
    """

    lines: Strategy = field(default_factory=Adaptive)
    rank: int | None = None
    uniform_share: float = 0.0

    def __post_init__(self) -> None:
        _check_rank(self.rank)
        if not 0.0 <= self.uniform_share <= 1.0:
            raise InvalidArgumentError(f"uniform_share={self.uniform_share!r} is not a share. Give a number in [0, 1].")

    def draw(self, seen: Observation, count: int, rng: np.random.Generator) -> EntryDraws:
        """Positions of ``count`` entries, for an observation that has its rows and columns."""
        n, m = seen.shape
        share = self.uniform_share
        p, q = _row_chances(seen.columns, self.rank), _row_chances(seen.rows.T, self.rank)
        blind = rng.random(count) < share
        i = np.where(blind, rng.integers(n, size=count), rng.choice(n, size=count, p=p))
        j = np.where(blind, rng.integers(m, size=count), rng.choice(m, size=count, p=q))
        return EntryDraws(i, j, (1 - share) * p[i] * q[j] + share / (n * m))


def distinct_others(rng: np.random.Generator, size: int, count: int, taken: IndexVector) -> IndexVector:
    """``count`` distinct numbers of ``range(size)`` that are not ``taken``, ascending, uniformly at random."""
    gaps = np.sort(taken) - np.arange(len(taken))  # how many others come before each of those taken
    others = distinct(rng, size - len(taken), count)
    return others + np.searchsorted(gaps, others, side="right")


def _and_others(chosen: list[int], candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
    """Those chosen, and blind ones for the rest of the count."""
    size = candidates.sample.shape[1]
    index = np.asarray(chosen, dtype=np.int64)
    return np.concatenate(
        [index, distinct_others(rng, size, count - len(index), np.concatenate([candidates.taken, index]))]
    )


def _check_rank(rank: int | None) -> None:
    if rank is not None:
        check_count(rank, name="rank", at_least=1)


def _row_chances(sample: Matrix, rank: int | None) -> Vector:
    """Leverage of each row in the leading directions of a sample, as chances; equal ones if it spans nothing."""
    x = scaled(to_numpy(sample))
    scores = leverage_scores(leading_basis(x, min(rank or min(x.shape), *x.shape)).vectors)
    return scores / scores.sum() if scores.sum() > 0 else np.full(len(scores), 1.0 / len(scores))


def scaled(known: Matrix) -> Matrix:
    """A float64 copy whose squares neither overflow nor vanish."""
    x = known.astype(np.float64)
    return x / (np.abs(x).max(initial=0.0) or 1.0)


STRATEGIES: dict[str, Strategy | ProductLeverage] = {
    "auto": Adaptive(),
    "uniform": Uniform(),
    "pivoted": Pivoted(),
    "residual_norm": ResidualNorm(),
    "leverage": Leverage(),
    "product_leverage": ProductLeverage(),
}
