"""Answers by name: readings, lists, values of cells, and means, with intervals where these can be given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import to_numpy
from .._typing import FloatArray, IndexVector
from ..evaluation import estimate_means, predict_interval
from ..exceptions import InvalidArgumentError
from ..factorization import Factorization
from ..observation import Observation
from .names import Axis
from .schema import WIDTH
from .storage import ListInfo, moment_of
from .worklist import pandas_for_studies

__all__ = [
    "cells_where",
    "interval_of_entries",
    "lists_frame",
    "mean_table",
    "n_measured_of",
    "prediction_table",
    "records_frame",
]

MOST_PREDICTED = 50_000_000  # lines of a table
RECORD = ["record", "cell", "value", "list", "note", "time", "corrects", "asked", "told_at", "who", "source"]


def lists_frame(lists: Iterable[ListInfo]) -> Any:
    """All lists: when and by whom they were asked for, how many cells, how many pending."""
    columns = [name for name in ListInfo._fields if name != "purpose"]
    return pandas_for_studies().DataFrame(lists, columns=ListInfo._fields)[columns]


def records_frame(records: list[tuple[Any, ...]], rows: Axis, columns: Axis) -> Any:
    """All readings, by name."""
    pandas = pandas_for_studies()
    cells = np.asarray([row[1] for row in records], dtype=np.int64)
    frame = pandas.DataFrame(records, columns=RECORD)
    frame["told_at"] = pandas.to_datetime([moment_of(at) for at in frame["told_at"]], utc=True)
    frame = frame.astype({"list": "Int64", "corrects": "Int64", "asked": bool, "value": float})
    frame.insert(1, "column", columns.labels(cells % WIDTH))
    frame.insert(1, "row", rows.labels(cells // WIDTH))
    return frame.drop(columns="cell")


def cells_where(rows: IndexVector, columns: IndexVector) -> tuple[IndexVector, IndexVector]:
    """All cells of some rows in some columns, as positions (i, j); an error if they are too many for a table."""
    if len(rows) * len(columns) > MOST_PREDICTED:
        raise InvalidArgumentError(
            f"{len(rows):,} rows and {len(columns):,} columns make more than {MOST_PREDICTED:,} lines. Predict some "
            "rows at a time."
        )
    return np.repeat(rows, len(columns)), np.tile(columns, len(rows))


def prediction_table(
    approximation: Factorization,
    observation: Observation,
    axes: tuple[Axis, Axis],
    cells: tuple[IndexVector, IndexVector],
    level: float,
) -> Any:
    """Values of cells by name, with their intervals, and whether they were measured."""
    values, low, high, measured = interval_of_entries(approximation, observation, *cells, level)
    names = {axis.what: axis.labels(at) for axis, at in zip(axes, cells, strict=True)}
    return pandas_for_studies().DataFrame({**names, "value": values, "low": low, "high": high, "measured": measured})


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
    if len(others):
        interval = predict_interval(approximation, observation, i[others], j[others], level=level)
        low[others], high[others] = interval.low, interval.high
    return values, low, high, measured


def mean_table(
    approximation: Factorization, observation: Observation, axes: tuple[Axis, Axis], axis: int, level: float
) -> Any:
    """Mean of each row (axis 1) or column (axis 0), by name."""
    side = axes[1 - axis]
    found = estimate_means(approximation, observation, axis=axis, level=level)
    columns = {
        "mean": found.estimate,
        "low": found.low,
        "high": found.high,
        "n_measured": n_measured_of(observation, axis),
    }
    return pandas_for_studies().DataFrame({side.what: side.labels(np.arange(side.size)), **columns})


def n_measured_of(observation: Observation, axis: int) -> IndexVector:
    """How many cells of each row (axis 1) or column (axis 0) were measured."""
    n, m = observation.shape
    cells, _ = _measured(observation)
    return np.bincount(cells // m if axis else cells % m, minlength=n if axis else m)


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
