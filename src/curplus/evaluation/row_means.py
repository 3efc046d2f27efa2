"""The mean of every row and its standard error, from its known values, its entries, and what rows have in common."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import is_among, to_numpy
from .._typing import FloatArray, IndexVector
from ..factorization import Factorization
from ..observation import Observation
from .cross_fit import CrossFit
from .differences import Means, columns_in_turn, shared_errors, values_at
from .effective_sample import FEWEST_FOR_T
from .row_effects import RowEffects, Variances, pooled_variances, row_effects
from .row_sums import KnownPart, RowSample, predicted_sums, sample_rows, single_values, with_steering

__all__ = ["RowMeans", "with_entries", "without_entries"]


class RowMeans(NamedTuple):
    """Means of rows: with what rows share, and from their own entries; an error is NaN if nothing is known."""

    pulled: Means
    own: Means  # its errors are NaN for rows without entries
    total: float = 0.0
    total_error: float = 0.0

    def with_rows(self, where: IndexVector, base: FloatArray, share: FloatArray, part: RowMeans) -> RowMeans:
        """The same with other rows at some places: means of a share of each row, on top of what is known of it."""

        def placed(whole: Means, other: Means) -> Means:
            mean, error = base[where] + share[where] * other.mean, share[where] * other.error
            parts = zip(whole[:3], (mean, error, other.freedom), strict=True)
            return Means(*(_placed(old, where, new) for old, new in parts))

        total, total_error = self.total + part.total, math.hypot(self.total_error, part.total_error)
        return RowMeans(placed(self.pulled, part.pulled), placed(self.own, part.own), total, total_error)

    def compared(self, shared: FloatArray | None) -> tuple[Means, ...]:
        """The means that rows are compared by: both kinds, or those with errors that rows have in common."""
        if shared is None:
            return self.pulled, self.own
        error = np.where(np.isnan(self.pulled.error), math.nan, np.sqrt(np.sum(shared**2, axis=1)))
        return (Means(self.pulled.mean, error, np.where(error > 0, shared.shape[1] - 1.0, math.inf), shared),)

    def without_errors(self, where: NDArray[np.bool_]) -> RowMeans:
        """The same, with nothing known of the errors of some rows and of the total."""
        pulled, own = (x._replace(error=np.where(where, math.nan, x.error)) for x in (self.pulled, self.own))
        return RowMeans(pulled, own, self.total, math.nan)

    def with_noise(self, noise: float, n_columns: int) -> RowMeans:
        """The same of values without noise, which is the standard deviation of a reading."""
        of_row, of_total = noise / math.sqrt(n_columns), noise * math.sqrt(n_columns * len(self.own.mean))
        total_error = math.hypot(self.total_error, of_total)
        return RowMeans(self.pulled.with_noise(of_row), self.own.with_noise(of_row), self.total, total_error)


def without_entries(known: KnownPart, prediction: Factorization, sample: Observation) -> RowMeans:
    """Means of what is known and what is predicted, as if all were known."""
    at, m = single_values(sample), sample.shape[1]
    corrections = at.mean - to_numpy(prediction.entries(at.flat // m, at.flat % m))
    sums = known.total + predicted_sums(prediction, sample)
    sums += np.bincount(at.flat // m, corrections, len(sums))
    exact = Means.exact(sums / np.maximum(known.n_places, 1))
    return RowMeans(exact, exact, total=float(np.sum(sums)))


def with_entries(known: KnownPart, found: CrossFit) -> RowMeans:
    """Predicted means corrected by entries, with what rows share.

    Sampled rows with gaps are predicted there, and so are rows of which half is known but no entry is evidence.
    """
    at, m = single_values(found.sample), found.sample.shape[1]
    is_shown = _shown_by_entries(known, found, at.flat // m)
    here = is_shown[at.flat // m]
    total, n_values = (
        known_of + np.bincount(at.flat[here] // m, x[here], len(known_of))
        for known_of, x in ((known.total, at.mean), (known.n_values, np.ones(len(at.mean))))
    )
    known = known._replace(total=total, n_values=n_values)
    rest, places = known.n_places - known.n_values, np.maximum(known.n_places, 1)
    is_shown[found.sample.row_index] = True
    gappy = np.flatnonzero(is_shown & (rest > 0))
    some = np.setdiff1d(np.flatnonzero(rest), gappy)
    share, base = rest / places, known.total / places
    parts = RowMeans(Means.exact(base), Means.exact(base))
    if len(gappy):
        parts = parts.with_rows(gappy, base, share, _predicted(found, gappy, rest[gappy], at.flat))
    if len(some):
        parts = parts.with_rows(some, base, share, _estimated(known, found, some, rest))
    return parts._replace(total=parts.total + float(np.sum(known.total)))


def _shown_by_entries(known: KnownPart, found: CrossFit, row: IndexVector) -> NDArray[np.bool_]:
    """Rows that are known for the greater part, by entries (in these rows) of which none is evidence, as of before."""
    n = len(known.total)
    n_single, has_evidence = np.bincount(row, minlength=n), is_among(found.sample.i[found.counted], n)
    return (n_single > 0) & ~has_evidence & (2 * (known.n_values + n_single) >= known.n_places)


class FromColumns(NamedTuple):
    """Means of rows, estimated from uniformly drawn columns."""

    means: RowMeans
    squares: FloatArray  # squared deviations of their values from the means of their rows
    n_values: IndexVector  # (n,), of each row; 0 for rows that were read whole
    shared: FloatArray | None  # (n, d), what each column adds to the error of each row; None if rows have others


def from_columns(sample: Observation, known: KnownPart, prediction: Factorization) -> FromColumns | None:
    """Means of rows from uniformly drawn columns: those of their values there; None if columns are no such sample.

    If columns were drawn to compare rows, each row has its own number of them, as rows leave the comparison; rows with
    few have a prediction without an error. Otherwise errors of rows are not independent, as they share their columns:
    rows are not shrunk towards each other, the error of the total is that of the means of columns, and differences of
    rows are paired.
    """
    columns, (n, m) = columns_in_turn(sample), sample.shape
    has_gaps = sample.known_columns is not None and not len(sample.drawn_columns)
    if sample.forbidden.any or has_gaps or len(columns) < (1 if len(sample.drawn_columns) else FEWEST_FOR_T):
        return None
    values = values_at(sample, np.arange(n), columns)
    is_known, is_whole = ~np.isnan(values), known.n_values == m
    n_values = np.where(is_whole, 0, np.count_nonzero(is_known, axis=1))
    is_told = n_values >= min(FEWEST_FOR_T, m)
    mean, error = without_entries(known, prediction, sample).own.mean, np.where(is_whole, 0.0, math.nan)
    freedom, shared, total_error = np.full(n, math.inf), None, math.nan
    some, count, told = values[is_told], n_values[is_told].astype(np.float64), is_known[is_told]
    least = np.fmin.reduce(some, axis=1)  # equal values have no rounding errors
    mean[is_told] = np.where(least == np.fmax.reduce(some, axis=1), least, np.nansum(some, axis=1) / count)
    around = np.where(told, some - mean[is_told][:, None], 0.0)
    if len(some):
        second, fourth = (np.sum(around**power, axis=1) / count for power in (2, 4))
        own = pooled_variances(RowSample(mean[is_told], count, second, fourth, 1 / count - 1 / m))
        error[is_told], freedom[is_told] = np.sqrt(own.of_mean), own.freedom
    if told.all() and (is_told | is_whole).all():
        d, shared = len(columns), np.zeros((n, len(columns)))
        shared[is_told] = shared_errors(some, m)
        total_error = float(np.std(np.sum(some, axis=0), ddof=1)) * math.sqrt(m * (m - d) / d)
    means = Means(mean, error, freedom)
    both = RowMeans(means, means, float(np.sum(mean)) * m, total_error)
    return FromColumns(both, (around**2)[told], n_values, shared)


def _predicted(found: CrossFit, gappy: IndexVector, rest: FloatArray, known: IndexVector) -> RowMeans:
    """Means over the gaps of rows, whose ``known`` entries are no gaps. All errors of a row may be alike, at worst."""
    n, m = found.sample.shape
    i, j = known // m, known % m
    sums = np.mean(
        [predicted_sums(fit, found.sample) - np.bincount(i, to_numpy(fit.entries(i, j)), n) for fit in found.fits],
        axis=0,
    )[gappy]
    square = float(np.average(found.residuals**2, weights=found.chances))
    error, freedom = np.full(len(gappy), math.sqrt(square)), np.full(len(gappy), float(len(found.counted)))
    means = Means(sums / rest, error, freedom)
    return RowMeans(means, means, float(np.sum(sums)), math.sqrt(square * float(np.sum(rest**2))))


def _estimated(known: KnownPart, found: CrossFit, some: IndexVector, rest: FloatArray) -> RowMeans:
    """Means over the rest of rows that were not sampled."""
    alone = sample_rows(found, rest)
    rows, own, effects = _with_effects(known, with_steering(alone, found, rest), some, rest)
    unbiased = _with_effects(known, alone, some, rest) if len(found.steering) else (rows, own, effects)
    own_error = np.sqrt(np.where(np.isfinite(own.of_mean), own.of_mean, np.nan))
    pulled = Means(effects.mean, np.sqrt(effects.variance), _freedom(effects, own.freedom))
    return RowMeans(pulled, Means(rows.mean, own_error, own.freedom), *_total(*unbiased, rest[some]))


def _with_effects(
    known: KnownPart, rows: RowSample, some: IndexVector, rest: FloatArray
) -> tuple[RowSample, Variances, RowEffects]:
    """Estimates of some rows from entries, with variances, and shrunk towards what the rows have in common."""
    part = rows.take(some)
    own = pooled_variances(part)
    return part, own, row_effects(part.mean, own, _covariates(known, some), float(np.mean(rest[some])))


def _placed(whole: FloatArray, where: IndexVector, part: FloatArray) -> FloatArray:
    """An array with other numbers at some places."""
    changed = np.array(whole, dtype=np.float64)
    changed[where] = part
    return changed


def _covariates(known: KnownPart, some: IndexVector) -> FloatArray:
    """Covariates of rows: a constant, and the mean over the sampled columns if there are any, shape (k, 1 or 2)."""
    count = known.n_values[some]
    ones = np.ones((len(some), 1))
    if len(some) < FEWEST_FOR_T or not np.all(count):
        return ones
    means = known.total[some] / count
    return np.column_stack([ones, means - np.mean(means)]) if np.ptp(means) > 0 else ones


def _freedom(effects: RowEffects, own: FloatArray) -> FloatArray:
    """Degrees of freedom of estimates of which a part is borrowed."""
    borrowed = effects.shrinkage
    return 1 / ((1 - borrowed) ** 2 / own + borrowed**2 / max(effects.freedom, 1))


def _total(rows: RowSample, own: Variances, effects: RowEffects, rest: FloatArray) -> tuple[float, float]:
    """The sum over all places of the rest, and its standard error.

    Rows with entries count with their own means, which must be unbiased; the regression predicts the others.
    """
    has_own = np.isfinite(own.of_mean)
    others = np.where(has_own, 0.0, rest)
    weights = (
        np.where(has_own, rest, 0.0) + (others @ effects.covariates) @ effects.regression
    )  # of each mean in the sum
    chance = float(np.sum(weights[has_own] ** 2 * own.of_mean[has_own]))
    between = effects.spread**2 * float(np.sum((weights - rest) ** 2))
    return float(np.sum(weights[has_own] * rows.mean[has_own])), math.sqrt(chance + between)
