"""What everybody would guess: the mean of a row, plus that of a column, less that of all.

It is what an approximation should be compared with. Each entry is predicted from everything else that was read, so that
it is compared fairly. Effects of rows and columns are fitted in turn, each shrunk as if one or a few more values of it
had been read that are nothing special.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._arrays import abs_squared, array_namespace, conjugate, double, float64, host_kind, to_device, to_numpy
from .._sets import different, is_in
from .._typing import FloatArray, IndexVector, Matrix
from ..observation import Observation
from .additive import sums_by
from .folds import dealt
from .residual import zero_at_gaps

__all__ = ["left_out_means_at"]

SWEEPS = 6
EXTRA_VALUES = (1.0, 4.0)  # by which effects are shrunk; the better one counts
FOLDS = 5


class Lines(NamedTuple):
    """Sums over sampled rows or columns, from which effects of one side are found."""

    at: IndexVector | slice  # p rows or columns whose effects they tell of
    totals: FloatArray  # (p,)
    other: IndexVector | slice  # q of them on the other side
    n_other: int  # q
    known: Matrix | None  # (p, q), in its library, 1 where there is a value and 0 in gaps; None without gaps


Sides = tuple[tuple[Lines, ...], tuple[Lines, ...]]  # what tells of the rows, and of the columns


def left_out_means_at(observation: Observation, records: IndexVector, held_out: IndexVector) -> FloatArray:
    """What means of rows and columns predict at some records, from everything else that was read, shape (k,).

    Records that are ``held_out`` are left out at once; the others are left out a fifth at a time.
    """
    entries = np.flatnonzero(observation.outside)
    place = observation.entries.flat_index
    fold = dealt(place[records], FOLDS, np.random.default_rng(0))
    fold[np.isin(records, held_out)] = FOLDS
    kind = np.result_type(host_kind(observation.values), np.float64)
    guesses = np.zeros((len(EXTRA_VALUES), len(records)), dtype=kind)
    turned = tuple(x._replace(totals=conjugate(x.totals)) for x in _lines(observation.H))
    sides = _lines(observation), turned
    for k in np.unique(fold):
        out = fold == k
        use = entries[~is_in(place[entries], different(place[records[out]]))]
        guesses[:, out] = _guesses(observation, sides, use, records[out])
    return _better(guesses, observation, records)


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
        _Effects(index, size, lines, extra) for index, size, lines in zip((i, j), o.shape, sides, strict=True)
    )
    rows: FloatArray = np.zeros(o.shape[0], dtype=values.dtype)
    columns: FloatArray = np.zeros(o.shape[1], dtype=values.dtype)
    for _ in range(SWEEPS):
        rows = of_rows(values - columns[j], columns + mean)
        columns = of_columns(values - rows[i], rows + mean)
    predicted: FloatArray = mean + rows[o.i[at]] + columns[o.j[at]]
    return predicted


def _lines(o: Observation) -> tuple[Lines, ...]:
    """What sampled columns and sampled rows say of the rows."""
    parts = (
        (slice(None), o.columns, o.known_columns, o.column_index),
        (o.row_index, o.rows, o.known_rows, slice(None)),
    )
    return tuple(
        Lines(index, _row_sums(x, known), other, x.shape[1], None if known is None else float64(known))
        for index, x, known, other in parts
        if x.shape[0] and x.shape[1]
    )


def _row_sums(x: Matrix, known: Matrix | None) -> FloatArray:
    sums: FloatArray = to_numpy(array_namespace(x).sum(zero_at_gaps(double(x), known), axis=1))
    return sums


def _mean(values: FloatArray, lines: tuple[Lines, ...]) -> Any:
    """The mean of the entries, or of the lines where there are none."""
    if len(values):
        return np.mean(values).item()
    total = sum(np.sum(x.totals).item() for x in lines)
    return total / max(sum(float(np.sum(_counts(x))) for x in lines), 1.0)


def _counts(lines: Lines) -> FloatArray:
    if lines.known is None:
        return np.full(len(lines.totals), float(lines.n_other))
    counts: FloatArray = to_numpy(array_namespace(lines.known).sum(lines.known, axis=1))
    return counts


class _Effects:
    """What rows, or columns, have above what is explained by the other side, from lines and some entries."""

    def __init__(self, index: IndexVector, size: int, lines: tuple[Lines, ...], extra: float) -> None:
        self._index, self._lines = index, lines
        self._counts: FloatArray = np.bincount(index, minlength=size) + extra
        for x in lines:
            self._counts[x.at] += _counts(x)

    def __call__(self, rest: FloatArray, other: FloatArray) -> FloatArray:
        """The effects, for the ``rest`` of each entry and what the ``other`` side explains of the lines."""
        sums: FloatArray = sums_by(self._index, rest, len(self._counts)).astype(other.dtype, copy=False)
        for x in self._lines:
            explained = other[x.other]
            sums[x.at] += x.totals - (
                np.sum(explained) if x.known is None else to_numpy(x.known @ to_device(explained, x.known))
            )
        return sums / self._counts
