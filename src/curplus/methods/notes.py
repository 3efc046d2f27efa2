"""What a user should know about a fit, in words."""

from __future__ import annotations

import math

from ..factorization import Basis, Core

__all__ = ["ASKED_FOR", "notes_on_bases", "notes_on_core"]

ASKED_FOR = "asked for"  # the reason for a rank


def notes_on_bases(left: Basis, right: Basis, rank: int | None) -> tuple[str, ...]:
    """Whether the samples have as many directions as were asked for."""
    return tuple(
        f"rank {rank} was asked for, but the rank of the sampled {what} is only {basis.rank}."
        for basis, what in ((left, "columns"), (right, "rows"))
        if rank is not None and basis.rank < rank
    )


def notes_on_core(core: Core, n_entries: int) -> tuple[str, ...]:
    """What a user should know about how the core was found."""
    unknowns = math.prod(core.Z.shape)
    notes = []
    if not core.converged:
        after = f" after {core.iterations} iterations" if core.iterations else ""
        notes.append(f"{core.solver} did not reach the accuracy asked for{after}.")
    if core.rank is not None and core.rank < unknowns:
        notes.append(f"the entries determine {core.rank} of {unknowns} unknowns; the core is the one of least norm.")
    if core.condition is not None and core.condition > 100:  # usual: two digits
        notes.append(
            f"the condition of the equations is {core.condition:.1e}: whatever the bases miss may be amplified."
        )
    if n_entries < 4 * unknowns:
        notes.append(f"{n_entries} entries for {unknowns} unknowns: noise is amplified below {4 * unknowns} entries.")
    return tuple(notes)
