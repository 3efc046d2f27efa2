"""Everything that is known of a matrix as a table with gaps, read in blocks of rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from ..._arrays import index_table, to_numpy
from ..._typing import FloatArray, IndexVector
from ...observation import Observation
from .factor_model import Table

__all__ = ["known_table"]


def known_table(sample: Observation, use: IndexVector) -> Table:
    """Sampled rows and columns, and some of the entries; repeated entries count with their mean, by weight."""
    n, m = sample.shape
    some, weights = sample.entries.take(use), sample.entries.fit_weights[use]
    where, values = (some.i, some.j), to_numpy(some.values)
    sums = scipy.sparse.csr_array((weights * values, where), shape=(n, m))
    counts = scipy.sparse.csr_array((weights, where), shape=(n, m))
    for x in (sums, counts):
        x.sum_duplicates()
    sums.data /= counts.data
    columns, lines = to_numpy(sample.columns), to_numpy(sample.rows)
    place = index_table(sample.row_index, n)

    def rows(index: slice | IndexVector) -> FloatArray:
        chosen = np.arange(n)[index]
        on_line = place[chosen] >= 0
        table = lines[place[chosen]].astype(np.result_type(lines, np.float32), copy=False) if on_line.all() else None
        if table is None:
            table = np.full((len(chosen), m), np.nan)
            table[on_line] = lines[place[chosen[on_line]]]
            off = np.flatnonzero(~on_line)
            table[np.ix_(off, sample.column_index)] = columns[chosen[off]]
        known = sums[chosen].tocoo()
        if known.nnz:
            free = np.isnan(table[known.row, known.col])
            table[known.row[free], known.col[free]] = known.data[free]
        return table

    return Table((n, m), rows)
