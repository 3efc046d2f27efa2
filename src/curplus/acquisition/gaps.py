"""Samples with gaps, made ready for rules that look at whole rows and columns."""

from __future__ import annotations

import math

import numpy as np

from .._arrays import array_namespace, float64, to_device
from .._typing import Matrix, Vector

__all__ = ["without_gaps"]


def without_gaps(sample: Matrix, known: Matrix | None) -> Matrix:
    """Sampled rows or columns, with typical values in place of gaps: for choosing, not for fitting.

    A gap gets the median of what is known of its sampled row (or column), plus the median of what that leaves over of
    its candidate. Medians are zero on sparse data and follow the level of dense data; means would give the many zeros
    of a text a small value each, and the rules would see a direction in them.

    Parameters
    ----------
    sample : array of shape (d, m) or (n, d)
        The sampled rows, or columns, NaN at gaps.
    known : array of truth values of the same shape, or None
        Where they have no gap; None where they have none at all.
    """
    if known is None:
        return sample
    xp, x = array_namespace(sample), float64(sample)
    along = 1 if x.shape[0] <= x.shape[1] else 0
    level = _medians(x, known, axis=along)
    typical = level + _medians(x - level, known, axis=1 - along)
    return xp.where(known, x, typical)


def _medians(x: Matrix, known: Matrix, *, axis: int) -> Vector:
    """Median of the known values along an axis, which is kept; 0 where none is known."""
    xp = array_namespace(x)
    ordered = xp.sort(xp.where(known, x, xp.full_like(x, math.inf)), axis=axis)
    count = xp.sum(xp.astype(known, xp.int64), axis=axis, keepdims=True)
    place = to_device(np.arange(x.shape[axis]).reshape((-1, 1) if axis == 0 else (1, -1)), x)
    middle = ((place == (count - 1) // 2) | (place == count // 2)) & (place < count)
    total = xp.sum(xp.where(middle, ordered, xp.zeros_like(ordered)), axis=axis, keepdims=True)
    return total / xp.astype(xp.where(count % 2 == 0, 2 * xp.ones_like(count), xp.ones_like(count)), x.dtype)
