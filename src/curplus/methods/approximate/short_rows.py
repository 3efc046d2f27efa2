r"""Rows of which fewer values than directions were read: a small system for the values instead of the directions.

The minimiser of :math:`\sum_j w_j (m_j - v_j^\top u)^2 + u^\top R u` has two forms,

.. math:: u = (A^\top A + R)^{-1} A^\top b = R^{-1} A^\top (A R^{-1} A^\top + I)^{-1} b,

with :math:`\sqrt{w_j} v_j` as rows of A and :math:`\sqrt{w_j} m_j` in b. The second has the size of what was read.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import array_namespace, blocks, device, take, to_device
from ..._sets import NO_INDEX
from ..._typing import FloatArray, IndexVector, Matrix
from ...observation import Entries

__all__ = ["short_rows", "solve_short_rows"]

MANY = 32  # directions, from which on the form matters


def short_rows(entries: Entries, rank: int) -> IndexVector:
    """Rows with fewer entries than directions, if most rows are so and no position occurs twice; else none."""
    if rank < MANY or entries.has_repeats:
        return NO_INDEX
    short = np.flatnonzero(np.bincount(entries.i, minlength=entries.shape[0]) < rank)
    return short if 2 * len(short) > entries.shape[0] else NO_INDEX


def solve_short_rows(entries: Entries, V: Matrix, ridge: FloatArray, rows: IndexVector) -> Matrix:
    """The left factor (k, r) of k rows that fits their entries best, for the right factor ``V`` (m, r)."""
    xp, r = array_namespace(V), V.shape[1]
    order = np.argsort(entries.i, kind="stable")
    start = np.searchsorted(entries.i[order], np.arange(entries.shape[0] + 1))
    counts = np.diff(start)[rows]
    by_count = np.argsort(counts, kind="stable")
    roots = np.sqrt(np.asarray(entries.weights))
    least = float(np.min(ridge))
    inverse = to_device(least / ridge, V)
    parts = []
    for part in blocks(len(rows), r * max(int(np.max(counts, initial=0)), 1)):
        some = by_count[part]
        size = int(counts[some[-1]])
        is_there = np.arange(size) < counts[some, None]
        records = order[np.where(is_there, start[rows[some], None] + np.arange(size), 0)] if size else is_there * 0
        weights = to_device(roots[records] * is_there, V)
        A = xp.reshape(take(V, entries.j[records].ravel(), axis=0), (len(some), size, r)) * weights[:, :, None]
        b = xp.reshape(take(entries.values, records.ravel(), axis=0), (len(some), size)) * weights
        turned = xp.matrix_transpose(A * inverse)
        small = xp.matmul(A, turned) + to_device(least * np.eye(size), V)
        parts.append(xp.matmul(turned, xp.linalg.solve(small, b[:, :, None]))[:, :, 0])
    if not parts:
        return xp.zeros((0, r), dtype=V.dtype, device=device(V))
    return take(xp.concat(parts), np.argsort(by_count), axis=0)
