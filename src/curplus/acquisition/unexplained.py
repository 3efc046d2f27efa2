"""How much more than elsewhere is unexplained in the rows and columns that would be bought next.

A row that is bought is known exactly. If ten times as much is unexplained in it as in others, it is worth ten of them,
so a budget goes first to the kind (rows or columns) that has such. Large rows may be well explained by others, so size
is not enough: the residuals of the entries that help to choose are used.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._arrays import to_numpy
from .candidates import Candidates
from .scores import squared_norms

__all__ = ["Unexplained", "unexplained_in_largest"]

FEWEST_ENTRIES = 30  # for a mean


class Unexplained(NamedTuple):
    """How many times as much as elsewhere is unexplained in the largest columns and rows; 1 without evidence."""

    columns: float = 1.0
    rows: float = 1.0


def unexplained_in_largest(candidates: Candidates, count: int) -> float:
    """Mean squared residual of entries in the ``count`` largest candidates for their price, over that of all entries.

    A standard error is taken off.
    """
    available, left = candidates.available, candidates.entry_squares
    count = min(count, len(available))
    if count < 1 or not float(np.sum(left)) > 0:
        return 1.0
    size = candidates.worth(to_numpy(squared_norms(candidates.sample)))[available]
    largest = available[np.argpartition(-size, count - 1)[:count]]
    in_largest = left[np.isin(candidates.entry_index, largest)] / float(np.mean(left))
    if len(in_largest) < FEWEST_ENTRIES:
        return 1.0
    error = float(np.std(in_largest, ddof=1)) / math.sqrt(len(in_largest))
    return max(float(np.mean(in_largest)) - error, 0.0)
