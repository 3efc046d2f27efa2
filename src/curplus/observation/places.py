"""One value for each place: where a sampled row, a sampled column and entries meet, all of them have the same.

A gap is NaN in ``rows`` or ``columns``. An entry that is NaN is no record; its position is remembered, so that it is
not read again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._arrays import array_namespace, concatenate, gather, index_table, put, take, to_device, to_numpy
from .._support.sets import different, is_in
from .._typing import FloatArray, IndexVector
from .entries import Entries, Repeats, weighted_means
from .readings import R, Readings

__all__ = [
    "SharedPlaces",
    "entries_asked_for",
    "following_lines",
    "one_value_each",
    "shared_places",
    "still_bounded",
    "still_unmeasured",
    "without_gap_records",
]


class SharedPlaces(NamedTuple):
    """Places of sampled rows and columns that were read more than once, or could have been; values on the host."""

    i: IndexVector  # (k,)
    j: IndexVector  # (k,)
    row: IndexVector  # (k,), position in row_index; -1 if the row was not sampled
    column: IndexVector  # (k,), position in column_index; -1 if the column was not sampled
    from_row: FloatArray  # (k,), value of the row there; NaN if it has a gap or was not sampled
    from_column: FloatArray  # (k,)
    record: IndexVector  # (t,), records of entries on sampled rows and columns
    place: IndexVector  # (t,), which of the places each of them is
    values: FloatArray  # (t,)


def shared_places(readings: Readings) -> SharedPlaces:
    """Where sampled rows and columns intersect, and where entries lie on one of them."""
    r, (n, m) = readings, readings.shape
    record = np.flatnonzero(~r.outside)
    crossing = (r.row_index[:, None] * m + r.column_index[None, :]).reshape(-1)
    flat = np.unique(np.concatenate([crossing, r.entries.flat_index[record]]))
    i, j = flat // m, flat % m
    row, column = index_table(r.row_index, n)[i], index_table(r.column_index, m)[j]
    from_row, from_column = np.full(len(flat), np.nan), np.full(len(flat), np.nan)
    t = np.flatnonzero(row >= 0)
    from_row[t] = to_numpy(gather(r.rows, row[t], j[t]))
    t = np.flatnonzero(column >= 0)
    from_column[t] = to_numpy(gather(r.columns, i[t], column[t]))
    values = to_numpy(take(r.values, record, axis=0)).astype(np.float64)
    place = np.searchsorted(flat, r.entries.flat_index[record])
    return SharedPlaces(i, j, row, column, from_row, from_column, record, place, values)


def one_value_each(readings: R) -> tuple[R, Repeats]:
    """The same with one value for each place, and the noise estimated from averaged readings.

    Exact readings fill gaps of others. Noisy ones are averaged: a reading in a row or column counts 1, and an entry as
    much as its weight, relative to the mean weight. Readings of one place that are equal are copies, and count as one.
    """
    r, repeats = readings, Repeats()
    if r.noise is not None:
        at = shared_places(r)
        row, column = np.flatnonzero(~np.isnan(at.from_row)), np.flatnonzero(~np.isnan(at.from_column))
        place = np.concatenate([row, column, at.place])
        value = np.concatenate([at.from_row[row], at.from_column[column], at.values])
        weight = np.concatenate([np.ones(len(row) + len(column)), r.entries.relative_weights[at.record]])
        mean = weighted_means(place, value, weight, len(at.i))
        squares = float(np.sum(weight * (value - mean[place]) ** 2))
        repeats = Repeats(squares, _n_different(place, value) - len(np.unique(place)))
        r = _written(r, at, mean, entries=True)
    elif r.has_gaps:
        at = shared_places(r)
        entries = weighted_means(at.place, at.values, r.entries.relative_weights[at.record], len(at.i))
        line = np.where(np.isnan(at.from_row), at.from_column, at.from_row)
        r = _written(r, at, np.where(np.isnan(line), entries, line), entries=False)
    return (still_unmeasured(r) if r.gaps else r), repeats


def following_lines(readings: R, columns: IndexVector, rows: IndexVector) -> R:
    """The same, in which rows, columns and entries have the values of some columns and rows there."""
    at = shared_places(readings)
    on_column = np.isin(at.column, columns)
    value = np.where(on_column, at.from_column, np.where(np.isin(at.row, rows), at.from_row, np.nan))
    return _written(readings, at, value, entries=True)


def _written(r: R, at: SharedPlaces, value: FloatArray, *, entries: bool) -> R:
    """Rows, columns and maybe entries with these values at the places; what changes is a copy."""
    changes: dict[str, Any] = {}
    known = ~np.isnan(value)
    t = np.flatnonzero(known & (at.row >= 0) & (at.from_row != value))
    if len(t):
        changes["rows"] = put(r.rows, (at.row[t], at.j[t]), value[t])
    t = np.flatnonzero(known & (at.column >= 0) & (at.from_column != value))
    if len(t):
        changes["columns"] = put(r.columns, (at.i[t], at.column[t]), value[t])
    t = np.flatnonzero(known[at.place] & (at.values != value[at.place])) if entries else at.record[:0]
    if len(t):
        changes["values"] = put(r.values, (at.record[t],), value[at.place[t]])
    return r._replaced(**changes)


def _n_different(place: IndexVector, value: FloatArray) -> int:
    """Number of different readings, of which each has a place and a value."""
    order = np.lexsort((value, place))
    same = (np.diff(place[order]) == 0) & (np.diff(value[order]) == 0)
    return len(place) - int(np.count_nonzero(same))


def without_gap_records(readings: R) -> R:
    """The same without the records that have no value; their positions are remembered."""
    r = readings
    known = ~np.isnan(to_numpy(r.values))
    if known.all():
        return r
    places = {
        "unmeasured_i": np.append(r.unmeasured_i, r.i[~known]),
        "unmeasured_j": np.append(r.unmeasured_j, r.j[~known]),
    }
    return r._with_entries(r.entries.take(np.flatnonzero(known)))._replaced(**places)


def still_unmeasured(readings: R) -> R:
    """The same with each unmeasured entry once, and none on sampled rows and columns, or where a record has a value."""
    r = still_bounded(readings)
    if not len(r.unmeasured_i):
        return r
    (n, m), flat = r.shape, different(r.unmeasured_i * r.shape[1] + r.unmeasured_j)
    on_line = (index_table(r.row_index, n)[flat // m] >= 0) | (index_table(r.column_index, m)[flat % m] >= 0)
    flat = flat[~on_line & ~is_in(flat, different(r.entries.flat_index))]
    return r._replaced(unmeasured_i=flat // m, unmeasured_j=flat % m)


def still_bounded(readings: R) -> R:
    """The same without the bounds of places that have a value."""
    r = readings
    return r._replaced(bounds=r.bounds.take(~r.is_known(r.bounds.i, r.bounds.j))) if len(r.bounds) else r


def entries_asked_for(readings: Readings) -> Entries:
    """The entries, and NaN where an entry could not be measured."""
    r = readings
    if not len(r.unmeasured_i):
        return r.entries
    none = to_device(np.full(len(r.unmeasured_i), np.nan), r.values)
    values = concatenate(r.values, array_namespace(r.values).astype(none, r.values.dtype))
    return Entries(r.shape, np.append(r.i, r.unmeasured_i), np.append(r.j, r.unmeasured_j), values)
