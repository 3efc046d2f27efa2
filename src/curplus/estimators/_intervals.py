"""How far filled values can be off: the errors at hidden values, relative to what is usual in their column."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from .._arrays import to_numpy
from .._typing import FloatArray, IndexVector
from ..evaluation.conformal import Scores, fit_scores
from ._engine import TableFit
from ._errors import HiddenValues
from ._tables import blocks_of_rows, dense_with_gaps

__all__ = ["CellIntervals", "HiddenScores", "hidden_scores"]

GROUPS = 10  # of rows, by their number of known values


class CellIntervals(NamedTuple):
    """Both ends of an interval for every cell of a table; known cells are their own interval."""

    low: FloatArray  # (n, m)
    high: FloatArray  # (n, m)
    reason: str = ""  # why gaps have none; empty where they have


class HiddenScores(NamedTuple):
    """Errors at hidden values, relative to their scale, which depends on the column and on what is known of the row."""

    edges: FloatArray  # numbers of known values that divide rows into groups
    scores: Scores

    def reach(self, n_known: IndexVector, j: IndexVector, level: float) -> tuple[FloatArray, str]:
        """How far intervals reach in columns ``j`` of rows with so many known values; NaN, and why, if not known."""
        return self.scores.reach(np.searchsorted(self.edges, n_known, side="right"), j, level)


def hidden_scores(found: TableFit, fitted: Any, hidden: HiddenValues) -> HiddenScores:
    """The scores of what a fit says at values that were hidden from it, in the units of the user."""
    known = _n_known(fitted)
    edges = np.unique(np.quantile(known, np.arange(1, GROUPS) / GROUPS))
    group = np.searchsorted(edges, known[hidden.i], side="right")
    groups = np.arange(len(edges) + 1, dtype=np.float64)
    columns = np.bincount(hidden.j, minlength=hidden.n_columns).astype(np.float64)
    errors = hidden.values - _predicted(found, fitted, hidden)
    return HiddenScores(edges, fit_scores(errors, group, hidden.j, np.ones(len(errors)), (groups, columns)))


def _n_known(table: Any) -> IndexVector:
    """Number of known values of each row."""
    if scipy.sparse.issparse(table):
        stored: IndexVector = np.diff(scipy.sparse.csr_array(table).indptr).astype(np.int64)
        return stored
    return np.concatenate([np.count_nonzero(~np.isnan(table[rows]), axis=1) for rows in blocks_of_rows(table.shape)])


def _predicted(found: TableFit, fitted: Any, hidden: HiddenValues) -> FloatArray:
    """What ``transform`` would fill in at hidden values."""
    shift, scale = found.units.shift[hidden.j], found.units.scale[hidden.j]
    if found.model is not None:  # the rows of the fit are completed as new ones are
        return np.asarray(shift + scale * to_numpy(found.approximation.entries(hidden.i, hidden.j)))
    predicted = np.empty(len(hidden.i))
    for rows in blocks_of_rows(fitted.shape):
        here = np.flatnonzero((rows.start <= hidden.i) & (hidden.i < rows.stop))
        filled = found.complete(found.units(dense_with_gaps(fitted[rows])))
        predicted[here] = filled[hidden.i[here] - rows.start, hidden.j[here]]
    return np.asarray(shift + scale * predicted)
