"""A plan carried out where the blocks of a Dask array are: each block is computed once, cut, and dropped.

The sampled columns and rows become Dask arrays that are cut along their long side, and stay on the workers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._dask import dask_array, delayed, kept
from .._typing import IndexVector, Matrix, Vector
from .chunks import Chunk, Edges, Grid, Place, Share, Wanted, check_chunk, dense

__all__ = ["read_blocks"]

LEAST_LENGTH = 2**16  # rows of a block of the result: those of smaller blocks are put together


def read_blocks(array: Any, wanted: Wanted, edges: Edges, dtype: Any) -> tuple[Any, Any, Any]:
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
        columns = _columns(cut, parts, _order(wanted.column_index, edges[1]), edges[0], dtype)
    if len(wanted.row_index):
        parts = [[a * n_columns + b for a in _held(wanted.row_index, edges[0])] for b in range(n_columns)]
        rows = _rows(cut, parts, _order(wanted.row_index, edges[0]), edges[1], dtype)
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


def _columns(cut: dict[int, Any], parts: list[list[int]], order: IndexVector, edges: IndexVector, dtype: Any) -> Any:
    """Sampled columns: what the blocks beside each other have, put in order; short pieces one below the other."""
    da, pieces = dask_array(), []
    for some in _runs(edges):
        block = delayed(_columns_of, [[cut[number][0] for number in parts[k]] for k in some], order)
        shape = (int(edges[some.stop] - edges[some.start]), len(order))
        pieces.append(da.from_delayed(block, shape, dtype=dtype, meta=np.empty((0, 0), dtype=dtype)))
    return da.concatenate(pieces, axis=0)


def _columns_of(parts: list[list[Matrix]], order: IndexVector) -> Matrix:
    return np.concatenate([np.concatenate(beside, axis=1)[:, order] for beside in parts])


def _rows(cut: dict[int, Any], parts: list[list[int]], order: IndexVector, edges: IndexVector, dtype: Any) -> Any:
    """Sampled rows, in the same way."""
    da, pieces = dask_array(), []
    for some in _runs(edges):
        block = delayed(_rows_of, [[cut[number][1] for number in parts[k]] for k in some], order)
        shape = (len(order), int(edges[some.stop] - edges[some.start]))
        pieces.append(da.from_delayed(block, shape, dtype=dtype, meta=np.empty((0, 0), dtype=dtype)))
    return da.concatenate(pieces, axis=1)


def _rows_of(parts: list[list[Matrix]], order: IndexVector) -> Matrix:
    return np.concatenate([np.concatenate(below, axis=0)[order] for below in parts], axis=1)


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
