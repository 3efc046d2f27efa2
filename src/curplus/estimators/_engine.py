"""The two calls of the library that the imputer is made of: approximate a table with gaps, and complete new rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import FloatArray, RandomState
from ..factorization import Factorization, FittedModel
from ..methods import approximate
from ..observation import Observation
from ._tables import known_cells

__all__ = ["approximate_table", "completed_rows"]


def approximate_table(table: Any, rank: int | None, rng: RandomState) -> Factorization:
    """The approximation of a table (n, m) from its known values: those that are not NaN, or that are stored."""
    i, j, values = known_cells(table)
    observation = Observation(shape=table.shape, i=i, j=j, values=values)
    return _with_model(approximate(observation, rank, rng=rng), observation)


def _with_model(approximation: Factorization, observation: Observation) -> Factorization:
    """The approximation with a model for new rows, whose noise entries tell that the fit did not use."""
    if approximation.provenance.model is not None:
        return approximation
    unused = approximation.held_out
    at = unused if len(unused) else np.arange(observation.n_entries)
    errors = observation.values[at] - approximation.entries(observation.i[at], observation.j[at])
    noise = float(np.sqrt(np.mean(np.square(errors, dtype=np.float64))))
    model = FittedModel.of(approximation, noise)
    return replace(approximation, provenance=replace(approximation.provenance, model=model))


def completed_rows(approximation: Factorization, rows: FloatArray) -> FloatArray:
    """Rows (p, m) that were not in the table, with their gaps filled."""
    return np.asarray(approximation.complete_rows(rows))
