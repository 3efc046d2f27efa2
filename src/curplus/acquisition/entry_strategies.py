"""How to choose scattered entries, once the rows and columns have been read: one small object per rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from .._arrays import to_numpy
from .._support.sets import is_in, union
from .._typing import IndexVector, Matrix, Vector
from .._validation import check_count
from ..exceptions import InvalidArgumentError
from ..factorization import leading_basis
from ..observation import Observation
from ..observation.plan import distinct_others
from .candidates import samples_without_gaps, scaled
from .score import leverage_scores

__all__ = ["EntryDraws", "EntryStrategy", "ProductLeverage", "UniformEntries"]


class EntryDraws(NamedTuple):
    """Positions to read one by one."""

    i: IndexVector  # (n_entries,)
    j: IndexVector
    probabilities: Vector | None = None  # chance of each position in one draw, if it is known
    uniform: bool = False  # whether all positions had the same chance


@runtime_checkable
class EntryStrategy(Protocol):
    """A way to choose scattered entries. Any object with this method is one."""

    def draw(self, observation: Observation, count: int, rng: np.random.Generator) -> EntryDraws:
        """Positions of ``count`` entries, for an observation that has its rows and columns."""


@dataclass(frozen=True)
class UniformEntries:
    """Every position is as likely as any other, as in the paper.

    No position of a uniform sample is drawn again, and none that is known to be a gap.
    """

    def draw(self, observation: Observation, count: int, rng: np.random.Generator) -> EntryDraws:
        n, m = observation.shape
        entries = observation.entries
        known = entries.flat_index if entries.probabilities is None else entries.flat_index[:0]
        excluded = union(known, observation.gap_index())
        _check_left(n * m - len(excluded), count)
        flat = distinct_others(rng, n * m, count, excluded)
        return EntryDraws(flat // m, flat % m, uniform=True)


@dataclass(frozen=True)
class ProductLeverage:
    r"""Entries drawn by their leverage on the core.

    .. math:: \pi_{ij} = \frac{\|u_i\|^2}{r_1} \frac{\|v_j\|^2}{r_2}

    are the leverage scores of the regression for the core: with them the incoherence drops out of the theory. The draws
    are independent, with replacement, so these are the exact ``probabilities`` of the observation. Positions known to
    be gaps are drawn again, which divides the probabilities of the others by their sum.

    Parameters
    ----------
    rank : int, optional
        How many leading directions of the columns and rows count; all they span if left out.
    uniform_share : float, default 0.0
        Share of the entries drawn uniformly, from 0 to 1: pi becomes a mixture, as exactly known. Above 0, every
        position has a chance, which an error estimate needs.
    """

    rank: int | None = None
    uniform_share: float = 0.0

    def __post_init__(self) -> None:
        if self.rank is not None:
            check_count(self.rank, name="rank", at_least=1)
        share: Any = self.uniform_share
        if not isinstance(share, Real) or not 0.0 <= float(share) <= 1.0:
            raise InvalidArgumentError(f"uniform_share={share!r} is not a share. Give a number in [0, 1].")

    def draw(self, observation: Observation, count: int, rng: np.random.Generator) -> EntryDraws:
        n, m = observation.shape
        share = self.uniform_share
        rows, columns = samples_without_gaps(observation)
        p, q = _row_chances(columns, self.rank), _row_chances(rows.T, self.rank)

        def chance(i: IndexVector, j: IndexVector) -> Vector:
            return (1 - share) * p[i] * q[j] + share / (n * m)

        def draw(count: int) -> IndexVector:
            uniform = rng.random(count) < share
            i = np.where(uniform, rng.integers(n, size=count), rng.choice(n, size=count, p=p))
            j = np.where(uniform, rng.integers(m, size=count), rng.choice(m, size=count, p=q))
            return i * m + j

        gaps = observation.gap_index()
        left = 1 - float(np.sum(chance(gaps // m, gaps % m)))
        _check_left(n * m - len(gaps) if left > 1e-9 else 0, min(count, 1))
        flat = _drawn_again(draw, draw(count), gaps)
        return EntryDraws(flat // m, flat % m, chance(flat // m, flat % m) / left)


def _drawn_again(draw: Callable[[int], IndexVector], flat: IndexVector, gaps: IndexVector) -> IndexVector:
    """Draws; those on gaps are repeated until none is on a gap."""
    while len(bad := np.flatnonzero(is_in(flat, gaps))):
        flat[bad] = draw(len(bad))
    return flat


def _check_left(n_left: int, count: int) -> None:
    if count > n_left:
        raise InvalidArgumentError(
            f"{count} more entries are asked for, but only {n_left} positions are left that are not known or known to "
            "be gaps. Ask for fewer entries."
        )


def _row_chances(sample: Matrix, rank: int | None) -> Vector:
    """Leverage of each row in the leading directions of a sample, as chances; equal ones if it spans nothing."""
    x = scaled(sample)
    scores = to_numpy(leverage_scores(leading_basis(x, min(rank or min(x.shape), *x.shape)).vectors))
    return scores / scores.sum() if scores.sum() > 0 else np.full(len(scores), 1.0 / len(scores))
