r"""Factors as averages over what the entries leave open.

The low-rank part of scattered entries is a best guess, and where little is known of a row, a best guess overstates what
it says. Here both factors are normal variables, :math:`u_i \sim N(0, I)` and :math:`v_j \sim N(0, A)`, and each entry
is :math:`u_i^\top v_j` with noise. A few sweeps of variational Bayes [1]_ give each row its mean and its covariance,

.. math:: P_i^{-1} = I + \sum_j \frac{w_{ij}}{\sigma^2} (v_j v_j^\top + S_j), \qquad
          u_i = P_i \sum_j \frac{w_{ij}}{\sigma^2} M_{ij} v_j

and the variances are those that such means and covariances imply.

References
----------
.. [1] Y. J. Lim and Y. W. Teh. Variational Bayesian approach to movie rating prediction. KDD Cup and Workshop, 2007.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._arrays import blocks, column_products
from ..._typing import FloatArray, IndexVector
from ...observation import Entries
from .als import SparseSums
from .factors import Factors

__all__ = ["posterior_mean"]

SWEEPS = 5  # from a good start; many more follow the noise
MOST_NUMBERS = 50_000_000  # in the covariances of all rows and columns


class Normal(NamedTuple):
    """One side: a normal variable for each row (or column)."""

    mean: FloatArray  # (n, k)
    covariance: FloatArray  # (n, k (k + 1) / 2), upper triangles

    def second_moments(self, a: IndexVector, b: IndexVector) -> FloatArray:
        """Expected products of all pairs of coordinates."""
        moments: FloatArray = column_products(self.mean, a, b) + self.covariance
        return moments

    def scaled(self, scale: FloatArray, a: IndexVector, b: IndexVector) -> Normal:
        """The same variables with each coordinate multiplied."""
        return Normal(self.mean * scale, self.covariance * (scale[a] * scale[b]))


def posterior_mean(entries: Entries, start: Factors) -> Factors:
    """The product of the mean factors, from a start that has the directions; the start itself where they are too many.

    Parameters
    ----------
    entries : Entries
        What is approximated, on the host, with weights.
    start : Factors
        Where to begin, such as the low-rank part of the same entries.
    """
    k = start.left.shape[1]
    a, b = np.triu_indices(k)
    if k == 0 or len(a) * sum(entries.shape) > MOST_NUMBERS:
        return start
    diagonal = np.flatnonzero(a == b)
    by_rows = SparseSums(entries)
    by_columns = SparseSums(Entries(entries.shape[::-1], entries.j, entries.i, entries.values, weights=entries.weights))
    unit = np.sqrt(np.mean(start.left**2, axis=0))
    prior = 1 / np.mean((start.right * unit) ** 2, axis=0)  # inverse variance of each coordinate on the right
    right = Normal(start.right * unit, np.zeros((entries.shape[1], len(a))))
    right.covariance[:, diagonal] = 0.1 / prior
    noise = _noise(entries, start)
    for _ in range(SWEEPS):
        left = _posterior(by_rows, right, np.ones(k), noise)
        right = _posterior(by_columns, left, prior, noise)
        variance = np.mean(left.second_moments(a, b)[:, diagonal], axis=0)
        scale = 1 / np.sqrt(np.maximum(variance, np.finfo(float).tiny))
        left, right = left.scaled(scale, a, b), right.scaled(1 / scale, a, b)
        moments = right.second_moments(a, b)
        prior = 1 / np.maximum(np.mean(moments[:, diagonal], axis=0), np.finfo(float).tiny)
        noise = _expected_noise(entries, by_rows, left, right, moments)
    return Factors(left.mean, right.mean)


def _posterior(sums: SparseSums, other: Normal, prior: FloatArray, noise: float) -> Normal:
    """Means and covariances of all rows, given those of the columns."""
    k = other.mean.shape[1]
    a, b = np.triu_indices(k)
    pair = np.empty((k, k), dtype=np.int64)  # where the product of two coordinates stands
    pair[a, b] = pair[b, a] = np.arange(len(a))
    target = sums.of_values(other.mean) / noise
    of_rows = sums.of_moments(other.second_moments(a, b))
    mean, covariance = np.empty(target.shape), np.empty((len(target), len(a)))
    for part in blocks(len(target), k * k):
        precision = of_rows(part)[:, pair.reshape(-1)].reshape(-1, k, k) / noise + np.diag(prior)
        inverse = np.linalg.inv(precision)
        mean[part] = np.matmul(inverse, target[part, :, None])[:, :, 0]
        covariance[part] = inverse[:, a, b]
    return Normal(mean, covariance)


def _noise(entries: Entries, factors: Factors) -> float:
    rest = entries.values - factors.at(entries.i, entries.j)
    return max(float(np.average(rest**2, weights=entries.weights)), np.finfo(float).tiny)


def _expected_noise(entries: Entries, by_rows: SparseSums, left: Normal, right: Normal, moments: FloatArray) -> float:
    """The expected square of what is left of an entry."""
    a, b = np.triu_indices(left.mean.shape[1])
    uncertain = 0.0
    of_rows = by_rows.of_moments(moments)
    exact = by_rows.of_moments(column_products(right.mean, a, b))
    twice = np.where(a == b, 1.0, 2.0)
    for part in blocks(len(left.mean), len(a)):
        own = Normal(left.mean[part], left.covariance[part])
        uncertain += float(np.sum(twice * of_rows(part) * own.second_moments(a, b)))
        uncertain -= float(np.sum(twice * exact(part) * column_products(own.mean, a, b)))
    fitted = _noise(entries, Factors(left.mean, right.mean))
    return fitted + max(uncertain, 0.0) / float(np.sum(np.asarray(entries.weights)))
