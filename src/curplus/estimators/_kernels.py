"""Kernel matrices as sources: only the requested kernels are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.metrics.pairwise import pairwise_kernels

from .._arrays import array_namespace, blocks, take, to_device, to_numpy
from .._typing import IndexVector, Matrix, Positions, Shape, Vector
from ..exceptions import InvalidArgumentError

__all__ = ["Kernel", "KernelSource", "known_in_either_place", "points_at"]

KERNELS_TOGETHER = 32  # pairs of points whose kernels are computed at once, as part of a square
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

    def between(self, X: Any, Y: Any) -> Matrix:
        """The kernel of all rows of X and of Y, shape (n, k)."""
        found: Matrix = pairwise_kernels(X, Y, metric=self.metric, filter_params=True, **self.params)
        return found

    def at(self, X: Any, Y: Any) -> Vector:
        """The kernel of each row of X and that row of Y, shape (n,)."""
        if callable(self.metric):
            pairs = (self.metric(X[t, :], Y[t, :], **self.params) for t in range(X.shape[0]))
            values = np.array([float(value) for value in pairs])
            return values if scipy.sparse.issparse(X) else to_device(values, X)
        parts = [self.between(X[part, ...], Y[part, ...]) for part in blocks(X.shape[0], 1, most=KERNELS_TOGETHER)]
        xp = array_namespace(*parts)
        return xp.concat([xp.linalg.diagonal(part) for part in parts])


class KernelSource:
    """The kernel matrix of some points."""

    dtype = np.dtype(np.float64)

    def __init__(self, points: Any, kernel: Kernel) -> None:
        self._points, self._kernel = points, kernel

    @property
    def shape(self) -> Shape:
        n = int(self._points.shape[0])
        return n, n

    def columns(self, index: IndexVector) -> Matrix:
        return self._kernel.between(self._points, points_at(self._points, index))

    def rows(self, index: IndexVector) -> Matrix:
        return self.columns(index).T

    def entries(self, i: IndexVector, j: IndexVector) -> Vector:
        return self._kernel.at(points_at(self._points, i), points_at(self._points, j))


def points_at(X: Any, index: Positions) -> Any:
    """Some rows of an array of any library, or of a sparse matrix."""
    return X[index] if scipy.sparse.issparse(X) else take(X, index, axis=0)


def known_in_either_place(K: Matrix) -> Matrix:
    """A square matrix whose gaps are filled where the mirrored place is known; itself if it has none."""
    if K.shape[0] != K.shape[1]:
        raise InvalidArgumentError(
            f"kernel='precomputed' but X has shape {K.shape}. Give the kernel of all pairs of points, a square matrix."
        )
    xp = array_namespace(K)
    gaps = xp.isnan(K)
    on_diagonal = to_numpy(xp.linalg.diagonal(gaps))
    if on_diagonal.any() and not xp.all(gaps):
        raise InvalidArgumentError(
            f"the kernel of point {int(np.argmax(on_diagonal))} with itself is NaN. Landmarks are chosen by the "
            "diagonal of the kernel matrix, so it must be known."
        )
    return xp.where(gaps, K.T, K) if xp.any(gaps) else K
