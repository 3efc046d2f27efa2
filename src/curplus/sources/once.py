"""Carrying out a plan such that no position is asked for twice, and none that is known already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .._arrays import blocks, index_table
from .._sets import NO_INDEX
from .._typing import IndexVector, Matrix, Shape, Vector

__all__ = ["KnownParts", "PlanTask"]


class KnownParts(NamedTuple):
    """What is known of a matrix, on the host: rows, columns and single entries; NaN where it could not be measured."""

    row_index: IndexVector  # (d2,)
    rows: Matrix  # (d2, m)
    column_index: IndexVector  # (d1,)
    columns: Matrix  # (n, d1)
    flat_index: IndexVector  # (k,), i * m + j
    values: Vector  # (k,)


def _nothing_known(shape: Shape) -> KnownParts:
    """Knowledge of nothing."""
    return KnownParts(NO_INDEX, np.empty((0, shape[1])), NO_INDEX, np.empty((shape[0], 0)), NO_INDEX, np.empty(0))


class Request(NamedTuple):
    """Positions to ask for, and where the answers go."""

    i: IndexVector
    j: IndexVector
    answer: Callable[[Vector], None]


class Single(NamedTuple):
    """Values that are known one by one."""

    flat: IndexVector  # (k,), i * m + j, ascending
    values: Vector  # (k,)

    def looked_up(self, flat: IndexVector) -> tuple[Any, Vector]:
        """Which of some positions are among them, and their values."""
        place = np.minimum(np.searchsorted(self.flat, flat), len(self.flat) - 1)
        known = self.flat[place] == flat
        return known, self.values[place[known]]


class PlanTask:
    """The columns, rows and entries of a plan: first what is known, then what is asked for.

    Columns are asked for whole, rows outside these columns, and entries elsewhere. An entry that the plan names twice
    is asked for twice: a plan that repeats a position asks for another reading.

    Parameters
    ----------
    plan : SamplePlan
        What is wanted.
    shape : (int, int)
        Size of the matrix.
    dtype : dtype
        Type of the values.
    known : KnownParts, optional
        What is known already.
    kept : pair of arrays, optional
        Positions and values of an earlier task that was interrupted.
    """

    def __init__(
        self,
        plan: Any,
        shape: Shape,
        dtype: Any,
        known: KnownParts | None = None,
        kept: tuple[IndexVector, Vector] | None = None,
    ) -> None:
        self._known = _nothing_known(shape) if known is None else known
        self._shape, self._plan = shape, plan
        n, m = shape
        self.columns = np.full((n, len(plan.column_index)), np.nan, dtype=dtype)
        self.rows = np.full((len(plan.row_index), m), np.nan, dtype=dtype)
        self.values = np.full(len(plan.i), np.nan, dtype=dtype)
        flat, values = self._known.flat_index, self._known.values
        if kept is not None:
            flat, values = np.append(flat, kept[0]), np.append(values, kept[1])
        flat, first = np.unique(flat, return_index=True)
        self._single = Single(flat, np.asarray(values)[first])

    def requests(self, most: int) -> Iterator[Request]:
        """What is not known, ``most`` positions at a time; each answer must be given before the next is asked for."""
        yield from self._column_requests(most)
        yield from self._row_requests(most)
        yield from self._entry_requests(most)

    def answered(self) -> tuple[IndexVector, Vector]:
        """Positions and values of all answers so far."""
        plan, m = self._plan, self._shape[1]
        i, k = np.nonzero(~np.isnan(self.columns))
        t, j = np.nonzero(~np.isnan(self.rows))
        e = np.flatnonzero(~np.isnan(self.values))
        flat = [i * m + plan.column_index[k], plan.row_index[t] * m + j, plan.i[e] * m + plan.j[e]]
        return np.concatenate(flat), np.concatenate([self.columns[i, k], self.rows[t, j], self.values[e]])

    def _column_requests(self, most: int) -> Iterator[Request]:
        plan, known = self._plan, self._known
        self.columns[known.row_index] = known.rows[:, plan.column_index]
        new = _copied(self.columns, plan.column_index, known.columns, index_table(known.column_index, self._shape[1]))
        others = _other_than(self._shape[0], known.row_index)
        yield from self._grid(self.columns, (others, others), (new, plan.column_index[new]), most)

    def _row_requests(self, most: int) -> Iterator[Request]:
        plan, known = self._plan, self._known
        self.rows[:, known.column_index] = known.columns[plan.row_index]
        self.rows[:, plan.column_index] = self.columns[plan.row_index]
        new = _copied(self.rows.T, plan.row_index, known.rows.T, index_table(known.row_index, self._shape[0]))
        others = _other_than(self._shape[1], known.column_index, plan.column_index)
        yield from self._grid(self.rows, (new, plan.row_index[new]), (others, others), most)

    def _grid(
        self,
        target: Matrix,
        rows: tuple[IndexVector, IndexVector],
        columns: tuple[IndexVector, IndexVector],
        most: int,
    ) -> Iterator[Request]:
        """Requests for rows and columns, each given by its positions in ``target`` and in the matrix."""
        width, single = len(columns[0]), self._single_in(rows[1], columns[1])
        for block in blocks(len(rows[0]) * width, 1, most=most):
            r, c = np.divmod(np.arange(block.start, block.stop), width)
            yield from self._block(target, (rows[0][r], columns[0][c]), rows[1][r], columns[1][c], single)

    def _block(
        self, target: Any, where: tuple[IndexVector, ...], i: IndexVector, j: IndexVector, single: Single
    ) -> Iterator[Request]:
        """A request for positions, of which those that are known one by one are filled in."""
        if len(single.flat):
            known, value = single.looked_up(i * self._shape[1] + j)
            target[tuple(index[known] for index in where)] = value
            where, i, j = tuple(index[~known] for index in where), i[~known], j[~known]

        def answer(values: Vector) -> None:
            target[where] = values

        if len(i):
            yield Request(i, j, answer)

    def _single_in(self, rows: IndexVector, columns: IndexVector) -> Single:
        """What is known one by one where some rows and columns intersect."""
        n, m = self._shape
        i, j = np.divmod(self._single.flat, m)
        on = (index_table(rows, n)[i] >= 0) & (index_table(columns, m)[j] >= 0)
        return Single(self._single.flat[on], self._single.values[on])

    def _entry_requests(self, most: int) -> Iterator[Request]:
        (n, m), plan, known = self._shape, self._plan, self._known
        rest = np.arange(len(plan.i))
        for row_index, rows in ((plan.row_index, self.rows), (known.row_index, known.rows)):
            rest = self._entries_on(rest, plan.i, plan.j, index_table(row_index, n), rows)
        for column_index, columns in ((plan.column_index, self.columns), (known.column_index, known.columns)):
            rest = self._entries_on(rest, plan.j, plan.i, index_table(column_index, m), columns.T)
        for block in blocks(len(rest), 1, most=most):
            t = rest[block]
            yield from self._block(self.values, (t,), plan.i[t], plan.j[t], self._single)

    def _entries_on(
        self, rest: IndexVector, i: IndexVector, j: IndexVector, table: IndexVector, lines: Matrix
    ) -> IndexVector:
        """Entries on lines, which the table finds, are copied from there; the others."""
        line = table[i[rest]]
        on = line >= 0
        self.values[rest[on]] = lines[line[on], j[rest[on]]]
        return rest[~on]


def _other_than(size: int, *index: IndexVector) -> IndexVector:
    """The positions below ``size`` without those given."""
    other = np.ones(size, dtype=bool)
    for some in index:
        other[some] = False
    return np.flatnonzero(other)


def _copied(target: Matrix, index: IndexVector, known: Matrix, table: IndexVector) -> IndexVector:
    """Columns that are known, where the table finds them, are copied into the target; positions of the others."""
    where = table[index]
    target[:, where >= 0] = known[:, where[where >= 0]]
    return np.flatnonzero(where < 0)
