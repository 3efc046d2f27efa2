"""Refinement where there are entries for it: alternating least squares, or a model of all values, if entries agree."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from ..._arrays import is_dask_array, to_numpy
from ..._typing import FloatArray, IndexVector, Shape, Vector
from ...evaluation.residual import Residual
from ...factorization import Factorization
from ...observation import Observation
from .als import alternate
from .assemble import mean_of, with_lines
from .evidence import FEWEST, KEPT, is_met, squared_errors, standard_errors
from .from_values import MOST_FACTORS, affordable, by_factor_model
from .known_table import known_table
from .offsets import Offsets, offsets_of
from .rank_evidence import rank_for_entries
from .scattered import has_both_ways
from .start import Start
from .way import Step

__all__ = ["Refinement", "refined"]


ALTERNATING, FACTORS, MEAN = "alternating least squares", "a factor model", "the mean with a factor model"
NEAR = 0.15  # of the spread of the entries: with errors so small, a model of their noise brings nothing
OF_OFFSETS = 2  # directions
KEPT_MEAN = 1.0  # standard errors: the entries have no part in it, and a mean errs by less than the worse of two


class Refinement(NamedTuple):
    """An approximation, and whether it is better than the one before."""

    approximation: Factorization
    standard_errors: float = math.nan  # by which entries set aside are predicted better; nan if it was not tried
    step: Step | None = None  # what did it; None where nothing was kept
    why_not: str = "too few entries"  # to try it

    @property
    def is_kept(self) -> bool:
        """Whether it has changed anything."""
        return self.step is not None


def refined(
    begin: Start,
    sample: Observation,
    use: IndexVector,
    check: IndexVector,
    wanted: bool | None = None,
    step: Step | None = None,
) -> Refinement:
    """The refined approximation, or the start; which of them may be said before (``wanted``), and by which ``step``.

    Several ranks are tried: as many directions as the entries have values for, around zero, and fewer, around the
    offsets. With sampled rows and columns and many noisy values, so is a factor model of all of them, and its mean with
    the start; and where one helps, rows and columns are put back as they were read. What is kept must predict entries
    set aside better by two standard errors, the mean by one, and what was read and the rest together as well.
    """
    start = begin.approximation
    supported = min(start.rank, 2 * len(use) // sum(sample.shape))
    too_few = supported < min(start.rank, 2) or len(check) < FEWEST
    if wanted is False or not start.rank or too_few or begin.is_exact:
        return Refinement(start)
    if is_dask_array(sample.values):
        return Refinement(start, why_not="rows and columns are Dask arrays")
    at, weights = sample.entries.take(check), sample.entries.fit_weights[check]
    before = squared_errors(start, at)
    if wanted and step is not None:
        answer = _stepped(step, begin, sample, supported, use, check)
        return Refinement(answer, standard_errors(before, squared_errors(answer, at), weights), step)
    z, kept = [], []
    error = float(np.average(before, weights=weights))
    least = cache(lambda: _estimated_error(start, sample, error))
    possible = partial(_can_gain, np.linalg.svdvals(to_numpy(start.core.Z)), start.shape, error)
    for tried, candidate in _candidates(begin, sample, supported, use, check, possible):
        for put_back in (False, True) if _has_lines(sample) and not begin.way.bare else (False,):
            answer = with_lines(candidate, sample, start.rank) if put_back else candidate
            after = squared_errors(answer, at)
            z.append(standard_errors(before, after, weights))
            if wanted or z[-1] > (KEPT_MEAN if tried.by == MEAN else KEPT):
                found = Refinement(answer, z[-1], tried._replace(with_lines=put_back))
                total = _estimated_error(answer, sample, float(np.average(after, weights=weights)))
                kept += [_Kept(found, candidate.rank, total, after)] if wanted or total < least() else []
            if not z[-1] > 0:  # what was read would not help
                break
    if not z:
        return Refinement(start, why_not="entries for too few directions")
    return _cautious(kept, weights).refinement if kept else Refinement(start, max(z))


def _can_gain(s: FloatArray, shape: Shape, error: float, rank: int) -> bool:
    """Whether as few directions could be better than a start with these singular values and mean squared error.

    What they leave out of the start is at most their error and that of the start together: where it is more than twice
    the error of the start, theirs is larger.
    """
    return float(np.sum(s[rank:] ** 2)) / math.prod(shape) <= 4 * error


class _Kept(NamedTuple):
    """A refinement that is better than the start."""

    refinement: Refinement
    rank: int  # of the fit
    total: float  # estimated sum of squared errors
    squares: Vector  # squared errors at the entries set aside


def _cautious(kept: list[_Kept], weights: Vector) -> _Kept:
    """The best, or the best of the least rank at which the entries are not predicted clearly worse.

    Not clearly: by less than a standard error of the difference. The entries have a part in every fit, which stops
    where it predicts them best, and the more directions it has, the better it can please them.
    """
    best = min(kept, key=lambda one: one.total)
    close = [one for one in kept if standard_errors(one.squares, best.squares, weights) < 1]
    least = min(one.rank for one in close)
    return min((one for one in close if one.rank == least), key=lambda one: one.total)


def _candidates(
    begin: Start,
    sample: Observation,
    supported: int,
    use: IndexVector,
    check: IndexVector,
    possible: Callable[[int], bool],
) -> Iterator[tuple[Step, Factorization]]:
    """What may be better than the start, and how it is made; ``possible`` says which numbers of directions may be."""
    start = best = begin.approximation
    predictive = min(supported, rank_for_entries(start, sample.entries.take(use)))
    offsets = offsets_of(start) if begin.offsets_to_refine_around else None
    if possible(supported):
        best = _alternated(start, supported, None, sample, use, check)
        yield Step(ALTERNATING, supported), best
    for rank in sorted({predictive, supported // 2, supported // 4} - {0}):
        if (rank < supported or offsets is not None) and possible(rank + OF_OFFSETS * (offsets is not None)):
            step = Step(ALTERNATING, rank, offsets is not None)
            yield step, _alternated(start, rank, offsets, sample, use, check)
    can_be_modelled = _has_lines(sample) and not has_both_ways(sample) and affordable(sample)
    if can_be_modelled and len(use) >= sum(sample.shape) and not is_met(best, sample.entries.take(check), NEAR):
        model = _factor_model(start, sample, use)
        yield Step(FACTORS), model
        yield Step(MEAN), mean_of(model, start)


def _stepped(
    step: Step, begin: Start, sample: Observation, supported: int, use: IndexVector, check: IndexVector
) -> Factorization:
    """What one step makes of the start, with at most as many directions as there are entries for."""
    start = begin.approximation
    if step.by == ALTERNATING:
        offsets = offsets_of(start) if step.around_offsets else None
        answer = _alternated(start, min(step.rank, supported), offsets, sample, use, check)
    else:
        model = _factor_model(start, sample, use)
        answer = model if step.by == FACTORS else mean_of(model, start)
    return with_lines(answer, sample, start.rank) if step.with_lines and _has_lines(sample) else answer


def _has_lines(sample: Observation) -> bool:
    return bool(sample.n_columns and sample.n_rows)


def _factor_model(start: Factorization, sample: Observation, use: IndexVector) -> Factorization:
    return by_factor_model(known_table(sample, use), sample, min(start.rank, MOST_FACTORS)).approximation


def _alternated(
    start: Factorization,
    rank: int,
    offsets: Offsets | None,
    sample: Observation,
    use: IndexVector,
    check: IndexVector,
) -> Factorization:
    return alternate(start.truncate(rank), sample, use=use, check=check, offsets=offsets)


def _estimated_error(answer: Factorization, sample: Observation, mean_square: float) -> float:
    """Sum of squared errors: as they are on the sampled rows and columns, at the mean of some entries elsewhere."""
    residual = Residual(answer, sample)
    return residual.known_error * residual.unit**2 + residual.n_rest * mean_square
