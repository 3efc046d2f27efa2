"""From sampled columns without rows: their leading subspace, and a fit of the other side to entries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._arrays import array_namespace, float64, row_products, to_numpy
from ..._typing import FloatArray, IndexVector, Matrix
from ...factorization import Factorization, leading_basis
from ...observation import Entries, Observation
from .als import Measurements, measurements, solve_rows
from .assemble import assemble
from .evidence import FEWEST, best_on
from .from_values import affordable, from_values
from .held_rows import complete_matrix
from .prediction import Prediction
from .rank import choose_rank
from .start import Start
from .way import SUBSPACE, Way

__all__ = ["from_all_columns", "from_columns"]

NOISES = 4.0 ** np.arange(-8, 3)  # in terms of the mean square of the entries


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
    by_subspace = Start(_other_side(sample, choice.rank, use, check), choice, way=Way(SUBSPACE))
    if way.model == SUBSPACE or len(check) < FEWEST or not affordable(sample):
        return by_subspace
    starts = [by_subspace, from_values(sample, rank, offsets, use, check, way)]
    return starts[best_on(sample.entries.take(check), [x.approximation for x in starts])]


def _other_side(sample: Observation, rank: int, use: IndexVector, check: IndexVector) -> Factorization:
    r"""The columns' leading subspace, and rows of the other factor fitted to what was read of each column.

    Each of them minimises :math:`\sum_i (M_{ij} - u_i^\top v)^2 + \sigma^2 \sum_k v_k^2 / s_k^2` over what was read of
    column j, with the mean squares :math:`s_k^2` of the sampled columns in these directions.
    """
    basis = leading_basis(sample.columns, rank)
    U, xp = float64(basis.vectors), array_namespace(basis.vectors)
    known = float64(sample.columns.T) @ U
    variances = np.maximum(to_numpy(xp.mean(known**2, axis=0)), np.finfo(float).tiny)
    measured = measurements(sample, use).T

    def ridge(noise: float) -> FloatArray:
        return np.asarray(np.maximum(noise / variances, 1e-12 / sample.shape[0]))

    left_over = float(xp.mean(float64(sample.columns) ** 2)) - float(np.sum(variances)) / sample.shape[0]
    noise = _best_noise(max(left_over, 0.0), sample.entries.take(check), measured, U, ridge)
    V = solve_rows(measured, U, ridge(noise))
    mixing = to_numpy(float64(basis.coefficients))
    return assemble(sample, Prediction(float64(sample.columns), mixing, np.eye(V.shape[1]), V), rank)


def _best_noise(
    least: float, aside: Entries, measured: Measurements, U: Matrix, ridge: Callable[[float], FloatArray]
) -> float:
    """The variance with which entries set aside are predicted best, from what the sampled columns leave over on.

    Other columns are explained less well than those that span the subspace. Where entries are few, nothing tells.
    """
    if len(aside) < FEWEST:
        return least
    columns, place = np.unique(aside.j, return_inverse=True)
    some, values = measured.at_rows(columns), to_numpy(aside.values)
    noises = NOISES * float(np.average(values**2, weights=aside.fit_weights))
    tried = [least, *(float(noise) for noise in noises if noise > least)]

    def error(noise: float) -> float:
        predicted = to_numpy(row_products(U, solve_rows(some, U, ridge(noise)), aside.i, place))
        return float(np.average((values - predicted) ** 2, weights=aside.fit_weights))

    return min(tried, key=error)
