"""A study in one SQLite file: what is written and read, in SQL.

Every verb is one transaction that starts with the right to write (``BEGIN IMMEDIATE``), so that nobody can come in
between, and ends with everything on the disk. Each gets a moment of its own, later than all before it, whatever the
clocks of its authors show: so "as of this moment" has one meaning. Lists expire by the clock of whoever looks.
"""

from __future__ import annotations

import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from .._typing import FloatArray, IndexVector
from . import sql
from .connection import PATIENCE, Opened, begin, connect, errors_in_words, is_busy, traces_of
from .schema import WIDTH, check_digest, digest_carried_on, insert, last_id
from .settings import change_row, check_left, settings_of
from .storage import (
    Asker,
    Draft,
    Line,
    ListInfo,
    Origin,
    Receipt,
    Records,
    Round,
    Settings,
    Snapshot,
    State,
    Summary,
    moment_of,
)

__all__ = ["SQLiteStorage"]

T = TypeVar("T")


class SQLiteStorage:
    """One study in one file. Threads may share it; a forked process opens the file anew."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.RLock()
        self._opened: Opened | None = None
        self._owner = 0
        self._settings: tuple[int, Settings] | None = None
        self._read(check_digest)
        self._read(self._settings_now)
        self.is_read_only = not os.access(self.path, os.W_OK)

    def close(self) -> None:
        with self._lock:
            if self._opened is not None and self._owner == os.getpid():
                self._opened.connection.close()
            self._opened = None

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    # -- what happens ---------------------------------------------------------------------------------------------

    def add_list(self, draft: Draft, asker: Asker) -> ListInfo | None:
        """Keep a list; None if other lists or settings were kept since it was drafted."""
        with self._write() as (db, now):
            sql.expire(db)
            if (last_id(db, "lists"), last_id(db, "changes")) != draft.after:
                return None
            settings = self._settings_now(db)
            check_left(settings.budget, sql.summary_of(db), max(draft.budget, draft.price))
            return sql.keep_list(db, now, draft, asker, settings.shape[1])

    def add_records(
        self,
        records: Records,
        origin: Origin,
        *,
        check: Callable[[Records, FloatArray], None] | None = None,
        only_pending: bool = False,
        once: bool = False,
    ) -> Receipt:
        """Keep readings, but no line of a work list that is known already.

        ``check`` may refuse what is new, beside the last readings that are known. With ``only_pending`` a cell that is
        not pending any more is left out, and with ``once`` a reading of which a record has cell, value and note.
        """
        with self._write() as (db, now):
            sql.expire(db)
            known = sql.receive(db, records, only_pending=only_pending, once=once)
            new = records.take(sql.integers(db.execute("SELECT place FROM incoming ORDER BY place")))
            if check is not None:
                check(new, sql.recent_values(db))
            promised, n_again = known if origin.design else [], len(records) - len(new)
            if not len(new) and not promised:
                return Receipt(last_id(db, "tells"), moment_of(now), 0, 0, 0, n_again, origin.source)
            return sql.keep_records(db, now, origin, float(self._settings_now(db).prices.entry), promised, n_again)

    def cancel(self, list_id: int, cells: IndexVector | None) -> int:
        """Take pending cells of a list back; their number."""
        with self._write() as (db, _):
            sql.expire(db)
            sql.one_list(db, list_id)
            change = f"UPDATE asked SET state = {State.CANCELLED} WHERE state = {State.PENDING} AND list = ?"
            if cells is None:
                cancelled = db.execute(change, (list_id,)).rowcount
            else:
                some = ((list_id, cell) for cell in cells.tolist())
                cancelled = db.executemany(f"{change} AND cell = ?", some).rowcount
            sql.count_pending(db)
            return int(cancelled)

    def change(self, edit: Callable[[Settings], Settings], who: str) -> None:
        """Change the settings; what is pending of a row or column that is retired is taken back."""
        with self._write() as (db, now):
            sql.expire(db)
            before, number = self._settings_now(db), last_id(db, "changes") + 1
            after = edit(before)
            insert(db, "changes", [change_row(after, number, now, who)])
            rows, columns = (", ".join(map(str, sorted(axis.retired))) for axis in after.axes)
            is_retired = f"(cell / {WIDTH} IN ({rows}) OR cell % {WIDTH} IN ({columns}))"
            db.execute(f"UPDATE asked SET state = {State.CANCELLED} WHERE state = {State.PENDING} AND {is_retired}")
            sql.count_pending(db)

    def add_round(self, judged: Round) -> None:
        """Keep an error."""
        with self._write() as (db, now):
            insert(db, "rounds", [(None, now, *judged[1:])])  # SQLite keeps nan as NULL

    # -- what is known --------------------------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        """What was given when the study was created, and changed since, by whomever."""
        return self._read(self._settings_now)

    def summary(self) -> Summary:
        return self._read(sql.summary_of)

    def rounds(self) -> tuple[Round, ...]:
        rows = self._read(lambda db: db.execute("SELECT * FROM rounds ORDER BY id").fetchall())
        return tuple(
            Round._make((moment_of(at), *(math.nan if x is None else x for x in rest))) for _, at, *rest in rows
        )

    def lists(self) -> tuple[ListInfo, ...]:
        return tuple(map(sql.list_info, self._read(lambda db: db.execute(f"{sql.LIST} ORDER BY id").fetchall())))

    def list_parts(self, list_id: int) -> tuple[ListInfo, tuple[Line, ...], IndexVector]:
        """A list, its rows and columns, and its cells that are still pending, as they were handed out."""

        def parts(db: sqlite3.Connection) -> tuple[ListInfo, tuple[Line, ...], IndexVector]:
            info = sql.one_list(db, list_id)
            late = info.expires is not None and info.expires <= moment_of(sql.wall_clock())
            pending = "SELECT cell FROM asked WHERE list = ? AND state = ? ORDER BY place"
            cells = sql.integers(db.execute(pending, (list_id, -1 if late else State.PENDING)))
            return info, sql.lines_of(db, "list = ?", (list_id,)), cells

        return self._read(parts)

    def pending(self) -> IndexVector:
        """Cells that are out, as they are kept, ascending."""
        return self._read(sql.pending_cells)

    def snapshot(self, moment: datetime | None = None) -> Snapshot:
        """All that an observation is made of, as of a moment."""
        at = 2**63 - 1 if moment is None else int(moment.timestamp()) * 1_000_000 + moment.microsecond
        changes = "SELECT ifnull(max(id), 1) FROM changes WHERE changed_at <= ?"

        def look(db: sqlite3.Connection) -> Snapshot:
            change = int(db.execute(changes, (at,)).fetchone()[0])
            return sql.snapshot_of(db, change, self._settings_after(db, change), at, is_now=moment is None)

        return self._read(look)

    def record_rows(self) -> list[tuple[Any, ...]]:
        """Each reading with its number, cell, value, list, note, times, corrected record, who and source."""
        every = (
            "SELECT records.id, cell, value, side, list, note, measured_at, corrects, asked, told_at, told_by, source "
            "FROM records JOIN tells ON tells.id = records.tell ORDER BY records.id"
        )
        return self._read(lambda db: db.execute(every).fetchall())

    def log_notes(self) -> list[tuple[int, str]]:
        """Columns with the ends of the notes that logs of evaluations left, each once."""
        start = "instr(note, ' [\"')"
        query = f"SELECT DISTINCT cell % {WIDTH}, substr(note, {start}) FROM records WHERE {start} > 0"
        return self._read(lambda db: db.execute(query).fetchall())

    # -- transactions ---------------------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        if self._opened is not None and self._owner == os.getpid():
            if self._opened.copy_of in (None, traces_of(self.path)):
                return self._opened.connection
            self._opened.connection.close()
        self._opened, self._owner = connect(self.path), os.getpid()
        return self._opened.connection

    def _settings_now(self, db: sqlite3.Connection) -> Settings:
        return self._settings_after(db, last_id(db, "changes"))

    def _settings_after(self, db: sqlite3.Connection, change: int) -> Settings:
        if self._settings is None or self._settings[0] != change:
            self._settings = change, settings_of(db, change)
        return self._settings[1]

    @contextmanager
    def _write(self) -> Iterator[tuple[sqlite3.Connection, int]]:
        """A transaction with its moment: all of it is on the disk at the end, or nothing."""
        with self._lock, errors_in_words(self.path):
            db = self._open()
            begin(db, self.path)
            try:
                with digest_carried_on(db):
                    yield db, sql.tick(db)
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
