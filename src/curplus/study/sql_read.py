"""What is read from a study file, in SQL; each function works within a transaction of the caller."""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import numpy as np

from .._typing import IndexVector
from ..exceptions import InvalidArgumentError
from .schema import DamageError
from .storage import DRAWN, STEERING, Line, ListInfo, Settings, Snapshot, Summary, moment_of

__all__ = [
    "IS_OUT",
    "LIST",
    "integers",
    "last_id",
    "lines_of",
    "list_info",
    "microseconds",
    "now_in_microseconds",
    "number_or_nan",
    "one_list",
    "settings_of",
    "settings_rows",
    "snapshot_of",
    "summary_of",
]

LIST = "SELECT id, asked_at, asked_by, purpose, budget, price, n_cells, n_pending, expires FROM lists"
IS_OUT = "n_pending > 0 AND (expires IS NULL OR expires > ?)"


def settings_rows(settings: Settings) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of a new study."""
    rest = {name: getattr(settings, name) for name in ("budget", "costs", "noise", "rank", "records")}
    kinds = {"rows": _kind(settings.row_names), "columns": _kind(settings.column_names)}
    now, (n, m) = now_in_microseconds(), settings.shape
    names = [
        (axis, position, str(name))
        for axis, known in enumerate((settings.row_names, settings.column_names))
        for position, name in enumerate(known or ())
    ]
    return {"study": [(1, n, m, json.dumps(rest | {"names": kinds}), now, now, 0, 0, 0, 0.0)], "names": names}


def microseconds(moment: datetime | None) -> int:
    """A moment in microseconds since 1970; none is the end of time."""
    if moment is None:
        return 2**63 - 1
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond


def now_in_microseconds() -> int:
    """Now, in microseconds since 1970."""
    return time.time_ns() // 1000


def last_id(db: sqlite3.Connection, table: str) -> int:
    """The largest number in a table; 0 if it is empty."""
    return int(db.execute(f"SELECT ifnull(max(id), 0) FROM {table}").fetchone()[0])


def number_or_nan(x: float | None) -> float:
    """A number, nan where there is none."""
    return math.nan if x is None else float(x)


def integers(rows: Iterable[tuple[int]]) -> IndexVector:
    """The only column of some rows."""
    return np.fromiter((row[0] for row in rows), dtype=np.int64)


def _kind(names: tuple[Any, ...] | None) -> str:
    return "numbers" if names is None else "int" if all(isinstance(name, int) for name in names) else "str"


def settings_of(db: sqlite3.Connection) -> Settings:
    """What was said when the study was created."""
    row = db.execute("SELECT n, m, settings FROM study").fetchone()
    if row is None:
        raise DamageError("it does not say of which matrix")
    n, m, text = row
    try:
        rest = json.loads(text)
        kinds = rest.pop("names")
        names = [
            _names(db, axis, size, kind)
            for axis, size, kind in zip((0, 1), (n, m), (kinds["rows"], kinds["columns"]), strict=True)
        ]
        return Settings((n, m), names[0], names[1], **rest)
    except (ValueError, TypeError, KeyError) as error:
        raise DamageError(f"its settings make no sense ({error})") from error


def _names(db: sqlite3.Connection, axis: int, size: int, kind: str) -> tuple[Any, ...] | None:
    if kind == "numbers":
        return None
    rows = db.execute("SELECT position, name FROM names WHERE axis = ? ORDER BY position", (axis,)).fetchall()
    if [position for position, _ in rows] != list(range(size)):
        raise DamageError(f"it has {len(rows)} names for {size} {('rows', 'columns')[axis]}")
    return tuple((int if kind == "int" else str)(name) for _, name in rows)


def list_info(row: tuple[Any, ...]) -> ListInfo:
    """A row of the table of lists."""
    number, asked_at, by, purpose, budget, price, n_cells, n_pending, expires = row
    until = None if expires is None else moment_of(expires)
    return ListInfo(number, moment_of(asked_at), by, purpose, budget, price, n_cells, n_pending, until)


def one_list(db: sqlite3.Connection, list_id: int) -> ListInfo:
    """A list by its number."""
    row = db.execute(f"{LIST} WHERE id = ?", (list_id,)).fetchone()
    if row is None:
        raise InvalidArgumentError(f"there is no list {list_id}; there are {last_id(db, 'lists')}, counted from 1.")
    return list_info(row)


def lines_of(db: sqlite3.Connection, where: str, values: tuple[Any, ...]) -> tuple[Line, ...]:
    """Rows and columns that were asked for whole."""
    rows = db.execute(f"SELECT axis, position, design, reason FROM lines WHERE {where} ORDER BY id", values)
    return tuple(Line(*row) for row in rows)


def summary_of(db: sqlite3.Connection) -> Summary:
    """The numbers that are kept up to date."""
    kept = db.execute("SELECT n_values, n_failed, n_unasked, spent FROM study").fetchone()
    pending = db.execute(
        "SELECT ifnull(sum(n_pending), 0), ifnull(sum(price * n_pending / max(n_cells, 1)), 0) "
        f"FROM lists WHERE {IS_OUT}",
        (now_in_microseconds(),),
    ).fetchone()
    numbers = (*kept, *pending, last_id(db, "lists"), last_id(db, "tells"))
    return Summary._make(numbers)


def snapshot_of(db: sqlite3.Connection, settings: Settings, moment: int) -> Snapshot:
    """All that an observation is made of, as of a moment."""
    last_tell, last_list = (
        int(db.execute(f"SELECT ifnull(max(id), 0) FROM {table} WHERE {at} <= ?", (moment,)).fetchone()[0])
        for table, at in (("tells", "told_at"), ("lists", "asked_at"))
    )
    corrected = "SELECT corrects FROM records WHERE corrects IS NOT NULL AND tell <= ?1"
    readings = (
        f"SELECT cell, ifnull(value, 9e999) FROM records WHERE tell <= ?1 AND id NOT IN ({corrected}) ORDER BY id"
    )
    found = np.fromiter(db.execute(readings, (last_tell,)), dtype=[("cell", np.int64), ("value", np.float64)])
    values = np.where(np.isinf(found["value"]), np.nan, found["value"])
    drawn = "SELECT cell FROM asked WHERE role = ? AND list <= ? ORDER BY cell"
    n, m = settings.shape
    parts = [integers(db.execute(drawn, (role, last_list))) for role in (DRAWN, STEERING)]
    cells = np.ascontiguousarray(found["cell"])
    for x in (cells, *parts):
        if len(x) and not 0 <= x.min() <= x.max() < n * m:
            raise DamageError(f"it has cells that are not in its {n} x {m} matrix")
    lines = lines_of(db, "list <= ?", (last_list,))
    if any(not 0 <= line.position < (n, m)[line.axis] for line in lines):
        raise DamageError(f"it has rows or columns that are not in its {n} x {m} matrix")
    n_values = db.execute("SELECT ifnull(sum(n_values), 0) FROM tells WHERE id <= ?", (last_tell,)).fetchone()[0]
    return Snapshot(cells, values, lines, parts[0], parts[1], last_tell, last_list, n_values)
