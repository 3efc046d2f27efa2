"""A prediction of the whole matrix as a product of four factors: what every model returns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..._arrays import (
    adjoint,
    array_namespace,
    conjugate,
    hit_rows,
    host_kind,
    is_numpy_array,
    row_products,
    to_device,
)
from ..._typing import FloatArray, IndexVector, Matrix, Vector
from ...factorization import Fact

__all__ = ["Prediction"]


class Prediction(NamedTuple):
    """The matrix ``left @ mixing @ coefficients @ right.H``; it keeps its digits when multiplied from either end."""

    left: Matrix  # (n, p)
    mixing: FloatArray  # (p, k), on the host
    coefficients: FloatArray  # (k, q), on the host
    right: Matrix  # (m, q)
    is_of_samples: bool = False  # whether the first features are the sampled columns, and the adjoint of the rows
    decisions: tuple[Fact, ...] = ()  # that were made from the values, for the report

    @classmethod
    def of(cls, left: FloatArray, right: FloatArray) -> Prediction:
        """The product ``left @ right.H`` of two factors."""
        same = np.eye(left.shape[1], dtype=host_kind(left))
        return cls(left, same, same, right)

    @property
    def factors(self) -> tuple[Matrix, Matrix]:
        """Two factors, of shape (n, k) and (m, k), with ``left @ right.H``."""
        left = self.left @ to_device(self.mixing, self.left)
        return left, self.right @ to_device(adjoint(self.coefficients), self.right)

    @property
    def H(self) -> Prediction:
        """The same for the adjoint."""
        mixing, coefficients = adjoint(self.coefficients), adjoint(self.mixing)
        return Prediction(self.right, mixing, coefficients, self.left, self.is_of_samples, self.decisions)

    def combined(self, left: Matrix) -> Matrix:
        """What ``right`` is combined with in some rows of ``left``, or in combinations of its rows."""
        return (left @ to_device(self.mixing, left)) @ to_device(self.coefficients, left)

    def at(self, i: IndexVector, j: IndexVector) -> Vector:
        """Values at ``(i[t], j[t])``; the shorter side is combined."""
        if self.left.shape[0] < self.right.shape[0]:
            return conjugate(self.H.at(j, i))
        right, place = hit_rows(self.right, j)
        if 2 * self.mixing.shape[1] <= self.coefficients.shape[1]:
            left, other = hit_rows(self.left, i)
            both = left @ to_device(self.mixing, left), right @ to_device(adjoint(self.coefficients), right)
            return row_products(*both, other, place)
        return row_products(self.left, self.H.combined(right), i, place)

    def to_array(self) -> Matrix:
        """The whole matrix: for arrays with a short side."""
        return self.combined(self.left) @ adjoint(self.right)

    def times(self, factor: float) -> Prediction:
        """The prediction, multiplied by a number."""
        return self._replace(coefficients=factor * self.coefficients)

    def plus(self, other: Prediction) -> Prediction:
        """The sum of two predictions; features that both have stand once."""
        left, mixing = _side_by_side(self.left, self.mixing, other.left, other.mixing)
        both = adjoint(self.coefficients), adjoint(other.coefficients)
        right, combined = _side_by_side(self.right, both[0], other.right, both[1])
        return Prediction(left, mixing, adjoint(combined), right, self.is_of_samples)


def _side_by_side(x: Matrix, a: FloatArray, y: Matrix, b: FloatArray) -> tuple[Matrix, FloatArray]:
    """Features and what they are combined with, such that their product is ``[x @ a, y @ b]``."""
    if _is_same(x, y):
        return x, np.hstack([a, b])
    features = array_namespace(x).concat([x, to_device(y, x)], axis=1)
    return features, scipy.linalg.block_diag(a, b)


def _is_same(x: Matrix, y: Matrix) -> bool:
    """Whether two arrays are one, or show the same numbers in memory."""
    if x is y or not (is_numpy_array(x) and is_numpy_array(y)):
        return x is y
    return x.__array_interface__ == y.__array_interface__
