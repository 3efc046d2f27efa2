r"""Rows of a table with gaps as draws from one distribution: a factor model.

.. math:: x_i = \mu + V u_i + e_i, \qquad u_i \sim N(0, I), \quad e_{ij} \sim N(0, \sigma_j^2)

Each column has noise of its own, so a column that is all noise says little about the others. With V fixed, the scores
:math:`u_i` of a row follow from its known values in closed form, *with their covariance*; with the scores fixed, so do
the mean and the loadings :math:`(v_j, \mu_j)` of a column. A fit that forgets the covariances takes what it has guessed
for known and shrinks directions that it should not. With them, loadings that nothing supports shrink to zero by
themselves, and the number of factors need not be searched for (variational Bayes, Ilin and Raiko 2010).

The table is read in blocks of rows and never copied. The loadings of a long table are learned from part of its rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray

__all__ = ["FactorModel", "Table", "fit_factor_model"]

MOST_FACTORS = 40
PSEUDO_COUNT = 5.0  # values that say that the noise of a column is that of the others
SWEEPS, STEADY = 30, 1e-3  # until no noise changes by more than this fraction
LAST_SWEEPS = 3  # over more rows
FIRST_CELLS, LAST_CELLS = 1_500_000, 10_000_000  # of the rows that loadings are learned from
BLOCK = 2_000_000  # numbers in the small matrices of the rows of a block
LEAST_NOISE = 1e-8  # of the variance of the table


class Table(NamedTuple):
    """A table that is read in blocks."""

    shape: tuple[int, int]
    rows: Callable[[slice | np.ndarray], FloatArray]  # some rows, with NaN at gaps


class FactorModel(NamedTuple):
    """Mean, loadings and noise of the columns of a table."""

    loadings: FloatArray  # (m, k + 1), the last one is the mean
    covariances: FloatArray  # (m, t), of the loadings of each column, upper triangles
    noise: FloatArray  # (m,), variances

    @property
    def n_factors(self) -> int:
        """Number of factors."""
        return int(self.loadings.shape[1]) - 1

    def scores(self, rows: FloatArray) -> FloatArray:
        """Scores (p, k) of some rows with NaN at gaps."""
        return _score(self, rows).scores


def fit_factor_model(table: Table, n_factors: int | None, rng: np.random.Generator) -> FactorModel:
    """The factor model of a table (n, m), best with n >= m; every column has a known value."""
    first, last = (_some_rows(table, cells, rng) for cells in (FIRST_CELLS, LAST_CELLS))
    model = _start(table.rows(first), _default_factors(table.shape) if n_factors is None else n_factors)
    for rows, sweeps in ((first, SWEEPS), (last, LAST_SWEEPS if len(last) > len(first) else 0)):
        for _ in range(sweeps):
            before, model = model, _improved(model, table, rows)
            if np.max(np.abs(np.log(model.noise / before.noise))) < STEADY:
                break
    return model


def _default_factors(shape: tuple[int, int]) -> int:
    return max(1, min(MOST_FACTORS, shape[0] - 1, shape[1] // 2))


def _some_rows(table: Table, most_cells: int, rng: np.random.Generator) -> np.ndarray:
    n, m = table.shape
    most = max(most_cells // m, 100)
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def _start(rows: FloatArray, n_factors: int) -> FactorModel:
    """Leading directions of the covariances of pairs of columns, each from the rows that know both."""
    known = ~np.isnan(rows)
    W = known.astype(np.float64)
    mean = np.sum(np.where(known, rows, 0.0), axis=0) / np.maximum(W.sum(axis=0), 1)
    E = np.where(known, rows - mean, 0.0)
    pairs = W.T @ W
    covariance = (E.T @ E) / np.maximum(pairs, 1) * (pairs / (pairs + 1))
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = values[::-1], vectors[:, ::-1]
    variances = np.maximum(np.diag(covariance), LEAST_NOISE * max(np.mean(np.diag(covariance)), 1e-300))
    rest = max(float(np.mean(values[n_factors:])) if n_factors < len(values) else 0.0, 0.05 * float(np.mean(variances)))
    size = np.sqrt(np.maximum(values[:n_factors] - rest, 0.01 * rest))
    V = vectors[:, :n_factors] * size
    noise = np.maximum(variances - np.sum(V**2, axis=1), 0.1 * variances)
    k = V.shape[1] + 1
    return FactorModel(np.column_stack([V, mean]), np.zeros((len(mean), k * (k + 1) // 2)), noise)


class _Scores(NamedTuple):
    scores: FloatArray  # (p, k)
    covariances: FloatArray  # (p, k, k)


def _score(model: FactorModel, rows: FloatArray) -> _Scores:
    """Scores of some rows and their covariances, given the loadings."""
    k, kind = model.n_factors, rows.dtype
    known = ~np.isnan(rows)
    weights = known.astype(kind)
    products = _products(model.loadings) + model.covariances
    precision = _full(weights @ (products / model.noise[:, None]).astype(kind), k + 1)
    right = np.where(known, rows, 0).astype(kind, copy=False) @ (model.loadings / model.noise[:, None]).astype(kind)
    A = precision[:, :k, :k].astype(np.float64)
    A[:, range(k), range(k)] += 1
    covariances = np.linalg.inv(A)
    return _Scores(np.matmul(covariances, (right[:, :k] - precision[:, :k, k])[:, :, None])[:, :, 0], covariances)


class _Sums(NamedTuple):
    """What the columns need to know of the rows."""

    moments: FloatArray  # (m, t), sums of squares and products of scores, over the rows that know the column
    right: FloatArray  # (m, k + 1), sums of scores times values
    squares: FloatArray  # (m,), sums of squared values
    counts: FloatArray  # (m,), known values
    total: FloatArray  # (t,), squares and products of scores, all rows
    n_rows: int


def _sums(model: FactorModel, table: Table, chosen: np.ndarray) -> _Sums:
    k, m = model.n_factors, table.shape[1]
    t = (k + 1) * (k + 2) // 2
    moments, right, total = np.zeros((m, t)), np.zeros((m, k + 1)), np.zeros(t)
    squares, counts = np.zeros(m), np.zeros(m)
    step = max(1, BLOCK // max(t, m))
    for start in range(0, len(chosen), step):
        rows = table.rows(chosen[start : start + step])
        scores, covariances = _score(model, rows)
        u = np.column_stack([scores, np.ones(len(rows))])
        padded = np.zeros((len(rows), k + 1, k + 1))
        padded[:, :k, :k] = covariances
        second = (_products(u) + _triangle(padded)).astype(rows.dtype)
        known = ~np.isnan(rows)
        values = np.where(known, rows, 0).astype(rows.dtype, copy=False)
        moments += known.astype(rows.dtype).T @ second
        right += values.T @ u.astype(rows.dtype)
        squares += np.sum(values**2, axis=0, dtype=np.float64)
        counts += np.count_nonzero(known, axis=0)
        total += np.sum(second, axis=0, dtype=np.float64)
    return _Sums(moments, right, squares, counts, total, len(chosen))


def _improved(model: FactorModel, table: Table, chosen: np.ndarray) -> FactorModel:
    """One sweep: scores of the rows, then loadings and noise of the columns, then comparable directions."""
    sums, k = _sums(model, table, chosen), model.n_factors
    expected = _products(model.loadings) + model.covariances
    prior = np.mean(_full(expected, k + 1)[:, range(k + 1), range(k + 1)], axis=0)
    prior = np.maximum(prior, 1e-10 * np.max(prior, initial=1e-300))
    moments = _full(sums.moments, k + 1)
    precision = moments / model.noise[:, None, None]
    precision[:, range(k + 1), range(k + 1)] += 1 / prior
    covariances = np.linalg.inv(precision)
    loadings = np.matmul(covariances, sums.right[:, :, None])[:, :, 0] / model.noise[:, None]
    second = loadings[:, :, None] * loadings[:, None, :] + covariances
    squares = sums.squares - 2 * np.sum(sums.right * loadings, axis=1) + np.sum(moments * second, axis=(1, 2))
    squares = np.maximum(squares, 0)
    common = max(float(np.sum(squares) / np.sum(sums.counts)), LEAST_NOISE * float(np.sum(sums.squares) / np.sum(sums.counts)), 1e-300)
    noise = (squares + PSEUDO_COUNT * common) / (sums.counts + PSEUDO_COUNT)
    return _rotated(FactorModel(loadings, _triangle(covariances), noise), _full((sums.total / sums.n_rows)[None], k + 1)[0])


def _rotated(model: FactorModel, second: FloatArray) -> FactorModel:
    """The same model with scores of mean zero and covariance one, and orthogonal loadings."""
    k = model.n_factors
    mean = second[:k, k]
    L = np.linalg.cholesky(second[:k, :k] - np.outer(mean, mean) + 1e-12 * np.trace(second[:k, :k]) / k * np.eye(k))
    expected = np.mean(_full(_products(model.loadings) + model.covariances, k + 1), axis=0)[:k, :k]
    R = np.linalg.eigh(L.T @ expected @ L)[1][:, ::-1]
    change = np.eye(k + 1)
    change[:k, :k] = L @ R
    change[:k, k] = mean
    covariances = np.matmul(change.T, np.matmul(_full(model.covariances, k + 1), change))
    return FactorModel(model.loadings @ change, _triangle(covariances), model.noise)


def _products(x: FloatArray) -> FloatArray:
    """Products of all pairs of columns of x (p, k), shape (p, k (k + 1) / 2)."""
    a, b = np.triu_indices(x.shape[1])
    return np.asarray(x[:, a] * x[:, b])


def _triangle(matrices: FloatArray) -> FloatArray:
    """Upper triangles of symmetric matrices (p, k, k)."""
    a, b = np.triu_indices(matrices.shape[1])
    return np.asarray(matrices[:, a, b])


def _full(triangles: FloatArray, k: int) -> FloatArray:
    """Symmetric matrices (p, k, k) from their upper triangles."""
    place = np.zeros((k, k), dtype=np.int64)
    a, b = np.triu_indices(k)
    place[a, b] = place[b, a] = np.arange(len(a))
    return np.asarray(triangles[:, place.reshape(-1)]).reshape(-1, k, k)
