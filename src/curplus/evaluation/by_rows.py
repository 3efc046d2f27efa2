"""The error from sampled rows that are left out, and predicted by a fit without them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import array_namespace, float64, take, to_numpy
from .._typing import Matrix, Vector
from ..exceptions import InvalidArgumentError
from ..observation import Observation
from .certificate import LEFT_OUT
from .effective_sample import MIN_EFFECTIVE_SIZE, check_tails, tail_of
from .estimate import Estimate, no_evidence
from .residual import Residual, listed, spectral_norm, zero_at_gaps

__all__ = ["by_rows"]

LEAVE_OUT_INFLATION = 1.15  # of standard errors from left-out rows: rows share their fits
FOLDS = 10


def by_rows(residual: Residual, *, for_an_interval: bool) -> Estimate:
    """From sampled rows, each predicted by a fit that did not have it.

    ``for_an_interval`` says that an estimate without an interval is of no use: too few rows are then not left out.
    """
    observation, method = residual.observation, residual.approximation.provenance.method
    if method is None:
        return no_evidence(
            "how the approximation was made is not known, so it cannot be made again without some of its rows"
        )
    if method.sees_whole_matrix:
        return no_evidence("the approximation was made from the whole matrix, so leaving rows out says nothing of it")
    if observation.symmetry is not None:
        return no_evidence("rows of a symmetric matrix are known as columns too, so they cannot be left out")
    if observation.design.rows != "uniform":
        return no_evidence("the rows were not drawn uniformly, so leaving them out says nothing of the others")
    if observation.n_rows < 2 or not observation.n_columns:
        return no_evidence("too few rows were read to leave any out")
    if for_an_interval and observation.n_rows < MIN_EFFECTIVE_SIZE[LEFT_OUT]:
        return no_evidence(
            f"{observation.n_rows} rows are too few to leave them out: it takes {MIN_EFFECTIVE_SIZE[LEFT_OUT]}"
        )
    try:
        errors, known = _left_out_errors(observation, method)
    except InvalidArgumentError as error:
        return no_evidence(f"with a tenth of its rows left out, the approximation cannot be made again: {error}")
    if not errors.shape[0]:
        return no_evidence("nothing is known of the sampled rows outside the sampled columns")
    errors = errors / residual.unit
    xp = array_namespace(errors)
    share = 1.0 if known is None else float(xp.mean(float64(known)))  # of these rows that is known
    squares = to_numpy(xp.sum(errors**2, axis=1)) / share
    n_rows_of_rest = residual.n_rest / errors.shape[1]  # as if it were whole rows
    tail = tail_of(listed(errors, known) ** 2, residual.column_squares)
    by_row = residual.unread_row_squares * (errors.shape[1] / observation.n_columns)
    raw, _ = check_tails(squares, {"sampled columns": by_row}, LEFT_OUT, count=len(squares), tail=tail)
    by_row = _without_chance(residual, by_row, errors.shape[1])
    _, reason = check_tails(squares, {"sampled columns": by_row}, LEFT_OUT, count=len(squares), tail=tail)
    # The rows that were read tell of the mean; those that were not have a mean of their own.
    own = 1 + len(squares) / n_rows_of_rest
    return Estimate(
        LEFT_OUT,
        rest=n_rows_of_rest * float(np.mean(squares)),
        n_rest=residual.n_rest,
        effective_size=raw,
        spread=LEAVE_OUT_INFLATION * math.sqrt(max(1 / raw - 1 / len(squares), 0.0) * own),
        stretch=tail.stretch,
        reason=reason,
        squares=squares,
        spectral_estimate=_spectral_estimate(observation, errors, share) * residual.unit,
    )


def _without_chance(residual: Residual, by_row: Vector, width: int) -> Vector:
    """Sums of rows, as unequal as they are without the chance of which columns were read.

    A sum over ``width`` columns is told by d1 of them, which makes it more unequal than it is.
    """
    o, xp = residual.observation, array_namespace(by_row)
    if o.known_columns is not None or o.n_columns < 2 or by_row.shape[0] < 2:
        return by_row
    squares = residual.unread(residual.column_errors) ** 2
    within = xp.sum((squares - xp.mean(squares, axis=1, keepdims=True)) ** 2, axis=1) / (o.n_columns - 1)
    chance = float(xp.mean(within)) * width**2 / o.n_columns * max(1 - o.n_columns / width, 0.0)
    mean = float(xp.mean(by_row))
    total = float(xp.mean((by_row - mean) ** 2))
    share = max(1 - chance / total, 0.0) if total > 0 else 1.0
    return mean + math.sqrt(share) * (by_row - mean)


def _spectral_estimate(observation: Observation, errors: Matrix, share: float) -> float:
    """The spectral norm of the error on the rows that were not read, if they are like those that were left out."""
    unread = observation.shape[0] - observation.n_rows
    return math.sqrt(unread / observation.n_rows / share) * spectral_norm(errors)


def _left_out_errors(observation: Observation, method: Any) -> tuple[Matrix, Matrix | None]:
    """Errors (d2, m - d1) of sampled rows, each predicted by a fit that did not have it, zero at gaps; where none is.

    Rows of which nothing is known there are left out.
    """
    outside = np.setdiff1d(np.arange(observation.shape[1]), observation.column_index)
    order = np.random.default_rng(0).permutation(observation.n_rows)
    parts = []
    for fold in np.array_split(order, min(FOLDS, observation.n_rows)):
        kept = np.setdiff1d(np.arange(observation.n_rows), fold)
        refit = method.fit(observation.subset(rows=kept, design=observation.design))
        errors = float64(take(observation.rows, fold, axis=0)) - float64(refit.rows(observation.row_index[fold]))
        parts.append(take(errors, outside, axis=1))
    errors = take(array_namespace(observation.rows).concat(parts), np.argsort(order), axis=0)
    if observation.known_rows is None:
        return errors, None
    known = take(observation.known_rows, outside, axis=1)
    some = np.flatnonzero(to_numpy(array_namespace(known).any(known, axis=1)))
    errors, known = take(errors, some, axis=0), take(known, some, axis=0)
    return zero_at_gaps(errors, known), known
