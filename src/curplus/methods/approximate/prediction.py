"""A prediction of the whole matrix, made of the sampled columns and a few more vectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._arrays import array_namespace, take, to_device
from ..._typing import FloatArray, IndexVector, Matrix, Vector
from .factors import Factors

__all__ = ["Prediction"]


class Prediction(NamedTuple):
    """The matrix ``features @ mixing @ right.T``."""

    features: Matrix  # (n, p), the sampled columns first
    mixing: FloatArray  # (p, k), on the host
    right: Matrix  # (m, k)

    def at(self, i: IndexVector, j: IndexVector) -> Vector:
        """Values at ``(i[t], j[t])``; features are mixed for the rows that are asked for, or for all columns."""
        hit = np.zeros(self.features.shape[0], dtype=bool)
        hit[i] = True
        mixing, rows = to_device(self.mixing, self.features), np.flatnonzero(hit)
        if len(rows) > 2 * self.right.shape[0]:
            return Factors(self.features, self.right @ mixing.T).at(i, j)
        return Factors(take(self.features, rows, axis=0) @ mixing, self.right).at((np.cumsum(hit) - 1)[i], j)

    def plus(self, features: Matrix, mixing: FloatArray, right: Matrix) -> Prediction:
        """With ``[all features, features] @ mixing @ right.T`` added; ``mixing`` has a row for each of them."""
        xp = array_namespace(self.features)
        old = np.vstack([self.mixing, np.zeros((features.shape[1], self.mixing.shape[1]))])
        return Prediction(
            xp.concat([self.features, features], axis=1) if features.shape[1] else self.features,
            np.hstack([old, mixing]),
            xp.concat([self.right, right], axis=1),
        )
