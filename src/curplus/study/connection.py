"""One SQLite file, opened with care: what it may do to us, what we promise of it, and errors in words.

Write-ahead logging lets readers and one writer work at the same moment; ``synchronous = FULL`` has every commit on the
disk before it returns. Both need a local disk: on a network drive the lock files do not work.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..exceptions import CURPlusError, FileFormatError, InvalidArgumentError, StudyError
from .schema import APPLICATION_ID, STEPS, DamageError, check_schema, run_steps, version_of

__all__ = ["begin", "connect", "errors_in_words", "is_busy", "new_file"]

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


def connect(path: Path) -> sqlite3.Connection:
    """An open study file, checked and brought up to date."""
    _check_is_sqlite(path)
    with errors_in_words(path):
        writable = os.access(path, os.W_OK)
        connection = _opened(path, "rw" if writable else "ro")
        try:
            _check_is_study(connection, path)
            if version_of(connection) < len(STEPS):
                _bring_up_to_date(connection, path, writable)
            check_schema(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def new_file(path: Path) -> sqlite3.Connection:
    """A study file without content."""
    connection = _opened(path, "rwc")
    connection.execute("PRAGMA page_size = 4096")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    begin(connection, path)
    run_steps(connection)
    connection.execute("COMMIT")
    return connection


def _opened(path: Path, mode: str) -> sqlite3.Connection:
    if sqlite3.sqlite_version_info < LOWEST_SQLITE:
        raise StudyError(
            f"a study needs SQLite 3.37, and this Python has {sqlite3.sqlite_version}. Use a newer Python."
        )
    address = path.absolute().as_uri()
    log = path.with_name(path.name + "-wal")
    if mode == "ro" and not (log.exists() and log.stat().st_size) and not os.access(path.parent, os.W_OK):
        mode += "&immutable=1"  # nobody can write, and there is nothing to catch up with
    connection = sqlite3.connect(f"{address}?mode={mode}", uri=True, isolation_level=None, check_same_thread=False)
    try:
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
    except (sqlite3.Error, UnicodeError) as error:
        raise _in_words(path, error) from error


def _in_words(path: Path, error: Exception) -> CURPlusError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    whole = "Nothing was written, and what the study had is whole"
    if code == sqlite3.SQLITE_READONLY:
        return StudyError(f"{path} is read-only. {whole}. Make the file and its folder writable, or work on a copy.")
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return StudyError(
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
    version = version_of(connection)
    if version > len(STEPS):
        raise StudyError(
            f"{path} is a study of version {version}, and this curplus reads up to version {len(STEPS)}. Install a "
            "curplus that is at least as new as the one that wrote it."
        )
    if version < 1:
        raise DamageError("it has no tables")


def _bring_up_to_date(connection: sqlite3.Connection, path: Path, writable: bool) -> None:
    """Run the steps that an older file lacks; somebody else may do so at the same moment."""
    version = version_of(connection)
    check_schema(connection, STEPS[:version])
    if not writable:
        raise StudyError(
            f"{path} is a study of version {version} and read-only, so it cannot be brought to version {len(STEPS)}. "
            "Work on a copy that is writable."
        )
    begin(connection, path)
    try:
        run_steps(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
