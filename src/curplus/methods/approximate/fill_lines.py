"""Gaps of sampled rows and columns, filled by what is known of the others.

The values of one row in all the sampled columns are one draw from a distribution that a factor model describes; so are
those of one column in all the sampled rows. Where rows and columns intersect, both guess.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import array_namespace, to_device, to_numpy
from ..._typing import FloatArray, Matrix
from ...observation import Observation
from .factor_model import Table, fit_factor_model

__all__ = ["filled_lines"]

MOST_FACTORS = 20


def filled_lines(sample: Observation) -> Observation:
    """The same sample with guesses in place of the gaps of its rows and columns."""
    columns, rows = _filled(sample.columns), _filled(sample.rows.T).T
    if sample.n_rows and sample.n_columns:
        columns, rows = _agreeing(sample, columns, rows)
    return sample.with_lines(columns, rows)


def _agreeing(sample: Observation, columns: Matrix, rows: Matrix) -> tuple[Matrix, Matrix]:
    """Both with the mean of the two guesses where they intersect; what was read is in both."""
    C, R = np.array(to_numpy(columns)), np.array(to_numpy(rows))
    both = (C[sample.row_index] + R[:, sample.column_index]) / 2
    C[sample.row_index] = both
    R[:, sample.column_index] = both
    return to_device(C, columns), to_device(R, rows)


def _filled(x: Matrix) -> Matrix:
    """An array (n, d) with guesses in place of NaN."""
    values = np.array(to_numpy(x), dtype=np.float64)
    gaps = np.isnan(values)
    if not gaps.any():
        return x
    known = np.flatnonzero(~gaps.all(axis=0))
    guess = np.zeros(values.shape)
    if len(known):
        guess[:, known] = _guess(values[:, known])
        guess += np.where(gaps.all(axis=0), guess[:, known].mean(axis=1, keepdims=True), 0.0)
    xp = array_namespace(x)
    return xp.astype(to_device(np.where(gaps, guess, values), x), x.dtype)


def _guess(values: FloatArray) -> FloatArray:
    """What a factor model expects of every value; of a single column, its mean."""
    n, d = values.shape
    if d == 1 or n < 3:
        return np.broadcast_to(np.nanmean(values, axis=0), values.shape)
    table = Table((n, d), lambda rows: values[rows])
    n_factors = max(1, min(MOST_FACTORS, n - 1, (d + 1) // 2))
    return fit_factor_model(table, n_factors, np.random.default_rng(0)).complete(values)
