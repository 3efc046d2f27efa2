"""Means of rows that were not in the matrix, from a few of their values; see ``Factorization.row_means``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import (
    array_namespace,
    host_array,
    is_array_api_obj,
    largest,
    largest_known,
    power_of_two,
    take,
    to_numpy,
)
from .._support.sets import evenly_spaced
from .._typing import FloatArray, IndexVector
from .._validation import check_level, check_real
from ..exceptions import InvalidArgumentError
from ..factorization import Factorization
from ..factorization.new_rows import RowPrior, checked_order, row_prior
from ..factorization.tables import numbers
from .differences import Means
from .effective_sample import FEWEST_FOR_T, effective_sample_size
from .history import History
from .mean_columns import choice_errors
from .mean_estimates import MeanEstimates

__all__ = ["new_row_means"]

MOST_SIZES = 6  # cost: numbers of known columns for which columns are chosen; errors for other numbers are interpolated
EXACT_COUNT = 1e-6  # rounding: relative difference between the sum of the chances and the number of known values


def new_row_means(
    approximation: Factorization, known: Any, *, probabilities: Any = None, level: float = 0.95
) -> MeanEstimates:
    """Means of new rows, with intervals; the work of ``Factorization.row_means``."""
    level = check_level(level)
    rows, names, column_names = numbers(known, name="known")
    check_real(approximation.core.Z, "means of new rows")
    order = checked_order(approximation, rows, column_names, ("rows", "columns"))
    values = to_numpy(rows).astype(np.float64)
    values = values if order is None else values[:, order]
    unit = power_of_two(max(largest_known(values), largest(approximation.core.Z)), values)
    is_known = ~np.isnan(values)
    filled = np.where(is_known, values / unit, 0.0)
    if probabilities is None:
        means, reason = _like_the_fitted(History.of(approximation, unit), filled, is_known)
    else:
        chances = _checked_chances(probabilities, is_known)
        means, reason = _alone(row_prior(approximation), filled, is_known, chances, unit)
    return _estimates(means.times(unit), is_known, level, reason, names)


def _estimates(means: Means, is_known: NDArray[np.bool_], level: float, reason: str, names: Any) -> MeanEstimates:
    """The means with their intervals."""
    is_exact, m = is_known.all(axis=1), is_known.shape[1]
    error = np.where(is_exact, 0.0, math.nan if reason else means.error)
    reason = "" if is_exact.all() else reason
    means = means._replace(error=error, freedom=np.where(is_exact, math.inf, means.freedom))
    each = level ** (1 / max(int(np.count_nonzero(~is_exact)), 1))
    (low, high), (joint_low, joint_high) = means.interval(level), means.interval(each)
    return MeanEstimates(
        estimate=means.mean,
        low=low,
        high=high,
        joint_low=joint_low,
        joint_high=joint_high,
        total=float(np.sum(means.mean)) * m,
        total_interval=None,
        n_entries=np.where(is_exact, 0, np.count_nonzero(is_known, axis=1)),
        is_exact=is_exact,
        compared=(means,),
        axis=1,
        level=level,
        reason=reason,
        names=names,
    )


def _patterns(is_known: NDArray[np.bool_]) -> Iterator[tuple[IndexVector, IndexVector]]:
    """Sets of known columns, each with the rows that have exactly these."""
    _, pattern = np.unique(np.packbits(is_known, axis=1), axis=0, return_inverse=True)
    order = np.argsort(pattern.reshape(-1), kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(pattern.reshape(-1)))[:-1]):
        if len(rows):
            yield np.flatnonzero(is_known[rows[0]]), rows


# Rows like the fitted ones


def _like_the_fitted(history: History, values: FloatArray, is_known: NDArray[np.bool_]) -> tuple[Means, str]:
    """Means whose errors are those of left-out fitted rows, and why there are no intervals.

    Columns may have been chosen by these very rows, and then the errors there are too small. So errors are at least
    those of columns chosen to predict means, at rows that had no part in the choice.
    """
    (p, m), n = values.shape, history.shape[0]
    mean, error = np.sum(values, axis=1) / m, np.zeros(p)
    least = _least_errors(history, np.count_nonzero(is_known, axis=1))
    for columns, rows in _patterns(is_known):
        k = len(columns)
        if k < m:
            fit = history.regression(columns)
            mean[rows] += (1 - k / m) * fit.predict(values[np.ix_(rows, columns)])
            error[rows] = (1 - k / m) * math.hypot(max(fit.error, least(k)), history.error / math.sqrt(m - k))
    few = f"an interval needs at least {FEWEST_FOR_T} fitted rows, and there are {n}"
    return Means(mean, error, np.full(p, max(n - 1.0, 1.0))), few if n < FEWEST_FOR_T else ""


def _least_errors(history: History, counts: IndexVector) -> Callable[[int], float]:
    """The error with k columns chosen to predict means, at rows without a part in the choice; interpolated in k."""
    sizes = np.unique(counts[(counts > 0) & (counts < history.shape[1])])
    sizes = sizes[evenly_spaced(len(sizes), MOST_SIZES)]
    least = [min(choice_errors(history, int(k), np.random.default_rng(0)).values()) for k in sizes]
    return lambda k: float(np.interp(k, sizes, least)) if len(least) else 0.0


# Rows of any kind, by columns that were drawn


def _checked_chances(probabilities: Any, is_known: NDArray[np.bool_]) -> FloatArray:
    """The chance of each column to be known, as an array (m,)."""
    given = to_numpy(probabilities) if is_array_api_obj(probabilities) else probabilities
    chances, m = host_array(given, name="probabilities").astype(np.float64), is_known.shape[1]
    if chances.shape != (m,):
        raise InvalidArgumentError(
            f"probabilities has shape {chances.shape} but the matrix has {m} columns. Give the chance of each column "
            "to be drawn, as draw_columns returns them."
        )
    if not np.all((chances >= 0) & (chances <= 1)) or np.any(is_known & (chances == 0)):
        raise InvalidArgumentError(
            "probabilities must lie between 0 and 1, and above 0 for columns that are known. They are the chances of "
            "each column to be among those that were drawn, and add up to their number."
        )
    counts, expected = np.count_nonzero(is_known, axis=1), float(np.sum(chances))
    if len(wrong := np.flatnonzero(np.abs(counts - expected) > EXACT_COUNT * max(expected, 1))):
        raise InvalidArgumentError(
            f"row {wrong[0]} has {counts[wrong[0]]} known values but probabilities add up to {expected:.6g}: its known "
            "values are not those that were drawn. Give all the drawn values and no others, or leave probabilities out."
        )
    return chances


def _alone(
    prior: RowPrior, values: FloatArray, is_known: NDArray[np.bool_], chances: FloatArray, unit: float
) -> tuple[Means, str]:
    """Means from predicted columns, corrected by the errors at drawn ones, and why there are no intervals."""
    p, m = values.shape
    mean, error, freedom = np.empty(p), np.zeros(p), np.full(p, math.inf)
    shared, few, squares = None, m, []
    for columns, rows in _patterns(is_known):
        x, chance = values[np.ix_(rows, columns)], chances[columns]
        rest, errors = _predicted(prior, x, columns, unit)
        mean[rows] = (np.sum(x, axis=1) + rest + errors @ (1 / chance - 1)) / m
        parts = _shared_errors(errors / chance, 1 - chance) / m
        shared = parts if len(rows) == p else None
        error[rows] = np.sqrt(np.sum(parts**2, axis=1))
        squares.append((errors / chance)[:, chance < 1].ravel() ** 2)
        n_drawn = int(np.count_nonzero(chance < 1))
        few, freedom[rows] = min(few, n_drawn), max(n_drawn - 1, 1)
    reason = f"an interval needs at least {FEWEST_FOR_T} columns that were drawn by chance, and there are {few}"
    size = effective_sample_size(np.concatenate(squares))
    if few >= FEWEST_FOR_T > size:
        reason = f"the effective sample size of the squared errors is {size:.0f}, and at least {FEWEST_FOR_T} is needed"
    return Means(mean, error, freedom, shared), reason if min(few, size) < FEWEST_FOR_T else ""


def _shared_errors(weighted: FloatArray, doubt: FloatArray) -> FloatArray:
    r"""Contribution of each drawn column to the error of a sum over a row, for errors :math:`z_j = e_j / \pi_j` (p, k).

    Their squares add up to Hajek's variance :math:`\frac{k}{k - 1} \sum_j (1 - \pi_j) (z_j - \bar z)^2`, with the mean
    weighted by :math:`1 - \pi_j`; columns that were certain do not count.
    """
    count = int(np.count_nonzero(doubt))
    centre = weighted @ doubt / max(float(np.sum(doubt)), np.finfo(float).tiny)
    return np.asarray(np.sqrt(doubt * (count / max(count - 1, 1))) * (weighted - centre[:, None]))


def _predicted(prior: RowPrior, x: FloatArray, columns: IndexVector, unit: float) -> tuple[FloatArray, FloatArray]:
    r"""Sums over the other columns (p,) as rows are completed, and errors of the known ones, each from the others.

    With the directions :math:`F_J = U S V^\top` there, the residual of x is :math:`M (x - c)` with
    :math:`M = \sigma^2 (F_J F_J^\top + \sigma^2 I)^{-1}`, and leaving one out divides by the diagonal of M.
    """
    xp = array_namespace(prior.directions)
    F, mean = to_numpy(take(prior.directions, columns, axis=0)), to_numpy(take(prior.mean, columns, axis=0)) / unit
    others = to_numpy(xp.sum(prior.directions, axis=0)) - np.sum(F, axis=0)
    means = float(xp.sum(prior.mean)) / unit - float(np.sum(mean))
    y = x - mean
    U, s, Vt = np.linalg.svd(F, full_matrices=False)
    kept = prior.noise**2 / (s**2 + prior.noise**2)
    scores = y @ U
    outside = y - scores @ U.T if U.shape[1] < len(columns) else np.zeros_like(y)
    left = outside + (scores * kept) @ U.T
    own = np.maximum(1 - np.sum(U**2, axis=1), 0) if U.shape[1] < len(columns) else 0.0
    own = own + U**2 @ kept
    errors = np.divide(left, own, out=np.zeros_like(left), where=own > 0)
    return means + (scores * (s / (s**2 + prior.noise**2))) @ (Vt @ others), errors
