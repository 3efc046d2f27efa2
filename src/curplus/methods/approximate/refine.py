"""Refinement where there are entries for it: alternating least squares, or a model of all values, if entries agree."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..._arrays import array_namespace, float64
from ..._typing import IndexVector
from ...evaluation.residual import Residual
from ...factorization import Factorization
from ...observation import Observation
from .als import alternate
from .assemble import assemble, mean_of
from .evidence import FEWEST, KEPT, squared_errors, standard_errors
from .from_values import affordable, by_factor_model
from .known_table import known_table
from .offsets import Offsets, offsets_of
from .prediction import Prediction
from .rank_evidence import rank_for_entries
from .start import Start

__all__ = ["Refinement", "refined"]


class Refinement(NamedTuple):
    """An approximation, and whether it is better than the one before."""

    approximation: Factorization
    standard_errors: float = math.nan  # by which entries set aside are predicted better; nan if it was not tried
    by: str = ""  # what did it; empty where nothing was kept

    @property
    def is_kept(self) -> bool:
        """Whether it has changed anything."""
        return bool(self.by)


def refined(
    begin: Start, sample: Observation, use: IndexVector, check: IndexVector, wanted: bool | None = None
) -> Refinement:
    """The refined approximation, or the start; which of them may be said before (``wanted``).

    Two ranks are tried: as many directions as the entries have values for, around zero, and as many as predict, around
    the offsets. With sampled rows and columns and enough entries, so is a factor model of all values, and its mean with
    the start; and rows and columns are put back as they were read. What is kept must predict entries set aside better
    by two standard errors, and what was read and the rest together as well.
    """
    start = begin.approximation
    supported = min(start.rank, 2 * len(use) // sum(sample.shape))
    too_few = supported < min(start.rank, 2) or len(check) < FEWEST
    if wanted is False or not start.rank or too_few or begin.is_exact:
        return Refinement(start)
    at, weights = sample.entries.take(check), sample.entries.fit_weights[check]
    before = squared_errors(start, at)
    tried, least = [], _estimated_error(start, sample, float(np.average(before, weights=weights)))
    best, bar = Refinement(start), KEPT
    if wanted:
        bar, least = -math.inf, math.inf
    for by, candidate in _candidates(begin, sample, supported, use, check):
        after = squared_errors(candidate, at)
        tried.append(standard_errors(before, after, weights))
        total = _estimated_error(candidate, sample, float(np.average(after, weights=weights)))
        if tried[-1] > bar and total < least:
            best, least = Refinement(candidate, tried[-1], by), total
    return best if best.is_kept else Refinement(start, max(tried))


def _candidates(
    begin: Start, sample: Observation, supported: int, use: IndexVector, check: IndexVector
) -> Iterator[tuple[str, Factorization]]:
    """What may be better than the start, and what it is."""
    start = begin.approximation
    predictive = min(supported, rank_for_entries(start, sample.entries.take(use)))
    offsets = offsets_of(start) if begin.offsets_to_refine_around else None
    found = [("alternating least squares", _alternated(start, supported, None, sample, use, check))]
    if predictive < supported or offsets is not None:
        found.append(("alternating least squares", _alternated(start, predictive, offsets, sample, use, check)))
    if not (sample.n_columns and sample.n_rows):
        yield from found
        return
    if affordable(sample) and len(use) >= sum(sample.shape):
        model = by_factor_model(known_table(sample, use), sample, start.rank).approximation
        found += [("a factor model", model), ("the mean with a factor model", mean_of(model, start))]
    for by, answer in found:
        yield by, answer
        yield by, _with_lines(answer, sample, start.rank)


def _alternated(
    start: Factorization,
    rank: int,
    offsets: Offsets | None,
    sample: Observation,
    use: IndexVector,
    check: IndexVector,
) -> Factorization:
    return alternate(start.truncate(rank), sample, use=use, check=check, offsets=offsets)


def _with_lines(answer: Factorization, sample: Observation, rank: int) -> Factorization:
    """The answer where nothing was read, rows and columns as they were read, cut to a rank."""
    d1, k = sample.n_columns, answer.rank
    features = array_namespace(sample.columns).concat([float64(sample.columns), answer.left.vectors], axis=1)
    mixing = np.vstack([np.zeros((d1, k)), np.eye(k)])
    return assemble(sample, Prediction(features, mixing, answer.right.vectors @ answer.core.Z.T), rank)


def _estimated_error(answer: Factorization, sample: Observation, mean_square: float) -> float:
    """Sum of squared errors: as they are on the sampled rows and columns, at the mean of some entries elsewhere."""
    residual = Residual(answer, sample)
    return residual.known_error * residual.unit**2 + residual.n_rest * mean_square
