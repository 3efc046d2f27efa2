"""Numbers as people write them: decimal marks, gaps, and what is said where a cell holds neither."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence

import numpy as np

from .._spelling import option
from .._typing import FloatArray
from ..exceptions import InvalidArgumentError

__all__ = ["Notation", "has_decimal_comma"]

#: What stands for a gap in a table, besides nothing.
GAPS = frozenset(
    {"", "NA", "na", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-NaN", "-nan", "NULL", "null", "None"}
    | {"none", "-", "--", ".", "?"}
)
TRUTH = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}
NUMBER = {mark: re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?".replace(r"\.", re.escape(mark))) for mark in ".,"}
INFINITE = re.compile(r"[+-]?(inf|infinity)", re.IGNORECASE)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
BOUND = re.compile(r"[<>≤≥]\s*=?\s*[\d.,+-].*")
SWAPPED = str.maketrans(",.", ".,")  # so that with a decimal comma 1,5 is a number and 1.5 is none


def has_decimal_comma(cell: str) -> bool:
    """Whether the comma in a cell is a decimal mark for sure: in 1,5, and not in 1,000."""
    return "," in cell and bool(NUMBER[","].fullmatch(cell)) and not THOUSANDS.fullmatch(cell)


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
        """Whether a cell holds a number, a truth value or a gap; blanks may stand around it."""
        cell = cell.strip()
        return cell in self._known or self.is_number(cell)

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
        if BOUND.fullmatch(cell):
            return (
                "It is a bound, and a bound was measured: with a gap in its place, means and filled values lean to the "
                f"other side. If it should be a gap all the same, {as_gap} says so"
            )
        if self.decimal == "." and THOUSANDS.fullmatch(cell):
            comma = f", or with a decimal comma, which {option('decimal', ',')} says" if cell.count(",") == 1 else ""
            return f"It is written with a mark between thousands: leave the mark out{comma}"
        if self.decimal == "." and NUMBER[","].fullmatch(cell):
            return f"If the comma is the decimal mark, {option('decimal', ',')} says so"
        return f"If nothing was measured, leave the cell empty, or {as_gap} makes it a gap"
