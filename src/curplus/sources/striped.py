"""A matrix stored row after row, or column after column, without chunks: any run of its lines can be read alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import IndexVector, Shape
from .chunked import ChunkedSource
from .chunks import Chunk, Edges, Wanted

__all__ = ["StripedSource"]

STRIPE_BYTES = 2**23  # 8 MiB are read at once
GAP_BYTES = 2**16  # reading over a gap of this size costs less than a second read


class StripedSource(ChunkedSource):
    """A matrix of which whole lines lie next to each other: rows (``axis=0``) or columns (``axis=1``).

    A pass that wants something across the lines, columns of a matrix that is stored by rows, reads all of it in
    stripes of 8 MiB. A pass that does not reads the lines that it wants, unless all of the matrix fits into the cache.

    Parameters
    ----------
    stripe : callable
        ``stripe(rows, columns)`` takes two slices, of which one is all of its side, and returns that block.
    shape : (int, int)
        Numbers of rows and columns of the matrix.
    line_bytes : float
        Bytes of a line, for a sparse matrix on average.
    axis : {0, 1}
        Whether the lines are rows or columns.
    **options
        As for :class:`ChunkedSource`.
    """

    def __init__(
        self,
        stripe: Callable[[slice, slice], Chunk],
        shape: Shape,
        *,
        line_bytes: float,
        axis: int = 0,
        **options: Any,
    ) -> None:
        self._axis, self._line_bytes = axis, max(line_bytes, 1.0)
        self._n_lines = max(1, int(STRIPE_BYTES / self._line_bytes))
        chunks = (self._n_lines, max(shape[1], 1)) if axis == 0 else (max(shape[0], 1), self._n_lines)
        super().__init__(stripe, shape, chunks, **options)

    def _cut(self, wanted: Wanted) -> Edges:
        size = self.shape[self._axis]
        across = wanted.column_index if self._axis == 0 else wanted.row_index
        if len(across) or size * self._line_bytes <= self._cache.most:
            return self._edges
        lines = np.concatenate([wanted.row_index, wanted.i] if self._axis == 0 else [wanted.column_index, wanted.j])
        runs = self._runs(np.unique(lines), size)
        return (runs, self._edges[1]) if self._axis == 0 else (self._edges[0], runs)

    def _chunk_bytes(self, edges: Edges) -> int:
        return int(np.diff(edges[self._axis]).max(initial=0) * self._line_bytes)

    def _runs(self, lines: IndexVector, size: int) -> IndexVector:
        """Where to cut so that lines near each other are read together, up to a stripe, and long gaps are not."""
        far = np.diff(lines) * self._line_bytes > GAP_BYTES + self._line_bytes
        breaks = far | (np.diff(lines // self._n_lines) > 0)
        first, last = np.append(True, breaks), np.append(breaks, True)
        return np.unique(np.concatenate([[0], lines[first[: len(lines)]], lines[last[: len(lines)]] + 1, [size]]))
