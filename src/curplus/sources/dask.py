"""A Dask array, of which only those blocks are computed that hold what is wanted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .._dask import dask_array, delayed, kept
from .._support.extras import import_extra
from .._typing import IndexVector, Matrix, Vector
from .._validation import check_two_dimensional
from ..exceptions import InvalidArgumentError
from .chunked import ChunkedSource
from .chunks import Chunk, Edges, Grid, Place, Share, Wanted, check_chunk, dense

__all__ = ["DaskSource"]

COMPUTE_BYTES = 2**28  # 256 MiB of blocks are computed at once
LARGE = 2**20  # rows or columns, from which on what is read stays in Dask
LEAST_LENGTH = 2**16  # rows of a block of the result: those of smaller blocks are put together


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
        return _read_blocks(self._array, wanted, self._edges, self.dtype)

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


# -- a plan carried out where the blocks are: each is computed once, cut, and dropped ---------------------------------


def _read_blocks(array: Any, wanted: Wanted, edges: Edges, dtype: Any) -> tuple[Any, Any, Any]:
    """Columns (n, d1), rows (d2, m) and values of a pass as Dask arrays, computed together; None for what is empty."""
    grid, blocks = Grid(wanted, edges), _blocks(array)
    n_rows, n_columns = (len(side) - 1 for side in edges)
    cut: dict[int, Any] = {}
    for number in grid.needed():
        place, share = grid.place(number), grid.share(number)
        cut[number] = delayed(_cut, blocks[number], place, dtype, _local(wanted, share, place))
    columns = rows = values = None
    if len(wanted.column_index):
        parts = [[a * n_columns + b for b in _held(wanted.column_index, edges[1])] for a in range(n_rows)]
        columns = _lines(cut, 0, parts, _order(wanted.column_index, edges[1]), edges, dtype)
    if len(wanted.row_index):
        parts = [[a * n_columns + b for a in _held(wanted.row_index, edges[0])] for b in range(n_columns)]
        rows = _lines(cut, 1, parts, _order(wanted.row_index, edges[0]), edges, dtype)
    if len(wanted.i):
        values = _values(cut, grid, len(wanted.i), dtype)
    return kept(columns, rows, values)


def _blocks(array: Any) -> list[Any]:
    """The blocks, row by row; those of no rows or columns hold nothing."""
    blocks = array.to_delayed()
    rows, columns = (np.flatnonzero(sizes) for sizes in map(np.asarray, array.chunks))
    return list(blocks[np.ix_(rows, columns)].reshape(-1))


def _held(index: IndexVector, edges: IndexVector) -> list[int]:
    """Which blocks along one side hold some of these positions, in order."""
    held: list[int] = np.unique(np.searchsorted(edges, index, side="right") - 1).tolist()
    return held


def _order(index: IndexVector, edges: IndexVector) -> IndexVector:
    """Where each position stands when those of one block come one after the other."""
    block = np.searchsorted(edges, index, side="right") - 1
    return np.argsort(np.argsort(block, kind="stable"), kind="stable")


def _local(wanted: Wanted, share: Share, place: Place) -> Wanted:
    """What is taken of a block, counted from its corner."""
    rows, columns = place
    return Wanted(
        wanted.column_index[share.columns] - columns.start,
        wanted.row_index[share.rows] - rows.start,
        wanted.i[share.entries] - rows.start,
        wanted.j[share.entries] - columns.start,
    )


def _cut(block: Chunk, place: Place, dtype: Any, local: Wanted) -> tuple[Matrix, Matrix, Vector]:
    """What a pass takes of one block."""
    block = check_chunk(block, place, dtype)
    return (
        _copy(block[:, local.column_index], dtype),
        _copy(block[local.row_index], dtype),
        np.asarray(block[local.i, local.j], dtype=dtype).reshape(-1),
    )


def _copy(part: Chunk, dtype: Any) -> Matrix:
    """A part of a block that does not hold on to it."""
    return np.ascontiguousarray(dense(part), dtype=dtype)


def _lines(cut: dict[int, Any], axis: int, parts: list[list[int]], order: IndexVector, edges: Edges, dtype: Any) -> Any:
    """Sampled columns (axis 0) or rows (axis 1) along their blocks: what these have, in order; short pieces joined."""
    da, pieces = dask_array(), []
    for some in _runs(edges[axis]):
        block = delayed(_joined, [[cut[number][axis] for number in parts[k]] for k in some], order, axis)
        length = int(edges[axis][some.stop] - edges[axis][some.start])
        shape = (length, len(order)) if axis == 0 else (len(order), length)
        pieces.append(da.from_delayed(block, shape, dtype=dtype, meta=np.empty((0, 0), dtype=dtype)))
    return da.concatenate(pieces, axis=axis)


def _joined(parts: list[list[Matrix]], order: IndexVector, axis: int) -> Matrix:
    return np.concatenate([np.take(np.concatenate(some, axis=1 - axis), order, axis=1 - axis) for some in parts], axis)


def _runs(edges: IndexVector) -> list[range]:
    """Consecutive blocks that are put together, each run but the last of at least so many rows."""
    runs, start = [], 0
    for k in range(1, len(edges)):
        if edges[k] - edges[start] >= LEAST_LENGTH or k == len(edges) - 1:
            runs.append(range(start, k))
            start = k
    return runs


def _values(cut: dict[int, Any], grid: Grid, size: int, dtype: Any) -> Any:
    """The entries of all blocks as one block."""
    where = {number: grid.share(number).entries for number in cut}
    held = [number for number in cut if len(where[number])]
    order = np.argsort(np.concatenate([where[number] for number in held]))
    block = delayed(_values_of, [cut[number][2] for number in held], order)
    return dask_array().from_delayed(block, (size,), dtype=dtype, meta=np.empty(0, dtype=dtype))


def _values_of(parts: list[Vector], order: IndexVector) -> Vector:
    return np.concatenate(parts)[order]
