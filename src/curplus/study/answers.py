"""Answers by name: lists, readings, and values of cells with intervals where these can be given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._typing import IndexVector
from ..evaluation import predict_interval
from ..exceptions import InvalidArgumentError
from ..observation.bounds import bound_text
from ..observation.scale import LOG, logarithm_of_limit
from .fitting import Fitted
from .names import Axis
from .schema import WIDTH
from .storage import ListInfo, moment_of
from .worklist import pandas_for_studies

__all__ = ["lists_frame", "prediction_frame", "records_frame"]

MOST_PREDICTED = 50_000_000  # lines of a table
ENDS = ["value", "low", "high"]
RECORD = ["record", "cell", "value", "side", "list", "note", "time", "corrects", "asked", "told_at", "who", "source"]


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
    if (is_bound := frame["side"] != 0).any():
        texts = map(bound_text, frame["value"][is_bound], frame["side"][is_bound])
        frame["value"] = frame["value"].astype(object)
        frame.loc[is_bound, "value"] = list(texts)
    return frame.drop(columns=["cell", "side"])


def prediction_frame(
    fitted: Fitted,
    axes: tuple[Axis, Axis],
    rows: IndexVector,
    columns: IndexVector,
    level: float,
    limits: tuple[float | None, float | None] = (None, None),
    scale: str | None = None,
) -> Any:
    """Values of all cells of some rows in some columns, their intervals, and whether they were measured."""
    if len(rows) * len(columns) > MOST_PREDICTED:
        raise InvalidArgumentError(
            f"{len(rows):,} rows and {len(columns):,} columns make more than {MOST_PREDICTED:,} lines. Predict some "
            "rows at a time."
        )
    cells = np.repeat(rows, len(columns)), np.tile(columns, len(rows))
    low, high = map(logarithm_of_limit, limits) if scale == LOG else limits
    found = predict_interval(
        fitted.approximation, fitted.observation, *cells, level=level, min_value=low, max_value=high
    )
    frame = found.to_frame()
    if scale == LOG:
        frame[ENDS] = np.exp(frame[ENDS])
    return frame.assign(**{axis.what: axis.labels(at) for axis, at in zip(axes, cells, strict=True)})
