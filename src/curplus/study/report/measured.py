"""What was measured of the matrix: how many cells of each kind, and where they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._sets import is_in, without
from ..._typing import FloatArray, IndexVector, Shape
from ..ledger import Places

__all__ = ["KINDS", "Map", "Measured", "map_of", "measured_of"]

KINDS = ("on whole rows and columns", "single cells", "failed", "pending")
MOST_POINTS = 480  # of the map, along each side


class Measured(NamedTuple):
    """Cells by what became of them; each is in one of the sets, ascending."""

    shape: Shape
    cells: tuple[IndexVector, ...]  # for each of KINDS

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each kind."""
        return {kind: len(cells) for kind, cells in zip(KINDS, self.cells, strict=True)}


class Map(NamedTuple):
    """The matrix in at most so many points, each with the share of its cells that is of each kind."""

    shares: FloatArray  # (height, width, kinds)
    cells_per_point: float


def measured_of(
    shape: Shape, places: Places, rows: IndexVector, columns: IndexVector, pending: IndexVector
) -> Measured:
    """Cells on sampled rows and columns, others, those that failed, and those that are out and not known yet."""
    m = shape[1]
    on_line: NDArray[Any] = np.isin(places.cells // m, rows) | np.isin(places.cells % m, columns)
    out = without(pending, places.cells)
    return Measured(
        shape, (places.cells[on_line], places.cells[~on_line], places.failed[~is_in(places.failed, out)], out)
    )


def map_of(measured: Measured) -> Map:
    """Where the cells are."""
    n, m = measured.shape
    height, width = min(n, MOST_POINTS), min(m, MOST_POINTS)
    sizes = np.outer(_sizes(n, height), _sizes(m, width))
    counts = [
        np.bincount((cells // m) * height // n * width + (cells % m) * width // m, minlength=height * width)
        for cells in measured.cells
    ]
    shares = np.stack([count.reshape(height, width) / sizes for count in counts], axis=-1)
    return Map(shares, n * m / (height * width))


def _sizes(side: int, points: int) -> IndexVector:
    """How many rows, or columns, each point stands for: k belongs to the point ``k * points // side``."""
    starts = -(-np.arange(points + 1) * side // points)
    return np.diff(starts)
