"""All values that are known as scattered ones: what rows and columns say, without knowing that they are whole."""

from __future__ import annotations

import numpy as np

from ..._arrays import array_namespace, gather, index_table, to_numpy
from ..._typing import IndexVector
from ...observation import Observation

__all__ = ["as_scattered"]


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
