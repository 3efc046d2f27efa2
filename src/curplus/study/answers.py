"""Answers by name: values of cells and means of rows and columns, with intervals where these can be given."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import to_numpy
from .._extras import import_extra
from .._layout import NAMES
from .._typing import FloatArray, IndexVector
from ..factorization import Factorization
from ..observation import Observation
from .names import Axis

__all__ = ["interval_of_entries", "mean_table", "n_measured_of"]

ROWS_AT_ONCE = 1000


def interval_of_entries(
    approximation: Factorization, observation: Observation, i: IndexVector, j: IndexVector, level: float
) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[np.bool_]]:
    """Values, ends of their intervals, and which were measured: these are kept, and have no interval but themselves."""
    known_at, known_values = _measured(observation)
    flat = i * observation.shape[1] + j
    place = np.minimum(np.searchsorted(known_at, flat), max(len(known_at) - 1, 0))
    measured = known_at[place] == flat
    values = np.where(measured, known_values[place], to_numpy(approximation.entries(i, j)))
    low, high = values.copy(), values.copy()
    others = np.flatnonzero(~measured)
    low[others] = high[others] = np.nan
    predict_interval = _function("predict_interval")
    if predict_interval is not None and len(others):
        interval = predict_interval(approximation, observation, i[others], j[others], level=level)
        low[others], high[others] = interval.low, interval.high
    return values, low, high, measured


def mean_table(
    approximation: Factorization, observation: Observation, axes: tuple[Axis, Axis], axis: int, level: float
) -> Any:
    """Mean of each row (axis 1) or column (axis 0), by name."""
    pandas = import_extra("pandas", extra="pandas", purpose="a study needs pandas")
    side = axes[1 - axis]
    estimate_means = _function("estimate_means")
    if estimate_means is None:
        mean = _plain_means(approximation, observation, axis)
        low = high = np.full(len(mean), np.nan)
    else:
        found = estimate_means(approximation, observation, axis=axis, level=level)
        mean, low, high = found.estimate, found.low, found.high
    columns = {"mean": mean, "low": low, "high": high, "n_measured": n_measured_of(observation, axis)}
    return pandas.DataFrame({side.what: side.labels(np.arange(side.size)), **columns})


def n_measured_of(observation: Observation, axis: int) -> IndexVector:
    """How many cells of each row (axis 1) or column (axis 0) were measured."""
    n, m = observation.shape
    cells, _ = _measured(observation)
    return np.bincount(cells // m if axis else cells % m, minlength=n if axis else m)


def _function(name: str) -> Any:
    """A function of the package, where this version has it."""
    home = NAMES.get(name)
    return None if home is None else getattr(import_module(f"...{home}", __name__), name)


def _plain_means(approximation: Factorization, observation: Observation, axis: int) -> FloatArray:
    """Means of predictions, measured values in their places; no n x m array is formed."""
    if axis == 0:
        return _plain_means(approximation.T, observation.T, 1)
    n, m = observation.shape
    cells, values = _measured(observation)
    instead = values - to_numpy(approximation.entries(cells // m, cells % m))
    sums = np.bincount(cells // m, instead, n)
    return np.asarray((to_numpy(approximation @ np.ones(m)) + sums) / m)


def _measured(observation: Observation) -> tuple[IndexVector, FloatArray]:
    """Cells that were measured, ascending, and their values: entries, rows, columns, whichever has one."""
    o, (n, m) = observation, observation.shape
    at = [
        o.i * m + o.j,
        np.add.outer(o.row_index * m, np.arange(m)).ravel(),
        np.add.outer(np.arange(n) * m, o.column_index).ravel(),
    ]
    cells, first = np.unique(np.concatenate(at), return_index=True)
    values = np.concatenate([to_numpy(x).ravel() for x in (o.values, o.rows, o.columns)])[first]
    known = ~np.isnan(values)
    return cells[known], values[known]
