"""A study as a folder of CSV tables, and back: for people without this library, and for other versions of it.

Numbers are written so that they come back bit for bit. A text that a spreadsheet would take for a formula starts with
an apostrophe. Names of rows and columns stand beside each cell for people; only the numbers are read back.
"""

from __future__ import annotations

import csv
import json
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from ..exceptions import FileFormatError, InvalidArgumentError
from .making import make_file
from .names import Axis, escaped, unescaped
from .schema import STEPS, TABLES, run_steps
from .storage import Storage
from .table_files import text_lines

__all__ = ["export_study", "import_study"]

ABOUT = "about.json"
FORMAT = "curplus study"


def export_study(storage: Storage, folder: Path) -> None:
    """Write every table; the folder appears when it is complete."""
    if folder.exists():
        raise InvalidArgumentError(f"{folder} exists already. Give a folder that does not exist yet.")
    if not folder.parent.is_dir():
        raise InvalidArgumentError(f"there is no folder {folder.parent}. Make it before a study is exported to it.")
    n, m = storage.settings.shape
    axes = Axis.of("row", n, storage.settings.row_names), Axis.of("column", m, storage.settings.column_names)
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}.part")
    temporary.mkdir()
    try:

        def write(name: str, columns: tuple[str, ...], rows: Iterator[tuple[Any, ...]]) -> None:
            with (temporary / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
                _write_table(stream, columns, rows, axes)

        storage.dump(write)
        about = {"format": FORMAT, "version": len(STEPS), "shape": [n, m]}
        (temporary / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        temporary.rename(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _write_table(
    stream: TextIO, columns: tuple[str, ...], rows: Iterator[tuple[Any, ...]], axes: tuple[Axis, Axis]
) -> None:
    writer = csv.writer(stream)
    if "cell" not in columns:
        writer.writerow(columns)
        writer.writerows([escaped(x) for x in row] for row in rows)
        return
    where, m = columns.index("cell"), axes[1].size
    writer.writerow([*columns, "row", "column"])
    for row in rows:
        names = (axis.labels([k])[0] for axis, k in zip(axes, divmod(row[where], m), strict=True))
        writer.writerow([*(escaped(x) for x in row), *(escaped(x) for x in names)])


def import_study(folder: Path, path: Path) -> None:
    """Make a study file of what was exported."""
    _check_about(folder)
    kinds = _kinds()

    def rows_of(name: str) -> Iterator[tuple[Any, ...]]:
        table = folder / f"{name}.csv"
        if not table.is_file():
            raise FileFormatError(f"{folder} has no {name}.csv. Export the study again.")
        return _read_table(table, TABLES[name], kinds[name])

    make_file(path, rows_of)


def _check_about(folder: Path) -> None:
    try:
        with (folder / ABOUT).open(encoding="utf-8") as stream:
            about = json.loads(stream.read(10_000))
        if about["format"] != FORMAT or int(about["version"]) < 1:
            raise ValueError("it is not the format of a study")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileFormatError(f"{folder} is no exported study: {ABOUT} is missing or wrong ({error}).") from error
    if int(about["version"]) != len(STEPS):
        raise FileFormatError(
            f"{folder} was exported in version {about['version']}, and this curplus reads version {len(STEPS)}. Import "
            "it with the curplus that exported it, and open the file with this one."
        )


def _kinds() -> dict[str, dict[str, tuple[str, bool]]]:
    """Type of each column, and whether it may be empty."""
    blank = sqlite3.connect(":memory:")
    try:
        run_steps(blank)
        return {
            table: {
                name: (kind, not needed) for _, name, kind, needed, *_ in blank.execute(f"PRAGMA table_info({table})")
            }
            for table in TABLES
        }
    finally:
        blank.close()


def _read_table(path: Path, columns: tuple[str, ...], kinds: dict[str, tuple[str, bool]]) -> Iterator[tuple[Any, ...]]:
    reader = csv.reader(text_lines(path), strict=True)
    try:
        header = next(reader, [])
        if tuple(header[: len(columns)]) != columns:
            raise FileFormatError(f"{path} has the columns {header}, and it should have {list(columns)}.")
        readers = [_reader(*kinds[name]) for name in columns]
        for line in reader:
            if len(line) != len(header):
                raise ValueError(f"{len(line)} fields instead of {len(header)}")
            yield tuple(read(text) for read, text in zip(readers, line, strict=False))
    except (ValueError, csv.Error) as error:
        if isinstance(error, InvalidArgumentError):
            raise
        raise FileFormatError(f"{path}, line {reader.line_num}: {error}. Export the study again.") from error


def _reader(kind: str, may_be_empty: bool) -> Any:
    convert: Any = {"INTEGER": int, "REAL": float}.get(kind, unescaped)
    return lambda text: None if text == "" and may_be_empty else convert(text)
