"""The values of a matrix that equals its adjoint: each stands in two places, conjugated in one of them.

The word ``"symmetric"`` for a complex matrix means that it is Hermitian, :math:`M = M^*`, and ``"psd"`` that it is
Hermitian and PSD. There is no word for a complex matrix that equals its transpose.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import array_namespace, conjugate, is_complex, to_device
from .._support.sets import NO_INDEX
from .._typing import IndexVector, Vector
from .agreement import check_symmetric, negative_beyond, promise
from .checks import check_symmetry
from .join import joined, stronger
from .places import still_bounded
from .readings import PSD, SYMMETRIC, SYMMETRIES, R

__all__ = ["PSD", "SYMMETRIC", "folded", "mirrored", "negative_beyond", "promise", "promised"]


def promised(readings: R, symmetry: str | None) -> R:
    """The same with this symmetry, or with a stronger one that it has."""
    word = stronger(readings.symmetry, check_symmetry(symmetry, SYMMETRIES, readings.shape))
    kept = readings._replaced(symmetry=word)
    check_symmetric(kept, kept.magnitude)
    return kept


def folded(readings: R) -> R:
    """The same records, each moved to the upper triangle, where the value stands too."""
    r = readings
    values = _conjugated(r.values, r.i > r.j)
    return r._replaced(i=np.minimum(r.i, r.j), j=np.maximum(r.i, r.j), values=values)


def _conjugated(values: Vector, which: Any) -> Vector:
    """The values of some records, on the host a truth value each, conjugated."""
    if not is_complex(values):
        return values
    return array_namespace(values).where(to_device(which, values), conjugate(values), values)


def mirrored(readings: R, which: IndexVector | None = None) -> R:
    """All known values: each row and column as both, and copies of entries where they stand too, after the others.

    Parameters
    ----------
    readings : Observation
        A sample of a symmetric matrix.
    which : array of positions, optional
        Which records to copy, of those off the diagonal; all if left out.
    """
    r = readings
    lines = r._part(None, None, NO_INDEX)
    both, _ = joined(lines, lines.H)
    which = np.arange(r.n_entries) if which is None else which
    copies = r.entries.take(which[r.i[which] != r.j[which]]).H
    return still_bounded(both._with_entries(r.entries.join(copies)))
