"""One value for each place: where a sampled row, a sampled column and entries meet, what one knows all know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._arrays import gather, index_table, put, take, to_numpy
from .._typing import FloatArray, IndexVector
from .gaps import still_unmeasured

if TYPE_CHECKING:
    from .observation import Observation

__all__ = ["SharedPlaces", "one_value_each", "shared_places"]


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


def one_value_each(observation: Observation) -> Observation:
    """The same observation, in which gaps are filled by what is known of these places from elsewhere."""
    if not observation.gaps:
        return observation
    whole = observation._replaced(**_filled(observation))
    return whole._replaced(**still_unmeasured(whole))


def _filled(o: Observation) -> dict[str, Any]:
    if not o.has_gaps:
        return {}
    at = shared_places(o)
    line = np.where(np.isnan(at.from_row), at.from_column, at.from_row)
    return _written(o, at, np.where(np.isnan(line), _mean_of_entries(o, at), line))


def _mean_of_entries(o: Observation, at: SharedPlaces) -> FloatArray:
    """Weighted mean of the records of each place; NaN where there is none, and the value itself where all agree."""
    weights = np.ones(len(at.record)) if o.weights is None else o.weights[at.record]
    first = np.full(len(at.i), np.nan)
    first[at.place[::-1]] = at.values[::-1]
    total, size = np.bincount(at.place, weights, len(first)), np.maximum(np.bincount(at.place, minlength=len(first)), 1)
    away = np.bincount(at.place, weights * (at.values - first[at.place]), len(first))
    mean: FloatArray = first + away / np.where(total > 0, total, size)
    return mean


def _written(observation: Observation, at: SharedPlaces, value: FloatArray) -> dict[str, Any]:
    """Rows and columns with these values at the shared places; only what changes is given, as a copy."""
    o, changes = observation, {}
    known = ~np.isnan(value)
    t = np.flatnonzero(known & (at.row >= 0) & (at.from_row != value))
    if len(t):
        changes["rows"] = put(o.rows, (at.row[t], at.j[t]), value[t])
    t = np.flatnonzero(known & (at.column >= 0) & (at.from_column != value))
    if len(t):
        changes["columns"] = put(o.columns, (at.i[t], at.column[t]), value[t])
    return changes
