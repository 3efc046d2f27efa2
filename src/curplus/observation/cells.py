"""Everything that was read of a matrix, each cell once: what models are fitted to.

Sampled rows and columns stay arrays, in their library and on their device; entries are those outside them. Gaps are
cells that are missing. Of a symmetric matrix every value stands in both of its places, so that no model needs a special
case for symmetry. A model takes the view that it needs: rows, columns and entries, one list of all cells, or blocks of
rows with NaN at unknown cells.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._arrays import adjoint, double, gather, index_table, is_dask_array, put, rounding_unit, take, to_numpy
from .._support.sets import NO_INDEX, is_in
from .._typing import FloatArray, IndexVector, Matrix, Shape
from .bounds import Bounds, Limits
from .entries import Entries
from .observation import Observation
from .symmetry import folded, mirrored

__all__ = ["Cells"]


@dataclass(frozen=True, eq=False)
class Cells:
    """Sampled rows and columns, and the entries outside them."""

    shape: Shape
    row_index: IndexVector  # (d2,)
    rows: Matrix  # (d2, m), in double precision, NaN at gaps
    column_index: IndexVector  # (d1,)
    columns: Matrix  # (n, d1), in double precision, NaN at gaps
    entries: Entries  # outside them, with weights of mean one; a position may occur more than once
    record: IndexVector  # (k,), which record of the observation each entry is
    rounding: float  # relative rounding of the values as they were read
    has_gaps: bool  # whether rows or columns have gaps
    hidden: IndexVector = field(default_factory=NO_INDEX.copy)  # cells of rows and columns not to be used, as i * m + j
    bounds: Bounds = field(default_factory=Bounds)  # of cells that are known from one side only

    @classmethod
    def of(cls, observation: Observation) -> Cells:
        """All that was read; of a symmetric matrix, in both places."""
        o, record = observation, np.arange(observation.n_entries)
        if o.symmetry is not None:
            upper = folded(o)
            record = np.concatenate([record, np.flatnonzero(upper.i != upper.j)])
            o = mirrored(upper)
        which = np.flatnonzero(o.outside)
        if o.symmetry is not None and o.noise is None:
            which = np.sort(which[o.entries.take(which).unique()])  # read in both places, it counts once
        some = o.entries.take(which)
        weights = np.ones(len(which)) if o.weights is None or not len(which) else o.weights[which] / np.mean(o.weights)
        return cls(
            o.shape,
            o.row_index,
            double(o.rows),
            o.column_index,
            double(o.columns),
            Entries(o.shape, some.i, some.j, double(some.values), weights=weights),
            record[which],
            rounding_unit(observation.values),
            o.has_gaps,
            bounds=o.bounds,
        )

    @property
    def T(self) -> Cells:
        """The cells of the transposed matrix."""
        n, m = self.shape
        i, j = np.divmod(self.hidden, m)
        return replace(
            self,
            shape=(m, n),
            row_index=self.column_index,
            rows=self.columns.T,
            column_index=self.row_index,
            columns=self.rows.T,
            entries=self.entries.T,
            hidden=np.sort(j * n + i),
            bounds=self.bounds.T,
        )

    @cached_property
    def turned_rows(self) -> Matrix:
        """The adjoint of the rows, shape (m, d2): made once, as that of complex numbers is a copy."""
        return adjoint(self.rows)

    @property
    def n_rows(self) -> int:
        """Number of sampled rows."""
        return len(self.row_index)

    @property
    def n_columns(self) -> int:
        """Number of sampled columns."""
        return len(self.column_index)

    @property
    def is_cross(self) -> bool:
        """Whether rows and columns were sampled, and not all of either."""
        return 0 < self.n_rows < self.shape[0] and 0 < self.n_columns < self.shape[1]

    @property
    def is_table(self) -> bool:
        """Whether all rows, or all columns, were sampled, so that only gaps are unknown."""
        return self.n_rows == self.shape[0] or self.n_columns == self.shape[1]

    @property
    def is_local(self) -> bool:
        """Whether the arrays are whole, not cut into blocks as those of Dask."""
        return not is_dask_array(self.entries.values)

    @property
    def n_values(self) -> int:
        """Number of values, gaps of rows and columns included."""
        (n, m), d1, d2 = self.shape, self.n_columns, self.n_rows
        return n * d1 + m * d2 - d1 * d2 + len(self.entries)

    def without(
        self,
        *,
        entries: NDArray[np.bool_] | None = None,
        rows: NDArray[np.bool_] | None = None,
        columns: NDArray[np.bool_] | None = None,
        hidden: IndexVector = NO_INDEX,
    ) -> Cells:
        """The same without some entries, rows and columns (truth values), and single cells of rows and columns.

        A row that is left out is still known in the columns that are kept, and the other way round.
        """
        part = self
        if entries is not None:
            kept = np.flatnonzero(~entries)
            part = replace(part, entries=self.entries.take(kept), record=self.record[kept])
        if rows is not None:
            kept = np.flatnonzero(~rows)
            part = replace(part, row_index=self.row_index[kept], rows=take(self.rows, kept, axis=0))
        if columns is not None:
            kept = np.flatnonzero(~columns)
            part = replace(part, column_index=self.column_index[kept], columns=take(self.columns, kept, axis=1))
        if len(self.bounds) and not (rows is None and columns is None):
            was, still = (self.bounds.on_lines(x.row_index, x.column_index, x.shape) for x in (self, part))
            part = replace(part, bounds=self.bounds.take(still | ~was))
        return replace(part, hidden=np.union1d(part.hidden, hidden)) if len(hidden) else part

    def at_bounds(self) -> Limits:
        """The bounded cells, each once."""
        return self.bounds.limits(self.shape)

    def with_guesses(self, values: FloatArray) -> Cells:
        """The same, in which the bounded cells have values, of weight one, as if these were known."""
        i, j, *_ = self.at_bounds()
        row, column = index_table(self.row_index, self.shape[0])[i], index_table(self.column_index, self.shape[1])[j]
        on_row, on_column, alone = (np.flatnonzero(x) for x in (row >= 0, column >= 0, (row < 0) & (column < 0)))
        more = Entries(self.shape, i[alone], j[alone], values[alone], weights=np.ones(len(alone)))
        return replace(
            self,
            rows=put(self.rows, (row[on_row], j[on_row]), values[on_row]) if len(on_row) else self.rows,
            columns=put(self.columns, (i[on_column], column[on_column]), values[on_column])
            if len(on_column)
            else self.columns,
            entries=self.entries.join(more) if len(alone) else self.entries,
            record=np.append(self.record, np.full(len(alone), -1)),
            bounds=Bounds(),
        )

    @cached_property
    def scattered(self) -> Entries:
        """All known cells as entries on the host, first the entries, then the cells of rows and columns."""
        (row, of_row), (of_column, column) = self._known(self.rows), self._known(self.columns)
        once = index_table(self.row_index, self.shape[0])[of_column] < 0
        of_column, column = of_column[once], column[once]
        e = self.entries
        values = (e.values, gather(self.rows, row, of_row), gather(self.columns, of_column, column))
        i = np.concatenate([e.i, self.row_index[row], of_column])
        j = np.concatenate([e.j, of_row, self.column_index[column]])
        weights = np.concatenate([np.asarray(e.weights), np.ones(len(i) - len(e))])
        found = Entries(self.shape, i, j, np.concatenate([to_numpy(x) for x in values]), weights=weights)
        if not len(self.hidden):
            return found
        return found.take(np.flatnonzero(~is_in(found.flat_index, self.hidden)))

    def _known(self, lines: Matrix) -> tuple[IndexVector, IndexVector]:
        """Where sampled rows, or columns, are known."""
        a, b = np.nonzero(~np.isnan(to_numpy(lines))) if self.has_gaps else np.indices(lines.shape).reshape(2, -1)
        return a, b

    @cached_property
    def counts(self) -> IndexVector:
        """Number of known cells of each row, shape (n,)."""
        counts: IndexVector = np.bincount(self.scattered.i, minlength=self.shape[0])
        return counts

    @cached_property
    def _mean_of_entries(self) -> scipy.sparse.csr_array:
        """The entries as a sparse matrix; repeated ones count with their mean, by weight."""
        e = self.entries
        sums, counts = (
            scipy.sparse.csr_array((x, (e.i, e.j)), shape=self.shape)
            for x in (e.weights * to_numpy(e.values), np.asarray(e.weights))
        )
        for x in (sums, counts):
            x.sum_duplicates()
        sums.data /= counts.data
        return sums

    def block(self, index: IndexVector) -> FloatArray:
        """Some rows of the matrix on the host, NaN at unknown cells."""
        n, m = self.shape
        place = index_table(self.row_index, n)[index]
        on_row = place >= 0
        if on_row.all():
            table = np.array(to_numpy(self.rows)[place])
        else:
            table = np.full((len(index), m), np.nan, dtype=to_numpy(self.rows).dtype)
            table[:, self.column_index] = to_numpy(self.columns)[index]
            table[on_row] = to_numpy(self.rows)[place[on_row]]
            known = self._mean_of_entries[index].tocoo()
            table[known.row, known.col] = known.data
        if len(self.hidden):
            i, j = np.divmod(self.hidden, m)
            place = index_table(index, n)[i]
            table[place[place >= 0], j[place >= 0]] = np.nan
        return table
