"""A large array in a file that is mapped into memory: read from its beginning to its end, not in jumps."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .chunks import Chunk, Place
from .striped import StripedSource

__all__ = ["MappedSource", "is_large_map"]

MAPPED_BYTES = 2**26  # up to 64 MiB, the operating system needs no help


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
