r"""Rows that the matrix does not have yet, completed from those of their values that are known.

The fitted rows show what rows look like: their mean :math:`c`, and how far they lie along which directions (the columns
of F, so that :math:`F F^\top` is the covariance of the fitted rows). A new row is

.. math:: x = c + a \mathbf 1 + F w + e, \qquad w \sim N(0, I), \quad a \sim N(0, \sigma^2), \quad
          e \sim N(0, \sigma^2 I),

with the noise :math:`\sigma` that the fit found. An offset a costs no more than the residual of a single value: with k
known values a share k / (k + 1) of it is found, however small the noise is and however alike the fitted rows are. So
the offset of a row that is unlike all others is nearly free, and takes nothing from what directions explain exactly.

Given the known values, w and a have a closed form: see :mod:`~curplus.factorization.row_scores`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._arrays import (
    array_namespace,
    float64,
    gather,
    is_numpy_array,
    largest,
    power_of_two,
    rounding_unit,
    take,
    to_device,
    to_numpy,
)
from .._typing import FloatArray, Matrix, Names, Vector
from ..exceptions import InvalidArgumentError
from .fitted_model import centred_triangle
from .row_scores import KnownValues, row_scores
from .tables import check_not_infinite, column_order, like_table, numbers, within

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["OFFSET_VARIANCE", "Limits", "RowPrior", "complete_columns", "complete_rows", "row_prior"]

OFFSET_VARIANCE = 1.0  # of a new row's own offset, in terms of the variance of the noise


class Limits(NamedTuple):
    """Between which numbers all predictions lie; None for no limit."""

    min_value: float | None = None
    max_value: float | None = None


def complete_rows(approximation: Factorization, rows: Any, limits: Limits) -> Any:
    """A table of new rows (p, m) with predictions in place of NaN; see :meth:`curplus.Factorization.complete_rows`."""
    values, _, names = numbers(rows, name="rows")
    return like_table(rows, _filled(approximation, values, names, limits, ("rows", "columns")))


def complete_columns(approximation: Factorization, columns: Any, limits: Limits) -> Any:
    """A table of new columns (n, p) with predictions in place of NaN."""
    values, names, _ = numbers(columns, name="columns")
    return like_table(columns, _filled(approximation.T, values.T, names, limits, ("columns", "rows")).T)


def _filled(
    approximation: Factorization, values: Matrix, names: Names | None, limits: Limits, words: tuple[str, str]
) -> Matrix:
    """The rows with predictions in place of NaN."""
    (name, axis), m = words, approximation.shape[1]
    if values.shape[1] != m:
        raise InvalidArgumentError(
            f"the new {name} have {values.shape[1]} values each but the matrix has {m} {axis}. Give a value for each "
            f"of its {axis}, NaN where it is not known."
        )
    check_not_infinite(values, name=name)
    order = column_order(names, approximation.column_names, name=name, axis=axis)
    xp = array_namespace(values)
    is_known = ~xp.isnan(values)
    predicted = within(_predicted(approximation, values if order is None else values[:, order]), *limits, like=values)
    return xp.where(is_known, values, predicted if order is None else predicted[:, np.argsort(order)])


def _predicted(approximation: Factorization, rows: Matrix) -> Matrix:
    """Predictions for all values of ``rows``, in the library of the approximation."""
    xp = array_namespace(rows)
    i, j = (to_numpy(k).astype(np.int64, copy=False) for k in xp.nonzero(~xp.isnan(rows)))
    prior = row_prior(approximation)
    deviations = to_numpy(gather(rows, i, j)).astype(np.float64) - to_numpy(take(prior.mean, j, axis=0))
    unit = power_of_two(largest(deviations), deviations)
    known = KnownValues(i, j, deviations / unit)
    scores = row_scores(known, tuple(rows.shape), prior.directions, prior.noise)
    return prior.mean + unit * (to_device(scores, prior.mean) @ prior.directions.T)


class RowPrior(NamedTuple):
    """What rows look like, before anything is known of them."""

    mean: Vector  # (m,)
    directions: Matrix  # (m, r + 1), each as long as rows deviate along it, the last one for the offset; in some unit
    noise: float  # standard deviation, in the same unit


def row_prior(approximation: Factorization) -> RowPrior:
    """Mean and directions of the fitted rows, and the noise around them."""
    n, m = approximation.shape
    left, right = float64(approximation.left.vectors), float64(approximation.right.vectors)
    Z, model = to_numpy(float64(approximation.core.Z)), approximation.provenance.model
    xp = array_namespace(left)
    unit = power_of_two(largest(Z), Z)
    Z = Z / unit
    mean = _mean_row(approximation) if model is None else model.mean_row
    size, s, Qt = _centred_directions(left, Z)
    rounding = max(n, m) * rounding_unit(approximation.core.Z) * size
    noise = (_residual_at_samples(approximation) if model is None else model.noise) / unit
    noise = max(noise, rounding / math.sqrt(n * m)) or 1.0  # without any, an offset still costs as much as a residual
    kept = s > rounding
    directions = right @ to_device((Qt.T * (s / math.sqrt(n)))[:, kept], right)
    offset = xp.zeros_like(right[:, :1]) + math.sqrt(OFFSET_VARIANCE) * noise
    mean = to_device(mean, right) if is_numpy_array(mean) else mean
    return RowPrior(mean, xp.concat([directions, offset], axis=1), noise)


def _mean_row(approximation: Factorization) -> Vector:
    left = float64(approximation.left.vectors)
    means = array_namespace(left).mean(left, axis=0) @ float64(approximation.core.Z)
    return float64(approximation.right.vectors) @ means


def _centred_directions(left: Matrix, Z: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Largest singular value of ``left @ Z``; singular values and right vectors without the mean of its rows."""
    if not Z.size:
        return 0.0, np.empty(0), np.empty((0, Z.shape[1]))
    _, s, Qt = np.linalg.svd(centred_triangle(left) @ Z, full_matrices=False)
    return float(np.linalg.norm(Z, 2)), s, Qt


def _residual_at_samples(approximation: Factorization) -> float:
    """Root mean square of the residual on the sampled rows and columns; 0 where the approximation keeps none."""
    norm, count = 0.0, 0
    for side in (approximation, approximation.T):
        if side.right.sample is not None and math.prod(side.right.sample.shape):
            residual = float64(side.right.sample.T) - float64(side.rows(side.row_index))
            unit = power_of_two(largest(residual), residual)
            norm = math.hypot(norm, unit * math.sqrt(float(array_namespace(residual).sum((residual / unit) ** 2))))
            count += math.prod(residual.shape)
    return norm / math.sqrt(max(count, 1))
