"""Tables of whole numbers in text: fast for a good file; for a bad one, the error names the exact line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ..files import DataFile

__all__ = ["check_no_repeats", "check_range", "number_blocks"]

PARSED_AT_A_TIME = 2**18  # numbers that are parsed at a time
EXACT_INTEGERS = 2.0**53  # whole numbers below are exact in float64

Table = NDArray[np.int64]


def number_blocks(
    file: DataFile, lines: Iterator[str], *, width: int, meaning: str, first_line: int = 1
) -> Iterator[tuple[int, Table]]:
    """Blocks of lines with ``width`` whole numbers each, with the number of the line that each block begins at."""
    n_lines = max(1, PARSED_AT_A_TIME // width)
    while block := list(islice(lines, n_lines)):
        yield first_line, _table(file, block, width, meaning, first_line)
        first_line += len(block)


def _table(file: DataFile, block: list[str], width: int, meaning: str, first_line: int) -> Table:
    table = _parsed(block, width)
    if table is not None:
        return table
    if len(block) == 1:
        raise file.broken(f"expected {meaning}, found {block[0][:60]!r}", line=first_line)
    middle = len(block) // 2  # halving finds the first bad line
    _table(file, block[:middle], width, meaning, first_line)
    return _table(file, block[middle:], width, meaning, first_line + middle)


def _parsed(block: list[str], width: int) -> Table | None:
    if not all(block):  # NumPy would skip a blank line
        return None
    try:
        table = np.loadtxt(block, dtype=np.float64, comments=None, ndmin=2)
    except ValueError:
        return None
    whole = (
        table.shape == (len(block), width)
        and (np.abs(table) < EXACT_INTEGERS).all()
        and (table == np.floor(table)).all()
    )
    return table.astype(np.int64) if whole else None


def check_range(file: DataFile, column: Table, lowest: int, highest: int, *, name: str, first_line: int) -> None:
    """Every number of a column of a block lies between ``lowest`` and ``highest``."""
    outside = (column < lowest) | (column > highest)
    if outside.any():
        t = int(np.argmax(outside))
        raise file.broken(f"{name} {column[t]} is not between {lowest} and {highest}", line=first_line + t)


def check_no_repeats(file: DataFile, i: Table, j: Table, n_columns: int, *, what: str, first_line: int) -> None:
    """No position of the matrix occurs twice among the records, one in each line."""
    _, first = np.unique(i * n_columns + j, return_index=True)
    if len(first) < len(i):
        repeated = np.ones(len(i), dtype=bool)
        repeated[first] = False
        t = int(np.argmax(repeated))
        raise file.broken(f"{what} occurs a second time", line=first_line + t)
