"""The baseline: the mean of a row, plus that of a column, less the overall mean.

An approximation should be compared with it. Each entry is predicted from everything else that was read, so that the
comparison is fair. Effects of rows and columns are fitted in turn, each shrunk as if one or four more values with no
effect had been read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import abs_squared, array_namespace, conjugate, double, float64, host_kind, to_device, to_numpy
from .._sets import different, is_in
from .._typing import FloatArray, IndexVector, Matrix
from ..observation import Observation
from .additive import sums_by
from .folds import FOLDS, dealt
from .residual import zero_at_gaps

__all__ = ["left_out_means_at"]

MEAN_SWEEPS, STEADY_EFFECTS = 6, 1e-3  # over rows and columns in turn, until effects change by less, relatively
EXTRA_VALUES = (1.0, 4.0)  # with no effect, by which effects are shrunk; the better number is taken


class SampledSums(NamedTuple):
    """Sums over sampled rows or columns, from which effects of one side are found."""

    at: IndexVector | slice  # p rows or columns whose effects are found
    totals: FloatArray  # (p,)
    other: IndexVector | slice  # q of them on the other side
    n_other: int  # q
    known: Matrix | None  # (p, q), in its library, 1 where there is a value and 0 in gaps; None without gaps


Sides = tuple[tuple[SampledSums, ...], tuple[SampledSums, ...]]  # for the rows, and for the columns


def left_out_means_at(observation: Observation, records: IndexVector, without: IndexVector | None = None) -> FloatArray:
    """Predictions by means of rows and columns at some records, from what was read elsewhere, shape (k,).

    Nothing is taken from the records ``without``; if that is left out, from a fifth of ``records`` at a time.
    """
    entries = np.flatnonzero(observation.outside)
    if without is not None:
        parts = [(np.ones(len(records), dtype=bool), without)]
    else:
        fold = dealt(observation.entries.flat_index[records], FOLDS, np.random.default_rng(0))
        parts = [(fold == k, records[fold == k]) for k in range(FOLDS)]
    kind = np.result_type(host_kind(observation.values), np.float64)
    guesses = np.zeros((len(EXTRA_VALUES), len(records)), dtype=kind)
    turned = tuple(x._replace(totals=conjugate(x.totals)) for x in _sampled_sums(observation.H))
    sides = _sampled_sums(observation), turned
    for out, left_out in parts:
        use = entries[~_same_places(observation, left_out)[entries]]
        guesses[:, out] = _guesses(observation, sides, use, records[out])
    return _better(guesses, observation, records)


def _same_places(observation: Observation, records: IndexVector) -> NDArray[np.bool_]:
    """Which of all records stand where some of them do."""
    same = np.zeros(observation.n_entries, dtype=bool)
    same[records] = True
    if observation.entries.has_repeats:
        place = observation.entries.flat_index
        return is_in(place, different(place[records]))
    return same


def _guesses(observation: Observation, sides: Sides, use: IndexVector, at: IndexVector) -> FloatArray:
    """Means at some records, for each amount of shrinkage."""
    return np.asarray([_fitted(observation, sides, use, at, extra) for extra in EXTRA_VALUES])


def _better(guesses: FloatArray, observation: Observation, at: IndexVector) -> FloatArray:
    """The better of the guesses, by what was read there."""
    values = to_numpy(observation.values)[at]
    best: FloatArray = min(guesses, key=lambda guess: float(np.sum(abs_squared(values - guess))))
    return best


def _fitted(o: Observation, sides: Sides, use: IndexVector, at: IndexVector, extra: float) -> FloatArray:
    """Means from the rows, the columns and some entries, at other entries."""
    values, i, j = np.array(double(to_numpy(o.values)[use])), o.i[use], o.j[use]
    mean = _mean(values, sides[0])
    values -= mean
    of_rows, of_columns = (
        _Effects(index, size, sums, extra) for index, size, sums in zip((i, j), o.shape, sides, strict=True)
    )
    rows: FloatArray = np.zeros(o.shape[0], dtype=values.dtype)
    columns: FloatArray = np.zeros(o.shape[1], dtype=values.dtype)
    for _ in range(MEAN_SWEEPS):
        before, rows = rows, of_rows(values - columns[j], columns + mean)
        columns = of_columns(values - rows[i], rows + mean)
        if np.linalg.norm(rows - before) <= STEADY_EFFECTS * np.linalg.norm(rows):
            break
    predicted: FloatArray = mean + rows[o.i[at]] + columns[o.j[at]]
    return predicted


def _sampled_sums(o: Observation) -> tuple[SampledSums, ...]:
    """Sums of each row over the sampled columns, and of the sampled rows over all columns."""
    parts = (
        (slice(None), o.columns, o.known_columns, o.column_index),
        (o.row_index, o.rows, o.known_rows, slice(None)),
    )
    return tuple(
        SampledSums(index, _row_sums(x, known), other, x.shape[1], None if known is None else float64(known))
        for index, x, known, other in parts
        if x.shape[0] and x.shape[1]
    )


def _row_sums(x: Matrix, known: Matrix | None) -> FloatArray:
    sums: FloatArray = to_numpy(array_namespace(x).sum(zero_at_gaps(double(x), known), axis=1))
    return sums


def _mean(values: FloatArray, sampled: tuple[SampledSums, ...]) -> Any:
    """The mean of the entries, or of the sampled rows and columns if there are no entries."""
    if len(values):
        return np.mean(values).item()
    total = sum(np.sum(x.totals).item() for x in sampled)
    return total / max(sum(float(np.sum(_counts(x))) for x in sampled), 1.0)


def _counts(sums: SampledSums) -> FloatArray:
    if sums.known is None:
        return np.full(len(sums.totals), float(sums.n_other))
    counts: FloatArray = to_numpy(array_namespace(sums.known).sum(sums.known, axis=1))
    return counts


class _Effects:
    """Effects of rows, or of columns, beyond those of the other side, from sampled sums and some entries."""

    def __init__(self, index: IndexVector, size: int, sampled: tuple[SampledSums, ...], extra: float) -> None:
        self._index, self._sampled = index, sampled
        self._counts: FloatArray = np.bincount(index, minlength=size) + extra
        for x in sampled:
            self._counts[x.at] += _counts(x)

    def __call__(self, rest: FloatArray, other: FloatArray) -> FloatArray:
        """The effects, from the ``rest`` of each entry and the effects of the ``other`` side."""
        sums: FloatArray = sums_by(self._index, rest, len(self._counts)).astype(other.dtype, copy=False)
        for x in self._sampled:
            explained = other[x.other]
            sums[x.at] += x.totals - (
                np.sum(explained) if x.known is None else to_numpy(x.known @ to_device(explained, x.known))
            )
        return sums / self._counts
