"""A matrix stored in rectangular chunks: a plan is carried out in one pass that reads each chunk it needs once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from .._arrays import number_array
from .._typing import IndexVector, Matrix, Names, Shape, Vector
from .._validation import check_count, check_index, check_names, check_shape
from ..exceptions import CURPlusError, InvalidArgumentError, SourceError
from .chunks import (
    Chunk,
    ChunkCache,
    Edges,
    Grid,
    Place,
    Wanted,
    check_chunk,
    chunk_edges,
    dense,
    n_bytes,
    place_in_words,
)

__all__ = ["ChunkedSource"]

CACHE_BYTES = 2**28  # 256 MiB

Item = TypeVar("Item")


class ChunkedSource:
    """A matrix that can only be read one chunk, a rectangular block, at a time.

    Columns, rows and entries of a plan are taken in one pass: each chunk that holds some of them is read once, in the
    order in which chunks are numbered, row by row, and no other chunk is read. Memory is that of the result, one chunk,
    two with ``read_ahead``, and the cache.

    Parameters
    ----------
    chunk : callable
        ``chunk(rows, columns)`` takes two slices and returns that block as an array or a SciPy sparse matrix, which
        must not change afterwards.
    shape : (int, int)
        Numbers of rows and columns of the matrix.
    chunks : pair of int or of sequences of int
        Numbers of rows and columns of a chunk, or for each side the sizes of all chunks along it.
    dtype : dtype, default float64
        Type of the numbers that are stored. float32 and complex64 stay as they are, integers are read as float64.
    cache_bytes : int, default 2**28
        Chunks that were read are kept up to this size, the least recently used is dropped first. Chunks that are kept
        are not read again by the next pass, such as the next round of :func:`curplus.acquire`.
    memory_limit : int, optional
        Most bytes that a pass may hold: its result, the chunks in use and the cache. The cache gets what the others
        leave, nothing is read ahead where two chunks do not fit, and a plan that does not fit is refused before
        anything is read.
    read_ahead : bool, default False
        Whether the next chunk is fetched in a thread while the present one is used. ``chunk`` is then called in that
        thread, one call at a time.
    progress : callable, optional
        ``progress(done, total)`` is called with numbers of chunks, after each chunk of a pass.
    row_names, column_names : sequence, optional
        One name per row and per column.

    Attributes
    ----------
    bytes_read : int
        Bytes of all chunks that were read so far, as they lie in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from curplus.sources import ChunkedSource
    >>> def block(rows, columns):
    ...     return np.add.outer(10.0 * np.arange(rows.start, rows.stop), np.arange(columns.start, columns.stop))
    >>> source = ChunkedSource(block, shape=(6, 4), chunks=(2, 2))
    >>> source.rows([4])
    array([[40., 41., 42., 43.]])
    >>> source.bytes_read  # two chunks of four numbers
    64
    """

    def __init__(
        self,
        chunk: Callable[[slice, slice], Chunk],
        shape: Shape,
        chunks: Sequence[int | Sequence[int]],
        *,
        dtype: Any = np.float64,
        cache_bytes: int = CACHE_BYTES,
        memory_limit: int | None = None,
        read_ahead: bool = False,
        progress: Callable[[int, int], object] | None = None,
        row_names: Iterable[Any] | None = None,
        column_names: Iterable[Any] | None = None,
    ) -> None:
        if not callable(chunk):
            raise InvalidArgumentError(f"chunk={chunk!r} cannot be called. Give a function of two slices.")
        self._chunk = chunk
        self._shape = check_shape(shape)
        self._edges = chunk_edges(chunks, self._shape)
        self.dtype = number_array(np.empty(0, dtype=np.dtype(dtype)), name="the matrix").dtype
        self._cache = ChunkCache(check_count(cache_bytes, name="cache_bytes"))
        self._cache_bytes, self._read_ahead = cache_bytes, read_ahead
        self._memory_limit: int | None = None
        self.progress: Callable[[int, int], object] | None = None
        self.limit(memory_limit, progress)
        self.bytes_read = 0
        self.row_names: Names | None = check_names(row_names, self._shape[0], name="row_names")
        self.column_names: Names | None = check_names(column_names, self._shape[1], name="column_names")

    @property
    def shape(self) -> Shape:
        return self._shape

    @property
    def a_round_is_a_pass(self) -> bool:
        """Whether a round of :func:`curplus.acquire` reads chunks anew: the matrix is larger than the cache may be."""
        kept = min(self._cache_bytes, math.inf if self._memory_limit is None else self._memory_limit)
        return math.prod(self._shape) * int(self.dtype.itemsize) > kept

    def limit(self, memory_limit: int | None = None, progress: Callable[[int, int], object] | None = None) -> None:
        """Set the memory limit and the progress callback of a source that is open; None changes nothing."""
        if memory_limit is not None:
            self._memory_limit = check_count(memory_limit, name="memory_limit", at_least=1)
        self.progress = self.progress if progress is None else progress

    def rows(self, index: IndexVector) -> Matrix:
        return self._pass(row_index=index)[1]

    def columns(self, index: IndexVector) -> Matrix:
        return self._pass(column_index=index)[0]

    def entries(self, i: IndexVector, j: IndexVector) -> Vector:
        return self._pass(i=i, j=j)[2]

    def read(self, plan: Any) -> tuple[Matrix, Matrix, Vector]:
        """Columns, rows and entries of a :class:`~curplus.SamplePlan`, in one pass over the chunks that hold them."""
        return self._pass(plan.column_index, plan.row_index, plan.i, plan.j)

    def _pass(
        self, column_index: Any = (), row_index: Any = (), i: Any = (), j: Any = ()
    ) -> tuple[Matrix, Matrix, Vector]:
        n, m = self._shape
        wanted = self._wanted(column_index, row_index, i, j)
        edges = self._cut(wanted)
        ahead = self._share_memory(wanted, edges)
        columns = np.empty((n, len(wanted.column_index)), dtype=self.dtype)
        rows = np.empty((len(wanted.row_index), m), dtype=self.dtype)
        values = np.empty(len(wanted.i), dtype=self.dtype)
        grid = Grid(wanted, edges)
        for number, chunk in self._chunks(grid, ahead):
            (r, c), share = grid.place(number), grid.share(number)
            if len(share.columns):
                columns[r, share.columns] = dense(chunk[:, wanted.column_index[share.columns] - c.start])
            if len(share.rows):
                rows[share.rows, c] = dense(chunk[wanted.row_index[share.rows] - r.start])
            if len(share.entries):
                at = wanted.i[share.entries] - r.start, wanted.j[share.entries] - c.start
                values[share.entries] = np.asarray(chunk[at]).reshape(-1)
        return columns, rows, values

    def _wanted(self, column_index: Any, row_index: Any, i: Any, j: Any) -> Wanted:
        """What a pass takes, checked."""
        n, m = self._shape
        wanted = Wanted(
            check_index(column_index, m, name="column_index"),
            check_index(row_index, n, name="row_index"),
            check_index(i, n, name="i"),
            check_index(j, m, name="j"),
        )
        if len(wanted.i) != len(wanted.j):
            raise InvalidArgumentError(f"i has length {len(wanted.i)} and j has {len(wanted.j)}. Give pairs.")
        return wanted

    def _cut(self, wanted: Wanted) -> Edges:
        """Where the chunks of a pass begin and end."""
        return self._edges

    def _chunk_bytes(self, edges: Edges) -> int:
        """Bytes of the largest chunk of a pass."""
        rows, columns = (int(np.diff(side).max(initial=0)) for side in edges)
        return rows * columns * int(self.dtype.itemsize)

    def _share_memory(self, wanted: Wanted, edges: Edges) -> bool:
        """Give the cache what a pass leaves of the memory; whether there is room to read ahead."""
        if self._memory_limit is None:
            return self._read_ahead
        (n, m), chunk = self._shape, self._chunk_bytes(edges)
        n_values = n * len(wanted.column_index) + m * len(wanted.row_index) + len(wanted.i)
        result = n_values * int(self.dtype.itemsize)
        left = self._memory_limit - result - chunk
        if left < 0:
            raise InvalidArgumentError(
                f"memory_limit={self._memory_limit:,} bytes, but the plan asks for {result:,} bytes of values, and a "
                f"chunk has up to {chunk:,}. Ask for less at once, or allow {result + chunk:,}."
            )
        ahead = self._read_ahead and left >= chunk
        self._cache.shrink(min(self._cache_bytes, left - chunk if ahead else left))
        return ahead

    def _chunks(self, grid: Grid, ahead: bool) -> Iterator[tuple[int, Chunk]]:
        """The chunks of a pass: first those in the cache, which reading the others may drop, then the others."""
        needed = grid.needed()
        kept = [number for number in needed if grid.place(number) in self._cache]
        others = sorted(set(needed).difference(kept))
        chunks = itertools.chain(
            (self._cache[grid.place(number)] for number in kept), self._read_all(grid, others, ahead)
        )
        for done, (number, chunk) in enumerate(zip(kept + others, chunks, strict=True), start=1):
            yield number, chunk
            if self.progress is not None:
                self.progress(done, len(needed))

    def _read_all(self, grid: Grid, numbers: list[int], ahead: bool) -> Iterator[Chunk]:
        """Chunks that are not kept: each is read, checked, counted and kept."""
        chunks = self._load(grid.place(number) for number in numbers)
        if ahead and len(numbers) > 1:
            chunks = _ahead(chunks)
        for place in map(grid.place, numbers):
            try:
                chunk = check_chunk(next(chunks), place, self.dtype)
            except CURPlusError:
                raise
            except Exception as error:  # another library's reader can fail in a dozen ways, all of which mean this
                raise SourceError(
                    f"{place_in_words(place)} could not be read: {type(error).__name__}: {error}"
                ) from error
            self.bytes_read += n_bytes(chunk)
            self._cache.keep(place, chunk)
            yield chunk

    def _load(self, places: Iterable[Place]) -> Iterator[Chunk]:
        """What is stored at these places, one chunk after the other."""
        return (self._chunk(*place) for place in places)

    def __repr__(self) -> str:
        n, m = self._shape
        return f"<{type(self).__name__} of a {n} x {m} matrix: {self.bytes_read:,} bytes read>"


def _ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items in the same order; one more than was asked for is on its way, and an error comes in its turn."""
    end = object()
    with ThreadPoolExecutor(1, thread_name_prefix="curplus-read-ahead") as pool:
        coming = pool.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, items, end)
            yield item  # type: ignore[misc]
