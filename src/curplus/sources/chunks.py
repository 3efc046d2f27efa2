"""Chunks of a matrix: which of them a pass needs and what it takes of each, and those that are kept for the next."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._support.sets import NO_INDEX
from .._typing import IndexVector, Matrix, Shape, Vector
from .._validation import check_count
from ..exceptions import InvalidArgumentError, SourceError

__all__ = [
    "Chunk",
    "ChunkCache",
    "Edges",
    "Grid",
    "Place",
    "Share",
    "Wanted",
    "check_chunk",
    "chunk_edges",
    "dense",
    "n_bytes",
    "place_in_words",
]

Chunk: TypeAlias = Any  # a NumPy array or a SciPy sparse matrix
Edges: TypeAlias = tuple[IndexVector, IndexVector]  # where chunks begin and end, along rows and along columns
Place: TypeAlias = tuple[slice, slice]  # the rows and columns of a chunk


class Wanted(NamedTuple):
    """What a pass takes from the matrix."""

    column_index: IndexVector  # (d1,)
    row_index: IndexVector  # (d2,)
    i: IndexVector  # (n_entries,)
    j: IndexVector  # (n_entries,)


class Share(NamedTuple):
    """What a pass takes from one chunk: positions in ``column_index``, ``row_index`` and ``i``, ``j``."""

    columns: IndexVector
    rows: IndexVector
    entries: IndexVector


class Grid:
    """The chunks of a matrix, and what a pass wants of each.

    Parameters
    ----------
    wanted : Wanted
        What the pass takes.
    edges : pair of arrays
        Where chunks begin and end, along rows and along columns; the first of each is 0, the last the size.
    """

    def __init__(self, wanted: Wanted, edges: Edges) -> None:
        self._edges = edges
        self._n_rows, self._n_columns = (len(side) - 1 for side in edges)
        number = _chunk_of(wanted.i, edges[0]) * self._n_columns + _chunk_of(wanted.j, edges[1])
        columns = _by_chunk(_chunk_of(wanted.column_index, edges[1]))
        rows = _by_chunk(_chunk_of(wanted.row_index, edges[0]))
        self._parts = columns, rows, _by_chunk(number)

    def needed(self) -> list[int]:
        """Numbers of the chunks that hold something of the pass, counted row by row."""
        mask: NDArray[np.bool_] = np.zeros((self._n_rows, self._n_columns), dtype=bool)
        columns, rows, entries = map(list, self._parts)
        mask[:, columns] = True
        mask[rows, :] = True
        mask.reshape(-1)[entries] = True
        return np.flatnonzero(mask).tolist()

    def place(self, number: int) -> Place:
        """Rows and columns of a chunk."""
        rows, columns = self._edges
        a, b = divmod(number, self._n_columns)
        return slice(int(rows[a]), int(rows[a + 1])), slice(int(columns[b]), int(columns[b + 1]))

    def share(self, number: int) -> Share:
        """What the pass takes from a chunk."""
        a, b = divmod(number, self._n_columns)
        return Share(*(x.get(k, NO_INDEX) for x, k in zip(self._parts, (b, a, number), strict=True)))


def _by_chunk(numbers: IndexVector) -> dict[int, IndexVector]:
    """Positions in a vector of numbers of chunks, by number."""
    order = np.argsort(numbers, kind="stable")
    found, starts = np.unique(numbers[order], return_index=True)
    return dict(zip(found.tolist(), np.split(order, starts[1:]), strict=False))


def _chunk_of(index: IndexVector, edges: IndexVector) -> IndexVector:
    return np.searchsorted(edges, index, side="right") - 1


def chunk_edges(chunks: Sequence[int | Sequence[int]], shape: Shape) -> Edges:
    """Where chunks begin and end, from one size, or all sizes, along each side."""
    try:
        rows, columns = chunks
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"chunks={chunks!r} is not a pair (rows, columns of a chunk).") from None
    return _edges(rows, shape[0], name="chunks[0]"), _edges(columns, shape[1], name="chunks[1]")


def _edges(sizes: int | Sequence[int], size: int, *, name: str) -> IndexVector:
    if not isinstance(sizes, Sequence):
        step = check_count(sizes, name=name, at_least=1)
        return np.append(np.arange(0, size, step), size)
    edges = np.cumsum([0, *(check_count(part, name=f"{name}[{k}]") for k, part in enumerate(sizes))])
    if edges[-1] != size:
        raise InvalidArgumentError(f"{name} adds up to {edges[-1]} and the matrix has {size}. Give the size of each.")
    return np.unique(edges)  # a chunk of size 0 holds nothing


class ChunkCache:
    """Chunks that were read, up to ``most`` bytes; the least recently used is dropped first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._chunks: OrderedDict[tuple[int, ...], Chunk] = OrderedDict()
        self._size = 0

    def __contains__(self, place: Place) -> bool:
        return _key(place) in self._chunks

    def __getitem__(self, place: Place) -> Chunk:
        self._chunks.move_to_end(_key(place))
        return self._chunks[_key(place)]

    def keep(self, place: Place, chunk: Chunk) -> None:
        """Keep a chunk, if there is room for it when others are dropped."""
        if n_bytes(chunk) > self.most:
            return
        self._chunks[_key(place)] = chunk
        self._size += n_bytes(chunk)
        self.shrink(self.most)

    def shrink(self, most: int) -> None:
        """Keep no more than ``most`` bytes from now on."""
        self.most = most
        while self._size > self.most:
            self._size -= n_bytes(self._chunks.popitem(last=False)[1])


def _key(place: Place) -> tuple[int, ...]:
    rows, columns = place  # slices cannot be keys before Python 3.12
    return rows.start, rows.stop, columns.start, columns.stop


def n_bytes(chunk: Chunk) -> int:
    """Memory of a chunk."""
    if scipy.sparse.issparse(chunk):
        return int(chunk.data.nbytes + chunk.indices.nbytes + chunk.indptr.nbytes)
    return int(chunk.nbytes)


def dense(part: Chunk) -> Matrix | Vector:
    """Part of a chunk as an array."""
    return part.toarray() if scipy.sparse.issparse(part) else part


def check_chunk(chunk: Any, place: Place, dtype: Any) -> Chunk:
    """A chunk as a NumPy array or a CSR matrix of numbers, of the size of its place."""
    rows, columns = place
    expected = (rows.stop - rows.start, columns.stop - columns.start)
    # Conversion to floating point comes first: duplicates of small integers would overflow when they add up.
    sparse = scipy.sparse.issparse(chunk)
    found = scipy.sparse.csr_matrix(chunk.astype(dtype, copy=False)) if sparse else np.asarray(chunk)
    if isinstance(chunk, np.ma.MaskedArray):
        raise SourceError(f"the chunk at {place_in_words(place)} is a masked array, and a masked value cannot be read.")
    if found.shape != expected:
        raise SourceError(f"the chunk at {place_in_words(place)} has shape {found.shape}. It must be {expected}.")
    if found.dtype.kind not in "biufc":
        raise SourceError(f"the chunk at {place_in_words(place)} has dtype {found.dtype}, which is not a number.")
    return found


def place_in_words(place: Place) -> str:
    """Where a chunk lies."""
    rows, columns = place
    return f"rows {rows.start} to {rows.stop - 1}, columns {columns.start} to {columns.stop - 1}"
