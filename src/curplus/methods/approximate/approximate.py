"""The recommended method: everything that was read is used, and nothing needs to be set.

CUR+ fits a small core to scattered entries and forgets that whole rows and columns were read. Here they come first: the
ridge skeleton predicts the rest from them, what was read is put back where it belongs, and only then is the result cut
down to the rank asked for. Scattered entries check the approximation and, where they are many enough to say something
about every row and column, refine it; a refinement is kept only if entries that it did not see are predicted better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from ..._arrays import array_namespace, float64, harmless_unit, to_device, to_numpy
from ..._typing import IndexVector, RandomState
from ..._validation import random_generator
from ...evaluation.residual import Residual
from ...exceptions import InvalidArgumentError
from ...factorization import Factorization, Provenance, leading_basis
from ...observation import Observation
from ...observation.checks import check_observation
from ...observation.holdout import split_entries
from .als import alternate, measurements, solve_rows
from .assemble import assemble, leading_part
from .correction import corrected
from .entry_offsets import with_entry_offsets
from .evidence import FEWEST, KEPT, squared_errors, standard_errors
from .nuclear import chosen_threshold, low_rank_part, thresholds
from .offsets import Offsets, additive_model, no_offsets, offsets_of
from .posterior import posterior_mean
from .prediction import Prediction
from .rank import RankChoice, choose_rank
from .rank_evidence import predictive_rank, rank_for_entries
from .report import fit_report
from .skeleton import Skeleton, ridge_skeleton

__all__ = ["CrossApproximation", "approximate"]

HOLDOUT = 0.1  # share of the entries that is set aside to check
MOST_CHECKED = 1500  # enough to tell the error of a benign fit to 4 %, and too few to be missed by it


def approximate(observation: Observation, rank: int | None = None, *, rng: RandomState = 0) -> Factorization:
    r"""Best low-rank approximation we know how to make from sampled rows, columns and entries.

    Parameters
    ----------
    observation : Observation
        Rows, columns and entries, as many of each as there are.
    rank : int, optional
        Rank of the approximation; if left out, chosen from the singular values of the sampled rows and columns, or by
        entries left out in turn where there are none.
    rng : None, int or numpy.random.Generator, default 0
        Decides which entries are set aside to check the approximation.

    Returns
    -------
    Factorization
        ``report`` says what was chosen and why; ``held_out`` which entries the fit did not use. It is not confined to
        the span of the sampled rows and columns, so it has no C U R form.

    Notes
    -----
    1. Predict what was not read by the ridge skeleton, its ridge chosen by leaving sampled rows and columns out, or by
       scattered entries where there are no more than ``rank`` of either.
    2. Correct the prediction by a small core fitted to its error at the scattered entries.
    3. Assemble: rows and columns as they were read, the prediction elsewhere; keep the leading ``rank`` directions.
    4. With at least ``rank * (n + m) / 2`` entries outside the sampled rows and columns, refine by alternating least
       squares.

    Without rows and columns, steps 1 to 3 are replaced: a constant and offsets of rows and columns are fitted to the
    entries, then a low-rank matrix to their residual. Its singular values are shrunk by a threshold, which entries left
    out in turn choose. Without rows alone, the leading subspace of the columns is used, and the other factor is fitted
    to the entries.

    Steps 2 and 4 are kept only if entries set aside are predicted better by more than two standard errors.

    Cost is :math:`O((n + m) (d_1 + d_2)^2)`, and :math:`O(|\Omega| r^2)` a sweep of refinement.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> rng = np.random.default_rng(0)
    >>> M = rng.standard_normal((300, 5)) @ rng.standard_normal((5, 200))
    >>> seen = curplus.observe(M, n_columns=5, n_rows=5, n_entries=0, rng=0)
    >>> approx = curplus.approximate(seen, rank=5)
    >>> bool(np.linalg.norm(approx.to_array() - M) < 1e-10 * np.linalg.norm(M))
    True
    >>> print(approx.report.verdict)
    unverifiable: it fits what was read, and nothing is left to check it with
    """
    return CrossApproximation(rank).fit(observation, rng=rng)


@dataclass(frozen=True)
class CrossApproximation:
    """The method :func:`curplus.approximate`, with its options."""

    rank: int | None = None
    offsets: str | bool = "auto"
    sees_whole_matrix: ClassVar[bool] = False

    def fit(self, observation: Observation, *, rng: RandomState = 0) -> Factorization:
        """The approximation."""
        _check_not_empty(check_observation(observation))
        if observation.n_rows and not observation.n_columns:
            turned = self.fit(observation.T, rng=rng).T
            return replace(turned, provenance=replace(turned.provenance, method=replace(self, rank=turned.rank)))
        unit = harmless_unit(observation.magnitude, observation.values, power=4)  # squares of squares are summed up
        sample = observation.divide(unit)
        use, check = split_entries(sample, HOLDOUT, random_generator(rng), at_most=MOST_CHECKED)
        build = _from_rows_and_columns if sample.n_rows else _from_columns if sample.n_columns else _from_values
        start = build(sample, self, use, check)
        answer, refinement_z = _refined(start, sample, use, check)
        is_refined = refinement_z > KEPT
        rank = _chosen_rank(sample, self, start, answer, check if is_refined else use)
        answer = answer.truncate(rank.rank)
        used = start.used_entries or is_refined
        held_out = check if used else np.sort(np.concatenate([use, check]))
        report = fit_report(
            answer,
            rank,
            start.skeleton,
            offsets=start.offsets,
            correction_z=start.correction_z,
            offsets_z=start.offsets_z,
            refinement_z=refinement_z,
            held_out=sample.entries.take(held_out),
        )
        method = replace(self, rank=max(answer.rank, 1))
        provenance = Provenance(method, held_out, observation.fingerprint, report)
        return _finished(answer, observation, unit, provenance)


class Start(NamedTuple):
    """An approximation before it is refined."""

    approximation: Factorization
    rank: RankChoice
    skeleton: Skeleton | None = None  # None where there are no rows and columns to predict from
    correction_z: float = math.nan  # by how many standard errors a core fitted to the entries did better
    offsets_z: float = math.nan  # and offsets fitted to the entries; nan where they were not tried
    used_entries: bool = True  # whether the entries had a part in it
    offsets: Offsets | None = None  # the additive model, where it had a part in it


def _check_not_empty(observation: Observation) -> None:
    if not any(observation.counts):
        raise InvalidArgumentError("nothing was observed: no columns, no rows and no entries. Observe some of them.")


def _from_rows_and_columns(
    sample: Observation, method: CrossApproximation, use: IndexVector, check: IndexVector
) -> Start:
    """Predict the rest from the intersection, correct it by the entries, put what was read in its place."""
    suggested = choose_rank(sample, method.rank)
    skeleton = ridge_skeleton(sample, suggested.rank, use, method.offsets)
    prediction = plain = skeleton.prediction(sample)
    offsets_z = correction_z = math.nan
    if not skeleton.is_exact:
        if method.offsets is not False:
            has_constant = skeleton.frame == "offsets"
            prediction, offsets_z = with_entry_offsets(sample, prediction, use, check, has_constant=has_constant)
        prediction, correction_z = corrected(sample, prediction, use, check)
    answer = assemble(sample, prediction, suggested.rank if skeleton.is_exact else method.rank)
    used = prediction is not plain or skeleton.asked_entries
    return Start(answer, suggested, skeleton, correction_z, offsets_z, used)


def _chosen_rank(
    sample: Observation, method: CrossApproximation, start: Start, answer: Factorization, judges: IndexVector
) -> RankChoice:
    """Where none was asked for, what singular values suggest, or more where that predicts better.

    Entries are judges if there are enough, else rows and columns that are left out.
    """
    suggested = start.rank
    if method.rank is not None or start.skeleton is None or start.skeleton.is_exact:
        return suggested
    if len(judges) >= FEWEST:
        rank, why = rank_for_entries(answer, sample.entries.take(judges)), "entries are predicted as well as with more"
    else:
        rank = predictive_rank(sample, suggested.rank, method.offsets)
        why = "left-out rows and columns are predicted as well as with more"
    return suggested if rank <= suggested.rank else RankChoice(rank, why)


def _from_columns(sample: Observation, method: CrossApproximation, use: IndexVector, _check: IndexVector) -> Start:
    """Without rows: from the columns' leading subspace, and a fit of the other side to entries."""
    rank = choose_rank(sample, method.rank)
    return Start(_other_side(sample, rank.rank, use), rank)


def _from_values(sample: Observation, method: CrossApproximation, use: IndexVector, _check: IndexVector) -> Start:
    """Without rows and columns: offsets of rows and columns, and singular values of the rest shrunk by a threshold.

    The factors are made on the host, by SciPy, and sent to the device of the entries.
    """
    rank = choose_rank(sample, method.rank)
    entries = measurements(sample, use).entries
    entries = entries.with_values(to_numpy(entries.values))
    model_of = no_offsets if method.offsets is False else additive_model
    offsets = model_of(entries)
    residual = offsets.residual(entries)
    falling = thresholds(residual)
    n_steps = chosen_threshold(entries, falling, model_of, np.random.default_rng(0))
    low_rank = posterior_mean(residual, low_rank_part(residual, falling[:n_steps]))
    left, right = (to_device(np.hstack(pair), sample.values) for pair in zip(offsets.factors(), low_rank, strict=True))
    return Start(leading_part(left, right, rank.rank), rank, offsets=offsets)


def _other_side(sample: Observation, rank: int, use: IndexVector) -> Factorization:
    """The columns' leading subspace, and rows of the other factor fitted to what was read of each column."""
    basis = leading_basis(sample.columns, rank)
    xp = array_namespace(basis.vectors)
    known = sample.columns.T @ basis.vectors
    explained = xp.sum(known**2)
    noise = max(float(xp.sum(sample.columns**2) - explained), 0.0) / math.prod(sample.columns.shape)
    signal = max(float(explained) / max(math.prod(known.shape), 1), np.finfo(float).tiny)
    V = solve_rows(measurements(sample, use).T, float64(basis.vectors), max(noise / signal, 1e-12 / sample.shape[0]))
    mixing = to_numpy(float64(basis.coefficients))
    return assemble(sample, Prediction(float64(sample.columns), mixing, V), rank)


def _refined(begin: Start, sample: Observation, use: IndexVector, check: IndexVector) -> tuple[Factorization, float]:
    """Alternating least squares, if there are entries enough and those set aside are predicted clearly better."""
    start = begin.approximation
    supported = min(start.rank, 2 * len(use) // sum(sample.shape))
    if not supported or len(check) < FEWEST or (begin.skeleton is not None and begin.skeleton.is_exact):
        return start, math.nan
    offsets = begin.offsets
    if begin.skeleton is not None and begin.skeleton.frame == "offsets":
        offsets = offsets_of(start)
    at, weights = sample.entries.take(check), sample.entries.fit_weights[check]
    predictive = min(supported, rank_for_entries(start, sample.entries.take(use)))
    ways = [(supported, None)] + [(predictive, offsets)] * (predictive < supported or offsets is not None)
    candidates = [
        alternate(start.truncate(rank), sample, use=use, check=check, offsets=around) for rank, around in ways
    ]
    if sample.n_columns and sample.n_rows:
        candidates += [_with_lines(candidate, sample, start.rank) for candidate in candidates]
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


def _finished(answer: Factorization, observation: Observation, unit: float, provenance: Provenance) -> Factorization:
    """The approximation in the units and the type of the observation, with its names."""
    xp, kind = array_namespace(observation.values), observation.dtype
    values = to_numpy(observation.values) / unit
    misfit = float(np.linalg.norm(values - to_numpy(answer.entries(observation.i, observation.j)))) * unit
    return Factorization(
        answer.left._replace(vectors=xp.astype(answer.left.vectors, kind, copy=False)),
        answer.core._replace(Z=xp.astype(answer.core.Z * unit, kind, copy=False), residual_norm=misfit),
        answer.right._replace(vectors=xp.astype(answer.right.vectors, kind, copy=False)),
        observation.row_names,
        observation.column_names,
        provenance,
    )
