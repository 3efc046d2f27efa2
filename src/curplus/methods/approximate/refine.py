"""Refinement where there are entries for it: alternating least squares, or a model of all values, if entries agree."""

from __future__ import annotations

import math

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
from .offsets import offsets_of
from .prediction import Prediction
from .rank_evidence import rank_for_entries
from .start import Start

__all__ = ["refined"]


def refined(begin: Start, sample: Observation, use: IndexVector, check: IndexVector) -> tuple[Factorization, float]:
    """The refined approximation, or the start, and by how many standard errors entries set aside are predicted better.

    Two ranks are tried: as many directions as the entries have values for, around zero, and as many as predict, around
    the offsets. With sampled rows and columns and enough entries, so is a factor model of all values, and its mean with
    the start; and rows and columns are put back as they were read. What is kept must predict entries set aside better
    by two standard errors, and what was read and the rest together as well.
    """
    start = begin.approximation
    supported = min(start.rank, 2 * len(use) // sum(sample.shape))
    if supported < min(start.rank, 2) or not supported or len(check) < FEWEST or begin.is_exact:
        return start, math.nan
    candidates = _candidates(begin, sample, supported, use, check)
    at, weights = sample.entries.take(check), sample.entries.fit_weights[check]
    before, after = squared_errors(start, at), [squared_errors(candidate, at) for candidate in candidates]
    better = [standard_errors(before, squares, weights) for squares in after]
    totals = [
        _estimated_error(candidate, sample, float(np.average(squares, weights=weights)))
        for candidate, squares in zip([start, *candidates], [before, *after], strict=True)
    ]
    kept = [k for k, z in enumerate(better) if z > KEPT and totals[k + 1] < totals[0]]
    if not kept:
        return start, min(max(better), KEPT)
    best = min(kept, key=lambda k: totals[k + 1])
    return candidates[best], better[best]


def _candidates(
    begin: Start, sample: Observation, supported: int, use: IndexVector, check: IndexVector
) -> list[Factorization]:
    start = begin.approximation
    predictive = min(supported, rank_for_entries(start, sample.entries.take(use)))
    offsets = offsets_of(start) if begin.offsets_to_refine_around else None
    ways = [(supported, None)] + [(predictive, offsets)] * (predictive < supported or offsets is not None)
    found = [alternate(start.truncate(rank), sample, use=use, check=check, offsets=around) for rank, around in ways]
    if sample.n_columns and sample.n_rows:
        if affordable(sample) and len(use) >= sum(sample.shape):
            model = by_factor_model(known_table(sample, use), sample, start.rank).approximation
            found += [model, mean_of(model, start)]
        found += [_with_lines(answer, sample, start.rank) for answer in found]
    return found


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
