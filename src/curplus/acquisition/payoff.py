"""Whether more rows and columns are worth their money, or single entries are: what those read so far have explained.

Where a matrix is of low rank, twice as many rows and columns explain much of what half of them leave over. Where single
values are mostly noise, they do not, and entries, each in a row and a column of its own, say more.
"""

from __future__ import annotations

import numpy as np

from ..observation import Observation
from .candidates import left_over_by

__all__ = ["lines_pay"]

LEAST = 0.2  # share of the squares at entries that twice as many rows and columns must explain
FEWEST = 100  # entries that can say so


def lines_pay(observation: Observation, n_columns: int, n_rows: int) -> bool:
    """Whether the first rows and columns explain clearly more than the first half of them.

    Entries that help to choose tell. As long as these are few, or rows and columns fewer than asked for, they pay.

    Parameters
    ----------
    observation : Observation
        What is known, rows and columns in the order in which they were read.
    n_columns, n_rows : int
        How many of them are compared with half as many.
    """
    if min(n_columns, n_rows) < 2 or observation.n_columns < n_columns or observation.n_rows < n_rows:
        return True
    first = observation.subset(columns=np.arange(n_columns), rows=np.arange(n_rows))
    entries = np.flatnonzero(first.outside & first.steering)
    if len(entries) < FEWEST:
        return True
    half = first.subset(columns=np.arange(n_columns // 2), rows=np.arange(n_rows // 2))
    left, left_by_half = (float(np.sum(left_over_by(x, entries))) for x in (first, half))
    return left <= (1 - LEAST) * left_by_half
