r"""Errors at entries that a prediction was not fitted to: every scattered entry is held out once.

The entries are divided into folds. Without each fold in turn, the method of the approximation is fitted again to
everything else and predicts the fold. Given the rest, a fold is a sample of the positions that are not known, drawn
with known probabilities, so its errors estimate those of the prediction there, however rows and columns were chosen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._arrays import gather, take, to_numpy, with_nan
from .._support.sets import NO_INDEX, union
from .._support.spelling import call_or_option
from .._typing import FloatArray, IndexVector
from .._validation import check_level
from ..exceptions import InvalidArgumentError
from ..factorization import Factorization
from ..factorization.provenance import Refits
from ..observation import Observation
from ..observation.plan import SamplingDesign
from .effective_sample import FEWEST
from .left_out import FOLDS, dealt, made_again
from .residual import Residual

__all__ = [
    "CrossFit",
    "chances_unknown",
    "check_arguments",
    "cross_fit",
    "errors_at",
    "judged_part",
    "one_noise",
    "refits_of",
    "table_as_entries",
    "why_no_sample",
    "with_what_is_withheld",
]

CLEARLY_LESS = 3.0  # usual: standard errors


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Fits to a part of the entries, and which entries each of them did not have."""

    sample: Observation  # the observation, in which a table with gaps is entries
    fits: tuple[Factorization, ...]  # one for each fold
    fold: IndexVector  # (n_entries,), which fit did not have each record; -1 for those that all of them had
    counted: IndexVector  # (h,), the records that are evidence: held out once, outside the sampled rows and columns
    steering: IndexVector  # (s,), records that helped to choose rows and columns, if they are held out too
    reason: str = ""  # why there is no evidence; empty if there is

    @cached_property
    def residuals(self) -> FloatArray:
        """Errors of the fits that did not have them, at the counted records, shape (h,)."""
        return self.residuals_at(self.counted)

    @property
    def values(self) -> FloatArray:
        """The counted values, shape (h,)."""
        return to_numpy(take(self.sample.values, self.counted, axis=0))

    def residuals_at(self, records: IndexVector) -> FloatArray:
        """The same at some records, each of which one of the fits did not have."""
        found = np.empty(len(records))
        for k, fit in enumerate(self.fits):
            here = self.fold[records] == k
            found[here] = errors_at(fit, self.sample, records[here])
        return found

    def divide(self, unit: float) -> CrossFit:
        """The same in other units."""
        fits = tuple(replace(fit, core=fit.core._replace(Z=fit.core.Z / unit)) for fit in self.fits)
        return replace(self, sample=self.sample.divide(unit), fits=fits)

    @property
    def chances(self) -> FloatArray:
        """For how many positions each counted record stands, relative to the others, shape (h,)."""
        weights: FloatArray = np.asarray(self.sample.entries.importance_weights)[self.counted]
        return weights

    @property
    def n_draws(self) -> float:
        """Number of independent draws, those on sampled rows and columns included, that gave the counted records."""
        free = ~self.sample.steering
        return len(self.counted) * int(np.sum(free)) / max(int(np.sum(free & self.sample.outside)), 1)


def chances_unknown() -> str:
    """Why entries are no evidence if nobody said how they were chosen."""
    how = call_or_option("observation.with_design(entries='uniform')", "design", "uniform")
    return (
        "how the entries were chosen is not known, so they may not represent the rest (observe draws uniformly; if "
        f"yours were drawn so, or values are missing at random, use {how})"
    )


def errors_at(fit: Factorization, sample: Observation, which: IndexVector) -> FloatArray:
    """Value less prediction at some records, on the host."""
    guess = to_numpy(fit.entries(sample.i[which], sample.j[which]))
    errors: FloatArray = to_numpy(take(sample.values, which, axis=0)).astype(np.float64) - guess
    return errors


def cross_fit(
    approximation: Factorization, observation: Observation, *, folds: int = FOLDS, with_steering: bool = False
) -> CrossFit:
    """The fits without each fold that an approximation keeps, or else its method, fitted again without each of them.

    Entries that helped to choose rows and columns are listed apart ``with_steering``, and are never counted. If
    the method cannot be fitted again, the entries that the approximation itself did not use are the only fold.
    """
    sample = judged_part(observation)
    if reason := why_no_sample(observation):
        return _nothing(sample, reason)
    refits, reason = refits_of(approximation, sample, folds, with_steering=with_steering)
    if refits is None:
        return _by_own_entries(approximation, observation, f"the approximation cannot be made again ({reason})")
    counted = _counted(sample, np.flatnonzero((refits.fold >= 0) & ~sample.steering))
    steering = (refits.fold >= 0) & sample.steering & ~sample.is_forbidden(sample.i, sample.j) & with_steering
    if len(counted) < FEWEST:
        few = f"only {len(counted)} entries can be held out, and at least {FEWEST} are needed"
        return _nothing(sample, with_what_is_withheld(few, sample))
    return CrossFit(sample, refits.fits, refits.fold, counted, _counted(sample, np.flatnonzero(steering)))


def why_no_sample(observation: Observation) -> str:
    """Why the entries may not represent the rest; empty if they do."""
    o = observation
    if o.probabilities is None:
        if o.design.entries == "uniform":
            return ""
        return o.withheld or chances_unknown()
    weights = np.asarray(o.entries.importance_weights)[~o.steering]
    closed = union(o.gap_index(), o.entries.flat_index[o.steering])
    n_closed = int(np.sum(~o.is_forbidden(closed // o.shape[1], closed % o.shape[1]))) + o.forbidden.size(o.shape)
    possible = 1 - n_closed / math.prod(o.shape)
    error = float(np.std(weights)) / math.sqrt(max(len(weights), 1))
    if float(np.mean(weights)) + CLEARLY_LESS * error < possible:
        return (
            f"the chances of the entries show that only about {np.mean(weights):.0%} of the positions could be drawn, "
            "and nothing is known of the others (draw a part of the entries uniformly)"
        )
    return ""


def refits_of(
    approximation: Factorization, sample: Observation, folds: int = FOLDS, *, with_steering: bool = False
) -> tuple[Refits | None, str]:
    """The fits without each fold that an approximation keeps, or its method made again; or why there are none.

    The refits that an approximation of very many entries keeps left out only a part of them, which is enough for
    errors. Means need all entries, also those that helped to choose rows and columns.
    """
    kept = approximation.provenance.refits
    if kept is not None and (not with_steering or np.all(kept.fold[sample.outside] >= 0)):
        return kept, ""
    method = approximation.provenance.method
    if method is None or method.sees_whole_matrix:
        return None, "how it was made is not known" if method is None else "it was made from the whole matrix"
    fold = _drawn_folds(sample, folds, with_steering and sample.probabilities is None)
    if np.count_nonzero(fold >= 0) < FEWEST:
        return _of_entries(sample, fold, ()), ""
    try:
        return _of_entries(sample, fold, tuple(made_again(method, sample, fold, folds))), ""
    except InvalidArgumentError as error:
        return None, f"without a fifth of its entries {error}"


def _of_entries(sample: Observation, fold: IndexVector, fits: tuple[Factorization, ...]) -> Refits:
    """Refits without entries; rows and columns were never left out."""
    return Refits(fold, np.full(sample.n_rows, -1), np.full(sample.n_columns, -1), fits)


def _by_own_entries(approximation: Factorization, observation: Observation, why: str) -> CrossFit:
    """The entries that the approximation did not use, as the only fold."""
    held = Residual(approximation, observation).held_out()
    held = held[~observation.steering[held]]
    if len(held) < FEWEST:
        return _nothing(observation, f"{why}, and its fit left out only {len(held)} entries")
    fold = np.full(observation.n_entries, -1)
    fold[held] = 0
    return CrossFit(observation, (approximation,), fold, held, NO_INDEX)


def _nothing(sample: Observation, reason: str) -> CrossFit:
    return CrossFit(sample, (), np.full(sample.n_entries, -1), NO_INDEX, NO_INDEX, reason)


def _drawn_folds(sample: Observation, folds: int, with_steering: bool) -> IndexVector:
    """The fold of each record; -1 for those on sampled rows and columns, and those that helped to choose these.

    Records of one position stay together if each position is drawn once. Independent draws may hit a position
    again, and a prediction may then use what is known of it from the other draws.
    """
    place = sample.entries.flat_index if sample.probabilities is None else np.arange(sample.n_entries)
    free = sample.outside & (with_steering | ~sample.steering)
    fold: IndexVector = np.where(free, dealt(place, folds, np.random.default_rng(0)), -1)
    return fold


def _counted(sample: Observation, which: IndexVector) -> IndexVector:
    """Records that are evidence: each position once, unless the draws are independent."""
    if sample.probabilities is not None or not sample.entries.has_repeats:
        return which
    return which[sample.entries.take(which).unique()]


def judged_part(observation: Observation) -> Observation:
    """The part that errors are measured on: a table with gaps as entries; rows and columns less forbidden cells."""
    o = table_as_entries(observation)
    if not o.forbidden.any:
        return o
    rows, columns = (
        with_nan(x, o.is_forbidden(i, j))
        for x, i, j in (
            (o.rows, o.row_index[:, None], np.arange(o.shape[1])),
            (o.columns, np.arange(o.shape[0])[:, None], o.column_index),
        )
    )
    return o._replaced(rows=rows, columns=columns, gaps=True)


def table_as_entries(observation: Observation) -> Observation:
    """The known values of a table with gaps as scattered entries; any other observation as it is."""
    o = observation
    if o.known_rows is None or o.n_rows < o.shape[0]:
        is_whole = o.known_columns is not None and o.n_columns == o.shape[1]
        return table_as_entries(o.T).T if is_whole else o
    if o.probabilities is not None:
        return o
    k, j = np.nonzero(to_numpy(o.known_rows))
    return Observation(
        shape=o.shape,
        i=o.row_index[k],
        j=j,
        values=gather(o.rows, k, j),
        row_names=o.row_names,
        column_names=o.column_names,
        design=SamplingDesign(*o.design),  # the design of the gaps is that of the entries that they leave
        gaps=True,
        noise=one_noise(o),
        forbidden=o.forbidden,
        withheld=o.withheld,
        bounds=o.bounds,
    )


def with_what_is_withheld(reason: str, observation: Observation) -> str:
    """Why there is no interval, and what evidence is withheld besides."""
    return f"{reason}; {observation.withheld}" if reason and observation.withheld not in reason else reason


def one_noise(observation: Observation) -> float | str | None:
    """One standard deviation of a reading, for all of them."""
    noise = observation.noise
    return math.sqrt(float(np.mean(noise**2))) if isinstance(noise, np.ndarray) else noise


def check_arguments(approximation: Any, observation: Any, level: Any, *, caller: str) -> None:
    """An approximation, the observation it was made from, and a confidence."""
    if not isinstance(approximation, Factorization) or not isinstance(observation, Observation):
        raise InvalidArgumentError(
            f"{caller} was given a {type(approximation).__name__} and a {type(observation).__name__}. "
            f"Give {caller}(approximation, observation): of a table with gaps, Observation.from_table(table) and what "
            "approximate makes of it. CURImputer fills a table at once and estimates its errors."
        )
    check_level(level)
    if approximation.shape != observation.shape:
        raise InvalidArgumentError(
            f"the approximation has shape {approximation.shape} and the observation {observation.shape}: it was "
            "computed from another observation. Give the one it was computed from."
        )
    made_from = approximation.provenance.fingerprint
    if made_from is not None and made_from != observation.fingerprint:
        names = ("columns", "rows", "positions of entries", "positions of entries", "values of entries")
        parts = zip(names, made_from, observation.fingerprint, strict=True)
        other = ", ".join(dict.fromkeys(name for name, a, b in parts if a != b))
        raise InvalidArgumentError(
            f"the approximation was computed from another observation: its {other} differ. "
            "Give the one it was computed from, or compute it again from this one."
        )
    last = int(approximation.held_out.max(initial=-1))
    if last >= observation.n_entries:
        raise InvalidArgumentError(
            f"the approximation held out entry {last}, but the observation has {observation.n_entries} entries. "
            "Give the one it was computed from."
        )
