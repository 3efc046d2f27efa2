"""The small matrices that say all about the cross of sampled rows and columns.

A row is left out and predicted from the others, or its mean is compared with the means of others: all that takes is
inner products of rows, and of columns. A row and a column of ones stand beside them, so that constants are among what
can be combined.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._arrays import array_namespace, float64, take, to_device, to_numpy
from ..._typing import FloatArray, Matrix
from ...observation import Observation

__all__ = ["Cross", "Means", "cross_of"]

CANCELLED = 1e-6  # of the squares left without means, below which they are summed up anew


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
    whole_row_gram: FloatArray  # (d2, d2), inner products of the rows, all of them
    whole_column_gram: FloatArray  # (d1, d1)

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
            self.whole_column_gram,
            self.whole_row_gram,
        )


def cross_of(observation: Observation) -> Cross:
    """The small matrices of a sample; only they leave its device."""
    n, m = observation.shape
    C, Rt = float64(observation.columns), float64(observation.rows).T
    d1, d2 = observation.n_columns, observation.n_rows
    W = to_numpy(take(Rt, observation.column_index, axis=0)).T
    row_gram, column_gram = _gram(Rt), _gram(C)
    return Cross(
        W,
        _without(row_gram, W.T),
        _without(column_gram, W),
        _means(C, column_gram),
        _means(Rt, row_gram),
        (n - d2) / d2,
        (m - d1) / d1,
        row_gram[:-1, :-1].copy(),
        column_gram[:-1, :-1].copy(),
    )


def _gram(x: Matrix) -> FloatArray:
    """Inner products of the columns of ``x`` and of ones."""
    xp = array_namespace(x)
    gram = np.empty((x.shape[1] + 1, x.shape[1] + 1))
    gram[:-1, :-1] = to_numpy(x.T @ x)
    gram[-1, :-1] = gram[:-1, -1] = to_numpy(xp.sum(x, axis=0))
    gram[-1, -1] = x.shape[0]
    return gram


def _without(gram: FloatArray, inside: FloatArray) -> FloatArray:
    """The inner products without some rows."""
    inside = np.column_stack([inside, np.ones(len(inside))])
    return gram - inside.T @ inside


def _means(x: Matrix, gram: FloatArray) -> Means:
    """The means of the rows of ``x``, from the inner products of its columns without their means."""
    n, d = x.shape
    by_column = gram[-1, :-1] / n
    centred = gram[:-1, :-1] - n * np.outer(by_column, by_column)
    if np.trace(centred) < CANCELLED * np.trace(gram[:-1, :-1]):
        deviations = x - to_device(by_column, x)
        centred = to_numpy(deviations.T @ deviations)
    total, of_means = float(np.trace(centred)), float(centred.sum()) / d
    variance = of_means / d / max(n - 1, 1)
    interaction = max(total - of_means, 0.0) / ((n - 1) * (d - 1)) if n > 1 and d > 1 else np.nan
    return Means(float(by_column.mean()), variance, interaction)
