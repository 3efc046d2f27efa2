"""A matrix that is kept as a product of two factors, for sizes at which it would not fit into memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import adjoint, array_namespace, is_numpy_array, row_dots, take, to_numpy
from .._typing import IndexVector, Matrix, Shape, Vector

__all__ = ["FactoredSource"]


@dataclass(frozen=True, eq=False, repr=False)
class FactoredSource:
    """The matrix ``left @ right``, which computes what it is asked for and nothing else, where its factors are.

    Parameters
    ----------
    left : array of shape (n, k)
        The first factor, of any array library.
    right : array of shape (k, m)
        The second factor, of the same.
    """

    left: Matrix
    right: Matrix

    @property
    def shape(self) -> Shape:
        return self.left.shape[0], self.right.shape[1]

    @property
    def dtype(self) -> Any:
        return array_namespace(self.left, self.right).result_type(self.left, self.right)

    def rows(self, index: IndexVector) -> Matrix:
        return _taken(self.left, index, axis=0) @ self.right

    def columns(self, index: IndexVector) -> Matrix:
        return self.left @ _taken(self.right, index, axis=1)

    def entries(self, i: IndexVector, j: IndexVector) -> Vector:
        left, right = _taken(self.left, i, axis=0), _taken(self.right, j, axis=1)
        if is_numpy_array(left):
            return np.einsum("tk,kt->t", left, right)
        return row_dots(left, adjoint(right))

    def matmat(self, X: Matrix) -> Matrix:
        """Product with a tall matrix ``X`` of shape (m, k)."""
        return self.left @ (self.right @ X)

    def singular_values(self) -> NDArray[np.floating[Any]]:
        """The singular values, descending, at most one for each column of ``left``; O((n + m) k²) time."""
        left, right = (to_numpy(array_namespace(x).linalg.qr(x)[1]) for x in (self.left, self.right.T))
        return np.asarray(np.linalg.svd(left @ right.T, compute_uv=False))

    def to_array(self) -> Matrix:
        """The whole matrix, for sizes where it fits into memory."""
        return self.left @ self.right

    def __repr__(self) -> str:
        n, m = self.shape
        return f"<Product of factors: {n} x {m}, of rank at most {self.left.shape[1]}>"


def _taken(x: Matrix, index: IndexVector, *, axis: int) -> Matrix:
    """Some rows or columns; NumPy's own indexing lays them out as products with them like it."""
    if is_numpy_array(x):
        return x[:, index] if axis else x[index]
    return take(x, index, axis=axis)
