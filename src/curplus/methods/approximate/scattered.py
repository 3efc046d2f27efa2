"""All values that are known as scattered ones: what rows and columns say, without knowing that they are whole."""

from __future__ import annotations

import numpy as np

from ..._arrays import array_namespace, gather, index_table, is_dask_array, to_numpy
from ..._typing import IndexVector
from ...observation import Observation

__all__ = ["FEW_VALUES", "as_scattered", "few_entries_alone", "has_both_ways"]

FEW_VALUES = 20_000  # known ones: a model of all of them is soon made, and each of them tells


def few_entries_alone(observation: Observation) -> bool:
    """Whether there is nothing but entries, and so few that each of them tells."""
    return not (observation.n_rows or observation.n_columns) and observation.n_entries <= FEW_VALUES


def has_both_ways(observation: Observation) -> bool:
    """Whether there are rows or columns, and so few values that a model of all of them as scattered ones may do."""
    o = observation
    has_lines = bool(o.n_rows or o.n_columns) and o.symmetry is None and not is_dask_array(o.values)
    is_table = o.n_rows == o.shape[0] or o.n_columns == o.shape[1]
    return has_lines and not is_table and o.n_values_read <= FEW_VALUES


def as_scattered(observation: Observation) -> Observation:
    """The same values as entries: first the records there are, then those of rows and columns that no record has.

    Records that were evidence still are, and no others.
    """
    o, xp = observation, array_namespace(observation.values)
    row, column_of = _known_on_rows(o)
    column, row_of = _known_on_rows(o.T)
    once = np.isin(row_of, o.row_index, invert=True)
    column, row_of = column[once], row_of[once]
    weights = np.ones(o.n_entries) if o.weights is None else o.weights / np.mean(o.weights)
    n_more = len(row) + len(column)
    return Observation(
        shape=o.shape,
        i=np.concatenate([o.i, o.row_index[row], row_of]),
        j=np.concatenate([o.j, column_of, o.column_index[column]]),
        values=xp.concat([o.values, gather(o.rows, row, column_of), gather(o.columns, row_of, column)]),
        weights=np.concatenate([weights, np.ones(n_more)]),
        noise=None if o.noise is None else "unknown",
        evidence=np.concatenate([o.outside & ~o.steering, np.zeros(n_more, dtype=bool)]),
        design=o.design,
    )


def _known_on_rows(o: Observation) -> tuple[IndexVector, IndexVector]:
    """Places in the sampled rows that are known and that no record has: which row, and which column."""
    is_known = np.ones(o.rows.shape, dtype=bool) if o.known_rows is None else np.array(to_numpy(o.known_rows))
    row = index_table(o.row_index, o.shape[0])[o.i]
    is_known[row[row >= 0], o.j[row >= 0]] = False
    which, column = np.nonzero(is_known)
    return which, column
