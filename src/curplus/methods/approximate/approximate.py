"""The recommended method: everything that was read is used, and nothing needs to be set.

CUR+ fits a small core to scattered entries and forgets that whole rows and columns were read. Here they come first: the
ridge skeleton predicts the rest from them, what was read is put back where it belongs, and only then is the result cut
down to the rank asked for. Scattered entries check the approximation and, where they are many enough to say something
about every row and column, refine it; a refinement is kept only if entries that it did not see are predicted better.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ..._arrays import array_namespace, harmless_unit, is_dask_array
from ..._sets import NO_INDEX
from ..._typing import IndexVector, RandomState
from ..._validation import random_generator
from ...exceptions import InvalidArgumentError
from ...factorization import Factorization, FitReport, FittedModel, Provenance
from ...observation import Observation
from ...observation.checks import check_observation
from ...observation.holdout import evidence_outside
from ...observation.symmetry import mirrored
from .both_ways import (
    Trial,
    best_share,
    blended_answer,
    blended_facts,
    judged_by,
    set_aside,
    share_of_few,
)
from .by_nystroem import by_nystroem, has_other_entries, is_nystroem
from .evidence import KEPT, best_on, gain_over_zero, is_met, root_mean_square, squared_errors
from .fill_lines import filled_lines
from .finished import finished
from .from_columns import from_all_columns, from_columns
from .from_cross import chosen_rank, from_rows_and_columns
from .from_values import from_table, from_values
from .in_span import check_form, in_form
from .rank import is_complete
from .refine import refined
from .report import fit_report, fitted_again
from .scattered import as_scattered, few_entries_alone, has_both_ways
from .start import Start
from .symmetric import split_sample, symmetric_part
from .verdict import judged
from .way import SUBSPACE, Way

__all__ = ["CrossApproximation", "approximate"]

HOLDOUT = 0.1  # share of the entries that is set aside to check
MOST_CHECKED = 1500  # enough to tell the error of a benign fit to 4 %, and too few to be missed by it


def approximate(
    observation: Observation,
    rank: int | None = None,
    *,
    offsets: str | bool = "auto",
    form: str = "free",
    rng: RandomState = 0,
) -> Factorization:
    r"""Best low-rank approximation we know how to make from sampled rows, columns and entries.

    Parameters
    ----------
    observation : Observation
        Rows, columns and entries, as many of each as there are, with or without gaps.
    rank : int, optional
        Rank of the approximation, at most; if left out, chosen by what predicts values that were not used.
    offsets : "auto", True or False, default "auto"
        Whether predictions are shrunk towards a constant with offsets of rows and columns, instead of zero. "auto" lets
        rows and columns that are left out decide, or values set aside.
    form : {"free", "cur"}, default "free"
        ``"cur"`` makes the approximation of the sampled columns and rows, so that it has a C U R form: the matrix
        nearest to the free answer in their span. It needs both columns and rows, without gaps.
    rng : None, int or numpy.random.Generator, default 0
        Decides which entries are set aside to check the approximation.

    Returns
    -------
    Factorization
        ``report`` says what was chosen and why; ``held_out`` which entries the fit did not use. The free form is not
        confined to the span of the sampled rows and columns, so it has no C U R form.

    Notes
    -----
    1. Predict what was not read by the ridge skeleton. Its first guess and its ridge are chosen by leaving sampled rows
       and columns out, helped by scattered entries where there are few of them. Where the ranks of rows, columns and
       their intersection agree, or all entries are met exactly, there is no ridge.
    2. Correct the prediction by offsets, and by a small core, fitted to its error at the scattered entries.
    3. Assemble: rows and columns as they were read, the prediction elsewhere; keep the leading ``rank`` directions.
    4. Refine by alternating least squares, with as many directions as there are entries for, or fewer where those are
       not clearly worse, or take the mean with a factor model.

    Without rows and columns, and for a table with gaps, steps 1 to 3 are replaced by the better of two models, judged
    by values set aside: a factor model with noise of its own for each column, and offsets with singular values that are
    shrunk by a threshold, if these are better by a standard error than offsets alone. Gaps of sampled rows and columns
    are filled by a factor model first. Without rows alone, the leading subspace of the columns is used, and the other
    factor is fitted to the entries: a ridge regression for each column, which expects it to be as large in each
    direction as the sampled ones are, with the noise that predicts entries set aside best.

    With rows or columns and at most 20,000 values in all, both are done: rows and columns as such, and all values as
    scattered ones. The answer is a mean of the two, in shares that entries set aside choose, with rows and columns as
    they were read. Where entries are too few to choose, and rows and columns as such do not meet them, the number of
    rows and columns decides: scattered values with at most one of either, half of both with at most four.

    Corrections and refinements are kept only if entries that had no part in them are predicted better: by two standard
    errors, by three for the best of several cores, by one for the mean of two models. Where the sampled rows and
    columns show that there are offsets, any gain is enough for offsets fitted to the entries.

    Approximations follow ``observation.symmetry``. Of a symmetric matrix, rows, columns and entries are used in both of
    their places, and the approximation is symmetric to the last bit. Of a PSD matrix it is PSD: from exact columns
    :math:`C` with the intersection :math:`W`, the leading part of the Nystroem approximation :math:`C W^+ C^\top`, of
    all columns if no rank is asked for. There, other entries have a say only if those set aside are predicted better by
    two standard errors, and none that were read to choose the columns.

    Cost is :math:`O((n + m) (d_1 + d_2)^2 + (d_1 + d_2)^3)`, and :math:`O(|\Omega| r^2)` a sweep of refinement.

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
    return CrossApproximation(rank, offsets, form).fit(observation, rng=rng)


@dataclass(frozen=True)
class CrossApproximation:
    """The method :func:`curplus.approximate`, with its options."""

    rank: int | None = None
    offsets: str | bool = "auto"
    form: str = "free"
    refine: bool | None = field(default=None, repr=False, compare=False)  # None: if entries ask for it
    way: Way = field(default=Way(), repr=False, compare=False)  # what a fit like this one has chosen before
    sees_whole_matrix: ClassVar[bool] = False

    def fit(self, observation: Observation, *, rng: RandomState = 0) -> Factorization:
        """The approximation."""
        _check_not_empty(check_observation(observation))
        _check_offsets(self.offsets)
        _check_distributed(observation)
        form = check_form(self.form, _lines(observation))
        if not is_nystroem(observation):
            return self._way_of(observation)(observation, form, rng)
        answer = self._nystroem(observation, form)
        if not has_other_entries(observation):
            return answer
        other = self._fit(observation, form, rng)
        return (answer, other)[best_on(observation.entries.take(other.held_out), (answer, other), by=KEPT)]

    def _nystroem(self, observation: Observation, form: str) -> Factorization:
        """The approximation of a PSD matrix from some of its columns."""
        unit = _unit(observation)
        answer, report = by_nystroem(observation, unit, self.rank, form)
        method = replace(self, rank=max(answer.rank, 1))
        held_out = np.flatnonzero(_lines(observation).outside)
        model, noise = None, report.trace_error / unit / observation.shape[0]  # at least the root mean square error
        if not math.isnan(noise):
            model = FittedModel.of(answer, max(noise, 0.0)).scale(unit)
        provenance = Provenance(method, held_out, observation.fingerprint, report, model)
        return finished(answer, observation, unit, provenance)

    def _way_of(self, observation: Observation) -> Callable[[Observation, str, RandomState], Factorization]:
        """How an observation is fitted."""
        if self.way.scattered is not None:
            return self._blend
        if self.way == Way() and has_both_ways(observation):
            return self._best_of_both
        return self._fit_to_all if few_entries_alone(observation) else self._fit

    def _best_of_both(self, observation: Observation, form: str, rng: RandomState) -> Factorization:
        """From rows and columns as such, from all values as scattered ones, or the mean: entries set aside choose."""
        is_cross = observation.n_rows and observation.n_columns
        by_lines = self if is_cross else replace(self, way=Way(model=SUBSPACE))
        unit, aside = _unit(observation), set_aside(observation, random_generator(rng))
        sample = observation.divide(unit)
        trial = self._trial(by_lines, sample, aside, rng)
        if trial is None:
            return by_lines._fit(observation, form, rng)
        answer = replace(self, way=trial.way, refine=trial.refine)._blend(observation, form, rng)
        tried, _ = in_form(form, trial.answer, sample)
        report = FitReport((*answer.report.facts, *judged_by(tried, sample, aside)))
        model = None if trial.noise is None else FittedModel.of(answer, unit * trial.noise)
        return replace(answer, provenance=replace(answer.provenance, report=report, model=model))

    def _trial(
        self, by_lines: CrossApproximation, sample: Observation, aside: IndexVector, rng: RandomState
    ) -> Trial | None:
        """The mean of both readings, without the entries set aside; None where rows and columns shall speak alone.

        Where none can be set aside, entries that are fitted can still say that rows and columns are exact.
        """
        is_cross, share = by_lines is self, share_of_few(sample)
        judges = sample.entries.take(aside if len(aside) else np.flatnonzero(sample.outside))
        if not len(aside) and (not share or (is_cross and not len(judges))):
            return None
        part = sample.subset(entries=np.delete(np.arange(sample.n_entries), aside), design=sample.design)
        lines = by_lines._fit(part, "free", rng)
        if (is_cross or len(aside)) and is_met(lines, judges):
            return None
        scattered = as_scattered(part)
        fit = self._fit if is_cross else self._way_of(scattered)  # the latter is how the answer will be made
        values = fit(scattered, "free", rng)
        share = best_share(lines, values, judges, self.rank) if len(aside) else share
        way = lines.provenance.method.way._replace(scattered=values.provenance.method.way, share=share)
        answer = blended_answer(lines, values, way, part, self.rank)
        if not share or (is_cross and len(aside) and gain_over_zero(answer, judges) < KEPT):
            return None
        if len(aside):
            noise: float | None = root_mean_square(answer, judges)
        else:
            models = (x.provenance.model for x in (lines, values))
            noise = max((model.noise for model in models if model is not None), default=None)
        return Trial(answer, way, lines.provenance.method.refine, noise)

    def _blend(self, observation: Observation, form: str, rng: RandomState) -> Factorization:
        """The same once it is chosen: everything is fitted."""
        way, by_values = self.way, self.way.scattered or Way()
        unit = _unit(observation)
        sample, free = observation.divide(unit), replace(self, form="free")
        scattered = replace(free, way=by_values, refine=by_values.step is not None)
        lines = values = scattered.fit(as_scattered(sample), rng=rng)
        if way.share < 1:
            lines = replace(free, way=way._replace(scattered=None))._fit(sample, "free", rng)
        answer, of_form = in_form(form, blended_answer(lines, values, way, sample, self.rank), sample)
        report = FitReport((*blended_facts(lines.report, answer.rank, way.share).facts, *of_form))
        return finished(answer, observation, unit, Provenance(self, NO_INDEX, observation.fingerprint, report))

    def _fit_to_all(self, observation: Observation, form: str, rng: RandomState) -> Factorization:
        """Entries set aside choose, and then they are fitted too: of few, a tenth is missed."""
        if self.way.model and not self.refine:
            return self._fit(observation, form, rng, holdout=0.0)
        chosen = self._fit(observation, form, rng)
        method, model, report = chosen.provenance.method, chosen.provenance.model, chosen.provenance.report
        if not isinstance(method, CrossApproximation) or method.refine or not method.way.model:
            return chosen
        answer = method._fit(observation, form, rng, holdout=0.0)
        provenance = replace(
            answer.provenance,
            report=FitReport((*report.facts, fitted_again(observation.n_entries))),
            model=None if model is None else FittedModel.of(answer, model.noise),
        )
        return replace(answer, provenance=provenance)

    def _fit(self, observation: Observation, form: str, rng: RandomState, *, holdout: float = HOLDOUT) -> Factorization:
        if observation.n_rows and not observation.n_columns:
            turned = self._fit(observation.T, form, rng).T
            method = replace(turned.provenance.method.method, rank=turned.rank)
            return replace(turned, provenance=replace(turned.provenance, method=method))
        unit = _unit(observation)
        parts = split_sample(observation.divide(unit), holdout, random_generator(rng), at_most=MOST_CHECKED)
        sample, use, check = parts
        if sample.has_gaps and not _is_table(sample):
            sample = filled_lines(sample)
        start = self._start(sample, use, check)
        refinement = refined(start, sample, use, check, self.refine, self.way.step)
        answer, rank = refinement.approximation, start.rank
        if self.rank is None:
            rank = chosen_rank(sample, self.offsets, start, answer, check if refinement.is_kept else use)
        if rank.rank < answer.rank or start.skeleton is None or observation.symmetry is not None:
            answer = symmetric_part(answer, rank.rank, observation.symmetry)
        answer, of_form = in_form(form, answer, _lines(observation))
        used = start.used_entries or refinement.is_kept
        outside = evidence_outside(sample)
        held_out = check if used else outside[outside < observation.n_entries]
        verdict = judged(answer, sample, start, use if used else held_out[:0], held_out)
        report = FitReport((*fit_report(answer, rank, start, refinement, verdict).facts, *of_form))
        model = _model(answer, sample, start, held_out)
        method = replace(
            self, rank=max(answer.rank, 1), refine=refinement.is_kept, way=start.way._replace(step=refinement.step)
        )
        scaled = None if model is None else model.scale(unit)
        provenance = Provenance(method, held_out, observation.fingerprint, report, scaled)
        return finished(answer, observation, unit, provenance)

    def _start(self, sample: Observation, use: IndexVector, check: IndexVector) -> Start:
        """The way that fits what was read."""
        if sample.has_gaps:
            return from_table(sample, self.rank, self.offsets)
        if is_complete(sample):
            return from_all_columns(sample, self.rank)
        build = from_rows_and_columns if sample.n_rows else from_columns if sample.n_columns else from_values
        return build(sample, self.rank, self.offsets, use, check, self.way)


def _unit(observation: Observation) -> float:
    """What values are divided by, so that squares of squares can be summed up."""
    return harmless_unit(observation.magnitude, observation.values, power=4)


def _lines(observation: Observation) -> Observation:
    """The same observation; of a symmetric matrix, each row and column as both."""
    return observation if observation.symmetry is None else mirrored(observation, which=NO_INDEX)


def _check_not_empty(observation: Observation) -> None:
    if not any(observation.counts):
        raise InvalidArgumentError("nothing was observed: no columns, no rows and no entries. Observe some of them.")


def _check_distributed(observation: Observation) -> None:
    """That rows and columns of Dask are both there, as all steps need them that work block by block."""
    o = observation
    if not is_dask_array(o.values) or (o.n_rows and o.n_columns and not o.has_gaps and o.symmetry is None):
        return
    raise InvalidArgumentError(
        f"the observation holds Dask arrays: {o.n_columns} columns, {o.n_rows} rows and {o.n_gaps} gaps of a "
        f"{o.symmetry or 'general'} matrix. approximate works block by block on columns and rows together, without "
        "gaps, of a matrix without symmetry. Read both, or NumPy arrays: DaskSource(array, distributed=False)."
    )


def _check_offsets(offsets: str | bool) -> None:
    if offsets not in ("auto", True, False):
        raise InvalidArgumentError(f'offsets={offsets!r} is unknown. Give "auto", True or False.')


def _is_table(sample: Observation) -> bool:
    """Whether all rows, or all columns, are among the sampled ones, so that only gaps are unknown."""
    return sample.n_rows == sample.shape[0] or sample.n_columns == sample.shape[1]


def _model(answer: Factorization, sample: Observation, start: Start, held_out: IndexVector) -> FittedModel | None:
    """What is kept for rows and columns that come later; None where nothing tells the size of the noise.

    It is the error at values that were not used, or at rows and columns that were left out.
    """
    aside = sample.entries.take(held_out) if start.aside is None else start.aside.entries
    if len(aside):
        noise = math.sqrt(float(np.average(squared_errors(answer, aside), weights=aside.fit_weights)))
        return FittedModel.of(answer, noise)
    if start.is_exact:
        return FittedModel.of(answer, 0.0)
    if start.skeleton is not None and not math.isnan(start.skeleton.left_out_error):
        mean_square = float(array_namespace(sample.rows).mean(sample.rows**2))
        return FittedModel.of(answer, math.sqrt(start.skeleton.left_out_error * mean_square))
    return start.model
