"""Carrying out a plan such that no position is asked for twice, and none that is known already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._arrays import blocks, index_table
from .._support.sets import NO_INDEX
from .._typing import IndexVector, Matrix, Shape, Vector

__all__ = ["KnownParts", "PlanTask"]

LOOKED_UP = 2**18  # positions at a time


class KnownParts(NamedTuple):
    """What is known of a matrix, on the host: rows, columns and single entries; NaN where it could not be measured."""

    row_index: IndexVector  # (d2,)
    rows: Matrix  # (d2, m)
    column_index: IndexVector  # (d1,)
    columns: Matrix  # (n, d1)
    flat_index: IndexVector  # (k,), i * m + j
    values: Vector  # (k,)


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
    kept : pair of arrays
        Positions and values of an earlier task that was interrupted.
    """

    def __init__(
        self, plan: Any, shape: Shape, dtype: Any, known: KnownParts | None, kept: tuple[IndexVector, Vector]
    ) -> None:
        self._shape, self._plan = shape, plan
        n, m = shape
        self.columns = np.full((n, len(plan.column_index)), np.nan, dtype=dtype)
        self.rows = np.full((len(plan.row_index), m), np.nan, dtype=dtype)
        self.values = np.full(len(plan.i), np.nan, dtype=dtype)
        flat, values = kept
        #: Which axis an index table is of, the table, and the columns or rows that it finds; the last one counts.
        self._lines: list[tuple[int, IndexVector, Matrix]] = []
        if known is not None:
            flat, values = np.append(known.flat_index, flat), np.append(known.values, values)
            self._lines.append((1, index_table(known.column_index, m), known.columns.T))
            self._lines.append((0, index_table(known.row_index, n), known.rows))
        self._flat, first = np.unique(flat, return_index=True)
        self._single = np.asarray(values)[first]

    def carry_out(self, ask: Callable[[IndexVector, IndexVector], Vector], most: int) -> None:
        """Ask for what is not known, ``most`` positions at a time."""
        plan, (n, m) = self._plan, self._shape

        def grid(rows: IndexVector, columns: IndexVector) -> Callable[[IndexVector], tuple[IndexVector, IndexVector]]:
            return lambda t: (rows[t // len(columns)], columns[t % len(columns)])

        self._fill(self.columns.reshape(-1), grid(np.arange(n), plan.column_index), ask, most)
        self._lines.append((1, index_table(plan.column_index, m), self.columns.T))
        self._fill(self.rows.reshape(-1), grid(plan.row_index, np.arange(m)), ask, most)
        self._lines.append((0, index_table(plan.row_index, n), self.rows))
        self._fill(self.values, lambda t: (plan.i[t], plan.j[t]), ask, most)

    def answered(self) -> tuple[IndexVector, Vector]:
        """Positions and values of all answers so far."""
        plan, m = self._plan, self._shape[1]
        i, k = np.nonzero(~np.isnan(self.columns))
        t, j = np.nonzero(~np.isnan(self.rows))
        e = np.flatnonzero(~np.isnan(self.values))
        flat = [i * m + plan.column_index[k], plan.row_index[t] * m + j, plan.i[e] * m + plan.j[e]]
        return np.concatenate(flat), np.concatenate([self.columns[i, k], self.rows[t, j], self.values[e]])

    def _fill(
        self,
        target: Vector,
        positions: Callable[[IndexVector], tuple[IndexVector, IndexVector]],
        ask: Callable[[IndexVector, IndexVector], Vector],
        most: int,
    ) -> None:
        """Fill a part of the plan with what is known, and then with answers."""
        unknown = [NO_INDEX]
        for block in blocks(len(target), 1, most=LOOKED_UP):
            t = np.arange(block.start, block.stop)
            known, values = self._known_at(*positions(t))
            target[t[known]] = values[known]
            unknown.append(t[~known])
        rest = np.concatenate(unknown)
        for block in blocks(len(rest), 1, most=most):
            target[rest[block]] = ask(*positions(rest[block]))

    def _known_at(self, i: IndexVector, j: IndexVector) -> tuple[Any, Vector]:
        """Which of some positions are known, and their values."""
        known, values = np.zeros(len(i), dtype=bool), np.full(len(i), np.nan, dtype=self.values.dtype)
        if len(self._flat):
            flat = i * self._shape[1] + j
            place = np.minimum(np.searchsorted(self._flat, flat), len(self._flat) - 1)
            known = self._flat[place] == flat
            values[known] = self._single[place[known]]
        for axis, table, lines in self._lines:
            along, across = (i, j) if axis == 0 else (j, i)
            line = table[along]
            on = line >= 0
            values[on], known[on] = lines[line[on], across[on]], True
        return known, values
