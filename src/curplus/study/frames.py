"""Tables for people: what a study keeps, as DataFrames with names in place of numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._extras import import_extra
from .._typing import IndexVector
from .names import Axis
from .storage import Line, ListInfo, moment_of
from .worklist import Worklist

__all__ = ["lists_frame", "pandas_for_studies", "records_frame", "worklist_of"]

RECORD = ["record", "cell", "value", "note", "time", "corrects", "asked", "told_at", "who", "source"]


def pandas_for_studies() -> Any:
    """The package pandas."""
    return import_extra("pandas", extra="pandas", purpose="a study needs pandas")


def worklist_of(info: ListInfo, lines: Iterable[Line], cells: IndexVector, rows: Axis, columns: Axis) -> Worklist:
    """A list by name, of some of its cells."""
    lines, m = tuple(lines), columns.size
    table = {"row": rows.labels(cells // m), "column": columns.labels(cells % m)}
    whole = [
        {axis.labels([line.position])[0]: line.reason for line in lines if line.axis == k}
        for k, axis in enumerate((rows, columns))
    ]
    frame = pandas_for_studies().DataFrame(table)
    return Worklist(info.id, whole[0], whole[1], frame, info.price, info.asked_at, info.expires)


def lists_frame(lists: Iterable[ListInfo]) -> Any:
    """All lists: when and by whom they were asked for, how many cells, how many pending."""
    columns = [name for name in ListInfo._fields if name != "purpose"]
    return pandas_for_studies().DataFrame(lists, columns=ListInfo._fields)[columns]


def records_frame(records: Iterable[tuple[Any, ...]], rows: Axis, columns: Axis) -> Any:
    """All readings, by name."""
    pandas, listed = pandas_for_studies(), list(records)
    cells = np.asarray([row[1] for row in listed], dtype=np.int64)
    frame = pandas.DataFrame(listed, columns=RECORD)
    frame["told_at"] = pandas.to_datetime([moment_of(at) for at in frame["told_at"]], utc=True)
    frame["corrects"] = frame["corrects"].astype("Int64")
    frame["asked"], frame["value"] = frame["asked"].astype(bool), frame["value"].astype(float)
    frame.insert(1, "column", columns.labels(cells % columns.size))
    frame.insert(1, "row", rows.labels(cells // columns.size))
    return frame.drop(columns="cell")
