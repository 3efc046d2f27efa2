"""The whole matrix: what was measured as it was measured, and the rest as an approximation predicts it."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from .._arrays import array_namespace, blocks, gather, put, put_rows, take, to_numpy
from .._typing import FloatArray, Matrix
from ..exceptions import InvalidArgumentError
from .bounds import truncated_mean
from .readings import Readings
from .symmetry import mirrored

__all__ = ["check_within", "error_of", "filled_array", "limited", "with_measured", "within_bounds"]


def filled_array(observation: Readings, approximation: Any, min_value: Any = None, max_value: Any = None) -> Matrix:
    """The whole matrix of :meth:`Observation.fill`, without names."""
    _check_shapes(observation, approximation)
    measured = _everywhere(observation)
    x = limited(approximation.to_array(), min_value, max_value)
    i, j, *_ = ends = measured.bounds.limits(measured.shape)
    if len(i):
        value = within_bounds(to_numpy(gather(x, i, j)), error_of(approximation), *ends[2:], min_value, max_value)
        x = put(x, (i, j), value)
    return _with_measured(measured, x)


def with_measured(observation: Readings, x: Matrix) -> Matrix:
    """A whole matrix with measured values in their places."""
    return _with_measured(_everywhere(observation), x)


def _everywhere(observation: Readings) -> Readings:
    return observation if observation.symmetry is None else mirrored(observation)


def error_of(approximation: Any) -> float:
    """An approximation's estimate of its own error, as a standard deviation; 0 if it has none."""
    model = getattr(getattr(approximation, "provenance", None), "model", None)
    return 0.0 if model is None else float(model.error)


def within_bounds(
    value: Any, error: Any, low: Any, high: Any, min_value: Any = None, max_value: Any = None
) -> FloatArray:
    """What is to be expected at bounded places, of predictions with an error: between the bounds, and the limits."""
    least = np.maximum(low, -math.inf if min_value is None else min_value)
    most = np.minimum(high, math.inf if max_value is None else max_value)
    apart = least > most  # then the bound holds, which was measured
    return truncated_mean(value, error, np.where(apart, low, least), np.where(apart, high, most))


def limited(x: Matrix, min_value: Any, max_value: Any) -> Matrix:
    """``x`` with no number below the one limit or above the other, if these are given."""
    low, high = _limits(min_value, max_value)
    return x if math.isinf(low) and math.isinf(high) else array_namespace(x).clip(x, low, high)


def check_within(observation: Readings, min_value: Any, max_value: Any) -> None:
    """No exact reading is beyond limits that all values are said to have."""
    if (min_value is None and max_value is None) or observation.noise is not None:
        return
    low, high = _limits(min_value, max_value)
    for part in (observation.rows, observation.columns, observation.values):
        if not math.prod(part.shape):
            continue
        xp = array_namespace(part)
        for name, limit, beyond in (("min_value", low, part < low), ("max_value", high, part > high)):
            if bool(xp.any(beyond)):
                value = float(xp.max(xp.where(beyond, xp.abs(part), xp.zeros_like(part))))
                raise InvalidArgumentError(
                    f"{name}={limit:g} is said to hold for all values, but one of size {value:g} was measured beyond "
                    "it. Give a limit in the units of the values, or leave it out."
                )


def _limits(min_value: Any, max_value: Any) -> tuple[float, float]:
    """Both limits as numbers, infinite if they are not given."""
    low, high = _limit(min_value, "min_value", -math.inf), _limit(max_value, "max_value", math.inf)
    if low > high:
        raise InvalidArgumentError(f"min_value={low:g} is larger than max_value={high:g}. Give the smaller one first.")
    return low, high


def _limit(value: Any, name: str, none: float) -> float:
    if value is None:
        return none
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or math.isnan(value):
        raise InvalidArgumentError(f"{name}={value!r} is not a number. Give a number, or leave it out.")
    return float(value)


def _check_shapes(observation: Readings, approximation: Any) -> None:
    shape = tuple(getattr(approximation, "shape", ()))
    if not hasattr(approximation, "to_array") or shape != observation.shape:
        raise InvalidArgumentError(
            f"the observation is of a matrix of shape {observation.shape}, and the approximation is a "
            f"{type(approximation).__name__} of shape {shape}. Give an approximation of the same matrix."
        )


def _with_measured(o: Readings, x: Matrix) -> Matrix:
    """Measured values put in their places."""
    xp = array_namespace(x, o.values)
    x = xp.astype(x, xp.result_type(x, o.values), copy=False)
    x = _put_columns(x, o)
    for part in blocks(o.n_rows, o.shape[1]):
        index, rows = o.row_index[part], o.rows[part, :]
        if o.known_rows is not None:
            rows = xp.where(o.known_rows[part, :], rows, take(x, index, axis=0))
        x = put_rows(x, index, rows)
    means = o.entries.means(np.flatnonzero(o.outside))
    return put(x, (means.flat // o.shape[1], means.flat % o.shape[1]), means.mean) if len(means.flat) else x


def _put_columns(x: Matrix, o: Readings) -> Matrix:
    """The sampled columns put in their places."""
    if not o.n_columns:
        return x
    columns = o.columns
    if o.known_columns is not None:
        columns = array_namespace(x).where(o.known_columns, columns, take(x, o.column_index, axis=1))
    return put_rows(x.T, o.column_index, columns.T).T
