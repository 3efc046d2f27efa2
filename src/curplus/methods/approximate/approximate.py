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
from ...exceptions import InvalidArgumentError
from ...factorization import Factorization, FitReport, Provenance, leading_basis
from ...observation import Observation
from ...observation.checks import check_observation
from ...observation.holdout import split_entries
from .als import alternate, measurements, solve_rows
from .assemble import assemble, leading_part
from .correction import corrected
from .evidence import KEPT, squared_errors, standard_errors
from .in_span import check_form, in_span
from .nuclear import chosen_threshold, low_rank_part, thresholds
from .offsets import Offsets, additive_model
from .rank import choose_rank
from .report import fit_report
from .skeleton import Skeleton, ridge_skeleton

__all__ = ["CrossApproximation", "approximate"]

HOLDOUT = 0.1  # share of the entries that is set aside to check
MOST_CHECKED = 1500  # enough to tell the error of a benign fit to 4 %, and too few to be missed by it


def approximate(
    observation: Observation, rank: int | None = None, *, form: str = "free", rng: RandomState = 0
) -> Factorization:
    r"""Best low-rank approximation we know how to make from sampled rows, columns and entries.

    Parameters
    ----------
    observation : Observation
        Rows, columns and entries, as many of each as there are.
    rank : int, optional
        Rank of the approximation; if left out, chosen from the singular values of the sampled rows and columns, or by
        entries left out in turn where there are none.
    form : {"free", "cur"}, default "free"
        ``"cur"`` makes the approximation of the sampled columns and rows, so that it has a C U R form: the matrix
        nearest to the free answer in their span. It needs both columns and rows.
    rng : None, int or numpy.random.Generator, default 0
        Decides which entries are set aside to check the approximation.

    Returns
    -------
    Factorization
        ``report`` says what was chosen and why; ``held_out`` which entries the fit did not use. The free form is not
        confined to the span of the sampled rows and columns, so it has no C U R form.

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
    return CrossApproximation(rank, form).fit(observation, rng=rng)


@dataclass(frozen=True)
class CrossApproximation:
    """The method :func:`curplus.approximate`, with its options."""

    rank: int | None = None
    form: str = "free"
    sees_whole_matrix: ClassVar[bool] = False

    def fit(self, observation: Observation, *, rng: RandomState = 0) -> Factorization:
        """The approximation."""
        _check_not_empty(check_observation(observation))
        form = check_form(self.form, observation)
        if observation.n_rows and not observation.n_columns:
            turned = self.fit(observation.T, rng=rng).T
            return replace(turned, provenance=replace(turned.provenance, method=CrossApproximation(turned.rank)))
        unit = harmless_unit(observation.magnitude, observation.values, power=4)  # squares of squares are summed up
        sample = observation.divide(unit)
        rank = choose_rank(sample, self.rank)
        use, check = split_entries(sample, HOLDOUT, random_generator(rng), at_most=MOST_CHECKED)
        build = _from_rows_and_columns if sample.n_rows else _from_columns if sample.n_columns else _from_values
        start = build(sample, rank.rank, use, check)
        answer, refinement_z = _refined(start.approximation, sample, use, check)
        span = in_span(answer, observation) if form == "cur" else None
        answer = answer if span is None else span.approximation
        used = start.used_entries or refinement_z > KEPT
        held_out = check if used else np.sort(np.concatenate([use, check]))
        report = fit_report(
            answer,
            rank,
            start.skeleton,
            offsets=start.offsets,
            correction_z=start.correction_z,
            refinement_z=refinement_z,
            held_out=sample.entries.take(held_out),
        )
        report = report if span is None else FitReport((*report.facts, *span.facts))
        method = replace(self, rank=max(answer.rank, 1))
        provenance = Provenance(method, held_out, observation.fingerprint, report)
        return _finished(answer, observation, unit, provenance)


class Start(NamedTuple):
    """An approximation before it is refined."""

    approximation: Factorization
    skeleton: Skeleton | None  # None where there are no rows and columns to predict from
    correction_z: float  # by how many standard errors a core fitted to the entries did better; nan if not tried
    used_entries: bool  # whether the entries had a part in it
    offsets: Offsets | None = None  # the additive model, where it had a part in it


def _check_not_empty(observation: Observation) -> None:
    if not any(observation.counts):
        raise InvalidArgumentError("nothing was observed: no columns, no rows and no entries. Observe some of them.")


def _from_rows_and_columns(sample: Observation, rank: int, use: IndexVector, check: IndexVector) -> Start:
    """Predict the rest from the intersection, correct it by the entries, put what was read in its place."""
    skeleton = ridge_skeleton(sample, rank, use)
    rows = float64(sample.rows)
    G, z = corrected(sample, to_device(skeleton.X, rows) @ rows, use, check)
    return Start(assemble(sample, G, rank), skeleton, z, z > KEPT or not math.isnan(skeleton.entry_ridge))


def _from_columns(sample: Observation, rank: int, use: IndexVector, _check: IndexVector) -> Start:
    """Without rows: from the columns' leading subspace, and a fit of the other side to entries."""
    return Start(_other_side(sample, rank, use), None, math.nan, True)


def _from_values(sample: Observation, rank: int, use: IndexVector, _check: IndexVector) -> Start:
    """Without rows and columns: offsets of rows and columns, and singular values of the rest shrunk by a threshold.

    The factors are made on the host, by SciPy, and sent to the device of the entries.
    """
    entries = measurements(sample, use).entries
    entries = entries.with_values(to_numpy(entries.values))
    offsets = additive_model(entries)
    residual = offsets.residual(entries)
    falling = thresholds(residual)
    n_steps = chosen_threshold(entries, falling, additive_model, np.random.default_rng(0))
    low_rank = low_rank_part(residual, falling[:n_steps])
    left, right = (np.hstack(pair) for pair in zip(offsets.factors(), low_rank, strict=True))
    like = sample.values
    return Start(leading_part(to_device(left, like), to_device(right, like), rank), None, math.nan, True, offsets)


def _other_side(sample: Observation, rank: int, use: IndexVector) -> Factorization:
    """The columns' leading subspace, and rows of the other factor fitted to what was read of each column."""
    basis = leading_basis(sample.columns, rank)
    xp = array_namespace(basis.vectors)
    known = sample.columns.T @ basis.vectors
    explained = xp.sum(known**2)
    noise = max(float(xp.sum(sample.columns**2) - explained), 0.0) / math.prod(sample.columns.shape)
    signal = max(float(explained) / max(math.prod(known.shape), 1), np.finfo(float).tiny)
    V = solve_rows(measurements(sample, use).T, float64(basis.vectors), max(noise / signal, 1e-12 / sample.shape[0]))
    return assemble(sample, float64(basis.coefficients) @ V.T, rank)


def _refined(
    start: Factorization, sample: Observation, use: IndexVector, check: IndexVector
) -> tuple[Factorization, float]:
    """Alternating least squares, if there are entries enough and those set aside are predicted clearly better."""
    if not (start.rank and len(check) and len(use) >= start.rank * sum(sample.shape) / 2):
        return start, math.nan
    refined = alternate(start, sample, use=use, check=check)
    at, weights = sample.entries.take(check), sample.entries.fit_weights[check]
    z = standard_errors(squared_errors(start, at), squared_errors(refined, at), weights)
    return (refined if z > KEPT else start), z


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
