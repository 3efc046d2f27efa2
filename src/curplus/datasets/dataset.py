"""What a loader returns: a matrix, or ratings, with the card that describes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from .._typing import IndexVector, Shape, Vector
from ..observation.observation import Observation
from .cards import Card

__all__ = ["Dataset", "Ratings"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A matrix and its card.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array or numpy.ndarray of shape (n, m), float64
        The data. What is not stored is the value zero; a matrix with hardly any zeros is an array.
    card : Card
        Origin, licence, citation and size.
    """

    matrix: Any
    card: Card

    @property
    def shape(self) -> Shape:
        """Size of the matrix."""
        return self.card.shape

    @property
    def nnz(self) -> int:
        """How many entries are not zero."""
        return int(self.matrix.nnz if scipy.sparse.issparse(self.matrix) else np.count_nonzero(self.matrix))

    def __repr__(self) -> str:
        n, m = self.shape
        return f"<{self.card.title}: {n} {self.card.rows} x {m} {self.card.columns}, {self.nnz} non-zero>"


@dataclass(frozen=True, eq=False, repr=False)
class Ratings:
    """The known entries of a matrix; what is not listed was never observed, which is not the same as zero.

    Parameters
    ----------
    i, j : arrays of shape (n_entries,)
        Row and column of each rating, sorted by row, then column.
    values : array of shape (n_entries,), float64
        The ratings.
    card : Card
        Origin, licence, citation and size.
    """

    i: IndexVector
    j: IndexVector
    values: Vector
    card: Card

    @property
    def shape(self) -> Shape:
        """Size of the matrix that the ratings are entries of."""
        return self.card.shape

    @property
    def n_entries(self) -> int:
        """How many ratings there are."""
        return len(self.values)

    def observation(self) -> Observation:
        """The ratings as scattered entries of a matrix, ready to be approximated."""
        return Observation(shape=self.shape, i=self.i, j=self.j, values=self.values)

    def __repr__(self) -> str:
        n, m = self.shape
        return f"<{self.card.title}: {self.n_entries} ratings, {n} {self.card.rows} x {m} {self.card.columns}>"
