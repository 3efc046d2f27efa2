"""Answers by name: lists, readings, and values of cells with intervals where these can be given."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._replacing import full_disk_in_words
from .._typing import IndexVector
from ..evaluation import predict_interval
from ..exceptions import InvalidArgumentError
from ..observation.bounds import bound_text
from ..observation.scale import LOG, logarithm_of_limit
from .fitting import Fitted
from .names import Axis, escaped
from .schema import WIDTH
from .storage import ListInfo, moment_of
from .worklist import pandas_for_studies

__all__ = ["lists_frame", "prediction_frame", "records_frame", "write_tables"]

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


def write_tables(folder: Path, tables: Mapping[str, Any]) -> None:
    """Write tables as CSV files into a new folder, which appears when it is complete.

    Numbers come back bit for bit. A text that a spreadsheet would take for a formula starts with an apostrophe.
    """
    if folder.exists():
        raise InvalidArgumentError(f"{folder} exists already. Give a folder that does not exist yet.")
    if not folder.parent.is_dir():
        raise InvalidArgumentError(f"there is no folder {folder.parent}. Make it before a study is exported to it.")
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}.part")
    try:
        with full_disk_in_words(folder):
            temporary.mkdir()
            for name, frame in tables.items():
                frame.map(escaped).to_csv(temporary / f"{name}.csv", index=False)
            temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
