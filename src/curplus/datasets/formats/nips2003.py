"""The NIPS 2003 feature selection challenge: one example per line, dense numbers or sparse "feature:value" pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ..files import DataFile
from .numbers import number_blocks
from .pairs import sparse_row, stack_rows

__all__ = ["read_dense_rows", "read_sparse_rows"]


def read_sparse_rows(file: DataFile, n_features: int) -> Any:
    """Examples with their non-zero features, as a CSR array of shape (examples, n_features)."""
    rows = [sparse_row(file, text, n_features, line=line) for line, text in enumerate(file.lines(), start=1)]
    return stack_rows(rows, n_features)


def read_dense_rows(file: DataFile, n_features: int) -> Any:
    """Examples with all their features, most of them zero, as a CSR array of shape (examples, n_features)."""
    blocks = number_blocks(file, file.lines(), width=n_features, meaning=f"{n_features} whole numbers")
    parts = [scipy.sparse.csr_array(table.astype(np.float64)) for _, table in blocks]
    return scipy.sparse.vstack([scipy.sparse.csr_array((0, n_features), dtype=np.float64), *parts], format="csr")
