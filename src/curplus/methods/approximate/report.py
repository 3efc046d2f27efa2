"""What the fit chose and found, as facts."""

from __future__ import annotations

import math

import numpy as np

from ...factorization import Fact, Factorization, FitReport
from .entry_offsets import kept_above
from .evidence import KEPT_OF_SEVERAL
from .offsets import Offsets
from .rank import ASKED_FOR, RankChoice
from .refine import Refinement
from .skeleton import Skeleton
from .start import Start
from .verdict import Verdict

__all__ = ["fit_report", "fitted_again", "judgements"]

BETTER = "standard errors better on entries set aside"
RELATIVE = "of the largest squared singular value"
WHY = "those set aside too, once they had chosen and judged"


def fit_report(
    approximation: Factorization, rank: RankChoice, start: Start, refinement: Refinement, verdict: Verdict
) -> FitReport:
    """The facts of a fit."""
    skeleton, none = start.skeleton, np.empty((0, 0))
    skeleton = Skeleton(none, none, "", math.nan, math.nan) if skeleton is None else skeleton
    why = rank.reason
    if approximation.rank < rank.rank and rank.reason == ASKED_FOR:
        why = f"{rank.rank} was {why}, but what was read has no more directions"
    return FitReport(
        (
            Fact("rank", approximation.rank, reason=why, axis=rank.axis),
            Fact("model", start.way.model or None),
            *_offset_facts(start.offsets),
            Fact("first_guess", skeleton.guess or None),
            Fact(
                "weighting",
                skeleton.exponent or None,
                "rows and columns divided by a power of what is unexplained of them",
            ),
            Fact("ridge", skeleton.ridge, unit=RELATIVE),
            Fact("intersection_condition", skeleton.condition, "condition of the intersection"),
            Fact("left_out_error", skeleton.left_out_error, "left-out rows and columns", "of the squares unpredicted"),
            _tried(
                "offsets_z",
                "offsets for the entries",
                start.offsets_z,
                start.offsets_z > kept_above(skeleton.reliability),
            ),
            _tried("correction_z", "core for the entries", start.correction_z, start.correction_z > KEPT_OF_SEVERAL),
            _tried("refinement_z", "refinement", refinement.standard_errors, refinement.is_kept, refinement.why_not),
            Fact("refined", refinement.is_kept, reason=f"by {refinement.step.by}" if refinement.step else ""),
            *judgements(verdict),
        )
    )


def judgements(verdict: Verdict) -> tuple[Fact, ...]:
    """What a verdict says."""
    return (
        Fact("against_zero_z", verdict.against_zero, "against the zero matrix", BETTER, is_judgement=True),
        Fact("against_means_z", verdict.against_means, "against row and column means", BETTER, is_judgement=True),
        Fact("verdict", verdict.text, is_judgement=True),
    )


def fitted_again(n_entries: int) -> Fact:
    """That entries set aside had a part in the end."""
    return Fact("fitted_again", n_entries, "fitted again", "entries", WHY)


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


def _tried(name: str, label: str, z: float, kept: bool, why_not: str = "too few entries") -> Fact:
    """A change that was kept, or not."""
    outcome = f"not tried: {why_not}" if math.isnan(z) else "kept" if kept else "not kept"
    return Fact(name, z, label, BETTER, outcome)
