"""The error from sampled rows or columns that are left out, and predicted by a fit without them."""

from __future__ import annotations

import math

import numpy as np

from .._arrays import abs_squared, array_namespace, double, float64, take, to_numpy
from .._typing import Matrix, Vector
from ..exceptions import InvalidArgumentError
from ..factorization.provenance import Refits
from .certificate import LEFT_OUT_COLUMNS, LEFT_OUT_ROWS
from .effective_sample import MIN_EFFECTIVE_SIZE, Tail, check_tails, tail_of
from .estimate import EXCESS_ERROR, Estimate, excess_of, no_evidence
from .residual import Residual, listed, spectral_norm, zero_at_gaps

__all__ = ["by_columns", "by_rows"]

# tuned: of standard errors from left-out rows, which share their fits (benchmarks/certificate.py)
LEAVE_OUT_INFLATION = 1.15
ROW_FOLDS = 10  # usual: refits keep nine tenths of the rows


def by_columns(residual: Residual, *, for_an_interval: bool) -> Estimate:
    """From sampled columns, each predicted by a fit without it."""
    turned = Residual(residual.approximation.H, residual.observation.H)
    return by_rows(turned, for_an_interval=for_an_interval, evidence=LEFT_OUT_COLUMNS)


def by_rows(residual: Residual, *, for_an_interval: bool, evidence: str = LEFT_OUT_ROWS) -> Estimate:
    """From sampled rows, each predicted by a fit without it.

    With ``for_an_interval`` only an estimate with an interval is of use: too few rows are then not left out.
    """
    observation, rows = residual.observation, evidence.rsplit(maxsplit=1)[-1]
    if observation.symmetry is not None:
        return no_evidence("rows of a symmetric matrix are known as columns too, so they cannot be left out")
    if observation.design.rows != "uniform":
        return no_evidence(f"the {rows} were not drawn uniformly, so left-out {rows} do not represent the others")
    if observation.n_rows < 2:
        return no_evidence(f"too few {rows} were read to leave any out")
    if for_an_interval and observation.n_rows < MIN_EFFECTIVE_SIZE[evidence]:
        least = MIN_EFFECTIVE_SIZE[evidence]
        return no_evidence(f"{evidence} need at least {least} sampled {rows}, and there are {observation.n_rows}")
    refits, reason = _refits_without_rows(residual)
    if refits is None:
        return no_evidence(reason)
    errors, known = _left_out_errors(residual, refits)
    if not errors.shape[0] or not errors.shape[1]:
        return no_evidence(f"the sampled {rows} have no known values outside what else was read")
    xp = array_namespace(errors)
    share = 1.0 if known is None else float(xp.mean(float64(known)))  # of the cells of these rows that is known
    squares = to_numpy(xp.sum(abs_squared(errors), axis=1)) / share
    excess = excess_of(residual, refits, float(np.mean(squares)) / errors.shape[1])
    n_rows_of_rest = residual.n_rest / errors.shape[1]  # as if it were whole rows
    tail, raw, reason = _judged_tails(residual, squares, abs_squared(listed(errors, known)), errors.shape[1], evidence)
    # The read rows estimate the mean of the population; the mean of the unread rows varies around it.
    own = 1 + len(squares) / n_rows_of_rest
    return Estimate(
        evidence,
        rest=n_rows_of_rest * float(np.mean(squares)) * (1 - excess),
        n_rest=residual.n_rest,
        effective_size=raw,
        spread=math.hypot(
            LEAVE_OUT_INFLATION * math.sqrt(max(1 / raw - 1 / len(squares), 0.0) * own), EXCESS_ERROR * excess
        ),
        stretch=tail.stretch,
        reason=reason,
        squares=squares,
        spectral_estimate=_spectral_estimate(residual, errors, share) * residual.unit,
    )


def _judged_tails(
    residual: Residual, squares: Vector, each: Vector, width: int, evidence: str
) -> tuple[Tail, float, str]:
    """How errors fall off, the effective sample size of left-out rows, and why their mean cannot be trusted.

    ``each`` are the squared errors of single cells. If columns were sampled too, they show how unequal rows are.
    """
    if not residual.observation.n_columns:
        tail = tail_of(each)
        return tail, *check_tails(squares, {}, evidence, count=len(squares), tail=tail)
    tail = tail_of(each, residual.column_squares)
    by_row = residual.unread_row_squares * (width / residual.observation.n_columns)
    raw, _ = check_tails(squares, {"sampled columns": by_row}, evidence, count=len(squares), tail=tail)
    by_row = _without_chance(residual, by_row, width)
    _, reason = check_tails(squares, {"sampled columns": by_row}, evidence, count=len(squares), tail=tail)
    return tail, raw, reason


def _without_chance(residual: Residual, by_row: Vector, width: int) -> Vector:
    """Sums of rows, less the part of their inequality that is due to which columns were read.

    A sum over ``width`` columns is estimated from d1 of them, which makes the sums look more unequal than they are.
    """
    o, xp = residual.observation, array_namespace(by_row)
    if o.known_columns is not None or o.n_columns < 2 or by_row.shape[0] < 2:
        return by_row
    squares = abs_squared(residual.unread(residual.column_errors))
    within = xp.sum((squares - xp.mean(squares, axis=1, keepdims=True)) ** 2, axis=1) / (o.n_columns - 1)
    chance = float(xp.mean(within)) * width**2 / o.n_columns * max(1 - o.n_columns / width, 0.0)
    mean = float(xp.mean(by_row))
    total = float(xp.mean((by_row - mean) ** 2))
    share = max(1 - chance / total, 0.0) if total > 0 else 1.0
    return mean + math.sqrt(share) * (by_row - mean)


def _spectral_estimate(residual: Residual, errors: Matrix, share: float) -> float:
    """The spectral norm of the error on the rows that were not read, if they are like the left-out rows."""
    unread = residual.observation.shape[0] - residual.observation.n_rows
    return math.sqrt(unread / errors.shape[0] / share) * spectral_norm(errors)


def _refits_without_rows(residual: Residual) -> tuple[Refits | None, str]:
    """Fits without each row: those that the approximation keeps, or new fits of its method; or why there are none."""
    observation, provenance = residual.observation, residual.approximation.provenance
    kept, method = provenance.refits, provenance.method
    if kept is not None and len(kept.rows) == observation.n_rows and np.all(kept.rows >= 0):
        return kept, ""
    if method is None:
        return (
            None,
            "how the approximation was made is not known, so it cannot be fitted again without some of its rows",
        )
    if method.sees_whole_matrix:
        return None, "the approximation was made from the whole matrix, so no rows were left out of it"
    folds = min(ROW_FOLDS, observation.n_rows)
    rows = np.random.default_rng(0).permutation(observation.n_rows) % folds
    try:
        fits = tuple(
            method.fit(observation.subset(rows=np.flatnonzero(rows != k), design=observation.design))
            for k in range(folds)
        )
    except InvalidArgumentError as error:
        return None, f"with a tenth of its rows left out, the approximation cannot be made again: {error}"
    return Refits(np.full(observation.n_entries, -1), rows, np.full(observation.n_columns, -1), fits), ""


def _left_out_errors(residual: Residual, refits: Refits) -> tuple[Matrix, Matrix | None]:
    """Errors (h, m - d1) of sampled rows, each predicted by a fit without it, zero at gaps; and where there is a value.

    Rows without a known value there are left out.
    """
    observation = residual.observation
    outside = np.setdiff1d(np.arange(observation.shape[1]), observation.column_index)
    order, parts = np.argsort(refits.rows, kind="stable"), []
    for k, fit in enumerate(refits.fits):
        rows = np.flatnonzero(refits.rows == k)
        errors = double(take(observation.rows, rows, axis=0)) - double(fit.rows(observation.row_index[rows]))
        parts.append(take(errors / residual.unit, outside, axis=1))
    errors = take(array_namespace(observation.rows).concat(parts), np.argsort(order), axis=0)
    if observation.known_rows is None:
        return errors, None
    known = take(observation.known_rows, outside, axis=1)
    some = np.flatnonzero(to_numpy(array_namespace(known).any(known, axis=1)))
    errors, known = take(errors, some, axis=0), take(known, some, axis=0)
    return zero_at_gaps(errors, known), known
