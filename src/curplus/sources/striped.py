"""A matrix stored row after row, or column after column, such as a mapped file: any run of its lines is read alone."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from .._typing import IndexVector, Shape
from .chunked import ChunkedSource
from .chunks import Chunk, Edges, Place, Wanted

__all__ = ["MappedSource", "StripedSource", "is_large_map"]

STRIPE_BYTES = 2**23  # 8 MiB are read at once
MAPPED_BYTES = 2**26  # of a mapped file up to 64 MiB: the operating system needs no help
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


def is_large_map(matrix: Any) -> bool:
    """Whether ``matrix`` is a mapped file of more than 64 MiB that lies in one piece."""
    if not isinstance(matrix, np.memmap) or matrix.ndim != 2 or matrix.nbytes <= MAPPED_BYTES:
        return False
    return bool(matrix.flags.c_contiguous or matrix.flags.f_contiguous)


class MappedSource(StripedSource):
    """A mapped array of shape (n, m), stored by rows or by columns.

    Nothing is copied but what is wanted, and nothing is kept: the operating system keeps what it has room for. Pages
    of a file that is mapped for reading are handed back after each stripe, so that memory does not grow to the size
    of the file. ``bytes_read`` counts the stripes that were looked into, the most that can have been read of them.

    Parameters
    ----------
    matrix : numpy.memmap of shape (n, m)
        For example of :func:`numpy.load` with ``mmap_mode="r"``.
    **options
        As for :class:`ChunkedSource`.
    """

    def __init__(self, matrix: np.memmap[Any, Any], **options: Any) -> None:
        self.matrix = matrix
        plain = np.asarray(matrix)
        axis = 0 if matrix.flags.c_contiguous else 1
        super().__init__(
            lambda rows, columns: plain[rows, columns],
            matrix.shape,
            axis=axis,
            line_bytes=matrix.nbytes / matrix.shape[axis],
            **{"dtype": matrix.dtype, "cache_bytes": 0, **options},
        )

    def _load(self, places: Iterable[Place]) -> Iterator[Chunk]:
        for chunk in super()._load(places):
            yield chunk
            _hand_back(self.matrix)


def _hand_back(matrix: np.memmap[Any, Any]) -> None:
    """Let go of the pages of a file that is mapped for reading only; they stay in the cache of the system."""
    pages: Any = matrix
    while isinstance(pages, np.ndarray):
        pages = pages.base
    if isinstance(pages, mmap.mmap) and matrix.mode == "r" and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)
