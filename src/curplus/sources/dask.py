"""A Dask array, of which only those blocks are computed that hold what is wanted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .._extras import import_extra
from .._typing import Matrix, Vector
from .._validation import check_two_dimensional
from ..exceptions import InvalidArgumentError
from .chunked import ChunkedSource
from .chunks import Chunk, Grid, Place, Wanted
from .distributed import read_blocks

__all__ = ["DaskSource"]

COMPUTE_BYTES = 2**28  # 256 MiB of blocks are computed at once
LARGE = 2**20  # rows or columns, from which on what is read stays in Dask


class DaskSource(ChunkedSource):
    """A two-dimensional Dask array. What is read of it are NumPy arrays, or Dask arrays that stay on the workers.

    To NumPy arrays, the blocks that a pass needs are computed together, up to ``compute_bytes`` at once, so that what
    several blocks are made of is computed once. Distributed, all of them are computed together: each is cut where it
    is and dropped, and the columns and rows, cut along their long side, are kept there. Methods that are given such an
    observation return a :class:`~curplus.Factorization` of Dask arrays.

    Parameters
    ----------
    array : dask.array.Array of shape (n, m)
        Its chunks must have known sizes.
    distributed : bool, optional
        Whether what is read are Dask arrays; left out, if the matrix has 2**20 rows or columns or more.
    compute_bytes : int, default 2**28
        Most bytes of blocks to compute at once, where what is read are NumPy arrays.
    **options
        As for :class:`ChunkedSource`; cache, memory limit and progress are those of NumPy arrays.

    Examples
    --------
    >>> import dask.array as da, curplus
    >>> from curplus.sources import DaskSource
    >>> M = da.random.default_rng(0).standard_normal((400, 300), chunks=(100, 300))
    >>> seen = curplus.observe(DaskSource(M, distributed=True), n_columns=5, n_rows=5, n_entries=50, rng=0)
    >>> seen.columns.chunks
    ((400,), (5,))
    """

    def __init__(
        self, array: Any, *, distributed: bool | None = None, compute_bytes: int = COMPUTE_BYTES, **options: Any
    ) -> None:
        check_two_dimensional(array.shape)
        if any(math.isnan(size) for size in array.shape):
            raise InvalidArgumentError(
                f"the Dask array has shape {array.shape}, with chunks of unknown sizes. "
                "Call array.compute_chunk_sizes() first."
            )
        self._array, self._compute_bytes = array, compute_bytes
        self.distributed = max(array.shape) >= LARGE if distributed is None else bool(distributed)
        super().__init__(
            lambda rows, columns: array[rows, columns], array.shape, array.chunks, dtype=array.dtype, **options
        )

    def _pass(
        self, column_index: Any = (), row_index: Any = (), i: Any = (), j: Any = ()
    ) -> tuple[Matrix, Matrix, Vector]:
        if not self.distributed:
            return super()._pass(column_index, row_index, i, j)
        wanted = self._wanted(column_index, row_index, i, j)
        self.bytes_read += self._bytes_of(wanted)
        return read_blocks(self._array, wanted, self._edges, self.dtype)

    def _bytes_of(self, wanted: Wanted) -> int:
        """Bytes of the blocks that a pass computes."""
        grid = Grid(wanted, self._edges)
        places = [grid.place(number) for number in grid.needed()]
        n_values: int = sum((rows.stop - rows.start) * (columns.stop - columns.start) for rows, columns in places)
        return n_values * int(np.dtype(self._array.dtype).itemsize)

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
