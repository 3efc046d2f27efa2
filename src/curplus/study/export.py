"""A study as a folder of CSV tables: for people without this library, and for other programs.

Numbers are written so that they come back bit for bit. A text that a spreadsheet would take for a formula starts with
an apostrophe. Names of rows and columns stand beside each cell.
"""

from __future__ import annotations

import csv
import json
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from .._replacing import full_disk_in_words
from ..exceptions import InvalidArgumentError
from ..observation.bounds import bound_text
from .names import Axis, axes_of, escaped
from .schema import VERSION, WIDTH
from .sqlite import SQLiteStorage

__all__ = ["export_study"]


def export_study(storage: SQLiteStorage, folder: Path) -> None:
    """Write every table; the folder appears when it is complete."""
    if folder.exists():
        raise InvalidArgumentError(f"{folder} exists already. Give a folder that does not exist yet.")
    if not folder.parent.is_dir():
        raise InvalidArgumentError(f"there is no folder {folder.parent}. Make it before a study is exported to it.")
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}.part")
    try:
        with full_disk_in_words(folder):
            temporary.mkdir()
            settings = storage.dump(lambda settings, *table: _write_table(temporary, axes_of(settings), *table))
            about = {"format": "curplus study", "version": VERSION, "shape": list(settings.shape)}
            (temporary / "about.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
            temporary.rename(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _write_table(
    folder: Path, axes: tuple[Axis, Axis], name: str, columns: tuple[str, ...], rows: Iterator[tuple[Any, ...]]
) -> None:
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
        _write_rows(stream, axes, columns, rows)


def _write_rows(
    stream: TextIO, axes: tuple[Axis, Axis], columns: tuple[str, ...], rows: Iterator[tuple[Any, ...]]
) -> None:
    writer = csv.writer(stream)
    if "cell" not in columns:
        writer.writerow(columns)
        writer.writerows([escaped(x) for x in row] for row in rows)
        return
    where = columns.index("cell")
    if "side" in columns:
        rows = _with_bounds(rows, columns.index("value"), columns.index("side"))
    writer.writerow([*columns, "row", "column"])
    for row in rows:
        names = (axis.labels([k])[0] for axis, k in zip(axes, divmod(row[where], WIDTH), strict=True))
        writer.writerow([*(escaped(x) for x in row), *(escaped(x) for x in names)])


def _with_bounds(rows: Iterator[tuple[Any, ...]], value: int, side: int) -> Iterator[tuple[Any, ...]]:
    """Rows in which a bound is written as people do."""
    for row in rows:
        yield (*row[:value], bound_text(row[value], row[side]), *row[value + 1 :]) if row[side] else row
