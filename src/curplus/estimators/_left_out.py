"""How well gaps are filled: by the fits without each fold that an approximation keeps, and nothing fitted again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._arrays import to_numpy
from .._typing import FloatArray, IndexVector
from ..evaluation.cross_fit import CrossFit, errors_at
from ..evaluation.entry_scale import Scores, fit_scores
from ..factorization import Basis, Factorization, FittedModel, Provenance
from ..methods.approximate.factors import PSEUDO_COUNT
from ._tables import dense_with_gaps

__all__ = ["CellIntervals", "GapScores", "NewRows", "completion_of_rows", "errors_by_column"]

NOISE_FACTORS = (0.5, 0.7, 1.0, 1.4, 2.0)  # times the residuals of the fit: each was best on one of nine tables
MOST_COMPLETED = 20_000_000  # of rows that are completed to choose among them; more hardly change the choice
NEGLIGIBLE_NOISE = 1e-8  # of the values: the least noise
ROW_GROUPS = 10  # of rows, by their number of known values


class CellIntervals(NamedTuple):
    """Both ends of an interval for every cell of a table; known cells are their own interval."""

    low: FloatArray  # (n, m)
    high: FloatArray  # (n, m)
    reason: str = ""  # why gaps have no interval; empty if they have


def errors_by_column(errors: FloatArray, j: IndexVector, spreads: FloatArray) -> FloatArray:
    """Root mean square of errors in columns ``j``, shape (m,): in units of their spread near that of all if few."""
    squares, m = (errors / spreads[j]) ** 2, len(spreads)
    sums, counts = np.bincount(j, squares, m), np.bincount(j, minlength=m)
    return np.asarray(spreads * np.sqrt((sums + PSEUDO_COUNT * np.mean(squares)) / (counts + PSEUDO_COUNT)))


class NewRows(NamedTuple):
    """Completion of rows that were not in the table: each column in units of its noise, as in a factor model."""

    approximation: Factorization
    noise: FloatArray  # (m,)

    @classmethod
    def of(cls, approximation: Factorization, noise: FloatArray, factor: float) -> NewRows:
        """With an own noise for each column, times a factor."""
        Q, R = np.linalg.qr(to_numpy(approximation.right.vectors) / noise[:, None])
        core = approximation.core._replace(Z=to_numpy(approximation.core.Z) @ R.T)
        found = Factorization(approximation.left, core, Basis(Q))
        return cls(replace(found, provenance=Provenance(model=FittedModel.of(found, factor))), noise)

    def complete_rows(self, rows: FloatArray) -> FloatArray:
        """Rows (p, m) with their gaps filled."""
        return np.asarray(self.approximation.complete_rows(rows / self.noise) * self.noise)


class GapScores(NamedTuple):
    """Errors at left-out values, relative to their scale, which depends on the column and on how full the row is.

    These rows are completed as new ones are.
    """

    edges: FloatArray  # numbers of known values that divide rows into groups
    scores: Scores

    def reach(self, n_known: IndexVector, j: IndexVector, level: float) -> tuple[FloatArray, str]:
        """How far intervals reach in columns ``j`` of rows with so many known values; NaN, and why, if not known."""
        return self.scores.reach(np.searchsorted(self.edges, n_known, side="right"), j, level)


def completion_of_rows(
    found: CrossFit, whole: Factorization, table: Any, spreads: FloatArray
) -> tuple[NewRows, GapScores]:
    """The way to complete new rows that predicts left-out values of a table best, and its scores."""
    sample, m = found.sample, whole.shape[1]
    some = np.random.default_rng(0).permutation(np.unique(sample.i[found.counted]))[: max(MOST_COMPLETED // m, 1)]
    at = found.counted[np.isin(sample.i[found.counted], some)]
    residuals = errors_at(whole, sample, np.arange(sample.n_entries))
    noise = np.maximum(errors_by_column(residuals, sample.j, spreads), NEGLIGIBLE_NOISE * sample.magnitude or 1.0)
    errors, n_known = np.empty((len(NOISE_FACTORS), len(at))), np.empty(len(at), dtype=np.int64)
    for k, fit in enumerate(found.fits):
        here = np.flatnonzero(found.fold[at] == k)
        rows, place = np.unique(sample.i[at[here]], return_inverse=True)
        cells = place, sample.j[at[here]]
        block = np.array(dense_with_gaps(table[rows]), dtype=np.float64)
        values, block[cells] = block[cells], np.nan
        n_known[here] = np.count_nonzero(~np.isnan(block), axis=1)[place]
        for which, factor in enumerate(NOISE_FACTORS):
            errors[which, here] = values - NewRows.of(fit, noise, factor).complete_rows(block)[cells]
    best = int(np.argmin(np.sum(errors**2, axis=1)))
    edges = np.unique(np.quantile(n_known, np.arange(1, ROW_GROUPS) / ROW_GROUPS))
    group, j = np.searchsorted(edges, n_known, side="right"), sample.j[at]
    known = np.arange(len(edges) + 1.0), np.bincount(j, minlength=m).astype(np.float64)
    scores = fit_scores(errors[best], group, j, np.ones(len(at)), known)
    return NewRows.of(whole, noise, NOISE_FACTORS[best]), GapScores(edges, scores)
