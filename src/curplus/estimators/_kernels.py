"""Kernel matrices as sources: what is asked for is computed, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from .._arrays import blocks
from .._typing import FloatArray, IndexVector, Shape
from ..exceptions import InvalidArgumentError

__all__ = ["Kernel", "KernelSource", "known_in_either_place"]

TOGETHER = 32  # pairs of points whose kernels are computed at once, as part of a square
NOT_PSD = ("additive_chi2",)


class Kernel:
    """A kernel with its parameters, for scikit-learn's ``pairwise_kernels``."""

    def __init__(self, metric: Any, own: dict[str, Any], params: dict[str, Any] | None) -> None:
        given = {name: value for name, value in own.items() if value is not None}
        if callable(metric) and given:
            raise InvalidArgumentError(
                f"{', '.join(given)} cannot be given together with a function as kernel. Use kernel_params for what "
                "the function takes."
            )
        if metric in NOT_PSD:
            raise InvalidArgumentError(f"kernel={metric!r} is not positive semidefinite. Use another one, as 'chi2'.")
        self.metric, self.params = metric, given | (params or {})

    def between(self, X: Any, Y: Any) -> FloatArray:
        """The kernel of all rows of X and of Y, shape (n, k)."""
        found: FloatArray = pairwise_kernels(X, Y, metric=self.metric, filter_params=True, **self.params)
        return found

    def at(self, X: Any, Y: Any) -> FloatArray:
        """The kernel of each row of X and that row of Y, shape (n,)."""
        if callable(self.metric):
            return np.array([self.metric(x, y, **self.params) for x, y in zip(X, Y, strict=True)], dtype=float)
        parts = [np.diagonal(self.between(X[part], Y[part])) for part in blocks(X.shape[0], 1, most=TOGETHER)]
        return np.concatenate(parts)


class KernelSource:
    """The kernel matrix of some points."""

    dtype = np.dtype(np.float64)

    def __init__(self, points: Any, kernel: Kernel) -> None:
        self._points, self._kernel = points, kernel

    @property
    def shape(self) -> Shape:
        n = int(self._points.shape[0])
        return n, n

    def columns(self, index: IndexVector) -> FloatArray:
        return self._kernel.between(self._points, self._points[index])

    def rows(self, index: IndexVector) -> FloatArray:
        return self.columns(index).T

    def entries(self, i: IndexVector, j: IndexVector) -> FloatArray:
        return self._kernel.at(self._points[i], self._points[j])


def known_in_either_place(K: FloatArray) -> FloatArray:
    """A square matrix whose gaps are filled where the mirrored place is known; itself where it has none."""
    if K.shape[0] != K.shape[1]:
        raise InvalidArgumentError(
            f"kernel='precomputed' but X has shape {K.shape}. Give the kernel of all pairs of points, a square matrix."
        )
    gaps = np.isnan(K)
    on_diagonal = np.diagonal(gaps)
    if on_diagonal.any() and not gaps.all():
        raise InvalidArgumentError(
            f"the kernel of point {int(np.argmax(on_diagonal))} with itself is NaN. Landmarks are chosen by the "
            "diagonal of the kernel matrix, so it must be known."
        )
    return np.where(gaps, K.T, K) if gaps.any() else K
