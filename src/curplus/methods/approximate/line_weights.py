r"""How much each sampled row and column counts: less the more of it the leading directions leave unexplained.

A row of noise says nothing of any other, and where rows were chosen for their size, such rows are most of them. As in
weighted least squares, row i of the intersection is divided by a power of :math:`D_i`, the mean square of what the
leading directions of the sampled columns leave of it. All rows have a part in these directions, so that a few chosen
ones cannot mislead them. Columns likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..._typing import FloatArray
from ...factorization.basis import leading_eigenvectors
from .cross import Cross

__all__ = ["EXPONENTS", "LineWeights", "line_weights"]

EXPONENTS = (0.25, 0.5)  # of D, by which lines are divided; 1/2 makes what is unexplained of all lines equal
LEAST = 0.01  # of the mean of D, that is unexplained of every line
BY_CHANCE = 1.5  # variances of log D that chance would give, up to which lines count the same
FEWEST = 20  # directions that are left, with which chance is told from anything else


class LineWeights(NamedTuple):
    """What sampled rows and columns are multiplied by."""

    rows: FloatArray  # (d2,)
    columns: FloatArray  # (d1,)
    exponent: float

    @property
    def T(self) -> LineWeights:
        """The same for the transposed matrix."""
        return LineWeights(self.columns, self.rows, self.exponent)


def line_weights(cross: Cross, rank: int, exponents: Sequence[float] = EXPONENTS) -> list[LineWeights]:
    """The weights of rows and columns by each exponent, for a matrix that is thought to have so many directions.

    None where all lines count the same.
    """
    rows, columns = _unexplained(cross, rank), _unexplained(cross.T, rank)
    if np.ptp(rows) == np.ptp(columns) == 0:
        return []
    return [LineWeights(rows**-exponent, columns**-exponent, exponent) for exponent in exponents]


def _unexplained(cross: Cross, rank: int) -> FloatArray:
    """What is left of each row, relative to the mean; all the same where rows differ as chance makes them differ."""
    d2, d1 = cross.W.shape
    if d1 <= rank:
        return np.ones(d2)
    leading = leading_eigenvectors(cross.whole_column_gram, rank)[1]
    rest = np.sum((cross.W - (cross.W @ leading) @ leading.T) ** 2, axis=1)
    mean = float(np.mean(rest))
    if not mean > 0:
        return np.ones(d2)
    relative: FloatArray = rest / mean + LEAST
    left = d1 - rank
    by_chance = 2 / left  # variance of the logarithm of a chi-squared number
    return np.ones(d2) if left >= FEWEST and np.var(np.log(relative)) <= BY_CHANCE * by_chance else relative
