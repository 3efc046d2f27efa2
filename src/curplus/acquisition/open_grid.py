"""Positions that can be drawn: those that are not forbidden, not known as entries, and not known to be gaps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._arrays import index_table
from .._support.sets import union
from .._typing import IndexVector
from ..observation import Observation
from ..observation.plan import distinct_others

__all__ = ["OpenGrid"]


class OpenGrid(NamedTuple):
    """The rows and columns that are not forbidden, whose places are numbered row by row, and those that are taken."""

    rows: IndexVector
    columns: IndexVector
    taken: IndexVector  # numbers

    @classmethod
    def of(cls, observation: Observation) -> OpenGrid:
        """That of an observation."""
        o, (n, m) = observation, observation.shape
        (rows, columns), (i, j) = o.forbidden.open_rows_and_columns(o.shape), o.forbidden.cells
        taken = union(o.entries.flat_index, o.gap_index(), i * m + j)
        row, column = index_table(rows, n)[taken // m], index_table(columns, m)[taken % m]
        return cls(rows, columns, (row * len(columns) + column)[(row >= 0) & (column >= 0)])

    @property
    def n_left(self) -> int:
        """How many places are not taken."""
        return len(self.rows) * len(self.columns) - len(self.taken)

    def draw(self, count: int, rng: np.random.Generator) -> tuple[IndexVector, IndexVector]:
        """Some of the places that are left, uniformly at random."""
        place = distinct_others(rng, len(self.rows) * len(self.columns), count, self.taken)
        return self.rows[place // len(self.columns)], self.columns[place % len(self.columns)]
