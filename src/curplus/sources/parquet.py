"""A table in a Parquet or Arrow file; of a large Parquet file, only the row groups and columns with what is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._support.extras import import_extra
from .._typing import IndexVector
from .chunked import ChunkedSource
from .chunks import Chunk, Edges, Wanted
from .frames import ARROW, FrameSource, as_frame, has_index, with_names
from .layout import Note, counts_up

__all__ = ["ParquetSource", "arrow_schema", "open_arrow", "read_arrow"]

WHOLE_BYTES = 2**26  # up to 64 MiB, a table is read at once
CHUNK_BYTES = 2**26  # and of a larger one, so much
MOST_CUTS = 64  # columns that are read for entries alone


def open_arrow(path: Path, ending: str) -> FrameSource | ParquetSource:
    """The table in a Parquet or Arrow file, in which a null and NaN are gaps."""
    if ending == ".parquet":
        file = _parquet().ParquetFile(path)
        size = sum(file.metadata.row_group(k).total_byte_size for k in range(file.metadata.num_row_groups))
        names = file.schema_arrow.names
        if size > WHOLE_BYTES and len(set(names)) == len(names):
            return ParquetSource(file)
    frame, notes = as_frame(read_arrow(path, ending)), tuple[Note, ...]()
    if not has_index(frame) and [k for k in range(frame.shape[1]) if _counts_up(frame.iloc[:, k])] == [0]:
        found = f"the first column, {frame.columns[0]!r}, counts up, alone of all, and holds the names of rows"
        frame, notes = with_names(frame), (Note("index_col", 0, found),)
    source = FrameSource(frame)
    source.gaps, source.notes = True, (*notes, *source.notes)
    return source


def read_arrow(path: Path, ending: str, columns: list[str] | None = None) -> Any:
    """The table in a Parquet or Arrow file, also called Feather, or some of its columns."""
    if ending == ".parquet":
        return _parquet().ParquetFile(path).read(columns)
    feather = import_extra("pyarrow.feather", extra="arrow", purpose=ARROW)
    return feather.read_table(path, columns, memory_map=True)


def arrow_schema(path: Path, ending: str) -> Any:
    """Names and types of the columns in a Parquet or Arrow file."""
    return _parquet().read_schema(path) if ending == ".parquet" else read_arrow(path, ending).schema


def _parquet() -> Any:
    return import_extra("pyarrow.parquet", extra="arrow", purpose=ARROW)


def _counts_up(column: Any) -> bool:
    return column.dtype.kind in "iu" and not column.hasnans and counts_up(column.to_numpy(np.int64))


class ParquetSource(ChunkedSource):
    """A Parquet file of numbers. What is read at once is a part of the columns of one group of rows, up to 64 MiB.

    Parameters
    ----------
    file : pyarrow.parquet.ParquetFile
        The file, open.
    **options
        As for :class:`ChunkedSource`.
    """

    gaps = True

    def __init__(self, file: Any, **options: Any) -> None:
        self._file = file
        frame = FrameSource(file.schema_arrow.empty_table())
        self._names = list(map(str, frame.column_names if frame.column_names is not None else ()))
        groups = [file.metadata.row_group(k).num_rows for k in range(file.metadata.num_row_groups)]
        self._starts = np.cumsum([0, *groups])
        self._width = max(1, CHUNK_BYTES // (8 * max([*groups, 1])))
        shape = int(self._starts[-1]), len(self._names)
        given = {"dtype": frame.dtype, "read_ahead": True, "row_names": self._row_names(), "column_names": self._names}
        super().__init__(self._block, shape, (groups, self._width), **given | options)

    def _row_names(self) -> Any:
        others = [name for name in self._file.schema_arrow.names if name not in self._names]
        return FrameSource(self._file.read(columns=[*others, self._names[0]])).row_names if others else None

    def _block(self, rows: slice, columns: slice) -> Chunk:
        names = self._names[columns]
        group = int(np.searchsorted(self._starts, rows.start, side="right")) - 1
        table = self._file.read_row_group(group, columns=names).select(names)
        return FrameSource(table.replace_schema_metadata(None)).columns(np.arange(len(names)))

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
