r"""The small matrices that hold all that a ridge skeleton needs of sampled rows and columns.

To leave a row out and predict it from the others, or to compare means, only inner products of rows, and of columns, are
needed. A row and a column of ones stand beside them, so that constants can be combined too. The ridge shrinks towards a
*target*, made of rows and columns by few numbers: zero, or offsets.

.. math:: M \approx [C, 1] \, P \, [R; 1] + \tilde C \, \tilde W_\lambda^+ \, \tilde R

with :math:`\tilde C = [C, 1] A` and :math:`\tilde R = B [R; 1]` the deviations from that target.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._arrays import adjoint, array_namespace, conjugate, host_kind, take, to_device, to_numpy
from ..._typing import FloatArray, Matrix
from ...observation import Cells

__all__ = ["Cross", "Target", "cross_of", "offset_target", "zero_target"]

LOST_DIGITS = 1e-6  # rounding: share of the squares left without means; below, they are summed up anew


class CrossMeans(NamedTuple):
    """The means of n rows over d columns: their variance, and that of what they leave."""

    mean: Any  # of all values; a complex number if these are
    variance: float  # of the means
    interaction: float  # mean square that neither the mean of its row nor that of its column explains; nan if d == 1


class Cross(NamedTuple):
    """Sampled rows R and columns C of an n x m matrix, in small matrices on the host."""

    W: FloatArray  # (d2, d1), where they intersect
    row_gram: FloatArray  # (d2 + 1, d2 + 1), inner products of the rows of R and of ones, outside the sampled columns
    column_gram: FloatArray  # (d1 + 1, d1 + 1), of the columns of C and of ones, outside the sampled rows
    row_means: CrossMeans  # of the n rows over the sampled columns
    column_means: CrossMeans  # of the m columns over the sampled rows, as rows of the adjoint

    @property
    def H(self) -> Cross:
        """The same for the adjoint."""
        return Cross(adjoint(self.W), self.column_gram, self.row_gram, self.column_means, self.row_means)


def cross_of(cells: Cells) -> Cross:
    """The small matrices of rows and columns without gaps; only they leave the device."""
    C, Rh = cells.columns, cells.turned_rows
    W = adjoint(to_numpy(take(Rh, cells.column_index, axis=0)))
    row_gram, column_gram = _gram(Rh), _gram(C)
    means = _means(C, column_gram), _means(Rh, row_gram)
    return Cross(W, _without(row_gram, adjoint(W)), _without(column_gram, W), *means)


def _gram(x: Matrix) -> FloatArray:
    """Inner products of the columns of ``x`` and of ones."""
    xp = array_namespace(x)
    gram = np.empty((x.shape[1] + 1, x.shape[1] + 1), dtype=host_kind(x))
    gram[:-1, :-1] = to_numpy(adjoint(x) @ x)
    gram[-1, :-1] = to_numpy(xp.sum(x, axis=0))
    gram[:-1, -1] = conjugate(gram[-1, :-1])
    gram[-1, -1] = x.shape[0]
    return gram


def _without(gram: FloatArray, inside: FloatArray) -> FloatArray:
    """The inner products without some rows."""
    inside = np.column_stack([inside, np.ones(len(inside))])
    outside: FloatArray = gram - adjoint(inside) @ inside
    return outside


def _means(x: Matrix, gram: FloatArray) -> CrossMeans:
    """The means of the rows of ``x``, from the inner products of its columns without their means."""
    n, d = x.shape
    by_column = gram[-1, :-1] / n
    centred = gram[:-1, :-1] - n * np.outer(conjugate(by_column), by_column)
    if np.trace(centred).real < LOST_DIGITS * np.trace(gram[:-1, :-1]).real:
        deviations = x - to_device(by_column, x)
        centred = to_numpy(adjoint(deviations) @ deviations)
    total, of_means = float(np.trace(centred).real), float(centred.sum().real) / d
    variance = of_means / d / max(n - 1, 1)
    interaction = max(total - of_means, 0.0) / ((n - 1) * (d - 1)) if n > 1 and d > 1 else np.nan
    return CrossMeans(by_column.mean().item(), variance, interaction)


class Target(NamedTuple):
    """What the ridge shrinks towards, and the rows and columns as they deviate from it.

    Deviations of the columns are ``[C, 1] @ A`` and those of the rows ``B @ [R; 1]``. A and B are the identity but for
    a few directions, so products with them take no more than those directions.
    """

    name: str
    left: FloatArray  # (d1 + 1, q); the target is [C, 1] @ left @ right @ [R; 1]
    right: FloatArray  # (q, d2 + 1)
    left_inside: FloatArray  # (d2, q), [C, 1] @ left in the sampled rows
    right_inside: FloatArray  # (q, d1), right @ [R; 1] in the sampled columns

    @property
    def H(self) -> Target:
        """The same for the adjoint."""
        return Target(self.name, *map(adjoint, (self.right, self.left, self.right_inside, self.left_inside)))

    @property
    def own_rows(self) -> FloatArray:
        """By which factor the target of each row contains the row itself, shape (d2,)."""
        own: FloatArray = np.sum(self.left_inside * self.right[:, :-1].T, axis=1)
        return own

    def by_columns(self, x: FloatArray) -> FloatArray:
        """The product ``A @ x``, shape (d1 + 1, k), for ``x`` of shape (d1, k)."""
        product: FloatArray = np.vstack([x, np.zeros(x.shape[1])])
        return product - self.left @ (self.right_inside @ x) if len(self.right) else product

    def of_rows(self, x: FloatArray) -> FloatArray:
        """The product ``B @ x``, shape (d2, k), for ``x`` of shape (d2 + 1, k)."""
        return x[:-1] - self.left_inside @ (self.right @ x) if len(self.right) else x[:-1]

    def intersection(self, cross: Cross) -> FloatArray:
        """Deviations where rows and columns intersect, shape (d2, d1)."""
        return self.of_rows(np.vstack([cross.W, np.ones(cross.W.shape[1])]))


def zero_target(cross: Cross) -> Target:
    """Zero."""
    d2, d1 = cross.W.shape
    return _target("zero", cross, np.zeros((d1 + 1, 0)), np.zeros((0, d2 + 1)))


def offset_target(cross: Cross) -> Target:
    r"""Offsets of rows and columns, from their means, each shrunk more if it is a mean of fewer values.

    A row mean over d1 columns has variance :math:`\tau^2 + \sigma^2 / d_1` with :math:`\tau^2` that of the offsets,
    and its best estimate is the share :math:`\tau^2 / (\tau^2 + \sigma^2 / d_1)` of its deviation.
    """
    d2, d1 = cross.W.shape
    of_rows = _reliability(cross.row_means, d1, cross.column_means)
    of_columns = _reliability(cross.column_means, d2, cross.row_means)
    mean_of_columns = np.conj(cross.column_means.mean)
    constant = (1 - of_rows) * cross.row_means.mean + (1 - of_columns) * mean_of_columns - cross.W.mean().item()
    left, right = np.zeros((d1 + 1, 2), dtype=cross.W.dtype), np.zeros((2, d2 + 1))
    left[:-1, 0], left[-1] = of_rows / d1, (constant, 1)
    right[1, :-1], right[0, -1] = of_columns / d2, 1
    return _target("offsets", cross, left, right)


def _target(name: str, cross: Cross, left: FloatArray, right: FloatArray) -> Target:
    left_inside = cross.W @ left[:-1] + left[-1]
    right_inside = right[:, :-1] @ cross.W + right[:, -1:]
    return Target(name, left, right, left_inside, right_inside)


def _reliability(means: CrossMeans, count: int, others: CrossMeans) -> float:
    """The share of the deviations of means over ``count`` values that is not chance."""
    interaction = others.interaction if math.isnan(means.interaction) else means.interaction
    if not means.variance > 0:
        return 0.0
    return 1.0 if math.isnan(interaction) else max(0.0, 1 - interaction / count / means.variance)
