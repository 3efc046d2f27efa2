"""A Dask array, computed block by block, of which only those blocks are computed that hold what is wanted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .._extras import import_extra, is_kind
from .._validation import check_two_dimensional
from ..exceptions import InvalidArgumentError
from .chunked import ChunkedSource
from .chunks import Chunk, Place

__all__ = ["DaskSource", "is_dask"]

COMPUTE_BYTES = 2**28  # 256 MiB of blocks are computed at once


def is_dask(matrix: Any) -> bool:
    """Whether ``matrix`` is a Dask array."""
    return is_kind(matrix, "dask", "Array")


class DaskSource(ChunkedSource):
    """A two-dimensional Dask array. What is read of it are NumPy arrays.

    The blocks that a pass needs are computed together, up to ``compute_bytes`` at once, so that what several blocks
    are made of is computed once.

    Parameters
    ----------
    array : dask.array.Array of shape (n, m)
        Its chunks must have known sizes.
    compute_bytes : int, default 2**28
        Most bytes of blocks to compute at once.
    **options
        As for :class:`ChunkedSource`.
    """

    def __init__(self, array: Any, *, compute_bytes: int = COMPUTE_BYTES, **options: Any) -> None:
        check_two_dimensional(array.shape)
        if any(math.isnan(size) for size in array.shape):
            raise InvalidArgumentError(
                f"the Dask array has shape {array.shape}, with chunks of unknown sizes. "
                "Call array.compute_chunk_sizes() first."
            )
        self._array, self._compute_bytes = array, compute_bytes
        super().__init__(
            lambda rows, columns: array[rows, columns], array.shape, array.chunks, dtype=array.dtype, **options
        )

    def _load(self, places: Iterable[Place]) -> Iterator[Chunk]:
        dask = import_extra("dask", extra="dask", purpose="reading Dask arrays needs Dask")
        for together in self._in_batches(places):
            yield from dask.compute(*(self._chunk(*place) for place in together))

    def _in_batches(self, places: Iterable[Place]) -> Iterator[list[Place]]:
        """Places one after the other, as many together as may be computed at once, at least one."""
        itemsize = np.dtype(self._array.dtype).itemsize
        batch: list[Place] = []
        size = 0
        for rows, columns in places:
            block = (rows.stop - rows.start) * (columns.stop - columns.start) * itemsize
            if batch and size + block > self._compute_bytes:
                yield batch
                batch, size = [], 0
            batch.append((rows, columns))
            size += block
        if batch:
            yield batch
