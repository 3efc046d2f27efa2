"""Symmetric or Hermitian matrices, many at a time, as the numbers of their upper triangles."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .._arrays import array_namespace, conjugate, is_complex, take
from .._typing import Array, FloatArray, IndexVector

__all__ = ["Pairs", "full", "ordered_pairs_of", "pairs_of", "triangle"]


class Pairs(NamedTuple):
    """All pairs of k coordinates."""

    a: IndexVector  # (t,), with t = k (k + 1) / 2, or k * k in both orders
    b: IndexVector  # (t,)
    place: IndexVector  # (k * k,), where the pair of two coordinates stands

    @property
    def diagonal(self) -> IndexVector:
        """Where the pairs of a coordinate with itself stand, shape (k,)."""
        return np.flatnonzero(self.a == self.b)


@lru_cache(maxsize=256)
def pairs_of(k: int) -> Pairs:
    """The pairs of k coordinates, in the order of an upper triangle, row by row; not to be written to."""
    a, b = np.triu_indices(k)
    place = np.zeros((k, k), dtype=np.int64)
    place[a, b] = place[b, a] = np.arange(len(a))
    for index in (a, b, place):
        index.flags.writeable = False
    return Pairs(a, b, place.reshape(-1))


def ordered_pairs_of(k: int) -> Pairs:
    """All pairs of k coordinates, each in both orders."""
    a, b = np.divmod(np.arange(k * k), k)
    return Pairs(a, b, np.arange(k * k))


def full(triangles: Array, k: int) -> Array:
    """Symmetric, or Hermitian, matrices (p, k, k) from their upper triangles (p, t)."""
    xp = array_namespace(triangles)
    matrices = xp.reshape(take(triangles, pairs_of(k).place, axis=1), (-1, k, k))
    return xp.triu(matrices) + xp.tril(conjugate(matrices), k=-1) if is_complex(triangles) else matrices


def triangle(matrices: FloatArray) -> FloatArray:
    """Upper triangles (p, t) of symmetric matrices (p, k, k)."""
    a, b, _ = pairs_of(matrices.shape[1])
    return np.asarray(matrices[:, a, b])
