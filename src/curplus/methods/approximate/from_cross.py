"""From sampled rows and columns: predict the rest, correct it by the entries, put what was read in its place."""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import is_dask_array, to_device
from ..._typing import IndexVector
from ...evaluation.effective_sample import effective_sample_size
from ...factorization import Factorization
from ...observation import Observation
from .assemble import assemble, leading_part
from .correction import corrected, errors_at
from .entry_offsets import with_entry_offsets
from .evidence import FEWEST, KEPT, TOLD, Gain, gain_over_zero, squared_errors
from .prediction import Prediction
from .rank import RankChoice, choose_rank
from .rank_evidence import predictive_rank, rank_for_entries
from .skeleton import ridge_skeleton
from .start import Start
from .stray import without_stray_lines
from .way import Way

__all__ = ["chosen_rank", "from_rows_and_columns"]

ALIKE = 0.1  # least effective share of values that are of one kind; a third of Gaussian ones, hardly any of a text


def from_rows_and_columns(
    sample: Observation,
    rank: int | None,
    offsets: str | bool,
    use: IndexVector,
    check: IndexVector,
    way: Way,
) -> Start:
    """The assembled matrix, of all its directions where no rank was asked for."""
    suggested = choose_rank(sample, rank)
    skeleton = ridge_skeleton(sample, suggested.rank, use, offsets, way.guess, way.exponent or 0.0)
    prediction = skeleton.prediction(sample)
    prediction = plain = without_stray_lines(prediction, sample) if skeleton.is_exact else prediction
    of_offsets = of_core = Gain(0, math.nan)
    if not skeleton.is_exact and max(len(use), len(check)) >= FEWEST:
        assert skeleton.cross is not None
        errors = errors_at(sample, prediction, use, check)
        if offsets is not False:
            has_constant, reliability = skeleton.guess == "offsets", skeleton.reliability
            prediction, errors, of_offsets = with_entry_offsets(
                sample, prediction, errors, has_constant=has_constant, reliability=reliability, gain=way.offsets
            )
        prediction, of_core = corrected(sample, prediction, errors, skeleton.cross, way.core)
    answer, bare = assemble(sample, prediction, rank, skeleton.cross), way.bare
    if rank is not None and bare is None:
        bare = not skeleton.is_exact and _cannot_be_told_from_zero(answer, sample, use, check)
    if rank is not None and bare:
        answer = _bare(prediction, rank)
    if rank is None and skeleton.is_exact:
        suggested = RankChoice(answer.rank, "the sampled {axis} have no more independent directions", "columns")
    used = prediction is not plain or skeleton.asked_entries
    chosen = Way(guess=skeleton.guess, exponent=skeleton.exponent, offsets=of_offsets, core=of_core, bare=bare)
    return Start(answer, suggested, skeleton, used, way=chosen)


def _cannot_be_told_from_zero(answer: Factorization, sample: Observation, use: IndexVector, check: IndexVector) -> bool:
    """Whether entries of one kind say so: those set aside, or all of them where these leave a doubt."""
    if len(use) + len(check) < FEWEST or is_dask_array(sample.values):
        return False
    at = sample.entries.take(np.concatenate([use, check]))
    if gain_over_zero(answer, sample.entries.take(check)) > KEPT or gain_over_zero(answer, at) > TOLD:
        return False
    return effective_sample_size(squared_errors(None, at)) > ALIKE * len(at)


def _bare(prediction: Prediction, rank: int) -> Factorization:
    """The leading part of the prediction alone.

    Where nothing can be predicted, the leading part of the assembled matrix is that of sampled rows and columns, and
    what it says elsewhere is worse than zero.
    """
    left = prediction.left @ to_device(prediction.mixing, prediction.left)
    right = prediction.right @ to_device(prediction.coefficients.T, prediction.right)
    return leading_part(left, right, rank)


def chosen_rank(
    sample: Observation, offsets: str | bool, start: Start, answer: Factorization, judges: IndexVector
) -> RankChoice:
    """What singular values suggest, or more where that predicts better.

    Entries are judges if there are enough, else rows and columns that are left out.
    """
    suggested = start.rank
    if start.skeleton is None or start.is_exact:
        return suggested
    if len(judges) >= FEWEST:
        rank, why = rank_for_entries(answer, sample.entries.take(judges)), "entries are predicted as well as with more"
    else:
        rank = predictive_rank(sample, suggested.rank, offsets)
        why = "left-out rows and columns are predicted as well as with more"
    return suggested if rank <= suggested.rank else RankChoice(rank, why)
