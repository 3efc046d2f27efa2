"""The whole matrix: what was measured as it was measured, and the rest as an approximation predicts it."""

from __future__ import annotations

import math
from importlib import import_module
from importlib.util import find_spec
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import array_namespace, blocks, is_numpy_array, put, put_rows, take
from .._typing import Matrix
from ..exceptions import InvalidArgumentError
from .noise import place_means
from .symmetry import mirrored

if TYPE_CHECKING:
    from .observation import Observation

__all__ = ["Fillable", "filled_array", "limited"]


class Fillable:
    """What an observation can do with an approximation: fill the matrix."""

    def fill(self: Any, approximation: Any, *, min_value: float | None = None, max_value: float | None = None) -> Any:
        """The whole matrix: measured values are kept, and the rest is predicted.

        All n x m numbers are formed: mind the memory. ``approximation.entries``, ``.rows`` and ``.columns`` predict a
        part of them.

        Parameters
        ----------
        approximation : Factorization
            What predicts: an approximation of the same matrix.
        min_value, max_value : float, optional
            Smallest and largest prediction, for values on a scale, such as ratings. Measured values stay as they are.

        Returns
        -------
        array or pandas.DataFrame of shape (n, m)
            A DataFrame where rows or columns have names; otherwise an array in the library of the observation. Where
            there are several records of one place, it has their mean, by weight.

        Examples
        --------
        >>> import numpy as np, curplus
        >>> table = np.outer([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0])
        >>> cross = {"column_index": [0], "columns": table[:, :1], "row_index": [0], "rows": table[:1]}
        >>> seen = curplus.Observation(shape=table.shape, **cross)
        >>> seen.fill(curplus.approximate(seen, rank=1), max_value=9.0).round(6)
        array([[1., 2., 3.],
               [2., 4., 6.],
               [3., 6., 9.],
               [4., 8., 9.]])
        """
        filled = filled_array(self, approximation, min_value, max_value)
        has_names = self.row_names is not None or self.column_names is not None
        if not has_names or not is_numpy_array(filled) or find_spec("pandas") is None:
            return filled
        return import_module("pandas").DataFrame(filled, index=self.row_names, columns=self.column_names)


def filled_array(observation: Any, approximation: Any, min_value: Any = None, max_value: Any = None) -> Matrix:
    """The whole matrix of :meth:`Observation.fill`, without names."""
    _check_shapes(observation, approximation)
    measured = observation if observation.symmetry is None else mirrored(observation)
    return _with_measured(measured, limited(approximation.to_array(), min_value, max_value))


def limited(x: Matrix, min_value: Any, max_value: Any) -> Matrix:
    """``x`` with no number below the one limit or above the other, where these are given."""
    low, high = _limit(min_value, "min_value", -math.inf), _limit(max_value, "max_value", math.inf)
    if low > high:
        raise InvalidArgumentError(f"min_value={low:g} is larger than max_value={high:g}. Give the smaller one first.")
    return x if math.isinf(low) and math.isinf(high) else array_namespace(x).clip(x, low, high)


def _limit(value: Any, name: str, none: float) -> float:
    if value is None:
        return none
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or math.isnan(value):
        raise InvalidArgumentError(f"{name}={value!r} is not a number. Give a number, or leave it out.")
    return float(value)


def _check_shapes(observation: Observation, approximation: Any) -> None:
    shape = tuple(getattr(approximation, "shape", ()))
    if not hasattr(approximation, "to_array") or shape != observation.shape:
        raise InvalidArgumentError(
            f"the observation is of a matrix of shape {observation.shape}, and what shall fill it is a "
            f"{type(approximation).__name__} of shape {shape}. Give an approximation of the same matrix."
        )


def _with_measured(o: Observation, x: Matrix) -> Matrix:
    """Measured values put in their places."""
    xp = array_namespace(x, o.values)
    x = xp.astype(x, xp.result_type(x, o.values), copy=False)
    x = _put_columns(x, o)
    for part in blocks(o.n_rows, o.shape[1]):
        index, rows = o.row_index[part], o.rows[part, :]
        if o.known_rows is not None:
            rows = xp.where(o.known_rows[part, :], rows, take(x, index, axis=0))
        x = put_rows(x, index, rows)
    means = place_means(o.entries, np.flatnonzero(o.outside))
    return put(x, (means.flat // o.shape[1], means.flat % o.shape[1]), means.mean) if len(means.flat) else x


def _put_columns(x: Matrix, o: Observation) -> Matrix:
    """The sampled columns put in their places."""
    if not o.n_columns:
        return x
    columns = o.columns
    if o.known_columns is not None:
        columns = array_namespace(x).where(o.known_columns, columns, take(x, o.column_index, axis=1))
    return put_rows(x.T, o.column_index, columns.T).T
