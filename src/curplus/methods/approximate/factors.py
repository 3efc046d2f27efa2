r"""Rows of a table with gaps as draws from one distribution: a factor model.

.. math:: x_i = \mu + V u_i + e_i, \qquad u_i \sim N(0, I), \quad e_{ij} \sim N(0, \sigma_j^2)

Each column has noise of its own, so a column that is all noise hardly affects the others. With V fixed, the scores
:math:`u_i` of a row follow from its known values in closed form, *with their covariance*; with the scores fixed, so do
the mean and the loadings :math:`(v_j, \mu_j)` of a column. A fit without the covariances treats its estimates as
known values and shrinks directions that it should not. With them, loadings without support shrink to zero, and the
number of factors need not be searched for (variational Bayes, Ilin and Raiko 2010).

The cells are read in blocks of rows and never copied. The loadings of a long table are learned from part of its rows,
those with known values.

References
----------
Ilin, Raiko: Practical approaches to principal component analysis in the presence of missing values, 2010.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ..._arrays import column_products, is_complex
from ..._typing import FloatArray, IndexVector
from ...observation import Cells
from ...solvers.triangles import full, pairs_of, triangle
from .offsets import is_affordable
from .prediction import Prediction

__all__ = ["BlockedTable", "FactorModel", "Factors", "TransposedFactors", "fit_factor_model"]

# tuned: twelve tables with gaps (benchmarks/imputation.py small, accuracy.py tables). With 30 instead of 20, errors
# are 0.7 to 2 % smaller if 160 values of a row are known (40 add 0.2 to 1 %), with 15 instead of 10 by 2 to 4 % at 24
# of 30.
MOST_FACTORS, MANY_FACTORS, FEWEST_FACTORS = 30, 20, 10
MOST_TABLE_CELLS, LONGEST_SHORT_SIDE = 50_000_000, 2000  # cost: of the matrix, which is read as a table with gaps
# tuned: values that the noise of the other columns is worth in each; flat from 2.5 to 10 (benchmarks/accuracy.py)
PSEUDO_COUNT = 5.0
SWEEPS, STEADY_NOISE = 30, 1e-2  # steps: until the noise changes by less than this fraction, in the mean over columns
LAST_SWEEPS = 2  # steps: sweeps over more rows
FIRST_VALUES, LAST_VALUES = 100, 1000  # cost: known values for each loading, of the rows that they are learned from
MOST_READ = 50_000_000  # cost: cells of the rows that the loadings are learned from
FEWEST_LEARNED_ROWS = 100  # cost: to learn the loadings from
NUMBERS_OF_A_BLOCK = 2_000_000  # cost: numbers in the small matrices of the rows of a block
NEGLIGIBLE_DIRECTION = 3e-4  # rounding: variance along a direction, in terms of the mean noise
LEAST_TABLE_NOISE = 1e-8  # rounding: of the variance of the table


@dataclass(frozen=True)
class Factors:
    """A factor model of the longer side, as a model: each of the shorter side has noise of its own."""

    name: ClassVar[str] = "factors"
    uses_entries: ClassVar[bool] = True

    def applies(self, cells: Cells) -> bool:
        """If the matrix is real and small enough to be read as a table with gaps, on the host."""
        is_small = math.prod(cells.shape) <= MOST_TABLE_CELLS and min(cells.shape) <= LONGEST_SHORT_SIDE
        is_real = not is_complex(cells.entries.values)
        return is_affordable(cells) and is_small and min(cells.shape) > 1 and is_real

    def settled(self, cells: Cells) -> Factors:
        """The model itself: it has no settings."""
        return self

    def fit(self, cells: Cells) -> Prediction:
        """The prediction."""
        return _fitted(cells) if cells.shape[0] >= cells.shape[1] else _fitted(cells.T).H


@dataclass(frozen=True)
class TransposedFactors(Factors):
    """A factor model of the shorter side, as a model: each of the longer side has noise of its own."""

    name: ClassVar[str] = "transposed factors"

    def applies(self, cells: Cells) -> bool:
        """If both sides are small enough for covariances between all rows, and all columns."""
        return super().applies(cells) and max(cells.shape) <= LONGEST_SHORT_SIDE

    def fit(self, cells: Cells) -> Prediction:
        """The prediction."""
        return _fitted(cells) if cells.shape[0] < cells.shape[1] else _fitted(cells.T).H


def _fitted(cells: Cells) -> Prediction:
    """Prediction by a factor model of the rows; a column without known values gets the mean of the others."""
    n, m = cells.shape
    known = np.flatnonzero(cells.T.counts)
    if len(known) < 2:
        return Prediction.of(np.zeros((n, 0)), np.zeros((m, 0)))
    most = max(1, min(n - 1, len(known) - 1, max(len(known) // 2, FEWEST_FACTORS)))
    values = len(cells.scattered) // max(n, m)  # known ones in each of the longer side
    supported = max(min(values // 2, MANY_FACTORS), min(values**2 // min(n, len(known)), MOST_FACTORS))
    wanted = min(max(supported, FEWEST_FACTORS), most)
    centre = float(np.average(cells.scattered.values, weights=cells.scattered.weights))
    table = _table(cells, known, centre)
    model = fit_factor_model(table, wanted, np.random.default_rng(0))
    loadings = np.tile(model.loadings.mean(axis=0), (m, 1))
    loadings[known] = model.loadings
    loadings[:, -1] += centre
    return Prediction.of(np.column_stack([model.scores_of(table), np.ones(n)]), loadings)


class BlockedTable(NamedTuple):
    """A table with gaps that is read in blocks of rows."""

    shape: tuple[int, int]
    rows: Callable[[IndexVector], FloatArray]  # some rows, with NaN at gaps
    known: IndexVector  # rows with known values, ascending
    share: float  # of their values that is known


def _table(cells: Cells, columns: IndexVector, centre: float) -> BlockedTable:
    """Some columns of the cells, less a number towards which their means are shrunk."""
    known = np.flatnonzero(cells.counts)
    share = float(np.mean(cells.counts[known])) / len(columns)
    return BlockedTable(
        (cells.shape[0], len(columns)), lambda index: cells.block(index)[:, columns] - centre, known, share
    )


class FactorModel(NamedTuple):
    """Mean, loadings and noise of the columns of a table."""

    loadings: FloatArray  # (m, k + 1), the last one is the mean
    covariances: FloatArray  # (m, t), of the loadings of each column, upper triangles
    noise: FloatArray  # (m,), variances

    def scores_of(self, table: BlockedTable) -> FloatArray:
        """Scores (n, k) of all rows of a table, found in blocks; zero for rows without known values."""
        scores = np.zeros((table.shape[0], self.n_factors))
        blocks = _blocks(table, table.known, max((self.n_factors + 1) ** 2, table.shape[1]))
        scores[table.known] = np.concatenate([np.empty((0, self.n_factors)), *map(self.scores, blocks)])
        return scores

    @property
    def n_factors(self) -> int:
        """Number of factors."""
        return int(self.loadings.shape[1]) - 1

    def scores(self, rows: FloatArray) -> FloatArray:
        """Scores (p, k) of some rows with NaN at gaps."""
        equations = _equations(self, rows)
        return equations.solve(np.linalg.inv(equations.A))


def fit_factor_model(table: BlockedTable, n_factors: int, rng: np.random.Generator) -> FactorModel:
    """The factor model of a table (n, m), best with n >= m; every column has a known value."""
    first, last = _enough_rows(table, n_factors, rng)
    means = _means(table, last)
    model = _start(means, _covariances(table, last, means), n_factors)
    for rows, sweeps in ((first, SWEEPS), (last, LAST_SWEEPS if len(last) > len(first) else 0)):
        for _ in range(sweeps):
            before, model = model, _improved(model, table, rows)
            if np.mean(np.abs(np.log(model.noise / before.noise))) < STEADY_NOISE:
                break
    return model


def _enough_rows(table: BlockedTable, n_factors: int, rng: np.random.Generator) -> list[IndexVector]:
    """Rows for the first sweeps and for the last ones, drawn at random among those with known values."""
    order, most = rng.permutation(table.known), MOST_READ / table.shape[1]
    numbers = (min(values * n_factors / table.share, most) for values in (FIRST_VALUES, LAST_VALUES))
    return [np.sort(order[: max(math.ceil(number), FEWEST_LEARNED_ROWS)]) for number in numbers]


def _means(table: BlockedTable, chosen: IndexVector) -> FloatArray:
    """Means of the columns; one that is not known in these rows has the mean of the others."""
    sums, counts = np.zeros(table.shape[1]), np.zeros(table.shape[1])
    for rows in _blocks(table, chosen, table.shape[1]):
        sums += np.nansum(rows, axis=0, dtype=np.float64)
        counts += np.count_nonzero(~np.isnan(rows), axis=0)
    means = sums / np.maximum(counts, 1)
    return np.where(counts > 0, means, np.mean(means[counts > 0]) if np.any(counts) else 0.0)


def _covariances(table: BlockedTable, chosen: IndexVector, means: FloatArray) -> FloatArray:
    """Covariances of the columns of a table, shrunk if few rows have both."""
    m = table.shape[1]
    products, pairs = np.zeros((m, m)), np.zeros((m, m))
    for rows in _blocks(table, chosen, m):
        deviations = np.nan_to_num(rows - means, copy=False)
        known = (~np.isnan(rows)).astype(np.float32)  # exact: a block has far fewer than 2^24 rows
        products += deviations.T @ deviations
        pairs += known.T @ known
    return products / (pairs + 1)


def _start(means: FloatArray, covariance: FloatArray, n_factors: int) -> FactorModel:
    """The leading directions of covariances, and the noise: the variance that they do not explain."""
    m = len(covariance)
    values, vectors = scipy.linalg.eigh(covariance, subset_by_index=[max(m - n_factors, 0), m - 1])
    variances = np.maximum(np.diag(covariance), _least_noise(np.diag(covariance) + means**2))
    others = (np.trace(covariance) - np.sum(values)) / max(m - n_factors, 1)
    rest = max(float(others), 0.05 * float(np.mean(variances)))  # steps: where they begin, as the next two
    V = (vectors * np.sqrt(np.maximum(values - rest, 0.01 * rest)))[:, ::-1]  # steps: as above
    noise = np.maximum(variances - np.sum(V**2, axis=1), 0.1 * variances)  # steps: as above
    m, k = V.shape[0], V.shape[1] + 1
    return FactorModel(np.column_stack([V, means]), np.zeros((m, k * (k + 1) // 2)), noise)


def _least_noise(squares: FloatArray) -> float:
    """A noise that is negligible beside values with these mean squares."""
    return LEAST_TABLE_NOISE * (float(np.mean(squares)) or 1.0)


def _blocks(table: BlockedTable, chosen: IndexVector, width: int) -> Iterator[FloatArray]:
    """Some rows of the table, not many at a time."""
    step = max(1, NUMBERS_OF_A_BLOCK // max(width, 1))
    yield from (table.rows(chosen[start : start + step]) for start in range(0, len(chosen), step))


class _Equations(NamedTuple):
    """For each row, the equations ``A u = right`` for its scores; rows known in the same columns share the matrix."""

    known: NDArray[np.bool_]  # (q, m), the different sets of known columns
    which: IndexVector  # (p,), that of each row
    counts: IndexVector  # (q,), how many rows have it
    A: FloatArray  # (q, k, k), the inverse of the covariance of scores
    right: FloatArray  # (p, k)

    def solve(self, covariances: FloatArray) -> FloatArray:
        """The scores (p, k) of the rows, with the inverses (q, k, k) of the matrices."""
        return np.asarray(np.matmul(covariances[self.which], self.right[:, :, None])[:, :, 0])


def _equations(model: FactorModel, rows: FloatArray) -> _Equations:
    k, kind = model.n_factors, rows.dtype
    is_known = ~np.isnan(rows)
    packed = np.ascontiguousarray(np.packbits(is_known, axis=1))
    _, first, which, counts = np.unique(
        packed.view(f"V{packed.shape[1]}")[:, 0], return_index=True, return_inverse=True, return_counts=True
    )
    known = is_known[first]
    products = (_products(model.loadings) + model.covariances) / model.noise[:, None]
    precision = full(known.astype(kind) @ products.astype(kind), k + 1)
    right = np.where(is_known, rows, 0).astype(kind, copy=False) @ (model.loadings / model.noise[:, None]).astype(kind)
    A = precision[:, :k, :k].astype(np.float64)
    A[:, range(k), range(k)] += 1
    return _Equations(known, which, counts, A, right[:, :k] - precision[which, :k, k])


class _Sums(NamedTuple):
    """Sums over rows, from which the columns are solved."""

    moments: FloatArray  # (m, t), sums of squares and products of scores, over the rows with a value in the column
    right: FloatArray  # (m, k + 1), sums of scores times values
    squares: FloatArray  # (m,), sums of squared values
    counts: FloatArray  # (m,), known values
    total: FloatArray  # (t,), squares and products of scores, all rows
    n_rows: int


def _sums(model: FactorModel, table: BlockedTable, chosen: IndexVector) -> _Sums:
    k, m = model.n_factors, table.shape[1]
    t = (k + 1) * (k + 2) // 2
    moments, right, total = np.zeros((m, t)), np.zeros((m, k + 1)), np.zeros(t)
    squares, counts = np.zeros(m), np.zeros(m)
    for rows in _blocks(table, chosen, max((k + 1) ** 2, m)):
        equations = _equations(model, rows)
        padded = np.zeros((len(equations.A), k + 1, k + 1))
        padded[:, :k, :k] = np.linalg.inv(equations.A)
        u = np.column_stack([equations.solve(padded[:, :k, :k]), np.ones(len(rows))])
        second = equations.counts[:, None] * triangle(padded)
        of_rows = _products(u).astype(rows.dtype)
        known = ~np.isnan(rows)
        values = np.where(known, rows, 0).astype(rows.dtype, copy=False)
        moments += known.astype(rows.dtype).T @ of_rows + equations.known.T @ second
        right += values.T @ u.astype(rows.dtype)
        squares += np.sum(values**2, axis=0, dtype=np.float64)
        counts += np.count_nonzero(known, axis=0)
        total += np.sum(of_rows, axis=0, dtype=np.float64) + np.sum(second, axis=0)
    return _Sums(moments, right, squares, counts, total, len(chosen))


def _improved(model: FactorModel, table: BlockedTable, chosen: IndexVector) -> FactorModel:
    """One sweep: scores of the rows, then loadings and noise of the columns, then comparable directions."""
    sums, k = _sums(model, table, chosen), model.n_factors
    expected = _products(model.loadings) + model.covariances
    prior = np.mean(full(expected, k + 1)[:, range(k + 1), range(k + 1)], axis=0)
    prior = np.maximum(prior, 1e-10 * (float(np.max(prior)) or 1.0))  # rounding: no division by zero
    moments = full(sums.moments, k + 1)
    precision = moments / model.noise[:, None, None]
    precision[:, range(k + 1), range(k + 1)] += 1 / prior
    covariances = np.linalg.inv(precision)
    loadings = np.matmul(covariances, sums.right[:, :, None])[:, :, 0] / model.noise[:, None]
    second = loadings[:, :, None] * loadings[:, None, :] + covariances
    squares = sums.squares - 2 * np.sum(sums.right * loadings, axis=1) + np.sum(moments * second, axis=(1, 2))
    new = FactorModel(loadings, triangle(covariances), _noise(np.maximum(squares, 0), sums))
    return _rotated(new, full((sums.total / sums.n_rows)[None], k + 1)[0])


def _noise(squares: FloatArray, sums: _Sums) -> FloatArray:
    """Noise from sums of squared residuals, near that of the other columns if few values are known."""
    common = float(np.sum(squares) / np.sum(sums.counts))
    noise = (squares + PSEUDO_COUNT * common) / (sums.counts + PSEUDO_COUNT)
    return np.maximum(noise, _least_noise(sums.squares / np.maximum(sums.counts, 1)))


def _rotated(model: FactorModel, second: FloatArray) -> FactorModel:
    """The same model with scores of mean zero and covariance one, and orthogonal loadings."""
    k = model.n_factors
    mean = second[:k, k]
    spread = second[:k, :k] - np.outer(mean, mean)
    L = np.linalg.cholesky(spread + 1e-12 * np.trace(second[:k, :k]) / k * np.eye(k))  # rounding: it stays positive
    expected = np.mean(_products(model.loadings) + model.covariances, axis=0)
    sizes, R = np.linalg.eigh(L.T @ full(expected[None], k + 1)[0][:k, :k] @ L)
    kept = np.flatnonzero(sizes > NEGLIGIBLE_DIRECTION * np.mean(model.noise))[::-1]
    kept = kept if len(kept) else np.array([k - 1])
    change = np.zeros((k + 1, len(kept) + 1))
    change[:k, :-1] = (L @ R)[:, kept]
    change[:k, -1], change[k, -1] = mean, 1.0
    covariances = np.matmul(change.T, np.matmul(full(model.covariances, k + 1), change))
    return FactorModel(model.loadings @ change, triangle(covariances), model.noise)


def _products(x: FloatArray) -> FloatArray:
    """Products of all pairs of columns of x (p, k), shape (p, k (k + 1) / 2)."""
    a, b, _ = pairs_of(x.shape[1])
    return np.asarray(column_products(x, a, b))
