"""Values of several rows in the same columns, which were drawn uniformly: what differences are paired by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import index_table, take, to_numpy
from .._sets import is_in
from .._typing import FloatArray, IndexVector, Matrix
from ..observation import Observation
from .differences import Means, means_of_columns

__all__ = ["Paired", "columns_in_turn", "paired_means", "values_at", "whole_rows"]


class Paired(NamedTuple):
    """Values of some rows in columns that were drawn uniformly, in the order of drawing."""

    rows: IndexVector  # (p,)
    columns: IndexVector  # (d,)
    values: FloatArray  # (p, d), NaN where they are not known
    is_gap: NDArray[np.bool_]  # (p, d), where it is known that they cannot be measured
    n_columns: int  # how many the columns were drawn from

    @classmethod
    def of(cls, observation: Observation, rows: IndexVector) -> Paired:
        """Those of some rows of an observation."""
        m = observation.shape[1]
        columns = columns_in_turn(observation)
        cells = rows[:, None] * m + columns
        is_gap = is_in(cells.ravel(), observation.gap_index()).reshape(cells.shape)
        values = values_at(observation, rows, columns)
        return cls(rows, columns, values, is_gap, m - len(observation.forbidden.columns))

    def columns_of(self, some: IndexVector) -> IndexVector:
        """Places of columns that are known in some rows, up to the first one that is not known yet, without gaps."""
        usable = np.flatnonzero(~np.any(self.is_gap[some], axis=0))
        missing = np.flatnonzero(np.isnan(self.values[some][:, usable]).any(axis=0))
        return usable[: missing[0]] if len(missing) else usable


def columns_in_turn(observation: Observation) -> IndexVector:
    """Columns drawn uniformly, in the order of drawing; sampled columns without such an order follow in any order."""
    drawn, seen = observation.drawn_columns, observation
    if seen.design.columns == "uniform":
        others = np.setdiff1d(seen.column_index, drawn)
        drawn = np.concatenate([drawn, np.random.default_rng(len(others)).permutation(others)])
    kept: IndexVector = drawn[~np.isin(drawn, seen.forbidden.columns)]
    return kept


def values_at(observation: Observation, rows: IndexVector, columns: IndexVector) -> FloatArray:
    """What is known where rows and columns cross, NaN elsewhere, shape (p, d)."""
    seen, (n, m) = observation, observation.shape
    row, column = index_table(rows, n), index_table(columns, m)
    here = np.flatnonzero((row[seen.i] >= 0) & (column[seen.j] >= 0))
    place, size = row[seen.i[here]] * len(columns) + column[seen.j[here]], len(rows) * len(columns)
    values = to_numpy(take(seen.values, here, axis=0)).astype(np.float64)
    count = np.bincount(place, minlength=size)
    with np.errstate(invalid="ignore"):
        found = (np.bincount(place, values, size) / np.where(count, count, np.nan)).reshape(len(rows), len(columns))
    _overlay(found, column[seen.column_index], seen.columns, rows)
    _overlay(found.T, row[seen.row_index], seen.rows.T, columns)
    return found


def _overlay(found: FloatArray, place: IndexVector, lines: Matrix, others: IndexVector) -> None:
    """Put what sampled columns (n, d1) have into columns of ``found``; a negative place is none of them."""
    at = np.flatnonzero(place >= 0)
    part = to_numpy(take(take(lines, at, axis=1), others, axis=0)).astype(np.float64)
    found[:, place[at]] = np.where(np.isnan(part), found[:, place[at]], part)


def paired_means(observation: Observation, rows: list[int]) -> Means:
    """Means of some rows from the columns that were drawn and are known in all of them; of too few without an error."""
    paired = Paired.of(observation, np.asarray(rows))
    values = paired.values[:, ~np.isnan(paired.values).any(axis=0)]
    if values.shape[1] < 2:
        nothing = np.full(len(rows), np.nan)
        return Means(nothing, nothing, np.ones(len(rows)))
    return means_of_columns(values, paired.n_columns if observation.noise is None else np.inf)


def whole_rows(observation: Observation) -> IndexVector:
    """Rows that are known at every column that is not forbidden, ascending."""
    seen, (n, m) = observation, observation.shape
    n_known = np.bincount(seen.i[seen.outside], minlength=n) + seen.n_columns
    n_known[seen.row_index] = m
    some = np.flatnonzero(n_known >= m - len(seen.forbidden.columns))
    columns = np.setdiff1d(np.arange(m), seen.forbidden.columns)
    return some[~np.isnan(values_at(seen, some, columns)).any(axis=1)]
