"""The means of rows and columns, each shrunk by how little is known of it: the guess that users have in mind."""

from __future__ import annotations

import numpy as np

from ..._arrays import to_numpy
from ..._typing import FloatArray, IndexVector
from ...observation import Entries, Observation
from .cross import cross_of
from .entry_lines import EntryLines, entry_lines, some_of
from .first_guess import offset_guess
from .offsets import additive_model

__all__ = ["means_at"]

MOST_ENTRIES = 50_000  # that are used


def means_at(sample: Observation, use: IndexVector, at: IndexVector) -> FloatArray:
    """Means at the entries ``at``, from the sampled rows and columns and the entries ``use``.

    Those of the sampled rows and columns come first; the entries add offsets to them, as far as they show some.
    """
    use = some_of(use, MOST_ENTRIES)
    before = _from_lines(sample, entry_lines(sample, at))
    if not len(use):
        return before
    fit, weights = sample.entries.take(use), sample.entries.fit_weights[use]
    rest = to_numpy(fit.values) - _from_lines(sample, entry_lines(sample, use))
    offsets = additive_model(Entries(sample.shape, fit.i, fit.j, rest, weights=weights))
    where = sample.entries.take(at)
    return before + offsets.at(where.i, where.j)


def _from_lines(sample: Observation, at: EntryLines) -> FloatArray:
    """The means of the sampled rows and columns; zero where there are none."""
    if sample.n_rows and sample.n_columns:
        guess = offset_guess(cross_of(sample))
        return at.combined(guess.left, guess.right)
    if sample.n_columns:
        return np.asarray(at.of_columns[:, :-1].mean(axis=1))
    return np.zeros(len(at.values))
