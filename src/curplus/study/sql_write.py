"""What is written to a study file, in SQL; each function works within a transaction of the caller."""

from __future__ import annotations

import itertools
import sqlite3

import numpy as np

from .._sets import different, is_in
from .._typing import IndexVector
from .sql_read import integers, last_id, list_info, now_in_microseconds
from .storage import ANSWERED, CANCELLED, KNOWN, PENDING, Draft, ListInfo, Records, Told, moment_of

__all__ = ["answer", "expire", "fill_incoming", "keep_list", "keep_records", "those_pending", "tick"]


def tick(db: sqlite3.Connection) -> int:
    """The moment of this transaction, later than that of all before it."""
    moment = max(int(db.execute("SELECT clock FROM study").fetchone()[0]) + 1, now_in_microseconds())
    db.execute("UPDATE study SET clock = ?", (moment,))
    return moment


def expire(db: sqlite3.Connection, now: int) -> None:
    """Lists whose time is over are pending no more."""
    for (number,) in db.execute("SELECT id FROM lists WHERE n_pending > 0 AND expires <= ?", (now,)).fetchall():
        db.execute("UPDATE asked SET state = ? WHERE list = ? AND state = ?", (CANCELLED, number, PENDING))
        db.execute("UPDATE lists SET n_pending = 0 WHERE id = ?", (number,))


def keep_list(db: sqlite3.Connection, now: int, draft: Draft) -> ListInfo:
    """Keep a list with its rows, columns and cells."""
    n_cells = int(np.count_nonzero(~draft.is_known))
    expires = None if draft.expires_after is None else now + round(1e6 * draft.expires_after)
    row = (now, draft.asked_by, draft.purpose, draft.budget, draft.price, n_cells, n_cells, expires)
    number = db.execute(
        "INSERT INTO lists (asked_at, asked_by, purpose, budget, price, n_cells, n_pending, expires) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        row,
    ).lastrowid
    db.executemany(
        "INSERT INTO lines (list, axis, position, design, reason) VALUES (?, ?, ?, ?, ?)",
        ((number, *line) for line in draft.lines),
    )
    states = np.where(draft.is_known, KNOWN, PENDING)
    db.executemany(
        f"INSERT INTO asked (cell, list, role, state) VALUES (?, {number}, ?, ?)",
        zip(draft.cells.tolist(), draft.roles.tolist(), states.tolist(), strict=True),
    )
    return list_info((number, *row))


def fill_incoming(db: sqlite3.Connection, cells: IndexVector) -> None:
    """Put the cells of a table beside those that were asked for."""
    db.execute("CREATE TEMP TABLE IF NOT EXISTS incoming (cell INTEGER PRIMARY KEY)")
    db.execute("DELETE FROM incoming")
    db.executemany("INSERT INTO incoming VALUES (?)", ((cell,) for cell in different(cells).tolist()))


def those_pending(db: sqlite3.Connection, records: Records) -> Records:
    """Those readings whose cells are pending."""
    pending = integers(db.execute(f"SELECT cell FROM incoming CROSS JOIN asked USING (cell) WHERE state = {PENDING}"))
    keep = np.flatnonzero(is_in(records.cells, different(pending)))
    if len(keep) == len(records):
        return records
    return records.take(keep)


def answer(db: sqlite3.Connection) -> dict[int, int]:
    """Mark what was asked for as answered; how many cells of each list."""
    met = f"FROM incoming CROSS JOIN asked USING (cell) WHERE state = {PENDING}"
    answered = dict(db.execute(f"SELECT list, count(*) {met} GROUP BY list").fetchall())
    if answered:
        db.execute(
            f"UPDATE asked SET state = {ANSWERED} WHERE state = {PENDING} AND cell IN (SELECT cell FROM incoming)"
        )
        db.executemany("UPDATE lists SET n_pending = n_pending - ? WHERE id = ?", [(k, x) for x, k in answered.items()])
    return answered


def keep_records(
    db: sqlite3.Connection,
    now: int,
    records: Records,
    origin: tuple[str, str, str],
    price: float,
    answered: dict[int, int],
) -> Told:
    """Keep readings, with who told them, when, from where and at what price."""
    source, digest, who = origin
    n_failed, first = int(np.count_nonzero(np.isnan(records.values))), last_id(db, "records")
    n_values = len(records) - n_failed
    tell = db.execute(
        "INSERT INTO tells (told_at, told_by, source, digest, n_values, n_failed, n_unasked) "
        "VALUES (?, ?, ?, ?, ?, ?, 0)",
        (now, who, source, digest, n_values, n_failed),
    ).lastrowid
    rest = (
        itertools.repeat(None, len(records)) if x is None else x
        for x in (records.corrects, records.notes, records.times)
    )
    db.executemany(
        "INSERT INTO records (tell, cell, value, corrects, note, measured_at, asked) "
        f"VALUES ({tell}, ?1, ?2, ?3, ?4, ?5, EXISTS (SELECT 1 FROM asked WHERE cell = ?1))",
        zip(records.cells.tolist(), records.values.tolist(), *rest, strict=True),
    )
    n_unasked = db.execute("SELECT count(*) FROM records WHERE id > ? AND asked = 0", (first,)).fetchone()[0]
    db.execute("UPDATE tells SET n_unasked = ? WHERE id = ?", (n_unasked, tell))
    of_lists = sum(
        count * db.execute("SELECT price / n_cells FROM lists WHERE id = ?", (number,)).fetchone()[0]
        for number, count in answered.items()
    )
    spent = of_lists + price * (len(records) - sum(answered.values()))
    db.execute(
        "UPDATE study SET n_values = n_values + ?, n_failed = n_failed + ?, n_unasked = n_unasked + ?, "
        "spent = spent + ?",
        (n_values, n_failed, n_unasked, spent),
    )
    return Told(int(tell or 0), moment_of(now), n_values, n_failed, n_unasked, is_new=True)
