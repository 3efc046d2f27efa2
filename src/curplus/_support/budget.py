"""How ``observe`` splits a budget between rows, columns and entries, and ``acquire`` before anything is read.

Rows and columns get money in proportion to the square root of their lengths, whatever they cost: of all ways to
divide it, that was the best or near it on every matrix tried (``benchmarks/budget.py``). The same money for both buys
far too many of the short ones if a matrix is long. How much goes to single entries follows from how many crosses,
a row and a column each, the budget could buy: with few crosses, entries alone are better; many crosses are better
than entries.
"""

from __future__ import annotations

import math

from .._typing import Shape

__all__ = ["counts_for_budget", "parts_by_length", "share_for_crosses"]

# Settled by hand on the matrices of benchmarks/budget.py; ranges are not measured.
FEWEST_CROSSES = 4  # sampled rows, and columns: fewer are not worth their price
FOR_CROSSES, FOR_EACH_CROSS = 0.53, 0.0325  # share for rows and columns: more if they are many
MOST_FOR_CROSSES = 0.82  # entries also choose the weights and estimate the error


def share_for_crosses(crosses: float) -> float:
    """Share of a budget for rows and columns, by how many of each it could buy; few of them are of little use."""
    share = min(FOR_CROSSES + FOR_EACH_CROSS * crosses, MOST_FOR_CROSSES)
    return share if crosses >= FEWEST_CROSSES else 0.0


def parts_by_length(*lengths: int) -> list[float]:
    """Parts of what is for rows and columns that each kind gets: as the square root of its length."""
    roots = [math.sqrt(length) for length in lengths]
    return [root / sum(roots) for root in roots]


def counts_for_budget(shape: Shape, n_values: float) -> dict[str, int]:
    """How many columns, rows and entries are at most ``n_values`` positions."""
    n, m = shape
    for_lines, (column, row) = share_for_crosses(n_values / (n + m)) * n_values, parts_by_length(n, m)
    d1, d2 = min(int(for_lines * column / n), m), min(int(for_lines * row / m), n)
    on_lines = n * d1 + m * d2 - d1 * d2
    return {"n_columns": d1, "n_rows": d2, "n_entries": min(int(n_values) - on_lines, n * m)}
