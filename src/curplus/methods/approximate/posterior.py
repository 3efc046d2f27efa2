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

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse

from ..._arrays import abs_squared, blocks, column_products, conjugate, is_complex, row_products
from ..._typing import FloatArray, IndexVector, Shape
from ...observation import Entries
from ...solvers.triangles import Pairs, full, pairs_of, triangle

__all__ = ["Pair", "SparseSums", "posterior_mean", "solve"]

# tuned: stopping early is part of the shrinkage, as many more sweeps fit noise; flat from 3 to 5
# (benchmarks/accuracy.py)
POSTERIOR_SWEEPS = 4
MOST_NUMBERS = 50_000_000  # cost: in the covariances of all rows and columns
ENOUGH_NOISE = 1e-3  # rounding: of the mean square: beside it, sums of moments are in single precision
MANY_ENTRIES = 100_000  # cost: with as many, sums of moments are in single precision
LEAST_NOISE = 1e-14  # rounding: of the mean square of the entries


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


def posterior_mean(sums: SparseSums, start: Pair, sweeps: int = POSTERIOR_SWEEPS) -> Pair:
    """The product of the mean factors, from a start with the directions; the start itself if these are too many.

    Parameters
    ----------
    sums : SparseSums
        Of the entries that are approximated.
    start : Pair
        Where to begin, such as the low-rank part of the same entries.
    """
    k = start.left.shape[1]
    pairs = pairs_of(k)
    if k == 0 or len(pairs.a) * sum(sums.shape) > MOST_NUMBERS:
        return start
    if sums.shape[0] < sums.shape[1]:  # the shorter side begins: its rows have more entries, so they are nearly known
        return Pair(*posterior_mean(sums.H, Pair(start.right, start.left), sweeps)[::-1])
    scale = np.sqrt(np.mean(abs_squared(start.left), axis=0))
    factors = start.left / scale, start.right * scale
    left, right = (Normal(x, np.zeros((len(x), len(pairs.a)), dtype=x.dtype)) for x in factors)
    prior = 1 / right.squares  # inverse variance of each coordinate on the right
    noise = _expected_noise(sums, *_sums_over_columns(sums, right), left)
    for _ in range(sweeps):
        left = _posterior(*_sums_over_columns(sums, right, noise), np.ones(k), noise)
        of_columns = _sums_over_columns(sums.H, left, noise)
        right = _posterior(*of_columns, prior, noise)
        noise = _expected_noise(sums, *of_columns, right)
        scale = 1 / np.sqrt(left.squares)
        left, right = left.scaled(scale), right.scaled(1 / scale)
        prior = 1 / right.squares
    return Pair(left.mean, right.mean)


def _sums_over_columns(sums: SparseSums, other: Normal, noise: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """For each row, sums over its columns: of second moments (n, k (k + 1) / 2), and of value times mean (n, k)."""
    second = other.second_moments
    second = _rounded(second, sums) if noise * sums.weight > ENOUGH_NOISE * sums.squares else second
    return sums.of_moments(second), np.asarray(sums.values @ other.mean)


def _posterior(of_rows: FloatArray, target: FloatArray, prior: FloatArray, noise: float) -> Normal:
    """Means and covariances of all rows, given sums over their columns: of second moments, and of value times mean."""
    k = target.shape[1]
    mean, covariance = np.empty_like(target), np.empty(of_rows.shape, dtype=target.dtype)
    for part in blocks(len(target), k * k):
        inverse = np.linalg.inv(full(of_rows[part], k) / noise + np.diag(prior))
        mean[part] = np.matmul(conjugate(inverse), target[part, :, None])[:, :, 0] / noise
        covariance[part] = triangle(inverse)
    return Normal(mean, covariance)


def _expected_noise(sums: SparseSums, moments: FloatArray, target: FloatArray, mine: Normal) -> float:
    """The expected squared residual of an entry, from one side and sums over the other."""
    twice = np.where(mine.pairs.a == mine.pairs.b, 1.0, 2.0)
    of_products = float(np.sum(np.sum(moments * conjugate(mine.second_moments), axis=0).real * twice))
    rest = sums.squares - 2 * float(np.sum((conjugate(mine.mean) * target).real)) + of_products
    return max(rest, LEAST_NOISE * sums.squares, np.finfo(float).tiny) / sums.weight


def _rounded(x: FloatArray, sums: SparseSums) -> FloatArray:
    """Numbers to be added up; real ones over very many entries in single precision."""
    return x if is_complex(x) or sums.values.nnz < MANY_ENTRIES else x.astype(np.float32)


# One side solved for the other, and the sums over entries that both need


@dataclass(frozen=True, eq=False)
class SparseSums:
    """Sums over the entries of each row, as products with sparse matrices; entries of one place are added up."""

    weights: scipy.sparse.csr_array  # (n, m)
    values: scipy.sparse.csr_array  # (n, m), weighted
    squares: float  # weighted sum of squares
    weight: float  # sum of the weights

    @classmethod
    def of(cls, entries: Entries) -> SparseSums:
        """The sums of weighted entries."""
        (i, j, w), x, shape = (entries.i, entries.j, np.asarray(entries.weights)), entries.values, entries.shape
        weights, values = (scipy.sparse.csr_array((numbers, (i, j)), shape=shape) for numbers in (w, w * x))
        return cls(weights, values, float(np.sum(w * abs_squared(x))), float(np.sum(w)))

    @property
    def shape(self) -> Shape:
        """Numbers of rows and columns."""
        return (self.values.shape[0], self.values.shape[1])

    @cached_property
    def H(self) -> SparseSums:
        """The same of the adjoint."""
        return replace(self, weights=self.weights.T.tocsr(), values=self.values.conj().T.tocsr())

    @cached_property
    def _single_weights(self) -> scipy.sparse.csr_array:
        return self.weights.astype(np.float32)

    def gradient(self, factors: Pair) -> scipy.sparse.csr_array:
        """What the weighted values exceed a product by."""
        rest = self.values.copy()
        rows = np.repeat(np.arange(self.shape[0]), np.diff(rest.indptr))
        rest.data -= self.weights.data * factors.at(rows, rest.indices)
        return rest

    def of_moments(self, moments: FloatArray, rows: slice = slice(None)) -> FloatArray:
        """Sums of weight times the row of ``moments`` (m, pairs), for some rows, in the precision of the moments."""
        weights = self.weights if moments.dtype.itemsize == self.values.dtype.itemsize else self._single_weights
        return np.asarray(weights[rows] @ moments)


def solve(sums: SparseSums, V: FloatArray, ridge: float) -> tuple[FloatArray, float]:
    """The left factor (n, r) that fits best, for the right factor ``V`` (m, r), and its product with the values.

    Over very many entries, sums of moments are in single precision: their rounding is small beside the ridge.
    """
    r = V.shape[1]
    mean = float(np.sum(abs_squared(V))) / max(r, 1)
    least = max(1e-14 * mean, np.finfo(float).tiny)  # rounding: a row without entries stays zero
    a, b, _ = pairs_of(r)
    diagonal, target = max(ridge, least) * np.eye(r), np.asarray(sums.values @ V)
    moments = column_products(_rounded(V, sums), a, b)
    left = np.empty((sums.shape[0], r), dtype=target.dtype)
    for part in blocks(sums.shape[0], r * r):
        system = conjugate(full(sums.of_moments(moments, part), r)) + diagonal  # its transpose, as rows become columns
        left[part] = np.linalg.solve(system, target[part, :, None])[:, :, 0]
    return left, float(np.sum((conjugate(left) * target).real))
