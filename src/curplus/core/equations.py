r"""One equation per entry: the linear map from the core to the observed entries.

Eq. (opt) of the paper asks for the core Z that fits :math:`(\hat U Z \hat V^\top)_{ij} = M_{ij}` over
:math:`(i, j) \in \Omega`. This module holds that system, :math:`\mathcal A(Z) = b`, and never forms its matrix unless
it is asked to. Both sides carry the factor :math:`\sqrt{nm/|\Omega|}`, which makes the expected Gram matrix the
identity, and the right-hand side is scaled to magnitude one. Everything is in float64: the system is small, and its
digits decide those of the answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse

from .._arrays import array_namespace, blocks, device, is_numpy_array, largest, power_of_two, take, to_device
from .._typing import IndexVector, Matrix, Vector
from ..observation import Observation

__all__ = ["EntryEquations", "entry_equations"]


class Groups(NamedTuple):
    """Which equations share a row of the matrix (or a column), so that work on it is done once."""

    member: IndexVector  # (|Omega|,), ascending: the group of each equation
    start: IndexVector  # (g + 1,): group k is start[k]:start[k + 1]

    def spread(self, x: Matrix) -> Matrix:
        """Rows of ``x``, one per group, repeated for each member."""
        return np.take(x, self.member, axis=0)

    def total(self, weights: Vector, x: Matrix) -> Matrix:
        """Sums of ``weights[t] * x[t]`` over each group."""
        size = len(self.member)
        shape = (len(self.start) - 1, size)
        return scipy.sparse.csr_array((weights, np.arange(size), self.start), shape=shape) @ x


class EntryEquations(NamedTuple):
    """The equations ``apply(Z) == target``; divide a solution by ``1 / unit`` to undo the scaling of the target."""

    left: Matrix  # (g, r1), or (g, r2) when swapped: one row per group
    right: Matrix  # (|Omega|, r2), or (|Omega|, r1) when swapped
    target: Vector  # (|Omega|,)
    groups: Groups | None  # None: every equation is its own group
    swapped: bool  # grouped by columns, so that Z stands transposed between left and right
    unit: float  # values == target * unit / sqrt(nm / |Omega|), where the weight is one

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (r1, r2) of the core."""
        a, b = self.left.shape[1], self.right.shape[1]
        return (b, a) if self.swapped else (a, b)

    def zero(self) -> Matrix:
        """The core that is zero."""
        return array_namespace(self.left).zeros(self.shape, dtype=self.left.dtype, device=device(self.left))

    def apply(self, Z: Matrix) -> Vector:
        """Left-hand sides for the core ``Z``."""
        xp = array_namespace(Z)
        return xp.vecdot(self._spread(self.left @ (Z.T if self.swapped else Z)), self.right)

    def adjoint(self, e: Vector) -> Matrix:
        """The transpose of :meth:`apply`: a core-shaped matrix."""
        weighted = e[:, None] * self.right if self.groups is None else self.groups.total(e, self.right)
        Z = self.left.T @ weighted
        return Z.T if self.swapped else Z

    def norm(self) -> float:
        """Frobenius norm of the system's matrix."""
        xp = array_namespace(self.left)
        sizes = self._spread(xp.sum(self.left**2, axis=1)) * xp.sum(self.right**2, axis=1)
        return math.sqrt(float(xp.sum(sizes)))

    def blocks(self) -> Iterator[tuple[Matrix, Vector]]:
        """The matrix of the system and its right-hand side, a few equations at a time."""
        xp = array_namespace(self.left)
        unknowns = math.prod(self.shape)
        rows = self._spread(self.left)
        for part in blocks(self.right.shape[0], unknowns):
            a, b = rows[part, :], self.right[part, :]
            a, b = (b, a) if self.swapped else (a, b)
            yield xp.reshape(a[:, :, None] * b[:, None, :], (-1, unknowns)), self.target[part]

    def gram(self) -> Matrix:
        r"""The Gram matrix of the system, shape (r1 r2, r1 r2).

        Its entry ``[(a, c), (b, d)]`` is :math:`\sum_t u_{ta} u_{tb} v_{tc} v_{td}`: only products of pairs matter,
        so half of each side is enough, and members of a group are added up before they are multiplied.
        """
        xp = array_namespace(self.left)
        p, q = self.left.shape[1], self.right.shape[1]
        half_p, pair_p = _pairs(p)
        half_q, pair_q = _pairs(q)
        moments: Matrix = 0.0
        for part in blocks(self.right.shape[0], len(half_q[0])):
            outer = take(self.right[part, :], half_q[0], axis=1) * take(self.right[part, :], half_q[1], axis=1)
            left, outer = self._collect(part, outer)
            inner = take(left, half_p[0], axis=1) * take(left, half_p[1], axis=1)
            moments = moments + inner.T @ outer
        full = take(take(moments, pair_p.reshape(-1), axis=0), pair_q.reshape(-1), axis=1)
        full = xp.reshape(full, (p, p, q, q))
        axes = (2, 0, 3, 1) if self.swapped else (0, 2, 1, 3)
        return xp.reshape(xp.permute_dims(full, axes), (p * q, p * q))

    def _spread(self, x: Matrix) -> Matrix:
        return x if self.groups is None else self.groups.spread(x)

    def _collect(self, part: slice, x: Matrix) -> tuple[Matrix, Matrix]:
        """Rows of ``left`` that the equations ``part`` need, and the sums of ``x`` over each."""
        if self.groups is None:
            return self.left[part, :], x
        member = self.groups.member[part]
        first = np.flatnonzero(np.diff(member, prepend=-1))
        return self.left[member[first]], np.add.reduceat(x, first, axis=0)


def entry_equations(left: Matrix, right: Matrix, observation: Observation) -> EntryEquations:
    """The system of eq. (opt) for the bases ``left`` (n, r1) and ``right`` (m, r2), each equation with its weight."""
    i, j = observation.i, observation.j
    weight = np.sqrt(math.prod(observation.shape) / max(len(i), 1) * observation.entry_weights)
    xp = array_namespace(left)
    values = xp.astype(observation.values, xp.float64)
    unit = power_of_two(largest(values), values)
    target = values / unit * to_device(weight, left)
    if not is_numpy_array(left):
        rows, columns = (xp.astype(take(x, k, axis=0), xp.float64) for x, k in ((left, i), (right, j)))
        return EntryEquations(rows, columns * to_device(weight, left)[:, None], target, None, False, unit)
    swapped = bool(np.count_nonzero(np.bincount(j)) < np.count_nonzero(np.bincount(i)))
    if swapped:
        left, right, i, j = right, left, j, i
    order = np.argsort(i, kind="stable")
    first = np.flatnonzero(np.diff(i[order], prepend=-1))
    sizes = np.diff(first, append=len(i))
    groups = Groups(np.repeat(np.arange(len(first)), sizes), np.append(first, len(i)))
    rows = np.take(left, i[order[first]], axis=0).astype(np.float64, copy=False)
    columns = np.take(right, j[order], axis=0) * weight[order, None]
    return EntryEquations(rows, columns, target[order], groups, swapped, unit)


def _pairs(size: int) -> tuple[tuple[IndexVector, IndexVector], IndexVector]:
    """The pairs a <= b of ``range(size)``, and the (size, size) table of where each pair stands."""
    upper = np.triu_indices(size)
    table = np.empty((size, size), dtype=np.int64)
    table[upper] = table[upper[::-1]] = np.arange(len(upper[0]))
    return upper, table
