"""From sampled columns without rows: their leading subspace, and a fit of the other side to entries."""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import array_namespace, float64, to_numpy
from ..._typing import IndexVector
from ...factorization import Factorization, leading_basis
from ...observation import Observation
from .als import measurements, solve_rows
from .assemble import assemble
from .evidence import FEWEST, best_on
from .from_values import affordable, from_values
from .held_rows import complete_matrix
from .prediction import Prediction
from .rank import choose_rank
from .start import Start
from .way import SUBSPACE, Way

__all__ = ["from_all_columns", "from_columns"]


def from_all_columns(sample: Observation, rank: int | None) -> Start:
    """Every column is known: the leading part of them, and how others would be predicted from part of their values."""
    choice = choose_rank(sample, rank)
    answer, model = complete_matrix(sample.columns, choice.rank)
    return Start(answer, choice, used_entries=False, model=model)


def from_columns(
    sample: Observation,
    rank: int | None,
    offsets: str | bool,
    use: IndexVector,
    check: IndexVector,
    way: Way,
) -> Start:
    """The subspace of the columns, or all values taken as scattered, whichever predicts entries set aside better.

    Or the one of a ``way`` that was chosen before.
    """
    if way.takes_values_as_scattered:
        return from_values(sample, rank, offsets, use, check, way)
    choice = choose_rank(sample, rank)
    by_subspace = Start(_other_side(sample, choice.rank, use), choice, way=Way(SUBSPACE))
    if way.model == SUBSPACE or len(check) < FEWEST or not affordable(sample):
        return by_subspace
    starts = [by_subspace, from_values(sample, rank, offsets, use, check, way)]
    return starts[best_on(sample.entries.take(check), [x.approximation for x in starts])]


def _other_side(sample: Observation, rank: int, use: IndexVector) -> Factorization:
    """The columns' leading subspace, and rows of the other factor fitted to what was read of each column."""
    basis = leading_basis(sample.columns, rank)
    xp = array_namespace(basis.vectors)
    known = sample.columns.T @ basis.vectors
    explained = xp.sum(known**2)
    noise = max(float(xp.sum(sample.columns**2) - explained), 0.0) / math.prod(sample.columns.shape)
    signal = max(float(explained) / max(math.prod(known.shape), 1), np.finfo(float).tiny)
    V = solve_rows(measurements(sample, use).T, float64(basis.vectors), max(noise / signal, 1e-12 / sample.shape[0]))
    mixing = to_numpy(float64(basis.coefficients))
    return assemble(sample, Prediction(float64(sample.columns), mixing, np.eye(V.shape[1]), V), rank)
