"""One SQLite file, made and opened with care: what it may do to us, what we promise of it, and errors in words.

Write-ahead logging lets readers and one writer work at the same moment; ``synchronous = FULL`` has every commit on the
disk before it returns. Both need a local disk: on a network drive the lock files do not work.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from .._files import write_bytes
from ..exceptions import CURPlusError, DiskFullError, FileFormatError, InvalidArgumentError, StudyError
from .schema import APPLICATION_ID, SCHEMA, VERSION, DamageError, check_schema, digest_carried_on, insert
from .settings import change_row
from .storage import Settings, user_of

__all__ = ["PATIENCE", "Opened", "begin", "connect", "errors_in_words", "is_busy", "make_file", "traces_of"]

PATIENCE = 60.0  # seconds to wait for other writers
LONGEST_VALUE = 2**26  # bytes; a crafted file cannot make us read a larger one
SETTINGS = (
    f"busy_timeout = {int(1000 * PATIENCE)}",
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "foreign_keys = ON",
    "synchronous = FULL",
)
LOWEST_SQLITE = (3, 37)  # strict tables
MAGIC = b"SQLite format 3\x00"
ROLLBACK, WRITE_AHEAD = b"\x01\x01", b"\x02\x02"  # bytes 18 and 19 of a file: whether it has a log

Traces = tuple[tuple[int, int] | None, ...]


class Opened(NamedTuple):
    """An open study file."""

    connection: sqlite3.Connection
    copy_of: Traces | None  # what the file looked like when it was copied to memory; None if it was not


def connect(path: Path) -> Opened:
    """An open study file whose tables are those of a study.

    Somebody who may not write gets a copy in memory, unless a writer has left a log beside the file: SQLite needs to
    write beside a file to share it, and to call the file immutable would be wrong while others may write.
    """
    _check_is_sqlite(path)
    with errors_in_words(path):
        opened = _opened(path)
        try:
            _check_is_study(opened.connection, path)
            check_schema(opened.connection)
        except BaseException:
            opened.connection.close()
            raise
    return opened


def _opened(path: Path) -> Opened:
    if os.access(path, os.W_OK):
        return Opened(_prepared(_connection(path, "rw")), None)
    for _ in range(100):
        before = traces_of(path)
        if before[1] is not None and before[1][0]:
            return Opened(_prepared(_connection(path, "ro")), None)
        content = path.read_bytes()
        if traces_of(path) == before:
            memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            memory.deserialize(content[:18] + ROLLBACK + content[20:])
            memory.execute("PRAGMA query_only = ON")
            return Opened(_prepared(memory), before)
        time.sleep(0.01)
    raise StudyError(f"{path} is read-only, and others write to it all the time. Try again, or work on a copy.")


def traces_of(path: Path) -> Traces:
    """Size and time of a file and of its log; None where there is none."""
    found: list[tuple[int, int] | None] = []
    for name in (path, path.with_name(path.name + "-wal")):
        try:
            status = name.stat()
            found.append((status.st_size, status.st_mtime_ns))
        except OSError:
            found.append(None)
    return tuple(found)


def _connection(path: Path, mode: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    try:
        if sqlite3.sqlite_version_info < LOWEST_SQLITE:
            raise StudyError(
                f"a study needs SQLite 3.37, and this Python has {sqlite3.sqlite_version}. Use a newer Python."
            )
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        for setting in SETTINGS:
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


def begin(connection: sqlite3.Connection, path: Path) -> None:
    """Begin to write, after others who write; SQLite alone gives up at once where it recovers from a kill."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
            if time.monotonic() > deadline:
                raise StudyError(
                    f"{path} was in use by others for {PATIENCE:.0f} seconds, so nothing was written. Try again."
                ) from error
            time.sleep(0.01)


def is_busy(error: Exception) -> bool:
    """Whether somebody else is at work, so that the same will succeed later."""
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


@contextmanager
def errors_in_words(path: Path) -> Iterator[None]:
    """Turn what SQLite says into what it means for the study."""
    try:
        yield
    except DamageError as error:
        raise FileFormatError(f"{path} cannot be used as a study: {error}. Restore it from a copy.") from error
    except (sqlite3.Error, UnicodeError, OverflowError) as error:
        raise _in_words(path, error) from error


def _in_words(path: Path, error: Exception) -> CURPlusError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    whole = "Nothing was written, and what the study had is whole"
    if code == sqlite3.SQLITE_READONLY:
        return StudyError(f"{path} is read-only. {whole}. Make the file and its folder writable, or work on a copy.")
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return DiskFullError(
            f"{path} could not be written: the disk is full or failed ({error}). {whole}. Make room first."
        )
    if code == sqlite3.SQLITE_CANTOPEN:
        return StudyError(f"{path} could not be opened ({error}). A study needs a folder that it may write to.")
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
        return StudyError(f"{path}: somebody else corrected the same record at the same moment. {whole}. Look again.")
    if is_busy(error):
        return StudyError(f"{path} was in use by others for {PATIENCE:.0f} seconds. {whole}. Try again.")
    return FileFormatError(
        f"{path} cannot be used as a study: it is damaged or was changed by another program "
        f"({type(error).__name__}: {error}). Restore it from a copy."
    )


def _check_is_sqlite(path: Path) -> None:
    try:
        found = path.stat()
    except FileNotFoundError:
        raise InvalidArgumentError(f"there is no study at {path}. Make one with Study.create.") from None
    if not stat.S_ISREG(found.st_mode):
        raise InvalidArgumentError(f"{path} is not a regular file, so it is no study. Give the path of a study file.")
    with path.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            raise FileFormatError(f"{path} is not a study: it is no SQLite file. Give the path of a study file.")


def _check_is_study(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise DamageError("it is an SQLite file of another program")
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise StudyError(
            f"{path} is a study of version {version}, and this curplus reads version {VERSION}. Install a curplus that "
            "is at least as new as the one that wrote it."
        )
    if 0 < version < VERSION:
        raise StudyError(
            f"{path} is a study of version {version}, and this curplus reads version {VERSION}. Export it with the "
            "curplus that wrote it, and tell its records to a new study (history=True: they cost nothing)."
        )
    if version != VERSION:
        raise DamageError("it has no tables")


# -- making -------------------------------------------------------------------------------------------------------


def make_file(path: Path, settings: Settings) -> None:
    """Write the file of a new study, all or nothing, and never in the place of another."""
    exists = f"{path} exists already. Open it with Study.open, or give another path."
    if not path.parent.is_dir():
        raise InvalidArgumentError(f"there is no folder {path.parent}. Make it before a study is made in it.")
    for ending in ("-wal", "-shm"):
        if not os.path.lexists(path) and os.path.lexists(f"{path}{ending}"):
            raise InvalidArgumentError(
                f"{path}{ending} is left over from another study, and would be mixed with this one. Give another path."
            )
    with errors_in_words(path):
        content = _new_content(settings)
    try:
        path.open("xb").close()  # the name is ours: whoever comes second is refused
    except FileExistsError:
        raise InvalidArgumentError(exists) from None
    try:
        write_bytes(path, content)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _new_content(settings: Settings) -> bytes:
    """The bytes of a new study file, in write-ahead mode."""
    memory, now = _prepared(sqlite3.connect(":memory:", isolation_level=None)), time.time_ns() // 1000
    with closing(memory):
        memory.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        memory.execute(f"PRAGMA user_version = {VERSION}")
        for statement in SCHEMA:
            memory.execute(statement)
        with digest_carried_on(memory):
            insert(memory, "study", [(1, now, 0)])
            insert(memory, "changes", [change_row(settings, 1, now, user_of(None))])
        content = memory.serialize()
    return content[:18] + WRITE_AHEAD + content[20:]
