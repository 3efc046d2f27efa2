"""The importance of each column: its norm, its leverage, or what it explains of the residuals of the others."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from .._arrays import (
    abs_squared,
    adjoint,
    array_namespace,
    conjugate,
    is_complex,
    is_numpy_array,
    keep,
    largest,
    numerical_rank,
    real_part,
    small_svd,
    take,
    to_device,
)
from .._support.sets import NO_INDEX
from .._typing import FloatArray, IndexVector, Matrix, Vector

__all__ = [
    "ResidualColumns",
    "dense",
    "gumbel_keys",
    "gumbel_noise",
    "leverage_scores",
    "right_vectors",
    "squared_norms",
    "weighted_draw",
]

SMALL = 4_000_000  # a sparse matrix of up to this many positions has its singular vectors computed densely
FLOOR = 1e-10  # a residual below this share of the largest squared norm is rounding (float32 included)
TIE = 1e-6  # scores that differ by this fraction may differ by rounding alone

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
    keys: FloatVector = np.log(np.maximum(weights / top, 1e-300)) + gumbel_noise(len(weights), rng, weights)
    return keys


def gumbel_noise(count: int, rng: np.random.Generator, like: Vector) -> Vector:
    """The numbers of ``rng.gumbel``, to rounding, where ``like`` is: their logarithms are most of the time."""
    xp = array_namespace(like)
    exponential = -xp.log1p(-to_device(rng.random(count), like))
    return -xp.log(xp.clip(exponential, min=float(np.finfo(float).tiny)))


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


class ResidualColumns:
    r"""Residuals of the columns of a sample, given the span of some of them.

    With :math:`Q` an orthonormal basis of the columns taken and :math:`e_j = a_j - QQ^* a_j` the residual of a
    column, the :attr:`residual_norms` are :math:`\|e_j\|^2` and :meth:`explained` is
    :math:`\|E^* e_j\|^2 / \|e_j\|^2`, by how much the sum of squares of all residuals falls if column j is taken.
    The first picks outliers, the second picks one of many similar columns.

    Parameters
    ----------
    sample : array or sparse matrix of shape (d, m)
        The columns to choose from, in the d rows that are known.
    taken : array of shape (t,), optional
        Columns whose span is taken out, and which cannot be picked again.
    excluded : array, optional
        Further columns that cannot be picked.
    prices : array of shape (m,), optional
        What each column costs: scores are divided by it.

    Notes
    -----
    Each column that is taken costs O(d m), or one product with a sparse sample. Residuals are never stored: with
    :math:`q` the next basis vector, all numbers follow from :math:`q^* A`.
    """

    def __init__(
        self,
        sample: Any,
        taken: IndexVector | None = None,
        excluded: IndexVector | None = None,
        prices: FloatArray | None = None,
    ) -> None:
        taken, excluded = (NO_INDEX if index is None else index for index in (taken, excluded))
        sample, norms = keep(sample, squared_norms(sample))
        self._xp, self._sample = array_namespace(norms), sample
        self._basis = _range_of(sample[:, taken] if scipy.sparse.issparse(sample) else take(sample, taken, axis=1))
        self.residual_norms: Vector = norms - squared_norms(adjoint(self._basis) @ sample)
        self._floor = FLOOR * float(self._xp.max(norms)) if norms.shape[0] else 0.0
        free = np.ones(norms.shape[0], dtype=bool)
        free[taken] = free[excluded] = False
        self._free = to_device(free, norms)
        self._prices = 1.0 if prices is None else to_device(np.asarray(prices, dtype=np.float64), norms)
        self._gram: Matrix | None = None  # E @ E.H, (d, d)
        self._captured: Vector = norms  # || E.H @ e_j ||**2, once the Gram matrix is there

    @property
    def selectable(self) -> Vector:
        """Columns that can be picked and have a residual above rounding."""
        return self._free & (self.residual_norms > self._floor)

    def worth(self, squares: Vector) -> Vector:
        """Squares, one for each column, divided by the prices."""
        return squares / self._prices

    def norms(self) -> Vector:
        """Score of the column whose residual is largest, for its price."""
        return self.worth(self.residual_norms)

    def explained(self, ridge: float = 0.0) -> Vector:
        """By how much the squares of all residuals fall if a column is taken; meaningless where not selectable.

        With a ``ridge``, a share of the mean residual, columns of mere noise do not win by a chance correlation
        with the others.
        """
        xp = self._xp
        if self._gram is None:
            sample, basis = self._sample, self._basis
            gram = dense(sample @ (sample.conj().T if scipy.sparse.issparse(sample) else adjoint(sample)))
            gram = gram - basis @ (adjoint(basis) @ gram)
            self._gram = gram - (gram @ basis) @ adjoint(basis)
            self._captured = real_part(xp.sum((self._gram @ sample) * conjugate(dense(sample)), axis=0))
            self._gram, self._captured = keep(self._gram, self._captured)
        selectable = self.selectable
        count = int(xp.count_nonzero(selectable))
        if not count:
            return self._captured
        norms = xp.where(selectable, self.residual_norms, xp.ones_like(self.residual_norms))
        mean = (float(xp.sum(norms)) - (norms.shape[0] - count)) / count
        return self.worth(self._captured / (norms + ridge * mean))

    def pick(self, count: int, score: Callable[[], Vector]) -> list[int]:
        """Take up to ``count`` columns, each time the selectable one with the best score; fewer if none is left.

        Of scores that differ by one in a million, which may be rounding, the one with the larger residual wins: if
        all residuals are parallel, each explains the same.
        """
        xp = self._xp
        picked: list[int] = []
        lowest = xp.full_like(self.residual_norms, -math.inf)
        while len(picked) < count and bool(xp.any(selectable := self.selectable)):
            scores = xp.where(selectable, score(), lowest)
            best = float(xp.max(scores))
            ties = scores >= best - TIE * abs(best)
            j = int(xp.argmax(xp.where(ties, self.residual_norms, lowest)))
            self._take(j)
            picked.append(j)
        return picked

    def _take(self, j: int) -> None:
        xp = self._xp
        e = dense(self._sample[:, [j]])[:, 0] if scipy.sparse.issparse(self._sample) else self._sample[:, j]
        for _ in range(2):  # once more for orthogonality to rounding
            e = e - self._basis @ (adjoint(self._basis) @ e)
        q = e / xp.linalg.vector_norm(e)
        along = conjugate(q) @ self._sample
        squares = abs_squared(along)
        self.residual_norms = self.residual_norms - squares
        if self._gram is not None:
            towards = self._gram @ q
            weight = float(real_part(conjugate(q) @ towards))
            both = real_part(2 * conjugate(along) * (conjugate(towards) @ self._sample))
            self._captured = self._captured - both + weight * squares
            step = towards[:, None] * conjugate(q)[None, :]
            self._gram = self._gram - step - adjoint(step) + weight * (q[:, None] * conjugate(q)[None, :])
        self._basis = xp.concat([self._basis, q[:, None]], axis=1)
        self._free[j] = False
        state = self.residual_norms, self._captured, self._gram, self._basis, self._free
        self.residual_norms, self._captured, self._gram, self._basis, self._free = keep(*state)


def _range_of(sample: Any) -> Matrix:
    """Orthonormal basis of the span of the columns of a sample, to rounding."""
    U, s, _ = small_svd(dense(sample))
    xp = array_namespace(s)
    largest = float(xp.max(s)) if s.shape[0] else 0.0
    return U[:, : int(xp.count_nonzero(s > math.sqrt(FLOOR) * largest))]
