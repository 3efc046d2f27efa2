r"""What a method is, and the steps that the paper's three methods share.

All three approximate M by :math:`\hat U Z \hat V^\top` and differ in the core Z. CUR+ fits it to the observed entries
(eq. opt); CUR-F uses the whole matrix, :math:`\hat U^\top M \hat V`; CUR-E replaces M there by an unbiased estimate
made of the entries (Section 4.2).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

from .._arrays import adjoint
from .._support.sets import NO_INDEX
from .._typing import IndexVector, RandomState
from .._validation import check_rank
from ..exceptions import InvalidArgumentError, TooFewEntriesError
from ..factorization import Basis, Core, Fact, Factorization, FitReport, Provenance, leading_basis
from ..observation import Observation
from .notes import ASKED_FOR, notes_on_bases

__all__ = ["Bases", "Method", "approximation_of", "check_complete", "check_has_entries", "sampled_bases"]


@runtime_checkable
class Method(Protocol):
    """A way from an observation to an approximation: a small frozen object that owns its options.

    Any object with these two members is one. If it is a dataclass of plain values, it is saved with the
    approximation; if it is in :data:`curplus.methods.METHODS`, it can be used again after loading.
    """

    @property
    def sees_whole_matrix(self) -> bool:
        """Whether it uses more than the observation, so that it cannot be repeated without some of its rows."""

    def fit(self, observation: Observation, *, rng: RandomState = 0) -> Factorization:
        """The approximation of the matrix that was observed."""


class Bases(NamedTuple):
    """Leading subspaces of the sampled columns and rows, if they are known already."""

    left: Basis
    right: Basis


def sampled_bases(observation: Observation, rank: int | None, bases: Bases | None = None) -> Bases:
    """The bases of the sampled columns and rows, ``rank`` directions at most, or those given, cut to as many."""
    if rank is not None:
        rank = check_rank(rank, n_columns=observation.n_columns, n_rows=observation.n_rows)
    if bases is not None:
        return bases if rank is None else Bases(bases.left.leading(rank), bases.right.leading(rank))
    left = leading_basis(observation.columns, rank, index=observation.column_index)
    right = leading_basis(adjoint(observation.rows), rank, index=observation.row_index)
    return Bases(left, right)


def approximation_of(
    observation: Observation,
    bases: Bases,
    core: Core,
    method: Any,
    *,
    rank: int | None,
    held_out: IndexVector | None = None,
) -> Factorization:
    """The approximation with its names, and how it was made."""
    notes = notes_on_bases(bases.left, bases.right, rank)
    why = "all that was sampled" if rank is None else ASKED_FOR
    report = FitReport((Fact("rank", min(bases.left.rank, bases.right.rank), reason=why),))
    return Factorization(
        bases.left,
        core._replace(notes=(*core.notes, *notes)),
        bases.right,
        row_names=observation.row_names,
        column_names=observation.column_names,
        provenance=Provenance(
            method,
            NO_INDEX if held_out is None else held_out,
            observation.fingerprint,
            report,
        ),
    )


def check_complete(observation: Observation, method: str) -> None:
    """That the sampled rows and columns have no gaps."""
    if observation.has_gaps:
        raise InvalidArgumentError(
            f"{method} needs complete rows and columns, and the sampled ones have {observation.n_line_gaps} gaps. "
            "Use approximate(observation), which uses the known values of rows and columns with gaps."
        )


def check_has_entries(observation: Observation, method: str) -> None:
    """That there is at least one entry."""
    if observation.n_entries == 0:
        raise TooFewEntriesError(
            f"{method} finds the core from scattered entries, and this observation has none. "
            "Observe some (n_entries), at least rank**2 for CUR+."
        )
