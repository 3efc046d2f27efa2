r"""What the ridge shrinks towards: zero, a product of sums, or offsets of rows and columns.

A ridge pulls a prediction towards zero, and where values have a mean, zero is a bad guess. So the ridge skeleton works
on what is left of rows and columns after a first guess, made of them by few numbers:

.. math:: M \approx [C, 1] \, P \, [R; 1] + \tilde C \, \tilde W_\lambda^+ \, \tilde R

with :math:`\tilde C = [C, 1] A` and :math:`\tilde R = B [R; 1]` the deviations from that guess.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._typing import FloatArray
from .cross import Cross, Means
from .line_weights import LineWeights

__all__ = ["GUESSES", "FirstGuess", "offset_guess", "sum_coefficient", "sum_guess", "zero_guess"]


class FirstGuess(NamedTuple):
    """A first guess, and the rows and columns as they deviate from it.

    Deviations of the columns are ``[C, 1] @ A`` and those of the rows ``B @ [R; 1]``. A and B are the identity but for
    a few directions, so products with them take no more than those directions.
    """

    name: str
    left: FloatArray  # (d1 + 1, q); the guess is [C, 1] @ left @ right @ [R; 1]
    right: FloatArray  # (q, d2 + 1)
    left_inside: FloatArray  # (d2, q), [C, 1] @ left in the sampled rows
    right_inside: FloatArray  # (q, d1), right @ [R; 1] in the sampled columns
    reliability: float = 0.0  # of offsets: the larger share of the variance of means that is not chance
    weights: LineWeights | None = None  # that deviations are multiplied by, where not all lines count the same

    @property
    def T(self) -> FirstGuess:
        """The same for the transposed matrix."""
        return self._replace(
            left=self.right.T,
            right=self.left.T,
            left_inside=self.right_inside.T,
            right_inside=self.left_inside.T,
            weights=self.weights and self.weights.T,
        )

    @property
    def is_plain(self) -> bool:
        """Whether deviations are the rows and columns themselves."""
        return self.name == "zero" and self.weights is None

    @property
    def own_rows(self) -> FloatArray:
        """By which factor the guess for each row contains the row itself, shape (d2,)."""
        own: FloatArray = np.sum(self.left_inside * self.right[:, :-1].T, axis=1)
        return own

    def by_columns(self, x: FloatArray) -> FloatArray:
        """The product ``A @ x``, shape (d1 + 1, k), for ``x`` of shape (d1, k)."""
        x = x if self.weights is None else self.weights.columns[:, None] * x
        product: FloatArray = np.vstack([x, np.zeros(x.shape[1])])
        return product - self.left @ (self.right_inside @ x) if len(self.right) else product

    def of_rows(self, x: FloatArray) -> FloatArray:
        """The product ``B @ x``, shape (d2, k), for ``x`` of shape (d2 + 1, k)."""
        product = x[:-1] - self.left_inside @ (self.right @ x) if len(self.right) else x[:-1]
        return product if self.weights is None else self.weights.rows[:, None] * product

    def intersection(self, cross: Cross) -> FloatArray:
        """Deviations where rows and columns intersect, shape (d2, d1)."""
        deviations = self.of_rows(np.vstack([cross.W, np.ones(cross.W.shape[1])]))
        return deviations if self.weights is None else deviations * self.weights.columns


def zero_guess(cross: Cross) -> FirstGuess:
    """Zero as first guess."""
    d2, d1 = cross.W.shape
    return _guess("zero", cross, np.zeros((d1 + 1, 0)), np.zeros((0, d2 + 1)))


def sum_guess(cross: Cross) -> FirstGuess:
    """A multiple of the product of row sums and column sums, the one pattern that few samples estimate well."""
    d2, d1 = cross.W.shape
    left, right = np.ones((d1 + 1, 1)), np.full((1, d2 + 1), sum_coefficient(cross))
    left[-1] = right[:, -1] = 0
    return _guess("sums", cross, left, right)


def offset_guess(cross: Cross) -> FirstGuess:
    r"""Offsets of rows and columns, from their means, each shrunk by how little is known of it.

    A row mean over d1 columns has variance :math:`\tau^2 + \sigma^2 / d_1` with :math:`\tau^2` that of the offsets,
    and its best guess is the share :math:`\tau^2 / (\tau^2 + \sigma^2 / d_1)` of its deviation.
    """
    d2, d1 = cross.W.shape
    share_of_rows = _reliability(cross.row_means, d1, cross.column_means)
    share_of_columns = _reliability(cross.column_means, d2, cross.row_means)
    constant = (
        (1 - share_of_rows) * cross.row_means.mean
        + (1 - share_of_columns) * cross.column_means.mean
        - float(cross.W.mean())
    )
    left, right = np.zeros((d1 + 1, 2)), np.zeros((2, d2 + 1))
    left[:-1, 0], left[-1] = share_of_rows / d1, (constant, 1)
    right[1, :-1], right[0, -1] = share_of_columns / d2, 1
    return _guess("offsets", cross, left, right)._replace(reliability=max(share_of_rows, share_of_columns))


def sum_coefficient(cross: Cross) -> float:
    """The coefficient of the product of sums that predicts left-out rows and columns best, both together."""
    fit = size = 0.0
    for side in (cross, cross.T):
        gram = side.row_gram[:-1, :-1]
        sums, inner, own = side.W.sum(axis=1), gram.sum(axis=1), np.diag(gram)
        fit += side.unread_rows * float(sums @ (inner - own))
        size += side.unread_rows * float(sums**2 @ (inner.sum() - 2 * inner + own))
    return fit / size if size > 0 else 0.0


def _guess(name: str, cross: Cross, left: FloatArray, right: FloatArray) -> FirstGuess:
    left_inside = cross.W @ left[:-1] + left[-1]
    right_inside = right[:, :-1] @ cross.W + right[:, -1:]
    return FirstGuess(name, left, right, left_inside, right_inside)


def _reliability(means: Means, count: int, others: Means) -> float:
    """The share of the deviations of means over ``count`` values that is not chance."""
    interaction = others.interaction if math.isnan(means.interaction) else means.interaction
    if not means.variance > 0:
        return 0.0
    return 1.0 if math.isnan(interaction) else max(0.0, 1 - interaction / count / means.variance)


GUESSES = {"zero": zero_guess, "sums": sum_guess, "offsets": offset_guess}
