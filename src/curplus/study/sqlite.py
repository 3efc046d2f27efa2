"""A study in one SQLite file: with ``sql_read`` and ``sql_write``, the only modules that speak SQL.

Every verb is one transaction that starts with the right to write (``BEGIN IMMEDIATE``), so that nobody can come in
between, and ends with everything on the disk. Each gets a moment of its own, later than all before it, whatever the
clocks of its authors say: so "as of this moment" has one meaning.
"""

from __future__ import annotations

import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .._typing import FloatArray, IndexVector
from .connection import PATIENCE, begin, connect, errors_in_words, is_busy
from .schema import TABLES
from .sql_read import (
    IS_OUT,
    LIST,
    integers,
    last_id,
    lines_of,
    list_info,
    microseconds,
    now_in_microseconds,
    number_or_nan,
    one_list,
    settings_of,
    snapshot_of,
    summary_of,
)
from .sql_write import answer, expire, fill_incoming, keep_list, keep_records, those_pending, tick
from .storage import CANCELLED, PENDING, Draft, Line, ListInfo, Records, Round, Snapshot, Summary, Told, moment_of

__all__ = ["SQLiteStorage"]

T = TypeVar("T")


class SQLiteStorage:
    """One study in one file. Threads may share it; a forked process opens the file anew."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._owner = 0
        self.settings = self._read(settings_of)
        self.is_read_only = not os.access(self.path, os.W_OK)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None and self._owner == os.getpid():
                self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    # -- what happens ---------------------------------------------------------------------------------------------

    def add_list(self, draft: Draft) -> ListInfo | None:
        with self._write() as (db, now):
            expire(db, now)
            if last_id(db, "lists") != draft.after_list:
                return None
            return keep_list(db, now, draft)

    def add_records(
        self, records: Records, *, source: str, digest: str, who: str, price: float, only_pending: bool
    ) -> Told:
        with self._write() as (db, now):
            earlier = db.execute(
                "SELECT id, told_at, n_values, n_failed, n_unasked FROM tells WHERE digest = ? AND digest <> ''",
                (digest,),
            ).fetchone()
            if earlier is not None:
                return Told._make((earlier[0], moment_of(earlier[1]), *earlier[2:], False))
            expire(db, now)
            is_out = bool(db.execute("SELECT 1 FROM lists WHERE n_pending > 0 LIMIT 1").fetchone())
            if is_out or only_pending:
                fill_incoming(db, records.cells)
                if only_pending:
                    records = those_pending(db, records)
            if not len(records) and only_pending:
                return Told(last_id(db, "tells"), moment_of(now), 0, 0, 0, is_new=False)
            answered = answer(db) if is_out else {}
            return keep_records(db, now, records, (source, digest, who), price, answered)

    def cancel(self, list_id: int, cells: IndexVector | None) -> int:
        with self._write() as (db, now):
            expire(db, now)
            one_list(db, list_id)
            change = f"UPDATE asked SET state = {CANCELLED} WHERE state = {PENDING} AND list = ?"
            if cells is None:
                cancelled = db.execute(change, (list_id,)).rowcount
            else:
                some = ((list_id, cell) for cell in cells.tolist())
                cancelled = db.executemany(f"{change} AND cell = ?", some).rowcount
            db.execute("UPDATE lists SET n_pending = n_pending - ? WHERE id = ?", (cancelled, list_id))
            return int(cancelled)

    def add_round(self, judged: Round) -> None:
        with self._write() as (db, now):
            numbers = (None if math.isnan(x) else x for x in judged[4:8])
            db.execute(
                "INSERT INTO rounds (judged_at, tell, n_values, spent, error, relative, low, high, reason) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (now, judged.tell, judged.n_values, judged.spent, *numbers, judged.reason),
            )

    # -- what is known --------------------------------------------------------------------------------------------

    def summary(self) -> Summary:
        return self._read(summary_of)

    def rounds(self) -> tuple[Round, ...]:
        columns = "judged_at, tell, n_values, spent, error, relative, low, high, reason"
        rows = self._read(lambda db: db.execute(f"SELECT {columns} FROM rounds ORDER BY id").fetchall())
        return tuple(
            Round._make((moment_of(at), tell, n_values, spent, *map(number_or_nan, numbers), reason))
            for at, tell, n_values, spent, *numbers, reason in rows
        )

    def lists(self) -> tuple[ListInfo, ...]:
        return tuple(map(list_info, self._read(lambda db: db.execute(f"{LIST} ORDER BY id").fetchall())))

    def list_parts(self, list_id: int) -> tuple[ListInfo, tuple[Line, ...], IndexVector]:
        def parts(db: sqlite3.Connection) -> tuple[ListInfo, tuple[Line, ...], IndexVector]:
            info = one_list(db, list_id)
            late = info.expires is not None and info.expires <= moment_of(now_in_microseconds())
            pending = "SELECT cell FROM asked WHERE list = ? AND state = ? ORDER BY cell"
            cells = integers(db.execute(pending, (list_id, -1 if late else PENDING)))
            return info, lines_of(db, "list = ?", (list_id,)), cells

        return self._read(parts)

    def pending(self) -> tuple[IndexVector, tuple[Line, ...]]:
        out = f"list IN (SELECT id FROM lists WHERE {IS_OUT})"

        def parts(db: sqlite3.Connection) -> tuple[IndexVector, tuple[Line, ...]]:
            now = now_in_microseconds()
            cells = db.execute(f"SELECT cell FROM asked WHERE {out} AND state = {PENDING} ORDER BY cell", (now,))
            return integers(cells), lines_of(db, out, (now,))

        return self._read(parts)

    def snapshot(self, moment: datetime | None = None) -> Snapshot:
        return self._read(lambda db: snapshot_of(db, self.settings, microseconds(moment)))

    def recent_values(self, count: int) -> FloatArray:
        recent = "SELECT value FROM (SELECT value FROM records ORDER BY id DESC LIMIT ?) WHERE value IS NOT NULL"
        return self._read(lambda db: np.fromiter((row[0] for row in db.execute(recent, (count,))), np.float64))

    def record_rows(self) -> Iterator[tuple[Any, ...]]:
        every = (
            "SELECT records.id, cell, value, note, measured_at, corrects, asked, told_at, told_by, source "
            "FROM records JOIN tells ON tells.id = records.tell ORDER BY records.id"
        )
        yield from self._read(lambda db: db.execute(every).fetchall())

    def find_records(self, numbers: Iterable[int]) -> dict[int, tuple[int, bool]]:
        corrected = "EXISTS (SELECT 1 FROM records AS later WHERE later.corrects = records.id)"
        query = f"SELECT id, cell, {corrected} FROM records WHERE id = ?"

        def look_up(db: sqlite3.Connection) -> dict[int, tuple[int, bool]]:
            rows = (db.execute(query, (number,)).fetchone() for number in set(numbers))
            return {row[0]: (row[1], bool(row[2])) for row in rows if row}

        return self._read(look_up)

    def dump(self, write: Callable[[str, tuple[str, ...], Iterator[tuple[Any, ...]]], None]) -> None:
        def tables(db: sqlite3.Connection) -> None:
            for name, columns in TABLES.items():
                write(name, columns, iter(db.execute(f"SELECT {', '.join(columns)} FROM {name} ORDER BY 1, 2")))

        self._read(tables)

    def check(self) -> str:
        """What SQLite says of the file as a whole: ``"ok"`` if all is well."""
        return str(self._read(lambda db: db.execute("PRAGMA integrity_check").fetchone()[0]))

    # -- transactions ---------------------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        if self._connection is None or self._owner != os.getpid():
            self._connection, self._owner = connect(self.path), os.getpid()
        return self._connection

    @contextmanager
    def _write(self) -> Iterator[tuple[sqlite3.Connection, int]]:
        """A transaction with its moment: all of it is on the disk at the end, or nothing."""
        with self._lock, errors_in_words(self.path):
            db = self._open()
            begin(db, self.path)
            try:
                yield db, tick(db)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def _read(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """The answer to a question as of one moment."""
        with self._lock, errors_in_words(self.path):
            db, deadline = self._open(), time.monotonic() + PATIENCE
            while True:
                try:
                    db.execute("BEGIN")
                    return question(db)
                except sqlite3.OperationalError as error:
                    if not is_busy(error) or time.monotonic() > deadline:
                        raise
                    time.sleep(0.01)
                finally:
                    if db.in_transaction:
                        db.execute("ROLLBACK")  # nothing was written
