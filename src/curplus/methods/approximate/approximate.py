r"""The recommended method: a few plain models of everything that was read, and one blend of them.

Each model predicts values that it was not fitted to; the blend has the weights with which they are predicted best.
Rows and columns that were read stand in the answer as they were read, and it is cut to the rank.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from ..._arrays import (
    abs_squared,
    array_namespace,
    conjugate,
    gather,
    harmless_unit,
    is_dask_array,
    is_numpy_array,
    take,
    to_device,
    to_numpy,
)
from ..._support.sets import NO_INDEX, evenly_spaced
from ..._typing import FloatArray, IndexVector, Matrix, RandomState
from ..._validation import check_count, random_generator
from ...evaluation.cross_fit import table_as_entries
from ...evaluation.left_out import Fold, left_out
from ...exceptions import InvalidArgumentError
from ...factorization import Fact, Factorization, FitReport, FittedModel, Provenance
from ...factorization.nystroem import NYSTROEM
from ...factorization.provenance import Refits
from ...observation import Cells, Observation
from ...observation.observation import check_observation
from ...observation.symmetry import mirrored
from ..complete import complete_matrix
from ..form import check_form, in_form
from ..notes import ASKED_FOR
from ..nystroem import by_nystroem, has_other_entries, is_nystroem
from ..symmetric import symmetric_part
from .assemble import put_back
from .blend import Trials, blended, trials_of
from .bounded import repeated_with_bounds, trials_with_bounds
from .exact import Exact, exact_answer
from .interpolation import Interpolation
from .models import MODELS, Model, chosen_models
from .offsets import Offsets
from .report import AS_WELL, NOT_EXACT, complete_report, exact_report, fit_report, judged

__all__ = ["StackedApproximation", "approximate"]

AS_GOOD = 1e-3  # usual: by which the error at left-out values may rise, relatively, for a lower rank
MOST_COMPARED = 5000  # cost: left-out values that choose the rank


def approximate(
    observation: Observation,
    rank: int | None = None,
    *,
    models: Sequence[str | Model] | None = None,
    form: str = "free",
    rng: RandomState = 0,
) -> Factorization:
    r"""Best low-rank approximation we know how to make from sampled rows, columns and entries.

    Parameters
    ----------
    observation : Observation
        Rows, columns and entries, as many of each as there are, with or without gaps.
    rank : int, optional
        Rank of the approximation, at most; if left out, the least that predicts left-out values as well as more.
    models : sequence of str, optional
        Which of the models below are blended; all that apply if left out.
    form : {"free", "cur"}, default "free"
        ``"cur"`` makes the approximation of the sampled columns and rows, so that it has a C U R form: the matrix
        nearest to the free answer in their span. It needs both columns and rows, without gaps.
    rng : None, int or numpy.random.Generator, default 0
        Decides which values are left out together.

    Returns
    -------
    Factorization
        ``report`` holds what was chosen and why. The free form is not confined to the span of the sampled rows and
        columns, so it has no C U R form.

    Notes
    -----
    ========================  ====================================================================================
    ``"skeleton"``            :math:`C W_\lambda^+ R` of sampled columns, intersection and rows, with a ridge
    ``"interpolation"``       the same without a ridge, of as many directions as predict some entries best
    ``"offsets"``             a constant, and shrunken offsets of rows and columns
    ``"shrunken"``            the same, and singular values of the rest shrunk by a threshold
    ``"factors"``             a factor model with noise of its own for each of the shorter side, rows or columns
    ``"transposed factors"``  the same for each of the longer side
    ========================  ====================================================================================

    1. If rows, columns and entries show that the matrix is exactly of low rank, :math:`C W^+ R` is the answer.
    2. Each model is fitted without each of five folds of the values in turn, and predicts them (one fold of 5,000, if
       there are more than 20,000 values). The folds are of entries; of fewer than 100, whole rows and columns are
       left out with them. If ``"interpolation"`` predicts entries to 1 %, and best with four fifths of its directions
       or more, there is no noise, and only the models of rows and columns are fitted.
    3. The weights of the models are those that predict left-out values best, not negative and with a sum of at most
       one. They are held to a default by as much as a few of the left-out values decide.
    4. Values of which a bound is known (``observation.bounds``) take part with the mean beyond the bound of a normal
       distribution around their prediction, and all fits are made again with these, until they stay, five times at
       most. They are never left out, so no weight and no error rests on them.
    5. Each model with weight is fitted to everything, and blended. Rows and columns take the place of what was
       predicted of them, and the leading ``rank`` directions are kept.

    The fits without each fold stay with the answer: :func:`curplus.certify`, :func:`curplus.estimate_means` and
    :func:`curplus.predict_interval` use them. They take as much memory as five answers.

    Of a complex matrix, offsets and singular vectors are complex, and weights are real. The factor models do not apply.

    Of a symmetric, or complex Hermitian, matrix, every value is used in both of its places, and the approximation is
    symmetric to the last bit. Of a PSD matrix it is PSD: from exact columns :math:`C` with the intersection :math:`W`,
    the leading part of the Nystroem approximation :math:`C W^+ C^\top`, unless other entries are predicted better by
    the blend.

    References
    ----------
    Breiman: Stacked regressions, 1996. van der Laan, Polley, Hubbard: Super learner, 2007. Of bounds: Tobin: Estimation
    of relationships for limited dependent variables, 1958; Dempster, Laird, Rubin: Maximum likelihood from incomplete
    data via the EM algorithm, 1977.

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
    return StackedApproximation(rank, chosen_models(models), form).fit(observation, rng=rng)


@dataclass(frozen=True)
class StackedApproximation:
    """The method :func:`curplus.approximate`, with its options."""

    rank: int | None = None
    models: tuple[Model, ...] = MODELS
    form: str = "free"
    weights: tuple[float, ...] | None = field(default=None, repr=False)  # those of a fit before; None: to be found
    deviation: float = field(default=0.0, repr=False)  # with weights: by which values deviate, where bounds are known
    sees_whole_matrix: ClassVar[bool] = False

    def fit(self, observation: Observation, *, rng: RandomState = 0) -> Factorization:
        """The approximation."""
        task = _Task.of(self, observation)
        if is_nystroem(observation) and not has_other_entries(observation):
            return task.nystroem()
        cells = task.cells
        if cells.is_table and not cells.has_gaps:
            return task.complete()
        if (exact := exact_answer(cells, task.sample, self.rank)) is not None:
            return task.exact(exact)
        models, decided = _applicable(self.models, cells)
        if self.weights is not None:
            return task.repeated(models)
        uses_entries = any(model.uses_entries for model in models)
        evidence = left_out(cells, task.sample, random_generator(rng), uses_entries=uses_entries)
        trials = (trials_with_bounds if len(cells.bounds) else trials_of)(models, cells, evidence)
        return task.blended(trials, decided)


def _applicable(models: Sequence[Model], cells: Cells) -> tuple[list[Model], tuple[Fact, ...]]:
    """The models that there is enough for, and not too much; of all of them, at least offsets.

    Of all of them, those of single cells are left out if entries show no noise beside rows and columns.
    """
    noise = Interpolation().noise(cells) if "interpolation" in (model.name for model in models) else None
    is_none = noise is not None and noise.is_none and tuple(models) == MODELS
    found = [model for model in models if not (is_none and model.uses_entries) and model.applies(cells)]
    if not found and tuple(models) != MODELS:
        names = ", ".join(repr(model.name) for model in models)
        raise InvalidArgumentError(
            f"models={names}: nothing of this applies to {cells.n_columns} columns, {cells.n_rows} rows and "
            f"{len(cells.entries)} entries of a {cells.shape[0]} x {cells.shape[1]} matrix. Leave models out."
        )
    not_exact = (NOT_EXACT,) if cells.is_cross and not cells.has_gaps else ()
    return found or [Offsets()], (*not_exact, *(() if noise is None else (noise.fact,)))


class _Task(NamedTuple):
    """What is to be approximated, in a unit in which squares of squares can be summed up."""

    method: StackedApproximation
    observation: Observation
    sample: Observation  # in that unit; of a symmetric matrix, each row and column as both
    cells: Cells
    unit: float

    @classmethod
    def of(cls, method: StackedApproximation, observation: Observation) -> _Task:
        """The task of an observation that can be approximated."""
        _check(observation, method)
        unit = harmless_unit(observation.magnitude, observation.values, power=4)
        scaled = observation.divide(unit)
        sample = scaled if scaled.symmetry is None else mirrored(scaled, which=NO_INDEX)
        check_form(method.form, sample)
        return cls(method, observation, table_as_entries(sample), Cells.of(scaled), unit)

    def nystroem(self) -> Factorization:
        """The approximation of a PSD matrix from some of its columns."""
        answer, report = by_nystroem(self.observation, self.unit, self.method.rank, self.method.form)
        noise = report.trace_error / self.unit / self.observation.shape[0]  # at least the root mean square error
        model = None if math.isnan(noise) else FittedModel.of(answer, max(noise, 0.0))
        return self._finished(answer, report, model, self._outside)

    def complete(self) -> Factorization:
        """Every row or column is known: its leading part, and the noise for later rows and columns."""
        cells = self.cells if self.cells.n_columns == self.cells.shape[1] else self.cells.T
        answer, model = complete_matrix(take(cells.columns, np.argsort(cells.column_index), axis=1), self.method.rank)
        if cells is not self.cells:
            answer, model = answer.T, model.T
        report = complete_report(answer.rank, self.method.rank, model.noise * self.unit)
        return self._finished(self._cut(answer, None), report, model, NO_INDEX)

    def exact(self, found: Exact) -> Factorization:
        """A matrix that is exactly of low rank."""
        answer = self._cut(found.factored(self.cells), self.method.rank)
        report = exact_report(answer.rank, self.method.rank, found)
        return self._finished(answer, report, FittedModel.of(answer, 0.0), self._outside)

    def repeated(self, models: Sequence[Model]) -> Factorization:
        """The same blend as before, of other cells."""
        weights = dict(zip((model.name for model in self.method.models), self.method.weights or (), strict=True))
        kept = [model for model in models if weights[model.name] > 0] or models[:1]
        weighted = [weights[model.name] for model in kept]
        if len(self.cells.bounds):
            blend = repeated_with_bounds(kept, weighted, self.cells, self.method.deviation / self.unit)
        else:
            blend = blended([model.fit(self.cells) for model in kept], weighted)
        answer = self._cut(put_back(self.cells, blend), self.method.rank)
        return self._finished(answer, FitReport(), None, NO_INDEX)

    def blended(self, trials: Trials, decided: tuple[Fact, ...]) -> Factorization:
        """The blend that predicts left-out values best."""
        uses_entries = any(model.uses_entries for model in trials.models)
        parts = [self._cut(put_back(*trials.without(k)), self.method.rank) for k in range(len(trials.parts))]
        rank, why = self.method.rank, ASKED_FOR
        if rank is None and parts:
            rank, why = _least_rank(parts, trials), AS_WELL
            parts = [part.truncate(rank) if rank < part.rank else part for part in parts]
        if trials.parts and trials.left_out.folds[0].cells is self.cells:
            answer = parts[0]
        else:
            answer = self._cut(put_back(self.cells, blended(trials.whole, trials.weights)), rank)
        folds = zip(parts, trials.left_out.folds, strict=True)
        predicted = [to_numpy(part.entries(fold.i, fold.j)) for part, fold in folds]
        found = judged(trials.held, np.concatenate([np.empty(0), *predicted]), trials.of("offsets"))
        report = fit_report(answer.rank, why, trials, found, self.unit, decided)
        model = FittedModel.of(answer, found.error) if found.number else None
        weights = tuple(float(x) for x in trials.weights)
        deviation = trials.deviation * self.unit
        rank = max(answer.rank, 1)
        method = replace(self.method, models=trials.models, weights=weights, rank=rank, deviation=deviation)
        left_out = trials.left_out
        fits = tuple(self._in_units(self._in_form(part)[0]) for part in parts)
        refits = Refits(left_out.records, left_out.rows, left_out.columns, fits)
        held_out = NO_INDEX if uses_entries else self._outside
        return self._replace(method=method)._finished(answer, report, model, held_out, refits)

    @property
    def _outside(self) -> IndexVector:
        """Records outside the sampled rows and columns, but for those that helped to choose these."""
        o = self.sample
        return np.flatnonzero(o.outside & ~o.steering) if o.n_entries == self.observation.n_entries else NO_INDEX

    def _cut(self, answer: Factorization, rank: int | None) -> Factorization:
        """The leading part of an answer, symmetric or PSD if the matrix is."""
        if self.observation.symmetry is not None:
            return symmetric_part(answer, rank, self.observation.symmetry)
        return answer if rank is None or rank >= answer.rank else answer.truncate(rank)

    def _in_form(self, answer: Factorization) -> tuple[Factorization, tuple[Fact, ...]]:
        """A free answer in the wanted form, and what that costs."""
        return in_form(self.method.form, answer, self.sample)

    def _in_units(self, answer: Factorization) -> Factorization:
        """An answer in the units, the library and the type of the observation."""
        like, kind = self.observation.values, self.observation.dtype

        def stored(x: Matrix) -> Matrix:
            x = to_device(x, like) if is_numpy_array(x) and not is_numpy_array(like) else x
            return array_namespace(like).astype(x, kind, copy=False)

        left = answer.left._replace(vectors=stored(answer.left.vectors))
        right = answer.right._replace(vectors=stored(answer.right.vectors))
        core = answer.core._replace(Z=stored(answer.core.Z * self.unit))
        return Factorization(left, core, left if answer.is_symmetric else right)

    def _finished(
        self,
        answer: Factorization,
        report: FitReport,
        model: FittedModel | None,
        held_out: IndexVector,
        refits: Refits | None = None,
    ) -> Factorization:
        """The approximation with its names, and how it was made."""
        o, facts = self.observation, FitReport().facts
        if answer.core.solver != NYSTROEM:
            answer, facts = self._in_form(answer)
        misfit = to_numpy(o.values) / self.unit - to_numpy(answer.entries(o.i, o.j))
        found = self._in_units(answer)
        method = replace(self.method, rank=max(found.rank, 1))
        return replace(
            found,
            core=found.core._replace(residual_norm=float(np.linalg.norm(misfit)) * self.unit),
            row_names=o.row_names,
            column_names=o.column_names,
            provenance=Provenance(
                method,
                held_out,
                o.fingerprint,
                FitReport((*report.facts, *facts, *_bound_facts(o))),
                None if model is None else model.scale(self.unit),
                refits,
            ),
        )


def _bound_facts(o: Observation) -> tuple[Fact, ...]:
    why = "fitted as bounds; no error rests on them"
    return (Fact("n_bounds", len(o.bounds), "bounds", reason=why),) if len(o.bounds) else ()


def _least_rank(parts: Sequence[Factorization], trials: Trials) -> int:
    """The least rank whose error is as small as with all directions: at left-out values, and on rows and columns.

    Both are estimated from a part of the cells, and stand for as many as there are.
    """
    most = max(part.rank for part in parts)
    errors = np.zeros(most + 1)
    for answer, fold in zip(parts, trials.left_out.folds, strict=True):
        errors += _errors_of_fold(answer, fold, most)
    return max(1, int(np.argmax(errors <= (1 + AS_GOOD) ** 2 * np.min(errors))))


def _errors_of_fold(answer: Factorization, fold: Fold, most: int) -> FloatArray:
    """Expected squared error over the matrix for each rank from 0 to ``most``."""
    cells = fold.cells
    some = evenly_spaced(len(fold.i), MOST_COMPARED)
    (n, m), d1, d2 = cells.shape, cells.n_columns, cells.n_rows
    unread = n * m if cells.is_table else (n - d2) * (m - d1)
    errors = unread * _errors_by_rank(answer, fold.i[some], fold.j[some], fold.values[some])
    for lines, size, index, at, turn in (
        (cells.rows, m, cells.row_index, answer, np.asarray),
        (cells.columns.T, n, cells.column_index, answer.H, conjugate),
    ):
        if len(index) and not cells.has_gaps:
            a, b = np.divmod(evenly_spaced(len(index) * size, MOST_COMPARED), size)
            errors += len(index) * size * _errors_by_rank(at, index[a], b, turn(to_numpy(gather(lines, a, b))))
    return np.pad(errors, (0, most + 1 - len(errors)), mode="edge")


def _errors_by_rank(answer: Factorization, i: IndexVector, j: IndexVector, values: FloatArray) -> FloatArray:
    """Mean squared error at some cells for each rank from 0 on."""
    left = to_numpy(take(answer.left.vectors, i, axis=0) @ answer.core.Z)
    terms = left * conjugate(to_numpy(take(answer.right.vectors, j, axis=0)))
    errors = values[:, None] - np.cumsum(np.column_stack([np.zeros(len(i)), terms]), axis=1)
    return np.asarray(np.mean(abs_squared(errors), axis=0))


def _check(observation: Observation, method: StackedApproximation) -> None:
    """That there is something to approximate, and that all steps can be made."""
    o = check_observation(observation)
    if method.rank is not None:
        check_count(method.rank, name="rank", at_least=1)
    if not any(o.counts):
        raise InvalidArgumentError("nothing was observed: no columns, no rows and no entries. Observe some of them.")
    if is_dask_array(o.values) and not (o.n_rows and o.n_columns and not o.has_gaps and o.symmetry is None):
        raise InvalidArgumentError(
            f"the observation holds Dask arrays: {o.n_columns} columns, {o.n_rows} rows and {o.n_gaps} gaps of a "
            f"{o.symmetry or 'general'} matrix. approximate works block by block on columns and rows together, without "
            "gaps, of a matrix without symmetry. Read both, or NumPy arrays: DaskSource(array, distributed=False)."
        )
