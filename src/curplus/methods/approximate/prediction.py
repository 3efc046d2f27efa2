"""A prediction of the whole matrix, made of the sampled columns and a few more vectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._arrays import array_namespace, to_device
from ..._typing import FloatArray, Matrix
from .factors import Factors

__all__ = ["Prediction"]


class Prediction(NamedTuple):
    """The matrix ``features @ mixing @ right.T``."""

    features: Matrix  # (n, p), the sampled columns first
    mixing: FloatArray  # (p, k), on the host
    right: Matrix  # (m, k)

    @property
    def factors(self) -> Factors:
        """The same as two tall factors."""
        return Factors(self.features @ to_device(self.mixing, self.features), self.right)

    def plus(self, features: Matrix, mixing: FloatArray, right: Matrix) -> Prediction:
        """With ``[all features, features] @ mixing @ right.T`` added; ``mixing`` has a row for each of them."""
        xp = array_namespace(self.features)
        old = np.vstack([self.mixing, np.zeros((features.shape[1], self.mixing.shape[1]))])
        return Prediction(
            xp.concat([self.features, features], axis=1),
            np.hstack([old, mixing]),
            xp.concat([self.right, right], axis=1),
        )
