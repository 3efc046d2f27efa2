"""Tables of a report, and its numbers in words: each cell has what is shown and what it is sorted by."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

__all__ = [
    "UNKNOWN",
    "Cell",
    "Table",
    "amount",
    "counted",
    "number",
    "percent",
    "place",
    "quantity",
    "sentence",
    "table_of",
    "text",
    "when",
]


class Cell(NamedTuple):
    """One place of a table."""

    text: str
    sort: float | None = None  # the number behind the text, nan where it is not known; None for words


UNKNOWN = Cell("–", math.nan)


class Table(NamedTuple):
    """A table that can be sorted."""

    labels: tuple[str, ...]
    is_number: tuple[bool, ...]  # for each column
    lines: tuple[tuple[Cell, ...], ...]


def table_of(formats: Mapping[str, Callable[[Any], Cell]], lines: Iterable[Sequence[Any]]) -> Table:
    """A table of columns by name, each in its format; one with numbers behind its cells is set to the right."""
    listed = tuple(tuple(show(x) for show, x in zip(formats.values(), line, strict=True)) for line in lines)
    is_number = tuple(any(line[k].sort is not None for line in listed) for k in range(len(formats)))
    return Table(tuple(formats), is_number, listed)


def text(x: Any) -> Cell:
    """Words."""
    return Cell(str(x))


def place(k: int) -> Cell:
    """A number that counts lines."""
    return Cell(str(k), k)


def amount(x: float) -> str:
    """A number of values, or money: all digits before the point."""
    return f"{x:,.0f}" if abs(x) >= 1000 or float(x).is_integer() else f"{x:,.4g}"


def quantity(x: Any) -> Cell:
    """An amount that can be sorted."""
    return Cell(amount(x), float(x))


def number(x: Any) -> Cell:
    """A number with four digits; a dash where there is none."""
    value = float(x)
    if not math.isfinite(value):
        return UNKNOWN
    return Cell(f"{value:,.0f}" if abs(value) >= 1000 and abs(value) < 1e9 else f"{value:#.4g}", value)


def percent(x: Any) -> Cell:
    """A share in percent; a dash where there is none."""
    value = float(x)
    if not math.isfinite(value):
        return UNKNOWN
    digits = 2 if 0 < abs(value) < 0.01 else 1
    return Cell(f"{100 * value:.{digits}f} %", value)


def when(moment: datetime) -> Cell:
    """A moment, in universal time to the minute."""
    return Cell(f"{moment:%Y-%m-%d %H:%M}", moment.timestamp())


def counted(count: int, noun: str) -> str:
    """How many there are of something."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def sentence(words: str) -> str:
    """Words with a capital letter and a full stop."""
    return words[:1].upper() + words[1:] + ("" if words.endswith(".") else ".")
