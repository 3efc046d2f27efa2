"""The two calls of the library that the imputer is made of: approximate a table with gaps, and complete new rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray, RandomState
from ..factorization import Factorization
from ..methods import approximate
from ..observation import Observation
from ._tables import known_cells

__all__ = ["approximate_table", "completed_rows"]


def approximate_table(table: Any, rank: int | None, rng: RandomState) -> Factorization:
    """The approximation of a table (n, m) from its known values: those that are not NaN, or that are stored."""
    i, j, values = known_cells(table)
    return approximate(Observation(shape=table.shape, i=i, j=j, values=values), rank, rng=rng)


def completed_rows(approximation: Factorization, rows: FloatArray) -> FloatArray:
    """Rows (p, m) that were not in the table, with their gaps filled."""
    complete: Any = getattr(approximation, "complete_rows", None)
    if complete is not None:
        return np.asarray(complete(rows))
    U, s, Vt = approximation.svd()
    V = Vt.T * s / np.sqrt(max(approximation.shape[0], 1))
    known = ~np.isnan(rows)
    filled = rows.copy()
    for t in np.flatnonzero(~known.all(axis=1)):
        A = V[known[t]]
        noise = 0.1 * np.mean(V**2) * V.shape[1] + 1e-300
        w = np.linalg.solve(A.T @ A + noise * np.eye(A.shape[1]), A.T @ rows[t, known[t]])
        filled[t, ~known[t]] = V[~known[t]] @ w
    return filled
