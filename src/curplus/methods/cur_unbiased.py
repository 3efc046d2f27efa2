r"""CUR-E: as CUR-F, with the matrix replaced by an unbiased estimate from the entries (Section 4.2 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from .._arrays import array_namespace
from .._typing import RandomState
from ..factorization import Core, Factorization
from ..observation import Observation
from ..observation.observation import check_observation
from ..solvers.equations import entry_equations
from .method import Bases, approximation_of, check_complete, check_has_entries, sampled_bases

__all__ = ["CURUnbiased", "cur_unbiased"]


def cur_unbiased(observation: Observation, rank: int | None = None) -> Factorization:
    r"""CUR-E: as CUR-F, with the matrix replaced by an unbiased estimate from the entries.

    .. math:: Z = C^\dagger M_e R^\dagger, \qquad
              [M_e]_{ij} = \tfrac{nm}{|\Omega|} M_{ij} \text{ on } \Omega, \text{ 0 elsewhere}

    Parameters
    ----------
    observation : Observation
        Columns, rows and at least one entry. A position that was recorded twice counts twice. Entries drawn with
        unequal probabilities count in inverse proportion to them, so that the estimate stays unbiased.
    rank : int, optional
        Use only the ``rank`` leading directions of each sample; all of them if left out.

    Returns
    -------
    Factorization
    """
    return CURUnbiased(rank).fit(observation)


@dataclass(frozen=True)
class CURUnbiased:
    """The method :func:`curplus.cur_unbiased`, with its options."""

    rank: int | None = None
    sees_whole_matrix: ClassVar[bool] = False

    def fit(self, observation: Observation, *, rng: RandomState = 0, bases: Bases | None = None) -> Factorization:
        """The approximation; ``bases`` are those of the samples, if they are known already."""
        check_observation(observation)
        check_complete(observation, "CUR-E")
        check_has_entries(observation, "CUR-E")
        bases = sampled_bases(observation, self.rank, bases)
        left, right = bases.left.vectors, bases.right.vectors
        equations = entry_equations(left, right, replace(observation.entries, weights=None))
        Z = array_namespace(left).astype(equations.adjoint(equations.target) * equations.unit, left.dtype)
        return approximation_of(observation, bases, Core(Z, "cur_unbiased"), self, rank=self.rank)
