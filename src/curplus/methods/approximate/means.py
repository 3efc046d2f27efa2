"""The means of rows and columns, each shrunk by how little is known of it: the guess that users have in mind."""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import array_namespace, float64, to_device, to_numpy
from ..._typing import FloatArray, IndexVector, Matrix
from ...observation import Entries, Observation
from .cross import Cross, cross_of
from .entry_lines import some_of
from .first_guess import offset_guess
from .offsets import Offsets, additive_model

__all__ = ["means_at"]

MOST_ENTRIES = 50_000  # that are used


def means_at(sample: Observation, use: IndexVector, at: IndexVector, cross: Cross | None = None) -> FloatArray:
    """Means at the entries ``at``, from the sampled rows and columns and the entries ``use``.

    Those of the sampled rows and columns come first; the entries add offsets to them, as far as they show some.
    ``cross`` has the small matrices of the sample, where they are known.
    """
    if cross is None and sample.n_rows and sample.n_columns:
        cross = cross_of(sample)
    before = _from_lines(sample, cross)
    where = sample.entries.take(at)
    use = some_of(use, MOST_ENTRIES)
    if not len(use):
        return before.at(where.i, where.j)
    fit, weights = sample.entries.take(use), sample.entries.fit_weights[use]
    rest = Entries(sample.shape, fit.i, fit.j, to_numpy(fit.values) - before.at(fit.i, fit.j), weights=weights)
    return before.at(where.i, where.j) + additive_model(rest).at(where.i, where.j)


def _from_lines(sample: Observation, cross: Cross | None) -> Offsets:
    """The means of the sampled rows and columns; zero where there are none."""
    n, m = sample.shape
    of_rows: FloatArray = np.zeros(n)
    of_columns: FloatArray = np.zeros(m)
    if cross is not None:
        guess = offset_guess(cross)
        of_rows = _times(sample.columns, guess.left[:, 0])
        of_columns = _times(sample.rows.T, guess.right[1])
    elif sample.n_columns:
        xp = array_namespace(sample.columns)
        of_rows = to_numpy(xp.mean(float64(sample.columns), axis=1))
    return Offsets(0.0, of_rows, of_columns, math.nan)


def _times(lines: Matrix, coefficients: FloatArray) -> FloatArray:
    """Sampled lines and ones, combined, on the host."""
    combined: FloatArray = to_numpy(float64(lines) @ to_device(coefficients[:-1], lines)) + coefficients[-1]
    return combined
