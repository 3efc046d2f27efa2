"""A matrix as the product of two tall factors."""

from __future__ import annotations

from typing import NamedTuple

from ..._arrays import array_namespace, row_products
from ..._typing import IndexVector, Matrix, Vector

__all__ = ["Factors"]


class Factors(NamedTuple):
    """The matrix ``left @ right.T``."""

    left: Matrix  # (n, k)
    right: Matrix  # (m, k)

    def at(self, i: IndexVector, j: IndexVector) -> Vector:
        """Values at ``(i[t], j[t])``."""
        return row_products(self.left, self.right, i, j)

    def plus(self, other: Factors) -> Factors:
        """The sum of the two matrices."""
        xp = array_namespace(self.left)
        return Factors(xp.concat([self.left, other.left], axis=1), xp.concat([self.right, other.right], axis=1))

    @property
    def mean_square(self) -> float:
        """Mean square of the values of the matrix."""
        xp = array_namespace(self.left)
        total = float(xp.sum((self.left.T @ self.left) * (self.right.T @ self.right)))
        return total / float(self.left.shape[0] * self.right.shape[0])
