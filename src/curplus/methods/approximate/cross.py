"""The small matrices that say all about the cross of sampled rows and columns.

A row is left out and predicted from the others, or its mean is compared with the means of others: all that takes is
inner products of rows, and of columns. A row and a column of ones stand beside them, so that constants are among what
can be combined.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._arrays import array_namespace, float64, take, to_numpy
from ..._typing import FloatArray, IndexVector, Matrix
from ...observation import Observation

__all__ = ["Cross", "Means", "cross_of"]


class Means(NamedTuple):
    """The means of n rows over d columns, and what they are made of."""

    mean: float  # of all values
    variance: float  # of the means
    interaction: float  # mean square that neither the mean of its row nor that of its column explains; nan if d == 1


class Cross(NamedTuple):
    """Sampled rows R and columns C of an n x m matrix, in small matrices on the host."""

    W: FloatArray  # (d2, d1), where they intersect
    row_gram: FloatArray  # (d2 + 1, d2 + 1), inner products of the rows of R and of ones, outside the sampled columns
    column_gram: FloatArray  # (d1 + 1, d1 + 1), of the columns of C and of ones, outside the sampled rows
    row_means: Means  # of the n rows over the sampled columns
    column_means: Means  # of the m columns over the sampled rows
    unread_rows: float  # how many rows each sampled one stands for
    unread_columns: float

    @property
    def T(self) -> Cross:
        """The same for the transposed matrix."""
        return Cross(
            self.W.T,
            self.column_gram,
            self.row_gram,
            self.column_means,
            self.row_means,
            self.unread_columns,
            self.unread_rows,
        )


def cross_of(observation: Observation) -> Cross:
    """The small matrices of a sample; only they leave its device."""
    n, m = observation.shape
    C, Rt = float64(observation.columns), float64(observation.rows).T
    d1, d2 = observation.n_columns, observation.n_rows
    return Cross(
        to_numpy(take(Rt, observation.column_index, axis=0)).T,
        _gram_outside(Rt, observation.column_index),
        _gram_outside(C, observation.row_index),
        _means(C),
        _means(Rt),
        (n - d2) / d2,
        (m - d1) / d1,
    )


def _gram_outside(x: Matrix, index: IndexVector) -> FloatArray:
    """Inner products of the columns of ``x`` and of ones, without the rows ``index``."""
    xp = array_namespace(x)
    inside = to_numpy(take(x, index, axis=0))
    gram = np.empty((x.shape[1] + 1, x.shape[1] + 1))
    gram[:-1, :-1] = to_numpy(x.T @ x) - inside.T @ inside
    gram[-1, :-1] = gram[:-1, -1] = to_numpy(xp.sum(x, axis=0)) - inside.sum(axis=0)
    gram[-1, -1] = x.shape[0] - len(index)
    return gram


def _means(x: Matrix) -> Means:
    """The means of the rows of ``x``, from the inner products of its centred columns."""
    n, d = x.shape
    by_column = array_namespace(x).mean(x, axis=0)
    centred = x - by_column
    gram = to_numpy(centred.T @ centred)
    total, of_means = float(np.trace(gram)), float(gram.sum()) / d
    variance = of_means / d / max(n - 1, 1)
    interaction = max(total - of_means, 0.0) / ((n - 1) * (d - 1)) if n > 1 and d > 1 else np.nan
    return Means(float(to_numpy(by_column).mean()), variance, interaction)
