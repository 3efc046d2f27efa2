"""A matrix that is kept as a product of two factors, for experiments at sizes where it would not fit into memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import IndexVector, Matrix, Shape, Vector
from .cards import Card

__all__ = ["FactoredMatrix"]


@dataclass(frozen=True, eq=False, repr=False)
class FactoredMatrix:
    """The matrix ``left @ right``, a source that computes what it is asked for and nothing else.

    Parameters
    ----------
    left : array of shape (n, k)
        The first factor.
    right : array of shape (k, m)
        The second factor.
    card : Card
        How it was made.
    """

    left: Matrix
    right: Matrix
    card: Card

    @property
    def shape(self) -> Shape:
        """Size of the product."""
        return self.left.shape[0], self.right.shape[1]

    @property
    def dtype(self) -> Any:
        """Type of the values."""
        return np.result_type(self.left, self.right)

    def rows(self, index: IndexVector) -> Matrix:
        """Rows at ``index``, shape (len(index), m)."""
        return self.left[index] @ self.right

    def columns(self, index: IndexVector) -> Matrix:
        """Columns at ``index``, shape (n, len(index))."""
        return self.left @ self.right[:, index]

    def entries(self, i: IndexVector, j: IndexVector) -> Vector:
        """Values at ``(i[t], j[t])``, shape (len(i),)."""
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

    @property
    def matrix(self) -> Matrix:
        """The whole matrix, under the name that other data sets have it; computed anew each time."""
        return self.to_array()

    def __repr__(self) -> str:
        n, m = self.shape
        return f"<{self.card.title}: {n} x {m}, kept as factors of {self.left.shape[1]} columns>"
