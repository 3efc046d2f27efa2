r"""One side of a low-rank model, solved for the other: a ridge regression for each row, all of them together.

.. math:: u_i \, (\textstyle\sum_j w_{ij} v_j^* v_j + \lambda I) = \sum_j w_{ij} M_{ij} v_j

over the entries of row i, for rows :math:`u_i` and :math:`v_j` of the two sides of :math:`U V^*`. Sums over entries are
products with sparse matrices.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse

from ..._arrays import abs_squared, blocks, column_products, conjugate
from ..._triangles import full, pairs_of
from ..._typing import FloatArray
from ...observation import Entries

__all__ = ["SparseSums", "solve"]

PAIRS_AT_A_TIME = 64  # products at a time, so that their sums stay near the processor


class SparseSums:
    """Sums over the entries of each row, as products with sparse matrices."""

    def __init__(self, entries: Entries) -> None:
        where, shape = (entries.i, entries.j), entries.shape
        self._weights = scipy.sparse.csr_array((entries.weights, where), shape=shape)
        self._values = scipy.sparse.csr_array((entries.weights * entries.values, where), shape=shape)
        self._by_columns: dict[tuple[int, int], scipy.sparse.csc_array] = {}
        self.n_rows = shape[0]

    def of_values(self, V: FloatArray) -> FloatArray:
        """Sums of weight times value times the row of ``V``, shape (n, r)."""
        return np.asarray(self._values @ V)

    def of_moments(self, moments: FloatArray) -> Callable[[slice], FloatArray]:
        """For some rows: sums of weight times the row of ``moments`` (m, pairs)."""

        def sums(part: slice) -> FloatArray:
            weights = self._part(part)
            total = np.empty((weights.shape[0], moments.shape[1]), dtype=moments.dtype)
            for some in blocks(moments.shape[1], 1, most=PAIRS_AT_A_TIME):
                total[:, some] = weights @ moments[:, some]
            return total

        return sums

    def _part(self, part: slice) -> scipy.sparse.csc_array:
        """The weights of some rows, by columns: a product then reads the moments once."""
        where = (part.start, part.stop)
        if where not in self._by_columns:
            self._by_columns[where] = self._weights[part].tocsc()
        return self._by_columns[where]


def solve(sums: SparseSums, V: FloatArray, ridge: float) -> FloatArray:
    """The left factor (n, r) that fits the entries best, for the right factor ``V`` (m, r)."""
    r = V.shape[1]
    least = max(
        1e-14 * float(np.sum(abs_squared(V))) / max(r, 1), np.finfo(float).tiny
    )  # a row without entries stays zero
    a, b, _ = pairs_of(r)
    diagonal, target = max(ridge, least) * np.eye(r), sums.of_values(V)
    moments = sums.of_moments(column_products(V, a, b))
    left = np.empty((sums.n_rows, r), dtype=target.dtype)
    for part in blocks(sums.n_rows, r * r):
        system = conjugate(full(moments(part), r)) + diagonal  # its transpose, as rows become columns
        left[part] = np.linalg.solve(system, target[part, :, None])[:, :, 0]
    return left
