"""Lines of "index:value" pairs, counted from 1, as the NIPS 2003 challenge and libsvm write sparse rows."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..._sets import NO_INDEX
from ..files import DataFile

__all__ = ["SparseRow", "sparse_row", "stack_rows"]

NUMBER_PATTERN = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
PAIRS_PATTERN = re.compile(rf"(?:\d+:{NUMBER_PATTERN}(?:\s+|$))*")


class SparseRow(NamedTuple):
    """One row: the columns that are stored, counted from 0, and their values."""

    columns: NDArray[np.int64]  # (k,)
    values: NDArray[np.float64]  # (k,)


def sparse_row(file: DataFile, text: str, n_columns: int, *, line: int) -> SparseRow:
    """Parse the pairs of one line."""
    good = PAIRS_PATTERN.match(text)
    if good is None or good.end() < len(text):
        rest = text[good.end() if good else 0 :]
        raise file.broken(f"expected pairs 'index:value', found {rest[:60]!r}", line=line)
    numbers = np.array(text.replace(":", " ").split(), dtype=np.float64).reshape(-1, 2)
    outside = (numbers[:, 0] < 1) | (numbers[:, 0] > n_columns)
    if outside.any():
        raise file.broken(f"index {numbers[outside, 0][0]:.0f} is not between 1 and {n_columns}", line=line)
    columns = numbers[:, 0].astype(np.int64)
    if len(np.unique(columns)) < len(columns):
        raise file.broken("an index occurs a second time", line=line)
    return SparseRow(columns - 1, numbers[:, 1])


def stack_rows(rows: list[SparseRow], n_columns: int) -> Any:
    """The rows as a CSR array of shape (len(rows), n_columns)."""
    starts = np.cumsum([0, *(len(row.columns) for row in rows)])
    columns = np.concatenate([NO_INDEX, *(row.columns for row in rows)])
    values = np.concatenate([np.empty(0), *(row.values for row in rows)])
    return scipy.sparse.csr_array((values, columns, starts), shape=(len(rows), n_columns))
