r"""What a fit found about the matrix besides its approximation: means, the size of the rest, and noise.

.. math:: M_{ij} = \mu + a_i + b_j + L_{ij} + e_{ij}

An approximation that was cut to a low rank has lost some of this. Whoever asks about rows that the matrix does not have
yet needs it: a new row is the mean row :math:`\mu + b`, an offset of its own, and a part along known directions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._arrays import array_namespace, float64, read_only, to_numpy
from .._typing import FloatArray, Matrix, Vector

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["FittedModel", "centred_root"]


@dataclass(frozen=True, eq=False)
class FittedModel:
    """Constant, offsets and singular values of a fitted matrix, and the noise around it.

    The transpose of the model is the model of the transpose; ``scale`` changes its units. Noise is kept as a standard
    deviation, whose unit is that of the values: the squares of very large or small values are not numbers any more.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> M = np.outer([1.0, 2.0, 3.0], [1.0, 0.0, 5.0])
    >>> seen = curplus.Observation(shape=(3, 3), row_index=[0, 1, 2], rows=M)
    >>> model = curplus.approximate(seen).provenance.model
    >>> round(model.constant, 12), model.mean_row.round(12).tolist()
    (4.0, [2.0, 0.0, 10.0])
    """

    ARRAYS: ClassVar[tuple[str, ...]] = ("row_offsets", "column_offsets", "spectrum")

    constant: float  # mean of the matrix
    row_offsets: Vector  # (n,), means of the rows, less the constant
    column_offsets: Vector  # (m,), means of the columns, less the constant
    spectrum: FloatArray  # (k,), singular values of the rest, largest first
    noise: float  # standard deviation of a single value around the approximation

    def __post_init__(self) -> None:
        for name in self.ARRAYS:
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @classmethod
    def of(cls, approximation: Factorization, noise: float) -> FittedModel:
        """The model that an approximation itself shows, with noise around it; in O((n + m) r^2) time."""
        left, right = float64(approximation.left.vectors), float64(approximation.right.vectors)
        Z = float64(approximation.core.Z)
        xp = array_namespace(left)
        rows, columns = left @ (Z @ xp.mean(right, axis=0)), right @ (Z.T @ xp.mean(left, axis=0))
        constant = float(xp.mean(rows))
        rest = centred_root(left) @ to_numpy(Z) @ centred_root(right).T
        spectrum = np.linalg.svdvals(rest) if rest.size else np.empty(0)
        return cls(constant, rows - constant, columns - constant, spectrum, noise)

    @property
    def mean_row(self) -> Vector:
        """What is known of a row of which no value is known, shape (m,)."""
        return self.constant + self.column_offsets

    @property
    def mean_column(self) -> Vector:
        """What is known of a column of which no value is known, shape (n,)."""
        return self.constant + self.row_offsets

    @property
    def T(self) -> FittedModel:
        """The model of the transposed matrix."""
        return FittedModel(self.constant, self.column_offsets, self.row_offsets, self.spectrum, self.noise)

    def scale(self, unit: float) -> FittedModel:
        """The model of the matrix in units that are ``unit`` times smaller."""
        if unit == 1:
            return self
        arrays: dict[str, Any] = {name: getattr(self, name) * unit for name in self.ARRAYS}
        return FittedModel(self.constant * unit, **arrays, noise=self.noise * unit)

    def with_more_noise(self, left_over: float) -> FittedModel:
        """The model around an approximation that leaves more unexplained: ``left_over``, the mean square's root."""
        return replace(self, noise=math.hypot(self.noise, left_over))


def centred_root(vectors: Matrix) -> FloatArray:
    r"""The root of :math:`U^\top (I - \mathbf 1 \mathbf 1^\top / n) U`, for orthonormal U: what is left without means.

    Its singular value along the means is the distance of :math:`\mathbf 1 / \sqrt n` from the span of U, measured as
    such: a difference of squares would lose half of the digits.
    """
    xp = array_namespace(vectors)
    n, r = vectors.shape
    sums = xp.sum(vectors, axis=0)
    rest = 1 - vectors @ sums
    distance = math.sqrt(float(xp.sum(rest**2)) / n)
    means = to_numpy(sums)
    length = float(np.linalg.norm(means))
    return np.eye(r) - (1 - distance) * np.outer(means, means) / (length**2 or 1.0)
