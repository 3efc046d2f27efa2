"""What the fit chose and found, as facts."""

from __future__ import annotations

import math

import numpy as np

from ...factorization import Fact, Factorization, FitReport
from ...observation import Entries
from .evidence import KEPT, squared_errors, standard_errors
from .offsets import Offsets
from .rank import ASKED_FOR, RankChoice
from .skeleton import Skeleton

__all__ = ["fit_report"]

PREDICTED = 0.99  # more than this share of the squares of left-out rows and columns is as good as all
BETTER = "standard errors better on entries set aside"
RELATIVE = "of the largest squared singular value"


def fit_report(
    approximation: Factorization,
    rank: RankChoice,
    skeleton: Skeleton | None,
    *,
    offsets: Offsets | None,
    correction_z: float,
    offsets_z: float,
    refinement_z: float,
    held_out: Entries,
) -> FitReport:
    """The facts of a fit; ``held_out`` are the entries that it did not use."""
    none = np.empty((0, 0))
    skeleton = Skeleton(none, none, "", math.nan, math.nan) if skeleton is None else skeleton
    against_zero = math.nan
    if len(held_out) > 1:
        zero, now = squared_errors(None, held_out), squared_errors(approximation, held_out)
        against_zero = standard_errors(zero, now, held_out.fit_weights)
    why = rank.reason
    if approximation.rank < rank.rank and rank.reason == ASKED_FOR:
        why = f"{rank.rank} was {why}, but what was read has no more directions"
    return FitReport(
        (
            Fact("rank", approximation.rank, reason=why, axis=rank.axis),
            *_offset_facts(offsets),
            Fact("first_guess", skeleton.frame or None),
            Fact("ridge", skeleton.ridge, unit=RELATIVE),
            Fact("intersection_condition", skeleton.condition, "condition of the intersection"),
            Fact("left_out_error", skeleton.left_out_error, "left-out rows and columns", "of the squares unpredicted"),
            Fact("offsets_z", offsets_z, "offsets for the entries", BETTER, _outcome(offsets_z)),
            Fact("correction_z", correction_z, "core for the entries", BETTER, _outcome(correction_z)),
            Fact("refinement_z", refinement_z, "refinement", BETTER, _outcome(refinement_z)),
            Fact("refined", refinement_z > KEPT, "refined by alternating least squares"),
            Fact("against_zero_z", against_zero, "against the zero matrix", BETTER, is_judgement=True),
            Fact("verdict", _verdict(against_zero, skeleton.left_out_error, len(held_out)), is_judgement=True),
        )
    )


def _offset_facts(offsets: Offsets | None) -> tuple[Fact, ...]:
    if offsets is None:
        return ()
    return (
        Fact("constant", offsets.constant, unit="in the additive model"),
        Fact("row_offsets", float(np.std(offsets.rows)), "offsets of {axis}", "(standard deviation)", axis="rows"),
        Fact(
            "column_offsets",
            float(np.std(offsets.columns)),
            "offsets of {axis}",
            "(standard deviation)",
            axis="columns",
        ),
    )


def _outcome(z: float) -> str:
    if math.isnan(z):
        return "not tried: too few entries"
    return "kept" if z > KEPT else "not kept"


def _verdict(against_zero: float, left_out_error: float, n_held_out: int) -> str:
    if against_zero > KEPT:
        return f"better than no answer on {n_held_out} entries it did not see, by {against_zero:.1f} standard errors"
    if left_out_error < PREDICTED:
        return f"left-out rows and columns are predicted to {1 - left_out_error:.1%} of their squares"
    if math.isnan(left_out_error) and not n_held_out:
        return "unverifiable: it fits what was read, and nothing is left to check it with"
    return "outside the sampled rows and columns, there is no evidence that it is better than zero"
