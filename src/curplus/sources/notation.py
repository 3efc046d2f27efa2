"""Numbers as people write them: decimal marks, gaps, bounds, and what is said where a cell holds neither."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .._support.spelling import option
from .._typing import FloatArray, IndexVector
from ..exceptions import InvalidArgumentError

__all__ = ["SIDES", "CellValues", "Notation", "has_decimal_comma"]

#: What stands for a gap in a table, besides nothing.
GAPS = frozenset(
    {"", "NA", "na", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-NaN", "-nan", "NULL", "null", "None"}
    | {"none", "-", "--", ".", "?"}
)
TRUTH = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}
NUMBER = {mark: re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?".replace(r"\.", re.escape(mark))) for mark in ".,"}
INFINITE = re.compile(r"[+-]?(inf|infinity)", re.IGNORECASE)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
BOUND = re.compile(r"([<>≤≥])\s*=?\s*([\d.,+-].*)")
SIDES = {">": 1, "≥": 1, "<": -1, "≤": -1}  # whether the true value is at least the number, or at most
SWAPPED = str.maketrans(",.", ".,")  # so that with a decimal comma 1,5 is a number and 1.5 is none


def has_decimal_comma(cell: str) -> bool:
    """Whether the comma in a cell is a decimal mark for sure: in 1,5, and not in 1,000."""
    cell = _number_of(cell)
    return "," in cell and bool(NUMBER[","].fullmatch(cell)) and not THOUSANDS.fullmatch(cell)


def _number_of(cell: str) -> str:
    """The number of a bound; another cell as it is."""
    found = BOUND.fullmatch(cell) if cell[:1] in SIDES else None
    return cell if found is None else found[2]


class CellValues(NamedTuple):
    """The values of cells: numbers, and which of them are bounds."""

    values: FloatArray  # (k,), NaN for gaps
    sides: IndexVector | None = None  # (k,), 1: the true value is at least this, -1: at most, 0: it is this


class Notation:
    """How numbers and gaps are written in a table.

    Parameters
    ----------
    decimal : {".", ","}
        The decimal mark.
    na_values : str or list of str
        What stands for a gap, besides the usual words.
    """

    def __init__(self, decimal: str = ".", na_values: str | Iterable[str] = ()) -> None:
        if decimal not in (".", ","):
            raise InvalidArgumentError(f"{option('decimal', decimal)} is not one of '.', ','")
        self.decimal = decimal
        more = (na_values,) if isinstance(na_values, str) else na_values
        self._gaps = GAPS | {str(word).strip() for word in more}
        self._known = {**TRUTH, **dict.fromkeys(self._gaps, math.nan)}

    def is_gap(self, cell: str) -> bool:
        """Whether a cell stands for a gap."""
        return cell.strip() in self._gaps

    def is_number(self, cell: str) -> bool:
        """Whether a cell holds a number."""
        return bool(NUMBER[self.decimal].fullmatch(cell) or INFINITE.fullmatch(cell))

    def fits(self, cell: str) -> bool:
        """Whether a cell holds a number, a bound, a truth value or a gap; blanks may stand around it."""
        cell = cell.strip()
        return cell in self._known or self.is_number(cell) or self.is_bound(cell)

    def is_bound(self, cell: str) -> bool:
        """Whether a cell holds a bound, such as ``>10000`` or ``<= 0.5``."""
        return cell[:1] in SIDES and cell not in self._known and bool(NUMBER[self.decimal].fullmatch(_number_of(cell)))

    def readings(self, cells: Sequence[str]) -> CellValues:
        """The numbers of cells, and which are bounds; ValueError if a cell is neither these nor a gap."""
        try:
            return CellValues(self.numbers(cells))
        except ValueError:
            texts = list(map(str.strip, cells))
        sides = np.fromiter((SIDES[cell[0]] if self.is_bound(cell) else 0 for cell in texts), np.int64, len(texts))
        for k in np.flatnonzero(sides).tolist():
            texts[k] = _number_of(texts[k])
        return CellValues(self._parsed(texts), sides)

    def numbers(self, cells: Sequence[str]) -> FloatArray:
        """The numbers of cells, bit for bit, NaN for gaps; ValueError if one is neither."""
        try:
            return self._parsed(cells)
        except ValueError:
            return self._parsed(list(map(str.strip, cells)))

    def _parsed(self, cells: Sequence[str]) -> FloatArray:
        known = self._known
        if "_" in "".join(cells) and any("_" in cell and cell not in known for cell in cells):
            raise ValueError  # Python takes 1_000 for a number
        texts = cells if self.decimal == "." else map(str.translate, cells, itertools.repeat(SWAPPED))
        return np.fromiter(map(float, map(known.get, cells, texts)), np.float64, len(cells))

    def wrong(self, cells: Sequence[str]) -> list[int]:
        """Which cells are neither numbers nor gaps."""
        return [k for k, cell in enumerate(cells) if not self.fits(cell)]

    def advice(self, cell: str) -> str:
        """What to do about a cell that is neither a number nor a gap."""
        as_gap = option("na_values", [cell])
        cell = _number_of(cell)
        if self.decimal == "." and THOUSANDS.fullmatch(cell):
            comma = f", or with a decimal comma, which {option('decimal', ',')} says" if cell.count(",") == 1 else ""
            return f"It is written with a mark between thousands: leave the mark out{comma}"
        if self.decimal == "." and NUMBER[","].fullmatch(cell):
            return f"If the comma is the decimal mark, {option('decimal', ',')} says so"
        return f"If nothing was measured, leave the cell empty, or {as_gap} makes it a gap"
