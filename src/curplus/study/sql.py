"""The statements behind the verbs of a study file; each function works within a transaction of the caller."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._support.sets import different
from .._typing import FloatArray, IndexVector
from ..exceptions import InvalidArgumentError
from .schema import WIDTH, DamageError, insert, last_id
from .storage import (
    Asked,
    Asker,
    Draft,
    Kind,
    Line,
    ListInfo,
    Origin,
    Receipt,
    Records,
    Role,
    Settings,
    Snapshot,
    State,
    Summary,
    kept_cells,
    moment_of,
    numbered_cells,
)

__all__ = [
    "LIST",
    "count_pending",
    "expire",
    "integers",
    "keep_list",
    "keep_records",
    "lines_of",
    "list_info",
    "one_list",
    "pending_cells",
    "receive",
    "recent_values",
    "snapshot_of",
    "summary_of",
    "tick",
    "wall_clock",
]

LIST = "SELECT id, asked_at, asked_by, purpose, budget, price, n_cells, n_pending, expires FROM lists"
IS_OUT = "n_pending > 0 AND (expires IS NULL OR expires > ?)"
RECENT = 1000  # readings that outliers are judged by
MOMENTS = (("tells", "told_at"), ("lists", "asked_at"), ("rounds", "judged_at"), ("changes", "changed_at"))
LATEST = ", ".join(f"ifnull((SELECT {at} FROM {table} ORDER BY id DESC LIMIT 1), 0)" for table, at in MOMENTS)
INCOMING = (
    "CREATE TEMP TABLE IF NOT EXISTS incoming (place INTEGER PRIMARY KEY, cell, value REAL, side, list, corrects, "
    "note, time)",
    "CREATE INDEX IF NOT EXISTS temp.incoming_cells ON incoming (cell)",
    "DELETE FROM incoming",
)
#: Which lines that came in are known. A line of a work list, and a correction, is known by its value; every other line
#: is a new reading. Spreadsheets keep 15 or 16 digits: values that differ by less are the same.
SAME_VALUE = "({0}.value IS x.value OR abs({0}.value - x.value) <= 1e-12 * abs(x.value)) AND {0}.side = x.side"
IS_SAME, IS_SAME_LINE = SAME_VALUE.format("r"), SAME_VALUE.format("y")
IS_LINE = f"r.list = x.list AND r.cell = x.cell AND {IS_SAME} AND r.corrects IS x.corrects"
IS_KNOWN = f"""
    (x.list IS NOT NULL OR x.corrects IS NOT NULL) AND (
        EXISTS (SELECT 1 FROM records AS r WHERE {IS_LINE})
        OR EXISTS (SELECT 1 FROM records AS r WHERE r.corrects = x.corrects AND r.cell = x.cell AND {IS_SAME})
        OR EXISTS (
            SELECT 1 FROM incoming AS y WHERE y.cell = x.cell AND y.place < x.place AND y.list = x.list
            AND {IS_SAME_LINE} AND y.corrects IS x.corrects
        )
    )"""
IS_NOTED = "x.cell = r.cell AND x.note = r.note AND x.value IS r.value"  # of answers in logs
IS_PENDING = f"EXISTS (SELECT 1 FROM asked WHERE asked.cell = x.cell AND state = {State.PENDING})"


# -- small questions ----------------------------------------------------------------------------------------------


def wall_clock() -> int:
    """Now, in microseconds since 1970."""
    return time.time_ns() // 1000


def tick(db: sqlite3.Connection) -> int:
    """The moment of this transaction, later than that of all before it."""
    return max(int(db.execute(f"SELECT max({LATEST})").fetchone()[0]) + 1, wall_clock())


def integers(rows: Iterable[tuple[int]]) -> IndexVector:
    """The only column of some rows."""
    return np.fromiter((row[0] for row in rows), dtype=np.int64)


# -- work lists ---------------------------------------------------------------------------------------------------


def expire(db: sqlite3.Connection) -> None:
    """Lists whose time is over are pending no more."""
    over = "IN (SELECT id FROM lists WHERE n_pending > 0 AND expires <= ?)"
    cancel = f"UPDATE asked SET state = {State.CANCELLED} WHERE state = {State.PENDING} AND list {over}"
    if db.execute(cancel, (wall_clock(),)).rowcount:
        count_pending(db)


def count_pending(db: sqlite3.Connection) -> None:
    """Count the pending cells of each list anew."""
    counted = f"(SELECT count(*) FROM asked WHERE list = lists.id AND state = {State.PENDING})"
    db.execute(f"UPDATE lists SET n_pending = {counted} WHERE n_pending > 0")


def keep_list(db: sqlite3.Connection, now: int, draft: Draft, asker: Asker, n_columns: int) -> ListInfo:
    """Keep a list with its rows, columns and cells."""
    n_cells = int(np.count_nonzero(~draft.is_known))
    expires = None if asker.expires_after is None else wall_clock() + round(1e6 * asker.expires_after)
    number = last_id(db, "lists") + 1
    row = (number, now, asker.who, asker.purpose, draft.budget, draft.price, n_cells, n_cells, expires)
    insert(db, "lists", [row])
    insert(db, "lines", ((None, number, *line) for line in draft.lines))
    states = np.where(draft.is_known, State.KNOWN, State.PENDING)
    columns = kept_cells(draft.cells, n_columns), draft.roles, states, np.arange(len(states))
    rows = zip(*(x.tolist() for x in columns), strict=True)
    insert(db, "asked", ((cell, number, role, state, place) for cell, role, state, place in rows))
    i, j = draft.forbidden.cells
    closed = zip(Kind, (draft.forbidden.rows, draft.forbidden.columns, i * WIDTH + j), strict=True)
    insert(db, "forbidden", ((number, kind, x) for kind, positions in closed for x in positions.tolist()))
    return list_info(row)


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


# -- readings -----------------------------------------------------------------------------------------------------


def receive(db: sqlite3.Connection, records: Records, *, only_pending: bool, once: bool) -> list[int]:
    """Put those readings that are not known into the table ``incoming``; the records of the others."""
    for statement in INCOMING:
        db.execute(statement)
    insert(db, "incoming", ((place, *row) for place, row in enumerate(records.rows())))
    _check_list_numbers(db)
    known = f"SELECT DISTINCT r.id FROM incoming AS x JOIN records AS r ON {IS_LINE} ORDER BY 1"
    found = [number for (number,) in db.execute(known)]
    db.execute(f"DELETE FROM incoming AS x WHERE {IS_KNOWN}")
    if once:
        noted = f"records AS r CROSS JOIN incoming AS x ON {IS_NOTED}"
        found += [number for (number,) in db.execute(f"SELECT DISTINCT r.id FROM {noted}")]
        db.execute(f"DELETE FROM incoming WHERE place IN (SELECT x.place FROM {noted})")
    if only_pending:
        db.execute(f"DELETE FROM incoming AS x WHERE NOT {IS_PENDING}")
    _check_corrections(db)
    return found


def _check_list_numbers(db: sqlite3.Connection) -> None:
    """A line of a work list names a cell of that list."""
    is_asked = "EXISTS (SELECT 1 FROM asked WHERE asked.cell = incoming.cell AND asked.list = incoming.list)"
    wrong = f"SELECT list, min(place), count(*) FROM incoming WHERE list IS NOT NULL AND NOT {is_asked}"
    number, place, count = db.execute(wrong).fetchone()
    if count:
        raise InvalidArgumentError(
            f"{count} of the lines that name list {number} are not on it (line {place + 1} of the table, without the "
            f"header, is the first); there are {last_id(db, 'lists')} lists. Nothing was kept. Leave the column list "
            "empty where nobody asked."
        )


def _check_corrections(db: sqlite3.Connection) -> None:
    """A correction names an earlier record of the same cell that no other record corrects."""
    reason = (
        "CASE WHEN r.id IS NULL THEN 'there is no such record' WHEN r.cell <> x.cell THEN 'that record is of another "
        "cell' ELSE 'that record is corrected by another one as well: name the latest' END"
    )
    wrong = db.execute(
        f"SELECT x.corrects, {reason} FROM incoming AS x LEFT JOIN records AS r ON r.id = x.corrects "
        "WHERE x.corrects IS NOT NULL AND (r.id IS NULL OR r.cell <> x.cell "
        "OR EXISTS (SELECT 1 FROM records WHERE corrects = x.corrects) "
        "OR (SELECT count(*) FROM incoming AS y WHERE y.cell = x.cell AND y.corrects = x.corrects) > 1) LIMIT 1"
    ).fetchone()
    if wrong:
        raise InvalidArgumentError(
            f"a value says that it corrects record {wrong[0]}, but {wrong[1]}. Nothing was kept."
        )


def recent_values(db: sqlite3.Connection) -> FloatArray:
    """The last readings, without those that failed."""
    recent = f"SELECT value FROM (SELECT value FROM records ORDER BY id DESC LIMIT {RECENT}) WHERE value IS NOT NULL"
    return np.fromiter((row[0] for row in db.execute(recent)), np.float64)


def _answer(db: sqlite3.Connection) -> tuple[int, float]:
    """Mark what was asked for as answered: how many cells, and what they cost, each its share of its list."""
    asked = f"(SELECT DISTINCT cell FROM incoming) CROSS JOIN asked USING (cell) WHERE state = {State.PENDING}"
    met = f"(SELECT list AS number, count(*) AS k FROM {asked} GROUP BY list)"
    shares = f"SELECT ifnull(sum(k), 0), total(k * (price / n_cells)) FROM {met} JOIN lists ON id = number"
    count, price = db.execute(shares).fetchone()
    if count:
        db.execute(f"UPDATE lists SET n_pending = n_pending - k FROM {met} WHERE id = number")
        cells = f"state = {State.PENDING} AND cell IN (SELECT cell FROM incoming)"
        db.execute(f"UPDATE asked SET state = {State.ANSWERED} WHERE {cells}")
    return count, price


def keep_records(
    db: sqlite3.Connection, now: int, origin: Origin, price: float, promised: list[int], n_again: int
) -> Receipt:
    """Keep the readings that came in. A cell that is pending costs its share of its list, any other the price."""
    tell, is_asked = last_id(db, "tells") + 1, "EXISTS (SELECT 1 FROM asked WHERE asked.cell = incoming.cell)"
    n_values, n_all, n_unasked, n_bounds = db.execute(
        f"SELECT count(value), count(*), ifnull(sum(NOT {is_asked}), 0), ifnull(sum(side <> 0), 0) FROM incoming"
    ).fetchone()
    n_answered, of_lists = _answer(db)
    spent = 0.0 if origin.history else of_lists + price * (n_all - n_answered)
    about = origin.who, origin.source, int(origin.history), origin.design
    insert(db, "tells", [(tell, now, *about, n_values, n_all - n_values, n_unasked, spent)])
    db.execute(
        "INSERT INTO records (tell, cell, value, side, list, corrects, note, measured_at, asked) "
        f"SELECT ?, cell, value, side, list, corrects, note, time, {is_asked} FROM incoming ORDER BY place",
        (tell,),
    )
    insert(db, "promises", ((None, tell, record) for record in promised))
    counts = n_values, n_all - n_values, n_unasked, n_again
    return Receipt(tell, moment_of(now), *counts, origin.source, n_bounds)


# -- what is known ------------------------------------------------------------------------------------------------


def summary_of(db: sqlite3.Connection) -> Summary:
    """Where the study stands, in numbers."""
    told = (
        "SELECT ifnull(sum(n_values), 0), ifnull(sum(n_failed), 0), ifnull(sum(n_unasked), 0), total(spent) FROM tells"
    )
    out = f"SELECT ifnull(sum(n_pending), 0), total(price * n_pending / max(n_cells, 1)) FROM lists WHERE {IS_OUT}"
    *numbers, is_partial = db.execute(
        f"SELECT * FROM ({told}), ({out}), (SELECT ifnull(max(id), 0) FROM lists), "
        "(SELECT ifnull(max(id), 0) FROM tells), (SELECT EXISTS (SELECT 1 FROM forbidden))",
        (wall_clock(),),
    ).fetchone()
    return Summary._make((*numbers, bool(is_partial)))


def snapshot_of(db: sqlite3.Connection, change: int, settings: Settings, at: int, *, is_now: bool) -> Snapshot:
    """All that an observation and a list are made of, as of a moment; what is out, only as of now.

    What was drawn before rows or columns were added does not represent the matrix of now: it is no evidence any more.
    """
    last_tell, last_list = (
        int(db.execute(f"SELECT ifnull(max(id), 0) FROM {table} WHERE {when} <= ?", (at,)).fetchone()[0])
        for table, when in MOMENTS[:2]
    )
    corrected = "SELECT corrects FROM records WHERE corrects IS NOT NULL AND tell <= ?1"
    readings = (
        f"SELECT cell, ifnull(value, 9e999), side FROM records WHERE tell <= ?1 AND id NOT IN ({corrected}) ORDER BY id"
    )
    kinds = [("cell", np.int64), ("value", np.float64), ("side", np.int64)]
    found = np.fromiter(db.execute(readings, (last_tell,)), dtype=kinds)
    grown = _grown_at(db, change, "n", "m")
    so_far = "SELECT ifnull(sum(n_values), 0), total(spent) FROM tells WHERE id <= ?"
    n_values, spent = db.execute(so_far, (last_tell,)).fetchone()
    out = f"list IN (SELECT id FROM lists WHERE {IS_OUT})"
    return Snapshot(
        _in_matrix(np.ascontiguousarray(found["cell"]), settings),
        np.where(np.isinf(found["value"]), np.nan, found["value"]),
        np.ascontiguousarray(found["side"]),
        _lines(db, last_list, grown, settings),
        _asked(db, last_list, change, settings),
        _forbidden(db, last_list, settings),
        _promised(db, last_tell, grown, settings),
        last_tell,
        last_list,
        n_values,
        spent,
        settings,
        change,
        *((_in_matrix(pending_cells(db), settings), lines_of(db, out, (wall_clock(),))) if is_now else ()),
    )


def pending_cells(db: sqlite3.Connection) -> IndexVector:
    """Cells that are out, as they are kept, ascending."""
    out = f"list IN (SELECT id FROM lists WHERE {IS_OUT}) AND state = {State.PENDING}"
    return integers(db.execute(f"SELECT cell FROM asked WHERE {out} ORDER BY cell", (wall_clock(),)))


def _grown_at(db: sqlite3.Connection, change: int, *sizes: str) -> int:
    """When rows (size "n") or columns ("m") were added last; 0 if they never were."""
    differ = " OR ".join(f"x.{size} <> y.{size}" for size in sizes)
    grown = (
        "SELECT ifnull(max(x.changed_at), 0) FROM changes AS x JOIN changes AS y ON y.id = x.id - 1 "
        f"WHERE x.id <= ? AND ({differ})"
    )
    return int(db.execute(grown, (change,)).fetchone()[0])


def _asked(db: sqlite3.Connection, last: int, change: int, settings: Settings) -> Asked:
    """Cells of all lists; those that were drawn from a smaller matrix count as asked for in another way."""
    query = "SELECT cell, list, role, state <> ? FROM asked WHERE list <= ? ORDER BY list, place"
    cells, lists, roles, is_new = _integers_in_rows(db.execute(query, (State.KNOWN, last)), 4).T
    for role, sizes in ((Role.DRAWN, "nm"), (Role.ON_DRAWN_COLUMN, "m"), (Role.ON_DRAWN_ROW, "n")):
        roles[(roles == role) & (lists <= _last_list_at(db, _grown_at(db, change, *sizes)))] = Role.ON_LINE
    return Asked(_in_matrix(cells, settings), lists, roles, is_new.astype(bool))


def _forbidden(db: sqlite3.Connection, last: int, settings: Settings) -> IndexVector:
    """List, kind and position of what nothing was drawn from."""
    query = "SELECT list, kind, position FROM forbidden WHERE list <= ?"
    found = _integers_in_rows(db.execute(query, (last,)), 3)
    _, kinds, positions = found.T
    for kind, size in zip((Kind.ROW, Kind.COLUMN), settings.shape, strict=True):
        if np.any((kinds == kind) & ((positions < 0) | (positions >= size))):
            raise DamageError("it forbids rows or columns that are not in its {} x {} matrix".format(*settings.shape))
    positions[kinds == Kind.CELL] = _in_matrix(positions[kinds == Kind.CELL], settings)
    return found


def _promised(db: sqlite3.Connection, last: int, grown: int, settings: Settings) -> IndexVector:
    """Cells that somebody promised to be a uniform sample of the matrix of now, ascending."""
    tells = "SELECT id FROM tells WHERE design = 'uniform' AND id <= ?1 AND told_at > ?2"
    records = f"tell IN ({tells}) OR id IN (SELECT record FROM promises WHERE tell IN ({tells}))"
    return different(
        _in_matrix(integers(db.execute(f"SELECT cell FROM records WHERE {records}", (last, grown))), settings)
    )


def _integers_in_rows(rows: Iterable[tuple[int, ...]], width: int) -> IndexVector:
    """All columns of some rows, shape (k, width)."""
    return np.fromiter(rows, dtype=np.dtype((np.int64, width)))


def _last_list_at(db: sqlite3.Connection, moment: int) -> int:
    return int(db.execute("SELECT ifnull(max(id), 0) FROM lists WHERE asked_at <= ?", (moment,)).fetchone()[0])


def _lines(db: sqlite3.Connection, last: int, grown: int, settings: Settings) -> tuple[Line, ...]:
    """Rows and columns that were asked for whole; what was chosen from fewer was not drawn from those of now."""
    old = _last_list_at(db, grown)
    rows = db.execute(
        "SELECT list, axis, position, design, reason FROM lines WHERE list <= ? ORDER BY id", (last,)
    ).fetchall()
    lines = tuple(Line(axis, k, "given" if x <= old else design, reason) for x, axis, k, design, reason in rows)
    if any(not 0 <= line.position < settings.shape[line.axis] for line in lines):
        raise DamageError("it has rows or columns that are not in its {} x {} matrix".format(*settings.shape))
    return lines


def _in_matrix(kept: IndexVector, settings: Settings) -> IndexVector:
    """Numbers of cells in the matrix of these settings."""
    n, m = settings.shape
    if len(kept) and (kept.min() < 0 or kept.max() // WIDTH >= n or (kept % WIDTH).max() >= m):
        raise DamageError(f"it has cells that are not in its {n} x {m} matrix")
    return numbered_cells(kept, m)
