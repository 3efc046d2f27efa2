"""Dask arrays: recipes that are computed block by block, where the blocks are.

A tall array is cut along its long side only. What is small is brought to the host by :func:`numpy.asarray`; in the
functions here each block does its part, so that the blocks themselves are never joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ._support.extras import import_extra, is_kind
from ._typing import FloatArray, IndexVector, Matrix, Vector

__all__ = [
    "by_block",
    "dask_array",
    "dask_inner_products",
    "delayed",
    "even",
    "gathered",
    "is_dask_array",
    "kept",
    "merged",
    "one_block",
    "parts_taken",
    "put_values",
    "range_of",
    "tall",
]

MATRICES_TOGETHER = 16  # cost: small matrices that are added up at once: fewer tasks against more memory of a worker
MOST_IN_ONE = 2**24  # cost: numbers; up to it a part of many blocks becomes one: fewer tasks against memory of a worker


def is_dask_array(x: Any) -> bool:
    """Whether ``x`` is an array of Dask."""
    return is_kind(x, "dask", "Array")


def dask_array() -> Any:
    """The module dask.array."""
    return import_extra("dask.array", extra="dask", purpose="arrays of many blocks need Dask")


def _dask() -> Any:
    return import_extra("dask", extra="dask", purpose="arrays of many blocks need Dask")


def delayed(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of the function, computed later, where the blocks among its arguments are."""
    return _dask().delayed(function, traverse=False, pure=False)(*arguments)


def kept(*arrays: Any) -> tuple[Any, ...]:
    """The same arrays, computed once and kept where their blocks are."""
    return tuple(_dask().persist(*arrays))


def tall(x: Any, *, axis: int) -> Any:
    """The same array, cut along one axis only."""
    return x.rechunk({k: -1 for k in range(x.ndim) if k != axis}) if _is_cut(x, but=axis) else x


def merged(x: Any, *, axis: int) -> Any:
    """The same array, not cut along an axis."""
    return x.rechunk({axis: -1})


def even(x: Any) -> Any:
    """The same array in blocks of one size, but for the last along each axis."""
    return x.rechunk(tuple(max(*sizes, 1) for sizes in x.chunks))


def _is_cut(x: Any, *, but: int) -> bool:
    return any(count > 1 for k, count in enumerate(x.numblocks) if k != but)


def one_block(x: Any, like: Any) -> Any:
    """A host array as a Dask array: one block, or cut as the long side of ``like`` if it has as many rows."""
    x = np.asarray(x)
    chunks: Any = x.shape
    if x.ndim and like.ndim and x.shape[0] == like.shape[0] and like.numblocks[0] > 1:
        chunks = (like.chunks[0], *x.shape[1:])
    return dask_array().from_array(x, chunks=chunks, name=False)


class _Share(NamedTuple):
    """The positions of a list that lie in one block."""

    block: int
    where: IndexVector  # positions in the list
    local: IndexVector  # the same, counted from the start of the block


def _shares(index: IndexVector, sizes: tuple[int, ...]) -> Iterator[_Share]:
    edges = np.cumsum((0, *sizes))
    block = np.searchsorted(edges, index, side="right") - 1
    order = np.argsort(block, kind="stable")
    if not len(index):
        return
    found, starts = np.unique(block[order], return_index=True)
    for k, start, stop in zip(found.tolist(), starts, (*starts[1:], len(order)), strict=True):
        where = order[start:stop]
        yield _Share(k, where, index[where] - edges[k])


def _long_axis(x: Any) -> int:
    return int(np.argmax(x.numblocks))


def _blocks(x: Any) -> list[Any]:
    """The blocks of an array that is cut along one axis, in order."""
    return list(x.to_delayed(optimize_graph=False).reshape(-1))


def parts_taken(x: Any, index: IndexVector, *, axis: int) -> Any:
    """Slices at the host positions ``index``; one block of them, unless they are tall themselves."""
    da = dask_array()
    number = len(index) * int(np.prod(x.shape)) // max(x.shape[axis], 1)
    if x.numblocks[axis] == 1 or number > MOST_IN_ONE or not len(index):
        return da.take(x, index, axis=axis)
    x = tall(x, axis=axis)
    blocks, shares = _blocks(x), list(_shares(index, x.chunks[axis]))
    parts = [delayed(np.take, blocks[share.block], share.local, axis) for share in shares]
    shape = (*x.shape[:axis], len(index), *x.shape[axis + 1 :])
    return _joined(parts, shares, shape, x, axis)


def _joined(parts: list[Any], shares: list[_Share], shape: tuple[int, ...], like: Any, axis: int) -> Any:
    order = np.argsort(np.concatenate([share.where for share in shares]))
    whole = delayed(_in_order, parts, order, axis)
    return dask_array().from_delayed(whole, shape, dtype=like.dtype, meta=np.empty(0, dtype=like.dtype))


def _in_order(parts: list[Matrix], order: IndexVector, axis: int) -> Matrix:
    return np.take(np.concatenate(parts, axis=axis), order, axis=axis)


def gathered(x: Any, i: IndexVector, j: IndexVector) -> Any:
    """Values ``x[i[t], j[t]]`` of a matrix that is cut along one axis, as one block."""
    if not len(i):
        return dask_array().zeros(0, dtype=x.dtype)
    axis = _long_axis(x)
    x = tall(x, axis=axis)
    blocks = _blocks(x)
    shares = list(_shares((i, j)[axis], x.chunks[axis]))
    parts = []
    for block, where, local in shares:
        at = (local, j[where]) if axis == 0 else (i[where], local)
        parts.append(delayed(_values_at, blocks[block], *at))
    return _joined(parts, shares, (len(i),), x, 0)


def _values_at(block: Matrix, i: IndexVector, j: IndexVector) -> Vector:
    return block[i, j]


def put_values(x: Any, where: tuple[IndexVector, ...], values: Any) -> Any:
    """The same array with the host ``values`` at the host positions ``where``; one axis of them, or each."""
    da, axis = dask_array(), _long_axis(x)
    x = tall(x, axis=axis)
    if len(where) <= axis:  # whole rows of an array that is cut along its rows
        axis, x = 0, x.rechunk({axis: -1})
    blocks = _blocks(x)
    for block, at, local in _shares(where[axis], x.chunks[axis]):
        here = tuple(local if k == axis else index[at] for k, index in enumerate(where))
        blocks[block] = delayed(_with_values, blocks[block], here, values[at])
    shapes = [tuple(size if k == axis else x.shape[k] for k in range(x.ndim)) for size in x.chunks[axis]]
    parts = [
        da.from_delayed(block, shape, dtype=x.dtype, meta=np.empty((0,) * x.ndim, dtype=x.dtype))
        for block, shape in zip(blocks, shapes, strict=True)
    ]
    return da.concatenate(parts, axis=axis)


def _with_values(block: Matrix, where: tuple[IndexVector, ...], values: Matrix) -> Matrix:
    copy = block.copy()
    copy[where] = values
    return copy


def dask_inner_products(x: Any) -> FloatArray:
    """The matrix ``x.H @ x`` in double precision, on the host: block by block, added up in a tree."""
    x = tall(x, axis=0)
    parts = [delayed(_gram, block) for block in _blocks(x)]
    while len(parts) > 1:
        parts = [delayed(_sum, parts[k : k + MATRICES_TOGETHER]) for k in range(0, len(parts), MATRICES_TOGETHER)]
    gram: FloatArray = parts[0].compute()
    return gram


def _gram(block: Matrix) -> FloatArray:
    block = block.astype(np.result_type(block.dtype, np.float64), copy=False)
    return np.asarray((block.conj() if block.dtype.kind == "c" else block).T @ block)


def _sum(parts: list[FloatArray]) -> FloatArray:
    return np.asarray(np.sum(parts, axis=0))


def by_block(function: Callable[..., Any], x: Any) -> list[Any]:
    """The result of a function for each block, computed where the block is; small results, as they go to the host."""
    return list(_dask().compute(*(delayed(function, block) for block in _blocks(x))))


def range_of(x: Any) -> tuple[float, float]:
    """Smallest and largest value, found in one pass; NaN if there is one."""
    found = by_block(_range, x.reshape(-1) if x.ndim == 0 else x)
    low, high = np.array([pair for pair in found if pair is not None]).T
    return float(low.min()), float(high.max())


def _range(block: Matrix) -> tuple[float, float] | None:
    return (float(block.min()), float(block.max())) if block.size else None
