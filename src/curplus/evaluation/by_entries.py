r"""The error from entries that the fit did not use: those that it held out, or each of them by cross-fitting."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._arrays import host_kind, take, to_numpy
from .._typing import FloatArray, IndexVector, Vector
from ..factorization.provenance import Refits
from ..observation import Observation
from .additive import additive_without
from .certificate import CROSS_FITTED, HELD_OUT
from .cross_fit import refits_of, why_no_sample
from .effective_sample import FEWEST, check_tails, effective_sample_size, tail_of, too_alike
from .estimate import EXCESS_ERROR, Estimate, excess_of, no_evidence
from .left_out import FOLDS, dealt
from .residual import Residual

__all__ = ["by_entries", "errors_on_samples"]

ENOUGH_HELD_OUT = 2000  # cost: held-out entries: with fewer, all entries are held out in turn
MOST_REFITTED = 20_000  # cost: entries: with more, the fit is not repeated
OVERFITTED = 0.9  # tuned: fitted squared errors below this share of the held-out ones are no reference
MOST_COMPARED_WITH_MEANS = 100_000  # cost: held-out entries: the error of means is then known to 1 %


class UnusedEntries(NamedTuple):
    """Squared errors of predictions that did not use the entries they are compared with, in units."""

    evidence: str
    records: IndexVector  # (h,)
    squares: FloatArray  # (h,)
    excess: float = 0.0  # relative bias of these squares, since refits have fewer entries
    n_refits: int = 1


def by_entries(residual: Residual) -> Estimate:
    r"""From entries that the fit did not use.

    The rest is :math:`N \, \overline{w e^2}` with importance weights w of mean 1. Its relative variance is
    :math:`\overline{w^2 (e^2 / \overline{e^2} - 1)^2} / h`, times the finite-population factor 1 - h / N if each
    position was drawn once; it is at least that of the effective sample size.
    """
    observation = residual.observation
    sample = _sample(residual)
    read = float(np.sum(residual.squares_at(residual.once(np.flatnonzero(observation.outside)))))
    if not len(sample.records):
        return no_evidence("no entry was kept out of the fit")._replace(read=read)
    if len(sample.records) < FEWEST:
        few = f"only {len(sample.records)} entries can be held out, and at least {FEWEST} are needed"
        return no_evidence(few)._replace(read=read)
    squares, weights = sample.squares, _weights(observation, sample.records)
    mean = float(np.mean(weights * squares))
    references = _references(residual, sample, mean)
    tail, n_equal = tail_of(weights * squares, *references.values()), effective_sample_size(weights)
    values = to_numpy(take(observation.values, sample.records, axis=0))
    limits = weights * residual.squares_of(sample.records, np.average(values, weights=weights))
    size, reason = check_tails(weights * squares, references, sample.evidence, count=n_equal, tail=tail, limits=limits)
    known, n_rest, not_drawn = _population(residual, sample)
    variance = max(
        float(np.mean((weights * (squares / mean - 1)) ** 2)) / len(squares) if mean > 0 else math.nan,
        1 / size - 1 / n_equal,
    )
    return Estimate(
        sample.evidence,
        rest=n_rest * mean * (1 - sample.excess),
        n_rest=n_rest,
        effective_size=size,
        spread=math.sqrt(max(not_drawn, 0.0) * variance + (EXCESS_ERROR * sample.excess) ** 2 + _of_pairs(sample)),
        stretch=tail.stretch,
        reason=why_no_sample(observation) or too_alike(squares, sample.evidence, values) or reason,
        squares=squares,
        fitted=float(np.sum(residual.squares_at(known))),
        read=read,
        entries_to_halve=3 * len(squares),
        means=_error_of_means(residual, sample, weights),
    )


def _sample(residual: Residual) -> UnusedEntries:
    """Errors at held-out entries; if they are few, at all entries, each predicted by a fit that did not have it."""
    held, o = residual.held_out(), residual.observation
    n_evidence = len(np.flatnonzero(o.outside & ~o.steering))
    is_cheap = residual.approximation.provenance.refits is not None or n_evidence <= MOST_REFITTED
    if len(held) < min(n_evidence, ENOUGH_HELD_OUT) and is_cheap:
        refits, _ = refits_of(residual.approximation, o)
        if refits is not None and len(refits.fits):
            return _cross_fitted(residual, refits)
    return UnusedEntries(HELD_OUT, held, residual.squares_at(held))


def _cross_fitted(residual: Residual, refits: Refits) -> UnusedEntries:
    """All entries, each predicted by the refit that did not have it."""
    o = residual.observation
    counted = np.sort(residual.counted(np.flatnonzero((refits.fold >= 0) & o.outside & ~o.steering)))
    predicted = np.empty(len(counted), dtype=np.result_type(host_kind(o.values), np.float64))
    for k, fit in enumerate(refits.fits):
        here = refits.fold[counted] == k
        predicted[here] = to_numpy(fit.entries(o.i[counted[here]], o.j[counted[here]]))
    squares = residual.squares_of(counted, predicted)
    excess = excess_of(residual, refits, float(np.mean(squares)))
    return UnusedEntries(CROSS_FITTED, counted, squares, excess, len(refits.fits))


def _of_pairs(sample: UnusedEntries) -> float:
    r"""Relative variance that cross-fitting adds.

    Value s judges the refit that has value t, and t the one that has s. Of the errors :math:`\epsilon - f`, the
    products :math:`-2 \epsilon f` of such a pair are equal, so that their sum has twice the variance of independent
    ones: 4 V / h more, with V the variance of a refit relative to the mean square. A refit without one of K folds
    differs by V / (K - 1) from a fit to all. Of 0 and 1, whose squared errors are nearly equal, this is most of the
    variance.
    """
    return 4 * (sample.n_refits - 1) * sample.excess / len(sample.squares)


def _references(residual: Residual, sample: UnusedEntries, mean: float) -> dict[str, Vector]:
    """Squared errors elsewhere; not at fitted entries if the fit overfits them."""
    references = errors_on_samples(residual)
    fitted = residual.squares_at(residual.fitted(sample.records))
    if len(fitted) and float(np.mean(fitted)) >= OVERFITTED * mean:
        references["fitted entries"] = fitted
    return references


def errors_on_samples(residual: Residual) -> dict[str, Vector]:
    """Squared errors on the sampled rows and columns, unless they were chosen by their values."""
    design = residual.observation.design
    references: dict[str, Vector] = {}
    if design.rows != "adaptive":
        references["sampled rows"] = residual.row_squares
    if design.columns != "adaptive":
        references["sampled columns"] = residual.column_squares
    return references


def _population(residual: Residual, sample: UnusedEntries) -> tuple[IndexVector, int, float]:
    """Records at known positions, the number of other positions, and the finite-population factor of their mean.

    Cross-fitted entries are known, as fitted entries are: the mean is that of positions that were not drawn. With
    unequal chances, the weights account for all entries but those that helped to choose rows and columns.
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


def _error_of_means(residual: Residual, sample: UnusedEntries, weights: FloatArray) -> float:
    """Mean squared error of the additive model at the same entries, or at a fold of them."""
    o, step = residual.observation, max(len(sample.records) // MOST_COMPARED_WITH_MEANS, 1)
    some = np.arange(0, len(sample.records), step)
    if sample.evidence != HELD_OUT:  # a fold of them is left out of the means
        some = np.flatnonzero(dealt(o.entries.flat_index[sample.records], FOLDS, np.random.default_rng(0)) == 0)
    at = sample.records[some]
    guess = additive_without(o, at, residual.unit).at(o.i[at], o.j[at]) * residual.unit
    return float(np.average(residual.squares_of(at, guess), weights=weights[some]))
