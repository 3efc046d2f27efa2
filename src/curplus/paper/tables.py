"""Tidy tables: a list of rows, each a mapping from column names to numbers and words, kept as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .._files import write_bytes

__all__ = ["Row", "Rows", "read_csv", "rounded", "unique", "where", "write_csv"]

Row = dict[str, Any]
Rows = list[Row]


def where(rows: Iterable[Row], **wanted: Any) -> Rows:
    """The rows with the wanted values; a tuple or set stands for any of its members."""
    sets = {name: value if isinstance(value, tuple | set) else (value,) for name, value in wanted.items()}
    return [row for row in rows if all(row[name] in values for name, values in sets.items())]


def unique(rows: Iterable[Row], column: str) -> list[Any]:
    """The values of a column, each once, in the order in which they appear."""
    return list(dict.fromkeys(row[column] for row in rows))


def rounded(value: Any) -> Any:
    """Floats to eight significant digits, which is more than any experiment here is worth; the rest as it is."""
    return float(f"{value:.8g}") if isinstance(value, float) else value


def write_csv(path: Path, rows: Rows) -> None:
    """Write a table; an older one stays whole until the new one is complete."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_bytes(path, stream.getvalue().encode())


def read_csv(path: Path) -> Rows:
    """Read what :func:`write_csv` wrote, numbers as numbers."""
    with path.open(newline="", encoding="utf-8") as stream:
        return [{name: _parsed(text) for name, text in row.items()} for row in csv.DictReader(stream)]


def _parsed(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
