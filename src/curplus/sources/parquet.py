"""A table in a Parquet file: of a large one, only those row groups and columns are read that hold what is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._extras import import_extra
from .._typing import IndexVector
from .chunked import ChunkedSource
from .chunks import Chunk, Edges, Wanted
from .frames import ARROW, ArrowColumns, FrameSource, with_row_names

__all__ = ["ParquetSource", "open_parquet"]

WHOLE_BYTES = 2**26  # up to 64 MiB, a table is read at once
CHUNK_BYTES = 2**26  # and of a larger one, so much
MOST_CUTS = 64  # columns that are read for entries alone


def open_parquet(path: Path) -> FrameSource | ParquetSource:
    """The table in a Parquet file, in which a null and NaN are gaps."""
    file = import_extra("pyarrow.parquet", extra="arrow", purpose=ARROW).ParquetFile(path)
    names = file.schema_arrow.names
    size = sum(file.metadata.row_group(k).total_byte_size for k in range(file.metadata.num_row_groups))
    whole = size <= WHOLE_BYTES or len(set(names)) < len(names)
    source = with_row_names(file.read()) if whole else ParquetSource(file)
    source.gaps = True
    return source


class ParquetSource(ChunkedSource):
    """A Parquet file of numbers. What is read at once is a part of the columns of one group of rows, up to 64 MiB.

    Parameters
    ----------
    file : pyarrow.parquet.ParquetFile
        The file, open.
    **options
        As for :class:`ChunkedSource`.
    """

    gaps = False

    def __init__(self, file: Any, **options: Any) -> None:
        self._file = file
        frame = with_row_names(file.schema_arrow.empty_table())
        self._names = [str(name) for name in (frame.column_names if frame.column_names is not None else ())]
        groups = [file.metadata.row_group(k).num_rows for k in range(file.metadata.num_row_groups)]
        self._starts = np.cumsum([0, *groups])
        self._width = max(1, CHUNK_BYTES // (8 * max([*groups, 1])))
        shape = int(self._starts[-1]), len(self._names)
        given = {"dtype": frame.dtype, "read_ahead": True, "row_names": self._row_names(), "column_names": self._names}
        super().__init__(self._block, shape, (groups, self._width), **given | options)

    def _row_names(self) -> Any:
        others = [name for name in self._file.schema_arrow.names if name not in self._names]
        return with_row_names(self._file.read(columns=[*others, self._names[0]])).row_names if others else None

    def _block(self, rows: slice, columns: slice) -> Chunk:
        names = self._names[columns]
        group = int(np.searchsorted(self._starts, rows.start, side="right")) - 1
        table = self._file.read_row_group(group, columns=names).select(names)
        return FrameSource(ArrowColumns(table.replace_schema_metadata(None))).columns(np.arange(len(names)))

    def _cut(self, wanted: Wanted) -> Edges:
        """Cuts around the columns that are wanted, so that the others are read only where a row is."""
        entries = np.unique(wanted.j)
        lines = np.unique(np.append(wanted.column_index, entries if len(entries) <= MOST_CUTS else entries[:0]))
        return self._edges[0], _around(lines, self._edges[1])


def _around(lines: IndexVector, edges: IndexVector) -> IndexVector:
    """Edges with one more on each side of every run of lines."""
    first = lines[np.diff(lines, prepend=-2) > 1]
    last = lines[np.diff(lines, append=edges[-1] + 1) > 1] + 1
    return np.unique(np.concatenate([edges, first, last]))
