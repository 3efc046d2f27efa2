"""The report of a fit, as facts: the rank, the blend, and how well left-out values are predicted."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._arrays import abs_squared
from ..._typing import FloatArray
from ...evaluation.effective_sample import FEWEST, effective_sample_size
from ...factorization import Fact, FitReport
from ..notes import ASKED_FOR
from .blend import Held, Trials
from .exact import Exact

__all__ = ["Judged", "complete_report", "exact_report", "fit_report", "judged"]

NOT_EXACT = Fact(
    "exact",
    False,
    "exactly of low rank",
    reason="what was read does not agree to rounding",
    is_decision=True,
)
AS_WELL = "left-out values are predicted as well as with more"  # the reason for a rank that is chosen
UNVERIFIABLE = "unverifiable: it fits what was read, and nothing is left to check it with"
CLEARLY_BETTER = 2.0  # usual: standard errors


class Judged(NamedTuple):
    """How well the answer predicts values that were left out."""

    number: int
    groups: int
    error: float  # root mean square
    against_zero: float  # difference from the zero matrix in standard errors
    against_offsets: float  # nan if there is no additive model
    effective_size: float


def judged(held: Held, answer: FloatArray, offsets: FloatArray | None) -> Judged:
    """The judgement of predictions (h,) of the answer, and of the additive model, for left-out values."""
    now = abs_squared(held.values - answer)
    of_offsets = math.nan if offsets is None else _gain(held, abs_squared(held.values - offsets) - now)
    mean = float(np.average(now, weights=held.weights)) if len(now) else math.nan
    size = effective_sample_size(_by_group(held, now)) if len(now) else 0.0
    groups = len(np.unique(held.group))
    return Judged(len(now), groups, math.sqrt(mean), _gain(held, abs_squared(held.values) - now), of_offsets, size)


def _by_group(held: Held, x: FloatArray) -> FloatArray:
    return np.asarray(np.bincount(np.unique(held.group, return_inverse=True)[1], held.weights * x))


def _gain(held: Held, gains: FloatArray) -> float:
    """By how many standard errors the mean of some gains is above zero."""
    sums = _by_group(held, gains)
    spread = float(np.linalg.norm(sums - np.mean(sums))) if len(sums) > 1 else 0.0
    return float(np.sum(sums)) / spread if spread > 0 else math.nan


def fit_report(rank: int, why: str, trials: Trials, found: Judged, unit: float, decided: tuple[Fact, ...]) -> FitReport:
    """The facts of a blend."""
    names, weights = [model.name for model in trials.models], trials.weights
    better, left_out = "standard errors better on left-out values", f"on {found.number} left-out values"
    best = "weights that predict left-out values best"
    error = found.error if found.number >= FEWEST else math.nan
    shown = [(name, weight) for name, weight in zip(names, weights, strict=True) if weight >= 0.005]  # usual: not 0 %
    blend = ", ".join(f"{weight:.0%} {name}" for name, weight in shown)
    return FitReport(
        (
            Fact("rank", rank, reason=why, is_decision=why == AS_WELL),
            Fact("blend", blend or "zero", reason=best if found.number else "", is_decision=found.number > 0),
            *decided,
            *(fact for fit in trials.whole for fact in fit.decisions),
            Fact("left_out_error", error * unit, "error at left-out values", left_out, is_judgement=True),
            Fact("against_zero_z", found.against_zero, "against the zero matrix", better, is_judgement=True),
            Fact("against_means_z", found.against_offsets, "against the additive model", better, is_judgement=True),
            Fact("verdict", _verdict(found), is_judgement=True),
        )
    )


def exact_report(rank: int, wanted: int | None, found: Exact) -> FitReport:
    """The facts of an exact answer."""
    why = ASKED_FOR if rank == wanted else "rows and columns have no more independent directions"
    verdict = "exact, if the matrix has the rank that rows, columns and their intersection show"
    return FitReport(
        (
            Fact("rank", rank, reason=why),
            Fact("blend", "C W^+ R of columns, intersection and rows"),
            Fact("exact", True, "exactly of low rank", reason=found.reason, is_decision=True),
            Fact("intersection_condition", found.condition, "condition of the intersection"),
            Fact("verdict", verdict if found.is_confirmed else UNVERIFIABLE, is_judgement=True),
        )
    )


def complete_report(rank: int, wanted: int | None, noise: float) -> FitReport:
    """The facts of the leading part of a matrix that is known."""
    why = ASKED_FOR if rank == wanted else "every value is known, and every direction helps to complete other rows"
    best = "left-out ones are predicted best from part of their values"
    return FitReport(
        (
            Fact("rank", rank, reason=why),
            Fact("new_row_noise", noise, "noise of later rows and columns", reason=best, is_decision=True),
            Fact("verdict", UNVERIFIABLE, is_judgement=True),
        )
    )


def _verdict(found: Judged) -> str:
    if found.number < FEWEST:
        return UNVERIFIABLE
    where = f"on {found.number} left-out values"
    if not found.against_zero > CLEARLY_BETTER:
        return f"there is no evidence that it is better than zero {where}"
    if found.effective_size < FEWEST:
        size = f"effective sample size {found.effective_size:.0f}, at least {FEWEST} needed"
        return f"better than zero {where}; the error is not estimated: {size}. certify() uses all entries"
    if found.against_offsets > CLEARLY_BETTER:
        return f"better than the additive model {where}, by {found.against_offsets:.1f} standard errors"
    beside = "" if math.isnan(found.against_offsets) else ", and not clearly better than the additive model"
    return f"better than zero {where}, by {found.against_zero:.1f} standard errors{beside}"
