"""Scattered entries: numbers of a matrix, and where they stand."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._arrays import take
from .._sets import different
from .._typing import IndexVector, Shape, Vector

__all__ = ["Entries"]


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
    """

    shape: Shape
    i: IndexVector
    j: IndexVector
    values: Vector
    probabilities: Vector | None = None
    weights: Vector | None = None

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

    def take(self, index: IndexVector) -> Entries:
        """Some of the records."""

        def some(x: Any) -> Any:
            return None if x is None else x[index]

        values = take(self.values, index, axis=0)
        return Entries(self.shape, self.i[index], self.j[index], values, some(self.probabilities), some(self.weights))

    def with_values(self, values: Vector) -> Entries:
        """Other numbers at the same positions."""
        return replace(self, values=values)

    @property
    def importance_weights(self) -> Vector:
        """For how many entries each record stands, relative to a uniform draw: 1 there, 1 on average elsewhere."""
        if self.probabilities is None:
            return np.ones(len(self))
        return 1 / (self.probabilities * math.prod(self.shape))

    @property
    def fit_weights(self) -> Vector:
        """Weight of each record's squared error in a fit: its importance weight times its noise weight."""
        if self.weights is None:
            return self.importance_weights
        return self.importance_weights * (self.weights / (np.mean(self.weights) if len(self) else 1.0))
