"""The importance of each column as one number: its norm, or its leverage; and draws by such numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from .._arrays import abs_squared, adjoint, array_namespace, is_complex, is_numpy_array, largest, numerical_rank
from .._typing import FloatArray, IndexVector, Matrix, Vector

__all__ = ["dense", "gumbel_keys", "leverage_scores", "right_vectors", "squared_norms", "weighted_draw"]

SMALL = 4_000_000  # a sparse matrix of up to this many positions has its singular vectors computed densely

FloatVector = NDArray[np.float64]
FloatMatrix = NDArray[np.float64]


def squared_norms(sample: Any) -> Vector:
    """Squared norms of the columns of an array or sparse matrix."""
    if scipy.sparse.issparse(sample):
        return np.asarray(sample.multiply(sample.conj()).sum(axis=0).real).reshape(-1)
    if is_numpy_array(sample) and not is_complex(sample):
        return np.einsum("ij,ij->j", sample, sample)
    return array_namespace(sample).sum(abs_squared(sample), axis=0)


def leverage_scores(V: Matrix) -> Vector:
    """Squared row norms of orthonormal columns: how much each position contributes to their span."""
    return squared_norms(V.T)


def weighted_draw(weights: FloatArray, count: int, rng: np.random.Generator) -> IndexVector:
    """Draw ``count`` distinct positions one after the other, chances in proportion to ``weights``; zeros come last."""
    keys = -gumbel_keys(weights, rng)
    if 0 < count < len(keys):
        first = np.flatnonzero(keys <= np.partition(keys, count - 1)[count - 1])
        return first[np.argsort(keys[first], kind="stable")][:count]
    return np.argsort(keys, kind="stable")[:count]


def gumbel_keys(weights: FloatArray, rng: np.random.Generator) -> FloatVector:
    r"""Random keys whose descending order is that of draws without replacement in proportion to ``weights``.

    The largest of :math:`\log w_j + g_j`, with independent Gumbel noise, is j with chance proportional to :math:`w_j`.
    """
    top = weights.max(initial=0.0) or 1.0
    return np.log(np.maximum(weights / top, 1e-300)) + rng.gumbel(size=len(weights))


def right_vectors(M: Any, rank: int) -> tuple[FloatMatrix, FloatVector]:
    """Up to ``rank`` leading right singular vectors of M, as columns, and their singular values, zeros left out."""
    if scipy.sparse.issparse(M) and M.shape[0] * M.shape[1] > SMALL and 2 * rank < min(M.shape) and largest(M.data) > 0:
        start = np.random.default_rng(0).standard_normal(min(M.shape))
        _, s, Vh = svds(M, k=rank, v0=start)
        s, Vh = s[::-1], Vh[::-1]
    else:
        _, s, Vh = np.linalg.svd(dense(M), full_matrices=False)
    r = min(rank, numerical_rank(s, M.shape))
    return adjoint(Vh[:r]), s[:r]


def dense(x: Any) -> Matrix:
    """An array, whether ``x`` is sparse or not."""
    return x.toarray() if scipy.sparse.issparse(x) else x
