"""Sets of positions, as arrays that ascend: sorting is several times faster here than NumPy's set functions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._typing import IndexVector

__all__ = ["NO_INDEX", "different", "evenly_spaced", "is_in", "union", "without"]

#: No position at all.
NO_INDEX: IndexVector = np.empty(0, dtype=np.int64)


def different(x: IndexVector) -> IndexVector:
    """Each number once, ascending."""
    ordered = x if bool(np.all(x[1:] >= x[:-1])) else np.sort(x)
    once: IndexVector = ordered[np.append(True, ordered[1:] > ordered[:-1])[: len(ordered)]]
    return once


def union(*sets: IndexVector) -> IndexVector:
    """What is in any of them."""
    return different(np.concatenate(sets))


def is_in(x: IndexVector, ascending: IndexVector) -> NDArray[np.bool_]:
    """Which numbers are in a set."""
    if not len(ascending):
        return np.zeros(x.shape, dtype=bool)
    place = np.minimum(np.searchsorted(ascending, x), len(ascending) - 1)
    return np.equal(ascending[place], x)


def evenly_spaced(size: int, most: int) -> IndexVector:
    """At most so many of ``range(size)``, from the first to the last."""
    return np.linspace(0, size - 1, min(size, most)).astype(np.int64)


def without(x: IndexVector, ascending: IndexVector) -> IndexVector:
    """Those numbers that are not in a set."""
    return x[~is_in(x, ascending)]
