r"""One equation per entry: the linear map from the core to the observed entries.

Eq. (opt) of the paper is solved by the core Z that fits :math:`(\hat U Z \hat V^\top)_{ij} = M_{ij}` over
:math:`(i, j) \in \Omega`. This module holds that system, :math:`\mathcal A(Z) = b`, and forms its matrix only if
that is asked for. Both sides carry the factor :math:`\sqrt{nm/|\Omega|}`, which makes the expected Gram matrix the
identity, and the right-hand side is scaled to magnitude one. Everything is in double precision: the system is small,
and its digits decide those of the approximation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .._arrays import (
    adjoint,
    array_namespace,
    blocks,
    column_products,
    conjugate,
    device,
    double,
    hit_rows,
    is_complex,
    is_dask_array,
    is_numpy_array,
    largest,
    power_of_two,
    real_part,
    row_dots,
    take,
    to_device,
    to_numpy,
)
from .._typing import IndexVector, Matrix, Positions, Vector
from ..observation import Entries
from .places import DevicePlaces, HostPlaces
from .triangles import Pairs, ordered_pairs_of, pairs_of

__all__ = ["EntryEquations", "entry_equations"]


FEW_A_ROW = 1.25  # entries of a row; below, products of pairs are formed for each entry and not for each row
FEWEST_PAIRS = 64  # pairs at a time; below, a product with a sparse matrix is slow


class EntryEquations(NamedTuple):
    """The equations ``apply(Z) == target``; divide a solution by ``1 / unit`` to undo the scaling of the target.

    Both sides of the transposed system are conjugated when they are swapped: it has the transposed core, and the target
    as it is.
    """

    left: Matrix  # (g, r1), or (g, r2) when swapped
    right: Matrix  # (h, r2), or (h, r1) when swapped
    weight: Vector  # (|Omega|,), real, a factor of each equation
    target: Vector  # (|Omega|,)
    places: HostPlaces | DevicePlaces  # which rows of both each equation joins
    swapped: bool  # whether Z is transposed between left and right
    unit: float  # values == target * unit / sqrt(nm / |Omega|), if the weight is one

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (r1, r2) of the core."""
        a, b = self.left.shape[1], self.right.shape[1]
        return (b, a) if self.swapped else (a, b)

    def zero(self) -> Matrix:
        """The core that is zero."""
        return array_namespace(self.left).zeros(self.shape, dtype=self.left.dtype, device=device(self.left))

    def in_single(self) -> EntryEquations:
        """The same in single precision, without rows that are not hit."""
        xp = array_namespace(self.left)
        kind = xp.complex64 if is_complex(self.target) else xp.float32
        weight, target = xp.astype(self.weight, xp.float32), xp.astype(self.target, kind)
        return self._replace(weight=weight, target=target).compact(kind)

    def compact(self, kind: Any = None) -> EntryEquations:
        """The same without rows that are not hit: less to multiply, for a copy of the others, of this type."""
        xp, kind = array_namespace(self.left), kind or self.left.dtype
        rows, others, places = self.places.hit((self.left.shape[0], self.right.shape[0]))
        left, right = (xp.astype(x, kind, copy=False)[k, ...] for x, k in ((self.left, rows), (self.right, others)))
        return self._replace(left=left, right=right, places=places)

    def apply(self, Z: Matrix) -> Vector:
        """Left-hand sides for the core ``Z``."""
        left = self.left @ (Z.T if self.swapped else Z)
        return self.places.products(left, self.right) * self.weight

    def adjoint(self, e: Vector) -> Matrix:
        """The adjoint of :meth:`apply`: a core-shaped matrix."""
        Z = adjoint(self.left) @ self.places.total(e * self.weight, self.left, self.right)
        return Z.T if self.swapped else Z

    def norm(self) -> float:
        """Frobenius norm of the system's matrix."""
        xp = array_namespace(self.left)
        left, right = (real_part(row_dots(x, x)) for x in (self.left, self.right))
        left, right = xp.take(left, self.places.left), xp.take(right, self.places.right)
        return math.sqrt(float(xp.sum(left * right * self.weight**2)))

    def blocks(self) -> Iterator[tuple[Matrix, Vector]]:
        """The matrix of the system and its right-hand side, a few equations at a time."""
        xp = array_namespace(self.left)
        unknowns = math.prod(self.shape)
        for part in blocks(self.target.shape[0], unknowns):
            a, b = self._rows(part)
            b = b * self.weight[part, None]
            b = conjugate(b)
            a, b = (b, a) if self.swapped else (a, b)
            yield xp.reshape(a[:, :, None] * b[:, None, :], (-1, unknowns)), self.target[part]

    def gram(self) -> Matrix:
        r"""The Gram matrix of the system, shape (r1 r2, r1 r2).

        Its entry ``[(a, c), (b, d)]`` is :math:`\sum_t w_t^2 \bar u_{ta} u_{tb} v_{tc} \bar v_{td}`: only products of
        pairs matter, and they are formed once for each row that is hit, not for each entry. Half of each side is enough
        for real numbers, and half of one for complex ones, whose other half is the conjugate with c and d exchanged.
        """
        xp = array_namespace(self.left)
        p, q = self.left.shape[1], self.right.shape[1]
        of_p, of_q = pairs_of(p), ordered_pairs_of(q) if is_complex(self.left) else pairs_of(q)
        moments = self.compact()._moments(of_p, of_q)
        full = take(take(moments, of_p.place, axis=0), of_q.place, axis=1)
        full = xp.reshape(full, (p, p, q, q))
        if is_complex(self.left):
            lower = to_device(np.tri(p, k=-1, dtype=bool)[:, :, None, None], full)
            full = xp.where(lower, xp.conj(xp.permute_dims(full, (0, 1, 3, 2))), full)
        axes = (2, 0, 3, 1) if self.swapped else (0, 2, 1, 3)
        return xp.reshape(xp.permute_dims(full, axes), (p * q, p * q))

    def _moments(self, of_p: Pairs, of_q: Pairs) -> Matrix:
        """Sums over the equations of products of pairs on the left times products of pairs on the right."""
        number = self.target.shape[0]
        if isinstance(self.places, DevicePlaces) or number < FEW_A_ROW * len(self.left):
            moments: Matrix = 0.0
            near = max(2**17, 512 * len(of_q.a))  # numbers that stay near the processor
            for part in blocks(number, len(of_q.a), most=near if is_numpy_array(self.left) else 2**22):
                left, right = self._rows(part)
                outer = conjugate(column_products(right, of_q.a, of_q.b)) * self.weight[part, None] ** 2
                moments = moments + column_products(left, of_p.a, of_p.b).T @ outer
            return moments
        moments = np.zeros((len(of_p.a), len(of_q.a)), dtype=self.left.dtype)
        squares = self.places.matrix(self.weight**2, rows=len(self.left))
        at_once = max(2**22, FEWEST_PAIRS * len(self.right))
        for part in blocks(len(self.left), max(moments.shape), most=2**22):
            some, of_left = squares[part], column_products(self.left[part], of_p.a, of_p.b).T
            for pairs in blocks(len(of_q.a), len(self.right), most=at_once):
                of_right = conjugate(column_products(self.right, of_q.a[pairs], of_q.b[pairs]))
                moments[:, pairs] += of_left @ (some @ of_right)
        return moments

    def _rows(self, part: slice) -> tuple[Matrix, Matrix]:
        """The rows of both factors that the equations ``part`` join."""
        xp = array_namespace(self.left)
        places = ((self.left, self.places.left), (self.right, self.places.right))
        left, right = (xp.take(x, place[part], axis=0) for x, place in places)
        return left, right


def entry_equations(left: Matrix, right: Matrix, entries: Entries) -> EntryEquations:
    """The system of eq. (opt) for the bases ``left`` (n, r1) and ``right`` (m, r2), each equation with its weight."""
    i, j = entries.i, entries.j
    scale = math.prod(entries.shape) / max(len(i), 1)
    if is_dask_array(left):  # the rows that are hit are brought to the host, and so is the whole problem
        (left, i), (right, j) = _hit_at_home(left, i), _hit_at_home(right, j)
        entries = entries.with_values(to_numpy(entries.values))
    xp = array_namespace(left)
    values = double(entries.values)
    unit = power_of_two(largest(values), values)
    (rows, a), (columns, b) = _hit(left, i), _hit(right, j)
    swapped = columns.shape[0] < rows.shape[0]
    if swapped:
        rows, columns, a, b = conjugate(columns), conjugate(rows), b, a
    places: HostPlaces | DevicePlaces
    if is_numpy_array(left):
        places, order = HostPlaces.of(a, b, len(columns))
        weight = np.sqrt(scale * entries.fit_weights)[order]
    else:
        places, order = DevicePlaces.of(a, b, rows.shape[0], left)
        weight = xp.sqrt(scale * xp.take(_weights_beside(entries, values), order))
    return EntryEquations(rows, columns, weight, xp.take(values, order) / unit * weight, places, swapped, unit)


def _weights_beside(entries: Entries, values: Vector) -> Vector:
    """The weights of the entries on the device of their ``values``; if all are one, nothing is sent there."""
    if entries.probabilities is None and entries.weights is None:
        return array_namespace(values).ones_like(real_part(values))
    return to_device(entries.fit_weights, values)


def _hit_at_home(x: Matrix, index: IndexVector) -> tuple[Matrix, IndexVector]:
    """The distinct rows of ``x`` at ``index``, on the host, and the position of each among them."""
    hit, position = np.unique(index, return_inverse=True)
    return to_numpy(take(x, hit, axis=0)), position


def _hit(x: Matrix, index: IndexVector) -> tuple[Matrix, Positions]:
    """The rows of ``x`` at ``index``, or all without a copy if they are most, and the position of each there.

    On a device they are not counted: there are at most as many as positions.
    """
    all_of_them = not is_numpy_array(x) and 2 * len(index) > x.shape[0]
    rows, position = (x, index) if all_of_them else hit_rows(x, index)
    short = position.astype(np.int32) if max(rows.shape[0], len(index)) <= np.iinfo(np.int32).max else position
    return double(rows), short
