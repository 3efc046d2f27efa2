"""A prediction of the whole matrix, made of the sampled columns and rows and a few more vectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._arrays import array_namespace, hit_rows, row_products, to_device
from ..._typing import FloatArray, IndexVector, Matrix, Vector

__all__ = ["Prediction"]


class Prediction(NamedTuple):
    """The matrix ``left @ mixing @ coefficients @ right.T``; it keeps its digits when multiplied from either end."""

    left: Matrix  # (n, p), the sampled columns first
    mixing: FloatArray  # (p, k), on the host
    coefficients: FloatArray  # (k, q), on the host
    right: Matrix  # (m, q), the sampled rows first

    @property
    def T(self) -> Prediction:
        """The same for the transposed matrix."""
        return Prediction(self.right, self.coefficients.T, self.mixing.T, self.left)

    def combined(self, left: Matrix) -> Matrix:
        """What ``right`` is combined with in some rows of ``left``, or in combinations of its rows."""
        return (left @ to_device(self.mixing, left)) @ to_device(self.coefficients, left)

    def at(self, i: IndexVector, j: IndexVector) -> Vector:
        """Values at ``(i[t], j[t])``; the shorter side is combined."""
        if self.left.shape[0] < self.right.shape[0]:
            return self.T.at(j, i)
        right, place = hit_rows(self.right, j)
        if 2 * self.mixing.shape[1] <= self.coefficients.shape[1]:
            left, other = hit_rows(self.left, i)
            both = left @ to_device(self.mixing, left), right @ to_device(self.coefficients.T, right)
            return row_products(*both, other, place)
        return row_products(self.left, self.T.combined(right), i, place)

    def plus(self, left: Matrix, mixing: FloatArray, coefficients: FloatArray, right: Matrix) -> Prediction:
        """With more vectors on both sides, and ``mixing @ coefficients`` of all of them added."""
        more_left, more_right = left.shape[1], right.shape[1]
        return Prediction(
            _beside(self.left, left),
            np.hstack([np.pad(self.mixing, ((0, more_left), (0, 0))), mixing]),
            np.vstack([np.pad(self.coefficients, ((0, 0), (0, more_right))), coefficients]),
            _beside(self.right, right),
        )


def _beside(x: Matrix, more: Matrix) -> Matrix:
    return array_namespace(x).concat([x, more], axis=1) if more.shape[1] else x
