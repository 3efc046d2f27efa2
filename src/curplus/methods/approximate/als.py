r"""Alternating least squares on everything that was read.

Under noise the best approximation lies outside the span of the sampled columns and rows: every scattered entry has
something to say about its row and its column. With one factor fixed the other is a small least-squares problem for each
row, :math:`(\sum_j v_j v_j^\top + \lambda I) u_i = \sum_j M_{ij} v_j`, over the entries of that row that were read. All
rows are solved together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from ..._arrays import (
    array_namespace,
    blocks,
    column_products,
    device,
    float64,
    is_numpy_array,
    scatter_rows,
    segment_sum,
    take,
    to_device,
    to_numpy,
)
from ..._sets import NO_INDEX
from ..._triangles import full, pairs_of
from ..._typing import FloatArray, IndexVector, Matrix, Vector
from ...factorization import Factorization
from ...observation import Entries, Observation
from .assemble import leading_part
from .factors import Factors
from .offsets import Offsets
from .short_rows import short_rows, solve_short_rows

__all__ = ["Measurements", "alternate", "measurements", "solve_rows"]

PAIRS = 64  # products at a time, so that their sums stay near the processor
ENOUGH = 200_000  # entries that tell the size of the noise to 1 %, or 4 % where its tails are heavy


@dataclass(frozen=True, eq=False)
class Measurements:
    """What was read of a matrix, each position once, arranged by rows."""

    row_index: IndexVector  # (d2,), rows known whole
    rows: Matrix  # (d2, m)
    column_index: IndexVector  # (d1,), columns known whole
    columns: Matrix  # (n, d1)
    entries: Entries  # elsewhere; weights are relative, repeated positions add up

    @property
    def T(self) -> Measurements:
        """The same arranged by columns."""
        e = self.entries
        turned = Entries((e.shape[1], e.shape[0]), e.j, e.i, e.values, weights=e.weights)
        return Measurements(self.column_index, self.columns.T, self.row_index, self.rows.T, turned)

    def at_rows(self, index: IndexVector) -> Measurements:
        """What was read of some rows, numbered anew."""
        place = np.full(self.entries.shape[0], -1)
        place[index] = np.arange(len(index))
        whole, here = (np.flatnonzero(place[i] >= 0) for i in (self.row_index, self.entries.i))
        some = self.entries.take(here)
        return Measurements(
            place[self.row_index[whole]],
            take(self.rows, whole, axis=0),
            self.column_index,
            take(self.columns, index, axis=0),
            replace(some, shape=(len(index), some.shape[1]), i=place[some.i]),
        )

    def without(self, offsets: Offsets) -> Measurements:
        """What is left after some offsets of rows and columns."""
        a, b = (to_device(x, self.entries.values) for x in (offsets.constant + offsets.rows, offsets.columns))
        e = self.entries
        return Measurements(
            self.row_index,
            self.rows - take(a, self.row_index, axis=0)[:, None] - b,
            self.column_index,
            self.columns - a[:, None] - take(b, self.column_index, axis=0),
            replace(e, values=e.values - take(a, e.i, axis=0) - take(b, e.j, axis=0)),
        )

    def entry_sums(self) -> SparseSums | DeviceSums:
        """How sums over the entries of each row are formed: by SciPy for NumPy arrays, else where the entries are."""
        return self._sums

    @cached_property
    def _sums(self) -> SparseSums | DeviceSums:
        return (SparseSums if is_numpy_array(self.entries.values) else DeviceSums)(self.entries)


class SparseSums:
    """Sums over the entries of each row, as products with sparse matrices."""

    def __init__(self, entries: Entries) -> None:
        where, shape = (entries.i, entries.j), entries.shape
        self._weights = scipy.sparse.csr_array((entries.weights, where), shape=shape)
        self._values = scipy.sparse.csr_array((entries.weights * entries.values, where), shape=shape)
        self._by_columns: dict[tuple[int, int], scipy.sparse.csc_array] = {}
        self.n_rows = shape[0]

    def of_values(self, V: Matrix) -> Matrix:
        """Sums of weight times value times the row of ``V``, shape (n, r)."""
        return self._values @ V

    def of_moments(self, moments: Matrix) -> Callable[[slice], Matrix]:
        """For some rows: sums of weight times the row of ``moments`` (m, pairs)."""

        def sums(part: slice) -> Matrix:
            weights = self._part(part)
            total = np.empty((weights.shape[0], moments.shape[1]))
            for some in blocks(moments.shape[1], 1, most=PAIRS):
                total[:, some] = weights @ moments[:, some]
            return total

        return sums

    def _part(self, part: slice) -> scipy.sparse.csc_array:
        """The weights of some rows, by columns: a product then reads the moments once."""
        where = (part.start, part.stop)
        if where not in self._by_columns:
            self._by_columns[where] = self._weights[part].tocsc()
        return self._by_columns[where]


class DeviceSums:
    """Sums over the entries of each row, on the device of the entries."""

    def __init__(self, entries: Entries) -> None:
        order = np.argsort(entries.i, kind="stable")
        self._i = entries.i[order]
        self._hit, self._j = np.unique(entries.j[order], return_inverse=True)
        self._start = np.searchsorted(self._i, np.arange(entries.shape[0] + 1))
        self._values = take(entries.values, order, axis=0)
        self._weights = to_device(np.asarray(entries.weights)[order], entries.values)

    def of_values(self, V: Matrix) -> Matrix:
        """Sums of weight times value times the row of ``V``, shape (n, r)."""
        terms = (self._weights * self._values)[:, None] * take(V, self._hit[self._j], axis=0)
        return segment_sum(terms, self._i, len(self._start) - 1)

    def of_moments(self, moments: Matrix) -> Callable[[slice], Matrix]:
        """For some rows: sums of weight times the row of ``moments`` (m, pairs)."""
        hit = take(moments, self._hit, axis=0)

        def sums(part: slice) -> Matrix:
            here = slice(int(self._start[part.start]), int(self._start[part.stop]))
            weights, labels = self._weights[here][:, None], self._i[here] - part.start
            terms = (
                weights * take(hit[:, some], self._j[here], axis=0) for some in blocks(hit.shape[1], 1, most=PAIRS)
            )
            return array_namespace(hit).concat([segment_sum(x, labels, part.stop - part.start) for x in terms], axis=1)

        return sums


def measurements(observation: Observation, use: IndexVector) -> Measurements:
    """Sampled rows and columns, and those of the entries ``use`` outside them, weighted by their noise."""
    use = use[observation.outside[use]]
    some = observation.entries.take(use)
    weights = np.ones(len(use))
    if observation.weights is not None:
        weights = observation.weights[use] / np.mean(observation.weights)
    return Measurements(
        observation.row_index,
        float64(observation.rows),
        observation.column_index,
        float64(observation.columns),
        Entries(some.shape, some.i, some.j, float64(some.values), weights=weights),
    )


def solve_rows(measured: Measurements, V: Matrix, ridge: float | FloatArray) -> Matrix:
    """The left factor (n, r) that fits what was read best, for the right factor ``V`` (m, r).

    ``ridge`` may be another for each of the r directions.
    """
    xp = array_namespace(V)
    n, r = measured.entries.shape[0], V.shape[1]
    if r == 0:
        return xp.zeros((n, 0), dtype=V.dtype, device=device(V))
    least = max(1e-14 * float(xp.sum(V**2)) / r, np.finfo(float).tiny)  # a row not read stays zero
    ridges = np.broadcast_to(np.maximum(ridge, least), r)
    short = NO_INDEX if len(measured.column_index) else short_rows(measured.entries, r)
    if not len(short):
        return _solve_by_directions(measured, V, ridges)
    whole = measured.row_index
    short = short[~np.isin(short, whole)]
    others = np.delete(np.arange(n), np.append(whole, short))
    parts = (
        xp.linalg.solve(V.T @ V + to_device(np.diag(ridges), V), (measured.rows @ V).T).T,
        solve_short_rows(measured.entries, V, ridges, short),
        _solve_by_directions(measured.at_rows(others), V, ridges),
    )
    return take(xp.concat(parts), np.argsort(np.concatenate([whole, short, others])), axis=0)


def _solve_by_directions(measured: Measurements, V: Matrix, ridges: FloatArray) -> Matrix:
    """The same by a system of size r for each row."""
    xp = array_namespace(V)
    n, r = measured.entries.shape[0], V.shape[1]
    a, b, _ = pairs_of(r)
    known, gram_of_rows = take(V, measured.column_index, axis=0), V.T @ V
    common = xp.sum(column_products(known, a, b), axis=0)
    diagonal = to_device(np.diag(ridges), V)
    is_known = np.zeros(n, dtype=bool)
    is_known[measured.row_index] = True
    is_known = to_device(is_known, V)
    target = measured.entry_sums().of_values(V) + measured.columns @ known
    target = xp.where(is_known[:, None], scatter_rows(measured.rows @ V, measured.row_index, n), target)
    sums = measured.entry_sums().of_moments(column_products(V, a, b))
    parts = [xp.zeros((0, r), dtype=V.dtype, device=device(V))]
    for part in blocks(n, r * r):
        gram = (
            xp.where(is_known[part][:, None, None], gram_of_rows[None, :, :], full(common + sums(part), r)) + diagonal
        )
        parts.append(xp.linalg.solve(gram, target[part, :, None])[:, :, 0])
    return xp.concat(parts)


def alternate(
    start: Factorization,
    observation: Observation,
    *,
    use: IndexVector,
    check: IndexVector,
    offsets: Offsets | None = None,
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
    offsets : Offsets, optional
        What the ridge shrinks towards; zero if left out. The factors are fitted to the rest.
    max_sweeps : int, default 50
        Most sweeps over rows and columns.
    tol : float, default 1e-5
        Stop when a sweep improves the mean squared misfit on ``check`` by less than this fraction.
    """
    by_rows = measurements(observation, use)
    fixed = None if offsets is None else _factors_of(offsets, by_rows.entries.values)
    by_rows = by_rows if offsets is None else by_rows.without(offsets)
    by_columns = by_rows.T
    some = use if len(use) <= ENOUGH else use[np.random.default_rng(0).integers(len(use), size=ENOUGH)]
    left, right = _balanced(start if fixed is None else _minus(start, fixed))
    best, least = start, _misfit(start.entries, observation, check)
    for _ in range(max_sweeps):
        noise = _misfit(_sum(Factors(left, right), fixed).at, observation, some)
        left = solve_rows(by_rows, right, noise / _variance(left))
        right = solve_rows(by_columns, left, noise / _variance(right))
        now = leading_part(*_sum(Factors(left, right), fixed), start.rank)
        error = _misfit(now.entries, observation, check)
        if not error < least * (1 - tol):
            break
        best, least = now, error
        left, right = _balanced(leading_part(left, right, start.rank))
    return best


def _factors_of(offsets: Offsets, like: Vector) -> Factors:
    return Factors(*(to_device(x, like) for x in offsets.factors()))


def _sum(factors: Factors, fixed: Factors | None) -> Factors:
    return factors if fixed is None else factors.plus(fixed)


def _minus(start: Factorization, fixed: Factors) -> Factorization:
    """The leading part of what a start adds to the offsets, of the same rank."""
    whole = Factors(*_balanced(start)).plus(Factors(-fixed.left, fixed.right))
    return leading_part(*whole, start.rank)


def _balanced(approximation: Factorization) -> tuple[Matrix, Matrix]:
    """Two factors of equal size, for a diagonal core."""
    Z = approximation.core.Z
    root = to_device(np.sqrt(np.diag(to_numpy(Z))), Z)
    return approximation.left.vectors * root, approximation.right.vectors * root


def _variance(factor: Matrix) -> float:
    return max(float(array_namespace(factor).mean(factor**2)), np.finfo(float).tiny)


def _misfit(entries: Any, observation: Observation, which: IndexVector) -> float:
    """Mean squared misfit on some of the entries, by their weights."""
    if not len(which):
        return 0.0
    some, weights = observation.entries.take(which), observation.entries.fit_weights[which]
    errors = to_numpy(some.values) - to_numpy(entries(some.i, some.j))
    return float(np.average(errors**2, weights=weights))
