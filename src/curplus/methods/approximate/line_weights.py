r"""How much each sampled row and column counts: less the more of it the leading directions leave unexplained.

A row of noise says nothing of any other, and where rows were chosen for their size, such rows are most of them. As in
weighted least squares, row i of the intersection is divided by a power of :math:`D_i`, the mean square of what the
leading directions of the sampled columns leave of it. All rows have a part in these directions, so that a few chosen
ones cannot mislead them. Columns likewise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._typing import FloatArray
from ...factorization.basis import leading_eigenvectors
from .cross import Cross

__all__ = ["EXPONENTS", "LineWeights", "line_weights"]

EXPONENTS = (0.25, 0.5)  # of D, by which lines are divided; 1/2 makes what is unexplained of all lines equal
LEAST = 0.01  # of the mean of D, that is unexplained of every line


class LineWeights(NamedTuple):
    """What sampled rows and columns are multiplied by."""

    rows: FloatArray  # (d2,)
    columns: FloatArray  # (d1,)
    exponent: float

    @property
    def T(self) -> LineWeights:
        """The same for the transposed matrix."""
        return LineWeights(self.columns, self.rows, self.exponent)


def line_weights(cross: Cross, rank: int, exponent: float) -> LineWeights:
    """The weights of rows and columns, for a matrix that is thought to have so many directions."""
    return LineWeights(_of_rows(cross, rank, exponent), _of_rows(cross.T, rank, exponent), exponent)


def _of_rows(cross: Cross, rank: int, exponent: float) -> FloatArray:
    """The weights of rows; all the same where the columns are too few to leave anything unexplained."""
    d2, d1 = cross.W.shape
    if d1 <= rank:
        return np.ones(d2)
    leading = leading_eigenvectors(cross.whole_column_gram, rank)[1]
    rest = np.sum((cross.W - (cross.W @ leading) @ leading.T) ** 2, axis=1)
    mean = float(np.mean(rest))
    if not mean > 0:
        return np.ones(d2)
    weights: FloatArray = (rest / mean + LEAST) ** -exponent
    return weights
