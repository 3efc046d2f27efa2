"""A matrix that is kept as a product of two factors, for sizes at which it would not fit into memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import IndexVector, Matrix, Shape, Vector

__all__ = ["FactoredSource"]


@dataclass(frozen=True, eq=False, repr=False)
class FactoredSource:
    """The matrix ``left @ right``, which computes what it is asked for and nothing else.

    Parameters
    ----------
    left : array of shape (n, k)
        The first factor.
    right : array of shape (k, m)
        The second factor.
    """

    left: Matrix
    right: Matrix

    @property
    def shape(self) -> Shape:
        return self.left.shape[0], self.right.shape[1]

    @property
    def dtype(self) -> Any:
        return np.result_type(self.left, self.right)

    def rows(self, index: IndexVector) -> Matrix:
        return self.left[index] @ self.right

    def columns(self, index: IndexVector) -> Matrix:
        return self.left @ self.right[:, index]

    def entries(self, i: IndexVector, j: IndexVector) -> Vector:
        return np.einsum("tk,kt->t", self.left[i], self.right[:, j])

    def matmat(self, X: Matrix) -> Matrix:
        """Product with a tall matrix ``X`` of shape (m, k)."""
        return self.left @ (self.right @ X)

    def singular_values(self) -> NDArray[np.floating[Any]]:
        """The singular values, descending, at most one for each column of ``left``; O((n + m) k²) time."""
        left, right = np.linalg.qr(self.left).R, np.linalg.qr(self.right.T).R
        return np.asarray(np.linalg.svd(left @ right.T, compute_uv=False))

    def to_array(self) -> Matrix:
        """The whole matrix, for sizes where it fits into memory."""
        return self.left @ self.right

    def __repr__(self) -> str:
        n, m = self.shape
        return f"<Product of factors: {n} x {m}, of rank at most {self.left.shape[1]}>"
