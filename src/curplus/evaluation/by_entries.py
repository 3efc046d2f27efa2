r"""The error from entries that the fit did not use: those that it held out, or each of them by cross-fitting."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._arrays import to_numpy
from .._sets import different
from .._typing import FloatArray, IndexVector, Vector
from ..exceptions import InvalidArgumentError
from ..observation import Observation
from ..observation.holdout import evidence_outside
from .baseline import left_out_means_at
from .certificate import CROSS_FITTED, HELD_OUT
from .effective_sample import check_tails, effective_sample_size, tail_of
from .estimate import Estimate, no_evidence
from .folds import FOLDS, cross_predictions
from .residual import Residual

__all__ = ["by_entries", "errors_on_lines"]

ENOUGH = 2000  # held-out entries: with fewer, all are held out in turn
MOST = 20_000  # entries of a fit that is worth making again so often
EXCESS = 1 / 3  # by how much refits err more, and how uncertain that is, per mean square by which they differ from it
BENT = 0.9  # where fitted errors are smaller than this share of the others, the fit has bent to them
CLEARLY = 3.0  # standard errors


class Sample(NamedTuple):
    """Squared errors of predictions that did not use the entries they are compared with, in units."""

    evidence: str
    records: IndexVector  # (h,)
    squares: FloatArray  # (h,)
    excess: float = 0.0  # share by which these squares are thought too large, since refits have fewer entries


def by_entries(residual: Residual) -> Estimate:
    r"""From entries that the fit did not use.

    The rest is :math:`N \, \overline{w e^2}` with importance weights w of mean 1. Its relative variance is
    :math:`\overline{w^2 (e^2 / \overline{e^2} - 1)^2} / h`, times the finite-population factor 1 - h / N where each
    position was drawn once; it is at least what the effective sample size says.
    """
    observation = residual.observation
    sample = _sample(residual)
    if not len(sample.records):
        return no_evidence("no entry was kept out of the fit")
    squares, weights = sample.squares, _weights(observation, sample.records)
    mean = float(np.mean(weights * squares))
    references = _references(residual, sample, mean)
    tail, n_equal = tail_of(weights * squares, *references.values()), effective_sample_size(weights)
    size, reason = check_tails(weights * squares, references, sample.evidence, count=n_equal, tail=tail)
    known, n_rest, not_drawn = _population(residual, sample)
    variance = max(
        float(np.mean((weights * (squares / mean - 1)) ** 2)) / len(squares) if mean > 0 else math.nan,
        1 / size - 1 / n_equal,
    )
    read = residual.once(np.flatnonzero(observation.outside))
    return Estimate(
        sample.evidence,
        rest=n_rest * mean * (1 - sample.excess),
        n_rest=n_rest,
        effective_size=size,
        spread=math.hypot(math.sqrt(max(not_drawn, 0.0) * variance), sample.excess),
        stretch=tail.stretch,
        reason=_design_of_entries(observation) or reason,
        squares=squares,
        fitted=float(np.sum(residual.squares_at(known))),
        read=float(np.sum(residual.squares_at(read))),
        entries_to_halve=3 * len(squares),
        means=_error_of_means(residual, sample, weights),
    )


def _sample(residual: Residual) -> Sample:
    """Errors at held-out entries; where they are few, at all entries, each predicted by a fit that did not have it."""
    held, method = residual.held_out(), residual.approximation.provenance.method
    n_evidence = len(evidence_outside(residual.observation))
    can_be_made_again = method is not None and not method.sees_whole_matrix
    if can_be_made_again and len(held) < min(n_evidence, ENOUGH) and FOLDS <= n_evidence <= MOST:
        try:
            return _cross_fitted(residual, held)
        except InvalidArgumentError:
            pass  # fewer entries are not enough for this method
    return Sample(HELD_OUT, held, residual.squares_at(held))


def _cross_fitted(residual: Residual, held: IndexVector) -> Sample:
    r"""All entries, and by how much the errors of refits are thought too large.

    A refit and the approximation differ by a mean square :math:`\delta`, taken where neither used the entries if
    possible. For a fit by least squares with nine tenths of the entries, of which each sets a tenth aside, the refit
    errs more by a third of it; where a fit chooses, it may be anything from nothing to twice that.
    """
    o = residual.observation
    records, predicted = cross_predictions(residual.approximation.provenance.method, o)
    counted = residual.counted(records)
    predicted = predicted[np.isin(records, counted)]
    counted = np.sort(counted)
    squares = residual.squares_of(counted, predicted)
    own = to_numpy(residual.approximation.entries(o.i[counted], o.j[counted]))
    among = np.isin(counted, held) if len(held) else np.ones(len(counted), dtype=bool)
    apart = float(np.mean(((predicted - own)[among] / residual.unit) ** 2))
    excess = EXCESS * apart / max(float(np.mean(squares)), np.finfo(float).tiny)
    return Sample(CROSS_FITTED, counted, squares, min(excess, EXCESS))


def _references(residual: Residual, sample: Sample, mean: float) -> dict[str, Vector]:
    """Squared errors elsewhere; not at entries to which the fit has bent."""
    references = errors_on_lines(residual)
    fitted = residual.squares_at(residual.fitted(sample.records))
    if len(fitted) and float(np.mean(fitted)) >= BENT * mean:
        references["fitted entries"] = fitted
    return references


def errors_on_lines(residual: Residual) -> dict[str, Vector]:
    """Squared errors on the sampled rows and columns, unless they were chosen for what they hold."""
    design = residual.observation.design
    references: dict[str, Vector] = {}
    if design.rows != "adaptive":
        references["sampled rows"] = residual.row_squares
    if design.columns != "adaptive":
        references["sampled columns"] = residual.column_squares
    return references


def _population(residual: Residual, sample: Sample) -> tuple[IndexVector, int, float]:
    """Records at known positions, the number of other positions, and the finite-population factor of their mean.

    Entries that were cross-fitted are known, as those are that were fitted: the mean is one of positions that were not
    drawn. With unequal chances, the weights account for all but those that took part in choosing.
    """
    if residual.observation.probabilities is not None:
        known = residual.steering()
        return known, residual.n_rest - len(known), 1.0
    known = residual.fitted(sample.records)
    n_rest = residual.n_rest - len(known)
    if sample.evidence == HELD_OUT:
        return known, n_rest, 1 - len(sample.records) / max(n_rest, 1)
    known = np.concatenate([known, sample.records])
    n_rest -= len(sample.records)
    return known, n_rest, 1 + len(sample.records) / max(n_rest, 1)


def _weights(observation: Observation, records: IndexVector) -> FloatArray:
    weights: FloatArray = np.asarray(observation.entries.importance_weights[records])
    return np.asarray(weights / np.mean(weights))


def _error_of_means(residual: Residual, sample: Sample, weights: FloatArray) -> float:
    """Mean squared error of row and column means at the same entries."""
    o = residual.observation
    held = sample.records if sample.evidence == HELD_OUT else sample.records[:0]
    guess = left_out_means_at(o.divide(residual.unit), sample.records, held) * residual.unit
    return float(np.mean(weights * residual.squares_of(sample.records, guess)))


def _design_of_entries(observation: Observation) -> str:
    """Why the entries may not represent the rest; empty where they do."""
    o = observation
    if o.probabilities is None:
        if o.design.entries == "uniform":
            return ""
        return (
            "how the entries were chosen is not known, so they may not represent the rest (observe draws uniformly; if "
            "yours were drawn so, use observation.with_design(entries='uniform'))"
        )
    weights = np.asarray(o.importance_weights)[~o.steering]
    possible = 1 - (o.n_gaps + len(different(o.entries.flat_index[o.steering]))) / math.prod(o.shape)
    error = float(np.std(weights)) / math.sqrt(max(len(weights), 1))
    if float(np.mean(weights)) + CLEARLY * error < possible:
        return (
            f"the chances of the entries show that only about {np.mean(weights):.0%} of the positions could be drawn, "
            "and nothing is known of the others (draw a part of the entries uniformly)"
        )
    return ""
