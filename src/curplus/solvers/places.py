"""Which rows of two factors each equation joins: inner products of these rows, and sums over the equations of a row.

On the host, equations stand in order of the right factor, the longer one, so that a sum reads it once. On a device they
stand in order of the left one, so that each row of it is summed up by itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from .._arrays import array_namespace, device, distinct, row_products, to_device
from .._typing import Matrix, Positions, Vector
from .on_device import scattered_products, scattered_sums

__all__ = ["DevicePlaces", "HostPlaces"]

ALL_HIT = 4  # entries for each row or column; from here on nearly all are hit


class HostPlaces(NamedTuple):
    """Which row of the left factor, and which of the right one, each equation joins; each of them is stored once."""

    left: Positions  # (|Omega|,)
    right: Positions  # (|Omega|,), ascending
    start: Positions  # (h + 1,): row k of the right factor has the equations start[k]:start[k + 1]

    @classmethod
    def of(cls, left: Positions, right: Positions, rows: int) -> tuple[HostPlaces, Positions]:
        """The places of equations in a right factor of so many rows, and their order; by counting, in linear time."""
        number = len(right)
        table = scipy.sparse.csr_array((np.empty(number), right, np.arange(number + 1)), shape=(number, rows))
        table = table.tocsc()
        return cls(left[table.indices], right[table.indices], table.indptr), table.indices

    def products(self, left: Matrix, right: Matrix) -> Vector:
        """Inner products of the rows that each equation joins."""
        return row_products(left, right, self.left, self.right)

    def total(self, weights: Vector, left: Matrix, right: Matrix) -> Matrix:
        """Sums of the rows of ``right``, weighted, over the equations of each row of ``left``."""
        return self.matrix(weights, rows=len(left)) @ right

    def matrix(self, weights: Vector, *, rows: int) -> scipy.sparse.csc_array:
        """The numbers ``weights`` at their places; by columns, so that products with it read the right factor once."""
        return scipy.sparse.csc_array((weights, self.left, self.start), shape=(rows, len(self.start) - 1))

    def hit(self, shape: tuple[int, int]) -> tuple[Any, Any, HostPlaces]:
        """The rows of both factors that have equations, and the places among them; all if hardly any has none."""
        if len(self.left) >= ALL_HIT * max(shape):
            return slice(None), slice(None), self
        rows, a = distinct(self.left, shape[0])
        others = np.flatnonzero(np.diff(self.start))
        b = np.repeat(np.arange(len(others)), np.diff(self.start)[others])
        start = np.append(self.start[others], self.start[-1:])
        return rows, others, HostPlaces(*(x.astype(self.start.dtype) for x in (a, b, start)))


class DevicePlaces(NamedTuple):
    """The same on a device, where all rows are kept."""

    left: Vector  # (|Omega|,), ascending
    right: Vector  # (|Omega|,)
    start: Vector  # (g + 1,): row k of the left factor has the equations start[k]:start[k + 1]

    @classmethod
    def of(cls, left: Positions, right: Positions, rows: int, like: Matrix) -> tuple[DevicePlaces, Vector]:
        """The places of some equations, and the order in which they stand."""
        xp, kind = array_namespace(like), np.result_type(left, right)
        a, b = (to_device(x.astype(kind, copy=False), like) for x in (left, right))
        order = xp.argsort(a)
        a = xp.take(a, order)
        start = xp.searchsorted(a, xp.arange(rows + 1, dtype=a.dtype, device=device(like)))
        return cls(a, xp.take(b, order), xp.astype(start, a.dtype)), order

    def products(self, left: Matrix, right: Matrix) -> Vector:
        """Inner products of the rows that each equation joins."""
        return scattered_products(left, right, *self)

    def total(self, weights: Vector, left: Matrix, right: Matrix) -> Matrix:
        """Sums of the rows of ``right``, weighted, over the equations of each row of ``left``."""
        return scattered_sums(weights, right, *self)

    def hit(self, shape: tuple[int, int]) -> tuple[Any, Any, DevicePlaces]:
        """All rows: they are on the device already."""
        return slice(None), slice(None), self
