"""Results as files: the ending says what is written, and a file is replaced only once the new one is complete."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy

from .._arrays import blocks, to_numpy
from .._extras import import_extra
from .._replacing import replacing
from .._typing import FloatArray, Names, Shape
from ..observation import Observation
from ..sources.content import ending_of

__all__ = ["TABLES", "Written", "long_frame", "write_frame", "write_matrix"]

TABLES = (".csv", ".tsv", ".parquet", ".npy")
BLOCK_VALUES = 2**22
STARTS_OF_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


class Written(NamedTuple):
    """A matrix that is computed a few rows at a time, with its names."""

    shape: Shape
    rows: Callable[[slice], FloatArray]  # the rows of a slice, shape (k, m)
    row_names: Names | None = None
    column_names: Names | None = None


def write_matrix(matrix: Written, path: Path) -> None:
    """Write a matrix: as text with names, as a table of columns, or as an array."""
    with replacing(path) as stream:
        WRITERS[ending_of(path)](matrix, stream)


def _names(names: Names | None) -> Names | None:
    """Names that are more than positions."""
    if names is not None and names.dtype.kind in "iu" and np.array_equal(names, np.arange(len(names))):
        return None
    return names


def _frames(matrix: Written) -> Iterator[Any]:
    """A few thousand rows at a time, as frames."""
    pandas = import_extra("pandas", extra="pandas", purpose="writing tables needs pandas")
    rows, columns = _names(matrix.row_names), _names(matrix.column_names)
    for part in blocks(*matrix.shape, most=BLOCK_VALUES):
        index = np.arange(part.start, part.stop) if rows is None else rows[part]
        yield pandas.DataFrame(matrix.rows(part), index=index, columns=columns)


def _text(matrix: Written, stream: BinaryIO, sep: str) -> None:
    has_index, has_header = _names(matrix.row_names) is not None, _names(matrix.column_names) is not None
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    for k, frame in enumerate(_frames(matrix)):
        _safe(frame).to_csv(text, sep=sep, index=has_index, header=has_header and k == 0)
    text.flush()
    text.detach()  # the stream stays open for whoever opened it


def _safe(frame: Any) -> Any:
    """A frame in which no text can be taken for a formula by a spreadsheet."""
    words = frame.select_dtypes(exclude="number")
    frame = frame.assign(**{name: words[name].map(_harmless) for name in words}) if len(words.columns) else frame
    return frame.set_axis([_harmless(name) for name in frame.index], axis=0).set_axis(
        [_harmless(name) for name in frame.columns], axis=1
    )


def _harmless(name: Any) -> Any:
    """A text cell; one that a spreadsheet would compute gets an apostrophe in front."""
    if not isinstance(name, str) or not name.startswith(STARTS_OF_FORMULAS):
        return name
    try:
        float(name)
    except ValueError:
        return f"'{name}"
    return name  # a negative number


def _parquet(matrix: Written, stream: BinaryIO) -> None:
    arrow = import_extra("pyarrow", extra="arrow", purpose="writing Parquet files needs pyarrow")
    parquet = import_extra("pyarrow.parquet", extra="arrow", purpose="writing Parquet files needs pyarrow")
    has_index = _names(matrix.row_names) is not None
    writer = None
    for frame in _frames(matrix):
        table = arrow.Table.from_pandas(frame.rename(columns=str), preserve_index=has_index)
        writer = parquet.ParquetWriter(stream, table.schema) if writer is None else writer
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _npy(matrix: Written, stream: BinaryIO) -> None:
    parts = (np.ascontiguousarray(matrix.rows(part)) for part in blocks(*matrix.shape, most=BLOCK_VALUES))
    for k, part in enumerate(parts):
        if k == 0:
            header = {"descr": npy.dtype_to_descr(part.dtype), "fortran_order": False, "shape": matrix.shape}
            npy.write_array_header_1_0(stream, header)
        stream.write(part.tobytes())


def _npz(matrix: Written, stream: BinaryIO) -> None:
    np.savez(stream, matrix=matrix.rows(slice(0, matrix.shape[0])))


WRITERS: dict[str, Callable[[Written, BinaryIO], None]] = {
    ".csv": lambda matrix, stream: _text(matrix, stream, ","),
    ".tsv": lambda matrix, stream: _text(matrix, stream, "\t"),
    ".parquet": _parquet,
    ".npy": _npy,
    ".npz": _npz,
}


def long_frame(observation: Observation) -> Any:
    """Everything that was read, one line for each place: row, column and value; nothing where there is a gap."""
    pandas = import_extra("pandas", extra="pandas", purpose="writing tables needs pandas")
    o, (n, m) = observation, observation.shape
    others = np.setdiff1d(np.arange(m), o.column_index)
    outside = np.flatnonzero(o.outside)
    parts = [
        (np.repeat(np.arange(n), o.n_columns), np.tile(o.column_index, n), to_numpy(o.columns).ravel()),
        (np.repeat(o.row_index, len(others)), np.tile(others, o.n_rows), to_numpy(o.rows)[:, others].ravel()),
        (o.i[outside], o.j[outside], to_numpy(o.values)[outside]),
        (o.unmeasured_i, o.unmeasured_j, np.full(len(o.unmeasured_i), np.nan)),
    ]
    i, j, values = (np.concatenate([part[k] for part in parts]) for k in range(3))
    rows = i if o.row_names is None else o.row_names[i]
    columns = j if o.column_names is None else o.column_names[j]
    return pandas.DataFrame({"row": rows, "column": columns, "value": values})


def write_frame(frame: Any, path: Path) -> None:
    """Write a frame without its index, as text or as a table of columns."""
    with replacing(path) as stream:
        if ending_of(path) == ".parquet":
            frame.to_parquet(stream, index=False)
        else:
            _safe(frame).to_csv(stream, sep="\t" if ending_of(path) == ".tsv" else ",", index=False)
