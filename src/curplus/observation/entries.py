"""Scattered entries: numbers of a matrix, and where they stand."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import concatenate, conjugate, double, segment_sum, take, to_numpy
from .._support.sets import different
from .._typing import FloatArray, IndexVector, Shape, Vector

__all__ = ["OF_RECORDS", "Entries", "PlaceMeans", "Repeats", "weighted_means"]

#: Fields with one element for each record; the first three are always there.
OF_RECORDS = ("i", "j", "values", "probabilities", "weights", "noise", "evidence")


class Repeats(NamedTuple):
    """The noise, estimated from repeated readings."""

    squares: float = 0.0  # weighted sum of squared deviations from the means of their places
    freedom: int = 0  # degrees of freedom: readings less places

    def join(self, *others: Repeats) -> Repeats:
        """The same of all of them together."""
        return Repeats(*(sum(part) for part in zip(self, *others, strict=True)))

    @property
    def standard_deviation(self) -> float:
        """Pooled standard deviation of a reading; nan if nothing was read twice."""
        return math.sqrt(self.squares / self.freedom) if self.freedom > 0 else math.nan


class PlaceMeans(NamedTuple):
    """Means of the records of each place."""

    flat: IndexVector  # (k,), ascending
    mean: FloatArray  # (k,)
    repeats: Repeats


@dataclass(frozen=True, eq=False)
class Entries:
    r"""Numbers at some positions of a matrix; a position may occur more than once.

    Nothing is checked here: an :class:`~curplus.Observation` has checked its entries.

    Parameters
    ----------
    shape : (int, int)
        Size of the matrix.
    i, j : arrays of shape (k,)
        Positions :math:`\Omega`, int64 on the host.
    values : array of shape (k,)
        The numbers there, in any array library.
    probabilities : array of shape (k,), optional
        Chance of each record's position in one draw; left out, all positions had the same.
    weights : array of shape (k,), optional
        How much each record counts, in proportion to 1 / variance.
    noise : array of shape (k,), optional
        Standard deviation of each reading, if each has its own.
    evidence : array of shape (k,), optional
        Which records took no part in choosing what to read; left out, all of them.
    """

    shape: Shape
    i: IndexVector
    j: IndexVector
    values: Vector
    probabilities: Vector | None = None
    weights: Vector | None = None
    noise: Vector | None = None
    evidence: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.i)

    @cached_property
    def flat_index(self) -> IndexVector:
        """The positions as single numbers, row by row, shape (k,)."""
        return self.i * self.shape[1] + self.j

    @cached_property
    def has_repeats(self) -> bool:
        """Whether a position occurs more than once."""
        flat = self.flat_index
        return not bool(np.all(flat[1:] > flat[:-1])) and len(different(flat)) < len(flat)

    def unique(self) -> IndexVector:
        """Which records are the first of their position, in the order of the positions."""
        first: IndexVector = np.unique(self.flat_index, return_index=True)[1]
        return first

    @property
    def T(self) -> Entries:
        """The same entries of the transposed matrix."""
        return replace(self, shape=(self.shape[1], self.shape[0]), i=self.j, j=self.i)

    @property
    def H(self) -> Entries:
        """The same entries of the adjoint."""
        return replace(self.T, values=conjugate(self.values))

    def take(self, index: IndexVector) -> Entries:
        """Some of the records."""
        parts = ((name, getattr(self, name)) for name in OF_RECORDS if name != "values")
        some = {name: x[index] for name, x in parts if x is not None}
        return replace(self, values=take(self.values, index, axis=0), **some)

    def join(self, more: Entries) -> Entries:
        """These records, and then more; both have weights, or neither, and a noise for each record, or neither."""
        both = {name: self._side_by_side(name, more) for name in OF_RECORDS if name != "values"}
        return replace(self, values=concatenate(self.values, more.values), **both)

    def _side_by_side(self, name: str, more: Entries) -> Any:
        """One part of both; records without a chance were drawn uniformly, and without more they are evidence."""
        parts = getattr(self, name), getattr(more, name)
        if all(x is None for x in parts):
            return None
        default = {"probabilities": 1.0 / math.prod(self.shape), "evidence": True}.get(name, 1.0)
        sizes = len(self), len(more)
        return np.concatenate([np.full(k, default) if x is None else x for x, k in zip(parts, sizes, strict=True)])

    def with_values(self, values: Vector) -> Entries:
        """Other numbers at the same positions."""
        return replace(self, values=values)

    def parts(self) -> dict[str, Any]:
        """The fields with one element for each record, by name."""
        return {name: getattr(self, name) for name in OF_RECORDS}

    @property
    def importance_weights(self) -> Vector:
        """For how many entries each record stands, relative to a uniform draw: 1 there, 1 on average elsewhere."""
        if self.probabilities is None:
            return np.ones(len(self))
        return 1 / (self.probabilities * math.prod(self.shape))

    @property
    def relative_weights(self) -> FloatArray:
        """How much each record counts in an average, if a reading in a row or column counts 1."""
        return np.ones(len(self)) if self.weights is None or not len(self) else self.weights / np.mean(self.weights)

    @property
    def fit_weights(self) -> Vector:
        """Weight of each record's squared error in a fit: its importance weight times its noise weight."""
        return self.importance_weights * self.relative_weights

    def means(self, some: IndexVector) -> PlaceMeans:
        """Means of some of the records, one for each place, and the noise estimated from these records."""
        flat, place = np.unique(self.flat_index[some], return_inverse=True)
        values = to_numpy(double(take(self.values, some, axis=0)))
        weights = self.relative_weights[some]
        mean = weighted_means(place, values, weights, len(flat))
        squares = float(np.sum(weights * np.abs(values - mean[place]) ** 2))
        return PlaceMeans(flat, mean, Repeats(squares, len(some) - len(flat)))


def weighted_means(place: IndexVector, value: FloatArray, weight: FloatArray, size: int) -> FloatArray:
    """Weighted mean of the readings of each place: the value itself, to the last bit, if all agree; else NaN."""
    first = np.full(size, np.nan, dtype=value.dtype)
    first[place[::-1]] = value[::-1]
    total = np.bincount(place, weight, size)
    away = segment_sum((weight * (value - first[place]))[:, None], place, size)[:, 0]
    mean: FloatArray = first + away / np.where(total > 0, total, 1.0)
    return mean
