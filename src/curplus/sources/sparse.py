"""A SciPy sparse matrix. An entry that is not stored is the value zero, not a gap."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from .._arrays import number_array
from .._typing import IndexVector, Matrix, Names, Shape, Vector
from .._validation import check_two_dimensional

__all__ = ["SparseSource"]


class SparseSource:
    """A sparse array or matrix in any SciPy format, read through CSR (rows, entries) and CSC (columns).

    Implicit zeros are **values**: a word that does not occur in a document occurs zero times. For ratings, where
    what is not stored is unknown, build an :class:`~curplus.Observation` from the stored entries instead.
    Duplicate positions add up, as in SciPy.

    Parameters
    ----------
    matrix : scipy.sparse array or matrix of shape (n, m)
        Real or complex numbers. The caller's matrix is never changed.
    """

    row_names: Names | None = None
    column_names: Names | None = None

    def __init__(self, matrix: Any) -> None:
        check_two_dimensional(matrix.shape)
        self.dtype = number_array(np.empty(0, dtype=matrix.dtype), name="the matrix").dtype
        self.matrix = matrix

    @property
    def shape(self) -> Shape:
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    def rows(self, index: IndexVector) -> Matrix:
        return self._by_row[index].toarray()

    def columns(self, index: IndexVector) -> Matrix:
        return self._by_column[:, index].toarray()

    def entries(self, i: IndexVector, j: IndexVector) -> Vector:
        if len(i) == 0:  # SciPy would return a sparse matrix
            return np.empty(0, dtype=self.dtype)
        return np.asarray(self._by_row[i, j]).reshape(-1)

    def matmat(self, X: Matrix) -> Matrix:
        """Product with a tall matrix ``X`` of shape (m, k)."""
        return self._by_row @ X

    # Conversion to floating point comes first: duplicates of small integers would overflow when they add up.
    @cached_property
    def _by_row(self) -> Any:
        return scipy.sparse.csr_matrix(self.matrix.astype(self.dtype, copy=False))

    @cached_property
    def _by_column(self) -> Any:
        return scipy.sparse.csc_matrix(self.matrix.astype(self.dtype, copy=False))
