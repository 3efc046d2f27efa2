r"""Alternating least squares on everything that was read.

Under noise the best answer lies outside the span of the sampled columns and rows: every scattered entry has something
to say about its row and its column. With one factor fixed the other is a small least-squares problem for each row,
:math:`(\sum_j v_j v_j^\top + \lambda I) u_i = \sum_j M_{ij} v_j`, over the entries of that row that were read. All rows
are solved together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..._arrays import blocks, column_products
from ..._typing import IndexVector
from ...factorization.factorization import Factorization
from ...observation.observation import Observation
from .assemble import leading_part

__all__ = ["Measured", "alternate", "measured"]

FloatArray = NDArray[np.floating[Any]]

PAIRS = 64  # products at a time, so that their sums stay near the processor
ENOUGH = 200_000  # entries that tell the size of the noise to 1 %, or 4 % where its tails are heavy


class Measured(NamedTuple):
    """What was read of a matrix, each place once, arranged by rows."""

    whole: IndexVector  # (d2,), rows known whole
    lines: FloatArray  # (d2, m)
    crossing: IndexVector  # (d1,), columns known whole
    across: FloatArray  # (n, d1)
    weights: scipy.sparse.csr_array  # (n, m), of the scattered entries; repeated positions add up
    values: scipy.sparse.csr_array  # (n, m), weight times value

    @property
    def T(self) -> Measured:
        """The same arranged by columns."""
        weights, values = (scipy.sparse.csr_array(x.T) for x in (self.weights, self.values))
        return Measured(self.crossing, self.across.T, self.whole, self.lines.T, weights, values)


def measured(observation: Observation, use: IndexVector) -> Measured:
    """Sampled lines, and those of the entries ``use`` that lie outside them, weighted by their noise."""
    use = use[observation.outside[use]]
    where = (observation.i[use], observation.j[use])
    weight = np.ones(len(use))
    if observation.weights is not None:
        weight = observation.weights[use] / np.mean(observation.weights)
    return Measured(
        observation.row_index,
        np.asarray(observation.rows, dtype=np.float64),
        observation.column_index,
        np.asarray(observation.columns, dtype=np.float64),
        scipy.sparse.csr_array((weight, where), shape=observation.shape),
        scipy.sparse.csr_array((weight * observation.values[use], where), shape=observation.shape),
    )


def solve_rows(seen: Measured, V: FloatArray, ridge: float) -> FloatArray:
    """The left factor (n, r) that fits what was read best, for the right factor ``V`` (m, r)."""
    r = V.shape[1]
    a, b = np.triu_indices(r)
    known, whole = V[seen.crossing], V.T @ V
    pairs = [(some, column_products(V, a[some], b[some])) for some in blocks(len(a), 1, most=PAIRS)]
    common = column_products(known, a, b).sum(axis=0)
    pair = np.empty((r, r), dtype=np.int64)  # where the product of two columns stands
    pair[a, b] = pair[b, a] = np.arange(len(a))
    floor = max(ridge, 1e-14 * float(np.trace(whole)) / max(r, 1), np.finfo(float).tiny)  # a row not read stays zero
    target = seen.values @ V + seen.across @ known
    target[seen.whole] = seen.lines @ V
    is_whole = np.zeros(len(target), dtype=bool)
    is_whole[seen.whole] = True
    solution: FloatArray = np.empty_like(target)
    for part in blocks(len(target), r * r):
        weights = seen.weights[part].tocsc()  # by columns, a product reads the pairs once
        sums = np.tile(common, (weights.shape[0], 1))
        for some, products in pairs:
            sums[:, some] += weights @ products
        gram = np.take(sums, pair, axis=1)
        gram[is_whole[part]] = whole
        gram += floor * np.eye(r)
        solution[part] = np.linalg.solve(gram, target[part, :, None])[:, :, 0]
    return solution


def alternate(
    start: Factorization,
    observation: Observation,
    *,
    use: IndexVector,
    check: IndexVector,
    max_sweeps: int = 50,
    tol: float = 1e-5,
) -> Factorization:
    """Sweeps of alternating least squares from ``start``, until the entries ``check`` are fitted no better.

    The ridge is what a prior on the factors would ask for: the variance of the misfit over that of a factor's entries,
    taken anew in every sweep.

    Parameters
    ----------
    start : Factorization
        Where to begin; its rank is kept.
    observation : Observation
        What was read.
    use, check : arrays
        Which entries to fit, and which to watch.
    max_sweeps : int, default 50
        Most sweeps over rows and columns.
    tol : float, default 1e-5
        Stop when a sweep improves the mean squared misfit on ``check`` by less than this fraction.
    """
    by_rows = measured(observation, use)
    by_columns = by_rows.T
    root = np.sqrt(np.diag(start.core.Z))
    left, right = start.left.vectors * root, start.right.vectors * root
    best, least = start, _misfit(start.entries, observation, check)
    some = use if len(use) <= ENOUGH else use[np.random.default_rng(0).integers(len(use), size=ENOUGH)]
    for _ in range(max_sweeps):
        noise = _misfit(lambda i, j: np.einsum("tk,tk->t", left[i], right[j]), observation, some)  # noqa: B023
        left = solve_rows(by_rows, right, noise / _variance(left))
        right = solve_rows(by_columns, left, noise / _variance(right))
        now = leading_part(left, right, start.rank)
        error = _misfit(now.entries, observation, check)
        if not error < least * (1 - tol):
            break
        best, least = now, error
        root = np.sqrt(np.diag(now.core.Z))
        left, right = now.left.vectors * root, now.right.vectors * root
    return best


def _variance(factor: FloatArray) -> float:
    return max(float(np.mean(factor**2)), np.finfo(float).tiny)


def _misfit(entries: Any, observation: Observation, which: IndexVector) -> float:
    """Mean squared misfit on some of the entries, by their weights."""
    errors = observation.values[which] - entries(observation.i[which], observation.j[which])
    return float(np.average(errors**2, weights=observation.fit_weights[which])) if len(which) else 0.0
