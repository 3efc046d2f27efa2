"""Some entries, with what was read of their rows and of their columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._arrays import float64, take, to_numpy
from ..._typing import FloatArray, IndexVector
from ...observation import Observation

__all__ = ["EntryLines", "entry_lines", "some_of"]


class EntryLines(NamedTuple):
    """Some entries outside the sampled rows and columns, with what was read of their row and of their column."""

    values: FloatArray  # (k,)
    weights: FloatArray  # (k,), that add up to the number of positions they stand for
    of_columns: FloatArray  # (k, d1 + 1), values of their rows in the sampled columns, and ones
    of_rows: FloatArray  # (k, d2 + 1), values of their columns in the sampled rows, and ones

    def combined(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """The matrix ``[C, 1] @ left @ right @ [R; 1]`` at the entries, each end first: that keeps the digits."""
        values: FloatArray = np.vecdot(self.of_columns @ left, self.of_rows @ right.T)
        return values

    def squared_errors(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Squared errors of that matrix, weighted."""
        squares: FloatArray = self.weights * (self.values - self.combined(left, right)) ** 2
        return squares


def entry_lines(observation: Observation, use: IndexVector) -> EntryLines:
    """Some of the entries, with what was read of their rows and columns; only that leaves the device."""
    at, weights = observation.entries.take(use), observation.entries.fit_weights[use]
    n_rest = (observation.shape[0] - observation.n_rows) * (observation.shape[1] - observation.n_columns)
    of_columns, of_rows = (
        np.column_stack([to_numpy(take(float64(lines), index, axis=0)), np.ones(len(at))])
        for lines, index in ((observation.columns, at.i), (observation.rows.T, at.j))
    )
    return EntryLines(to_numpy(float64(at.values)), weights * (n_rest / weights.sum()), of_columns, of_rows)


def some_of(use: IndexVector, most: int) -> IndexVector:
    """At most so many of some entries, at random: they stand in order of their rows."""
    return use if len(use) <= most else np.random.default_rng(0).choice(use, most, replace=False)
