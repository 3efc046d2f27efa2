"""What everybody would guess: the mean of a row, plus that of a column, less that of all.

It is what an approximation should be compared with. Each entry is predicted from everything else that was read, so that
it is compared fairly. Effects of rows and columns are fitted in turn, each shrunk as if one or a few more values of it
had been read that are nothing special.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._arrays import array_namespace, float64, to_device, to_numpy
from .._typing import FloatArray, IndexVector, Matrix
from ..observation import Observation
from .folds import dealt
from .residual import zero_at_gaps

__all__ = ["means_at"]

SWEEPS = 6
EXTRA_VALUES = (1.0, 4.0)  # by which effects are shrunk; the better one counts
FOLDS = 5


class Lines(NamedTuple):
    """Sums over sampled rows or columns, from which effects of one side are found."""

    at: IndexVector  # (p,), rows or columns whose effects they tell of
    totals: FloatArray  # (p,)
    other: IndexVector  # (q,), what is on the other side
    known: Matrix | None  # (p, q), in its library, 1 where there is a value and 0 in gaps; None without gaps


def means_at(observation: Observation, records: IndexVector, held_out: IndexVector) -> FloatArray:
    """What means of rows and columns predict at some records, from everything else that was read, shape (k,).

    Records that are ``held_out`` are left out at once; the others are left out a fifth at a time.
    """
    entries = np.flatnonzero(observation.outside)
    place = observation.entries.flat_index
    fold = dealt(place[records], FOLDS, np.random.default_rng(0))
    fold[np.isin(records, held_out)] = FOLDS
    guesses = np.zeros((len(EXTRA_VALUES), len(records)))
    lines = _lines(observation), _lines(observation.T)
    for k in np.unique(fold):
        out = fold == k
        use = entries[~np.isin(place[entries], place[records[out]])]
        for guess, extra in zip(guesses, EXTRA_VALUES, strict=True):
            guess[out] = _fitted(observation, lines, use, records[out], extra)
    values = to_numpy(observation.values)[records]
    best: FloatArray = min(guesses, key=lambda guess: float(np.sum((values - guess) ** 2)))
    return best


def _fitted(
    o: Observation,
    lines: tuple[tuple[Lines, ...], tuple[Lines, ...]],
    use: IndexVector,
    at: IndexVector,
    extra: float,
) -> FloatArray:
    """Means from the rows, the columns and some entries, at other entries."""
    values, i, j = to_numpy(o.values)[use].astype(np.float64), o.i[use], o.j[use]
    of_rows, of_columns = lines
    mean = _mean(values, of_rows)
    rows: FloatArray = np.zeros(o.shape[0])
    columns: FloatArray = np.zeros(o.shape[1])
    for _ in range(SWEEPS):
        rows = _effects(values - mean - columns[j], i, len(rows), of_rows, columns + mean, extra)
        columns = _effects(values - mean - rows[i], j, len(columns), of_columns, rows + mean, extra)
    predicted: FloatArray = mean + rows[o.i[at]] + columns[o.j[at]]
    return predicted


def _lines(o: Observation) -> tuple[Lines, ...]:
    """What sampled columns and sampled rows say of the rows."""
    n, m = o.shape
    parts = (
        (np.arange(n), o.columns, o.known_columns, o.column_index),
        (o.row_index, o.rows, o.known_rows, np.arange(m)),
    )
    return tuple(
        Lines(index, _row_sums(x, known), other, None if known is None else float64(known))
        for index, x, known, other in parts
        if x.shape[0] and x.shape[1]
    )


def _row_sums(x: Matrix, known: Matrix | None) -> FloatArray:
    sums: FloatArray = to_numpy(array_namespace(x).sum(zero_at_gaps(float64(x), known), axis=1))
    return sums


def _mean(values: FloatArray, lines: tuple[Lines, ...]) -> float:
    """The mean of the entries, or of the lines where there are none."""
    if len(values):
        return float(np.mean(values))
    total = sum(float(np.sum(x.totals)) for x in lines)
    return total / max(sum(float(np.sum(_counts(x))) for x in lines), 1.0)


def _counts(lines: Lines) -> FloatArray:
    if lines.known is None:
        return np.full(len(lines.at), float(len(lines.other)))
    counts: FloatArray = to_numpy(array_namespace(lines.known).sum(lines.known, axis=1))
    return counts


def _effects(
    rest: FloatArray, index: IndexVector, size: int, lines: tuple[Lines, ...], other: FloatArray, extra: float
) -> FloatArray:
    """What rows, or columns, have above what is explained by the other side."""
    sums: FloatArray = np.asarray(np.bincount(index, rest, size), dtype=np.float64)
    counts: FloatArray = np.bincount(index, minlength=size).astype(np.float64)
    for x in lines:
        explained = other[x.other]
        sums[x.at] += x.totals - (
            np.sum(explained) if x.known is None else to_numpy(x.known @ to_device(explained, x.known))
        )
        counts[x.at] += _counts(x)
    return np.asarray(sums / (counts + extra))
