r"""Posterior mean of two factors, given entries.

A low-rank fit of scattered entries overfits rows with few of them. Here both factors are normal variables, :math:`u_i
\sim N(0, I)` and :math:`v_j \sim N(0, A)`, and each entry is :math:`u_i v_j^*` with noise, for rows :math:`u_i` and
:math:`v_j`. A few sweeps of variational Bayes [1]_ give each row its mean and its covariance,

.. math:: P_i^{-1} = I + \sum_j \frac{w_{ij}}{\sigma^2} (v_j^* v_j + S_j), \qquad
          u_i = \Bigl(\sum_j \frac{w_{ij}}{\sigma^2} M_{ij} v_j\Bigr) P_i

and the variances are those that such means and covariances imply.

References
----------
.. [1] Y. J. Lim and Y. W. Teh. Variational Bayesian approach to movie rating prediction. KDD Cup and Workshop, 2007.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse

from ..._arrays import abs_squared, blocks, column_products, conjugate, row_products
from ..._typing import FloatArray, IndexVector
from ...observation import Entries
from ...solvers.triangles import Pairs, full, pairs_of, triangle

__all__ = ["Pair", "SparseSums", "posterior_mean", "solve"]

# tuned: stopping early is part of the shrinkage, as many more sweeps fit noise; flat from 5 to 8
# (benchmarks/accuracy.py)
POSTERIOR_SWEEPS = 5
MOST_NUMBERS = 50_000_000  # cost: in the covariances of all rows and columns
PAIRS_AT_A_TIME = 64  # cost: products at a time, so that their sums stay near the processor


class Pair(NamedTuple):
    """The matrix ``left @ right.H``."""

    left: FloatArray  # (n, k)
    right: FloatArray  # (m, k)

    def at(self, i: IndexVector, j: IndexVector) -> FloatArray:
        """Values at ``(i[t], j[t])``."""
        return np.asarray(row_products(self.left, self.right, i, j))


class Normal(NamedTuple):
    """One side: a normal variable for each row (or column)."""

    mean: FloatArray  # (n, k)
    covariance: FloatArray  # (n, k (k + 1) / 2), upper triangles

    @property
    def pairs(self) -> Pairs:
        """All pairs of coordinates."""
        return pairs_of(self.mean.shape[1])

    @property
    def second_moments(self) -> FloatArray:
        """Expected products of all pairs of coordinates."""
        moments: FloatArray = column_products(self.mean, self.pairs.a, self.pairs.b) + self.covariance
        return moments

    @property
    def squares(self) -> FloatArray:
        """Expected squares of the coordinates, in the mean over the rows, and never zero."""
        variances = abs_squared(self.mean) + self.covariance[:, self.pairs.diagonal].real
        return np.asarray(np.maximum(np.mean(variances, axis=0), np.finfo(float).tiny))

    def scaled(self, scale: FloatArray) -> Normal:
        """The same variables with each coordinate multiplied."""
        return Normal(self.mean * scale, self.covariance * (scale[self.pairs.a] * scale[self.pairs.b]))


def posterior_mean(entries: Entries, start: Pair) -> Pair:
    """The product of the mean factors, from a start with the directions; the start itself if these are too many.

    Parameters
    ----------
    entries : Entries
        What is approximated, on the host, with weights.
    start : Pair
        Where to begin, such as the low-rank part of the same entries.
    """
    k = start.left.shape[1]
    pairs = pairs_of(k)
    if k == 0 or len(pairs.a) * sum(entries.shape) > MOST_NUMBERS:
        return start
    by_rows, by_columns = SparseSums(entries), SparseSums(entries.H)
    unit = np.sqrt(np.mean(abs_squared(start.left), axis=0))
    prior = 1 / np.mean(abs_squared(start.right * unit), axis=0)  # inverse variance of each coordinate on the right
    right = Normal(start.right * unit, np.zeros((entries.shape[1], len(pairs.a)), dtype=start.right.dtype))
    right.covariance[:, pairs.diagonal] = 0.1 / prior  # steps: where they begin
    noise, of_rows = _noise(entries, start), _moment_sums(by_rows, right)
    for _ in range(POSTERIOR_SWEEPS):
        left = _posterior(of_rows, by_rows.of_values(right.mean), np.ones(k), noise)
        right = _posterior(_moment_sums(by_columns, left), by_columns.of_values(left.mean), prior, noise)
        scale = 1 / np.sqrt(left.squares)
        left, right = left.scaled(scale), right.scaled(1 / scale)
        prior, of_rows = 1 / right.squares, _moment_sums(by_rows, right)
        noise = _expected_noise(entries, of_rows, left, right)
    return Pair(left.mean, right.mean)


def _moment_sums(sums: SparseSums, other: Normal) -> FloatArray:
    """For each row, the sum of second moments of its columns, shape (n, k (k + 1) / 2)."""
    of_rows = sums.of_moments(other.second_moments)
    return np.concatenate([of_rows(part) for part in blocks(sums.n_rows, len(other.pairs.a))])


def _posterior(of_rows: FloatArray, target: FloatArray, prior: FloatArray, noise: float) -> Normal:
    """Means and covariances of all rows, given sums over their columns: of second moments, and of value times mean."""
    k = target.shape[1]
    mean, covariance = np.empty_like(target), np.empty_like(of_rows)
    for part in blocks(len(target), k * k):
        inverse = np.linalg.inv(full(of_rows[part], k) / noise + np.diag(prior))
        mean[part] = np.matmul(conjugate(inverse), target[part, :, None])[:, :, 0] / noise
        covariance[part] = triangle(inverse)
    return Normal(mean, covariance)


def _noise(entries: Entries, factors: Pair) -> float:
    rest = entries.values - factors.at(entries.i, entries.j)
    return max(float(np.average(abs_squared(rest), weights=entries.weights)), np.finfo(float).tiny)


def _expected_noise(entries: Entries, of_rows: FloatArray, left: Normal, right: Normal) -> float:
    """The expected squared residual of an entry: that of the means, and the variance of the products."""
    means, weights = Pair(left.mean, right.mean), np.asarray(entries.weights)
    twice = np.where(left.pairs.a == left.pairs.b, 1.0, 2.0)
    squares = float(np.sum(np.sum(of_rows * conjugate(left.second_moments), axis=0).real * twice))
    uncertain = squares - float(np.sum(weights * abs_squared(means.at(entries.i, entries.j))))
    return _noise(entries, means) + max(uncertain, 0.0) / float(np.sum(weights))


# One side solved for the other, and the sums over entries that both need


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
    mean = float(np.sum(abs_squared(V))) / max(r, 1)
    least = max(1e-14 * mean, np.finfo(float).tiny)  # rounding: a row without entries stays zero
    a, b, _ = pairs_of(r)
    diagonal, target = max(ridge, least) * np.eye(r), sums.of_values(V)
    moments = sums.of_moments(column_products(V, a, b))
    left = np.empty((sums.n_rows, r), dtype=target.dtype)
    for part in blocks(sums.n_rows, r * r):
        system = conjugate(full(moments(part), r)) + diagonal  # its transpose, as rows become columns
        left[part] = np.linalg.solve(system, target[part, :, None])[:, :, 0]
    return left
