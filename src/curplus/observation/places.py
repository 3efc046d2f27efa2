"""One value for each place: where a sampled row, a sampled column and entries meet, all of them have the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._arrays import gather, index_table, put, take, to_numpy
from .._typing import FloatArray, IndexVector
from .gaps import still_unmeasured
from .noise import Repeats, n_different, relative_weights

if TYPE_CHECKING:
    from .observation import Observation

__all__ = ["SharedPlaces", "following_lines", "one_value_each", "shared_places"]


class SharedPlaces(NamedTuple):
    """Places of sampled rows and columns that were read more than once, or could have been; values on the host."""

    i: IndexVector  # (k,)
    j: IndexVector  # (k,)
    row: IndexVector  # (k,), position in row_index; -1 where the row was not sampled
    column: IndexVector  # (k,), position in column_index; -1 where the column was not sampled
    from_row: FloatArray  # (k,), what the row has there; NaN where it has a gap or was not sampled
    from_column: FloatArray  # (k,)
    record: IndexVector  # (t,), records of entries on sampled rows and columns
    place: IndexVector  # (t,), which of the places each of them is
    values: FloatArray  # (t,)


def shared_places(observation: Observation) -> SharedPlaces:
    """Where sampled rows and columns intersect, and where entries lie on one of them."""
    o, (n, m) = observation, observation.shape
    record = np.flatnonzero(~o.outside)
    crossing = (o.row_index[:, None] * m + o.column_index[None, :]).reshape(-1)
    flat = np.unique(np.concatenate([crossing, o.entries.flat_index[record]]))
    i, j = flat // m, flat % m
    row, column = index_table(o.row_index, n)[i], index_table(o.column_index, m)[j]
    from_row, from_column = np.full(len(flat), np.nan), np.full(len(flat), np.nan)
    t = np.flatnonzero(row >= 0)
    from_row[t] = to_numpy(gather(o.rows, row[t], j[t]))
    t = np.flatnonzero(column >= 0)
    from_column[t] = to_numpy(gather(o.columns, i[t], column[t]))
    values = to_numpy(take(o.values, record, axis=0)).astype(np.float64)
    place = np.searchsorted(flat, o.entries.flat_index[record])
    return SharedPlaces(i, j, row, column, from_row, from_column, record, place, values)


def one_value_each(observation: Observation) -> tuple[Observation, Repeats]:
    """The same observation with one value for each place, and what the readings of these places say of the noise.

    Exact readings fill gaps of others. Noisy ones are averaged: a reading in a row or column counts 1, and an entry as
    much as its weight, relative to the mean weight.
    """
    o = observation
    exact = o.noise is None
    repeats = Repeats()
    if not exact or o.has_gaps:
        at = shared_places(o)
        readings = _readings(o, at, only_gaps=exact)
        mean = _means(readings, len(at.i))
        value = mean if not exact else _known_first(at, mean)
        repeats = repeats if exact else _repeats(readings, mean)
        o = o._replaced(**_written(o, at, value, entries=not exact))
    return (o._replaced(**still_unmeasured(o)) if o.gaps else o), repeats


def following_lines(observation: Observation, columns: IndexVector, rows: IndexVector) -> Observation:
    """The same observation, in which rows, columns and entries have the values of some columns and rows there."""
    o, at = observation, shared_places(observation)
    on_column = np.isin(at.column, columns)
    value = np.where(on_column, at.from_column, np.where(np.isin(at.row, rows), at.from_row, np.nan))
    return o._replaced(**_written(o, at, value, entries=True))


class _Readings(NamedTuple):
    """All readings of some places."""

    place: IndexVector  # (k,)
    value: FloatArray  # (k,)
    weight: FloatArray  # (k,)


def _readings(o: Observation, at: SharedPlaces, *, only_gaps: bool) -> _Readings:
    """Readings of rows, columns and entries, in this order; where nothing is averaged, entries for gaps are enough."""
    row, column = np.flatnonzero(~np.isnan(at.from_row)), np.flatnonzero(~np.isnan(at.from_column))
    if only_gaps:
        row = column = row[:0]
    weights = relative_weights(o.entries)[at.record]
    return _Readings(
        np.concatenate([row, column, at.place]),
        np.concatenate([at.from_row[row], at.from_column[column], at.values]),
        np.concatenate([np.ones(len(row)), np.ones(len(column)), weights]),
    )


def _means(readings: _Readings, size: int) -> FloatArray:
    """Weighted mean of the readings of each place: the value itself, to the last bit, where all agree; else NaN."""
    place, value, weight = readings
    first = np.full(size, np.nan)
    first[place[::-1]] = value[::-1]
    total = np.bincount(place, weight, size)
    away = np.bincount(place, weight * (value - first[place]), size)
    mean: FloatArray = first + away / np.where(total > 0, total, 1.0)
    return mean


def _known_first(at: SharedPlaces, mean: FloatArray) -> FloatArray:
    """What a row or a column has at each place; where both have a gap, the mean of the entries."""
    line = np.where(np.isnan(at.from_row), at.from_column, at.from_row)
    return np.where(np.isnan(line), mean, line)


def _repeats(readings: _Readings, mean: FloatArray) -> Repeats:
    """What the readings say of the noise; those of one place that are equal are copies, and count as one."""
    place, value, weight = readings
    squares = float(np.sum(weight * (value - mean[place]) ** 2))
    return Repeats(squares, n_different(place, value) - len(np.unique(place)))


def _written(o: Observation, at: SharedPlaces, value: FloatArray, *, entries: bool) -> dict[str, Any]:
    """Rows, columns and maybe entries with these values at the places; only what changes is given, as a copy."""
    changes = {}
    known = ~np.isnan(value)
    t = np.flatnonzero(known & (at.row >= 0) & (at.from_row != value))
    if len(t):
        changes["rows"] = put(o.rows, (at.row[t], at.j[t]), value[t])
    t = np.flatnonzero(known & (at.column >= 0) & (at.from_column != value))
    if len(t):
        changes["columns"] = put(o.columns, (at.i[t], at.column[t]), value[t])
    t = np.flatnonzero(known[at.place] & (at.values != value[at.place])) if entries else at.record[:0]
    if len(t):
        changes["values"] = put(o.values, (at.record[t],), value[at.place[t]])
    return changes
