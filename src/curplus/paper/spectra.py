"""All singular values of the matrices of Experiment II: Figure 2, and what every error is measured against."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._arrays import blocks
from ..datasets.folders import DataHome
from . import matrices
from .cells import Cell
from .tables import Rows, where

__all__ = ["Reference", "Spectra", "references", "singular_values"]


@dataclass(frozen=True)
class Spectra:
    """Which matrices."""

    matrices: tuple[str, ...]

    name: ClassVar[str] = "spectra"

    def cells(self) -> list[Cell]:
        """One for each matrix."""
        return [(name,) for name in self.matrices]

    def measure(self, cell: Cell, data_home: DataHome) -> Rows:
        """A row for each singular value."""
        (name,) = cell
        values = singular_values(matrices.load(name, data_home).matrix)
        return [{"data": name, "k": k, "singular_value": float(value)} for k, value in enumerate(values, 1)]


def singular_values(matrix: Any) -> NDArray[np.float64]:
    """All singular values of a tall matrix, descending, from the eigenvalues of its Gram matrix.

    Those below about 1e-8 of the largest are rounding error.
    """
    n, m = matrix.shape
    gram = np.empty((m, m))
    columns = scipy.sparse.csc_array(matrix) if scipy.sparse.issparse(matrix) else matrix
    for part in blocks(m, n):
        some = columns[:, part]
        gram[:, part] = matrix.T @ (some.toarray() if scipy.sparse.issparse(some) else some)
    squares = np.linalg.eigvalsh(gram)
    return np.asarray(np.sqrt(squares[::-1].clip(min=0.0)))


class Reference:
    """What the errors of a matrix are divided by."""

    def __init__(self, values: list[float]) -> None:
        self.values = np.asarray(values)

    def best(self, rank: int) -> tuple[float, float]:
        """Spectral and Frobenius error of the best matrix of a rank."""
        return float(self.values[rank]), float(np.linalg.norm(self.values[rank:]))

    def zero(self, rank: int) -> tuple[float, float]:
        """The relative errors of the zero matrix."""
        spectral, frobenius = self.best(rank)
        return float(self.values[0]) / spectral, float(np.linalg.norm(self.values)) / frobenius

    def numerical_rank(self) -> int:
        """How many singular values are more than rounding error of the Gram matrix."""
        floor = math.sqrt(len(self.values) * np.finfo(float).eps) * self.values[0]
        return int(np.count_nonzero(self.values > floor))


def references(rows: Rows) -> dict[str, Reference]:
    """The reference of each matrix, from the rows of :class:`Spectra`."""
    names = dict.fromkeys(row["data"] for row in rows)
    return {name: Reference([row["singular_value"] for row in where(rows, data=name)]) for name in names}
