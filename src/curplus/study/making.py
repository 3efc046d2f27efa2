"""Making a study file: it appears under its name when it is complete, and never in the place of another file."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..exceptions import InvalidArgumentError
from .connection import begin, errors_in_words, new_file
from .schema import TABLES

__all__ = ["make_file"]

Rows = Iterable[tuple[Any, ...]]


def make_file(path: Path, tables: Mapping[str, Rows] | Callable[[str], Rows]) -> None:
    """Write a new study file with these rows of its tables."""
    _check_free(path)
    rows_of = tables if callable(tables) else lambda name: tables.get(name, ())
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        with errors_in_words(path):
            _write(temporary, rows_of)
        _move(temporary, path)
    finally:
        for ending in ("", "-wal", "-shm"):
            temporary.with_name(temporary.name + ending).unlink(missing_ok=True)


def _check_free(path: Path) -> None:
    if not path.parent.is_dir():
        raise InvalidArgumentError(f"there is no folder {path.parent}. Make it before a study is made in it.")
    if os.path.lexists(path):
        raise InvalidArgumentError(f"{path} exists already. Open it with Study.open, or give another path.")
    for ending in ("-wal", "-shm"):
        if os.path.lexists(f"{path}{ending}"):
            raise InvalidArgumentError(
                f"{path}{ending} is left over from another study, and would be mixed with this one. Give another path."
            )


def _write(path: Path, rows_of: Callable[[str], Rows]) -> None:
    connection = new_file(path)
    try:
        begin(connection, path)
        for name, columns in TABLES.items():
            places = ", ".join("?" * len(columns))
            rows: Iterator[tuple[Any, ...]] = iter(rows_of(name))
            connection.executemany(f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({places})", rows)
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()


def _move(temporary: Path, path: Path) -> None:
    """Give a complete file its name, unless somebody else was faster."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise InvalidArgumentError(f"{path} exists already. Open it with Study.open, or give another path.") from None
    except OSError:  # a file system without links
        _check_free(path)
        temporary.rename(path)
    with suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
