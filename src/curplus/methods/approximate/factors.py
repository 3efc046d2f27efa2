"""A matrix as the product of two tall factors."""

from __future__ import annotations

from typing import NamedTuple

from ..._arrays import array_namespace, blocks, is_numpy_array, take
from ..._typing import IndexVector, Matrix, Vector

__all__ = ["Factors"]

PART = 2**16  # numbers that stay near the processor


class Factors(NamedTuple):
    """The matrix ``left @ right.T``."""

    left: Matrix  # (n, k)
    right: Matrix  # (m, k)

    def at(self, i: IndexVector, j: IndexVector) -> Vector:
        """Values at ``(i[t], j[t])``."""
        xp = array_namespace(self.left)
        left, right = self.left, self.right
        if is_numpy_array(left):  # np.take copies an array that is not stored row by row, and would do so for each part
            left, right = xp.ascontiguousarray(left), xp.ascontiguousarray(right)
        most = PART if is_numpy_array(left) else 2**24
        parts = [
            xp.vecdot(take(left, i[part], axis=0), take(right, j[part], axis=0))
            for part in blocks(len(i), left.shape[1], most=most)
        ]
        return xp.concat(parts) if parts else xp.sum(left[:0, :], axis=1)

    def plus(self, other: Factors) -> Factors:
        """The sum of the two matrices."""
        xp = array_namespace(self.left)
        return Factors(xp.concat([self.left, other.left], axis=1), xp.concat([self.right, other.right], axis=1))
