"""Matrices as files: the ending says what is written, and a file is replaced only once the new one is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy

from .._arrays import blocks, to_numpy
from .._support.extras import import_extra
from .._support.replacing import replacing
from .._support.tables import WRITERS, Form
from .._typing import FloatArray, Names, Shape
from ..observation import Observation
from ..sources.content import ending_of

__all__ = ["FRAMES", "TABLES", "Written", "long_frame", "write_matrix"]

FRAMES = tuple(WRITERS)
TABLES = (*FRAMES, ".npy")
BLOCK_VALUES = 2**22


class Written(NamedTuple):
    """A matrix that is computed a few rows at a time, with its names, in the form that its file had."""

    shape: Shape
    rows: Callable[[slice], FloatArray]  # the rows of a slice, shape (k, m)
    row_names: Names | None = None
    column_names: Names | None = None
    form: Form = Form()


def write_matrix(matrix: Written, path: Path) -> None:
    """Write a matrix: as text with names, as a table of columns, as a workbook, or as an array."""
    ending = ending_of(path)
    with replacing(path) as stream:
        if ending in ARRAYS:
            ARRAYS[ending](matrix, stream)
            return
        rows, columns = _names(matrix.row_names), _names(matrix.column_names)
        index = matrix.form.index_name
        if index is None and rows is not None:
            index = ""
        form = matrix.form._replace(index_name=index, has_header=columns is not None)
        WRITERS[ending](_frames(matrix, columns, index), stream, form)


def _names(names: Names | None) -> Names | None:
    """Names that are more than positions."""
    if names is not None and names.dtype.kind in "iu" and np.array_equal(names, np.arange(len(names))):
        return None
    return names


def _frames(matrix: Written, columns: Names | None, index_name: str | None) -> Iterator[Any]:
    """A few thousand rows at a time, as frames."""
    pandas = import_extra("pandas", extra="pandas", purpose="writing tables needs pandas")
    names = np.arange(matrix.shape[0]) if matrix.row_names is None else matrix.row_names
    for part in blocks(*matrix.shape, most=BLOCK_VALUES):
        index = pandas.Index(names[part], name=index_name or None)
        yield pandas.DataFrame(matrix.rows(part), index=index, columns=columns)


def _npy(matrix: Written, stream: BinaryIO) -> None:
    parts = (np.ascontiguousarray(matrix.rows(part)) for part in blocks(*matrix.shape, most=BLOCK_VALUES))
    for k, part in enumerate(parts):
        if k == 0:
            header = {"descr": npy.dtype_to_descr(part.dtype), "fortran_order": False, "shape": matrix.shape}
            npy.write_array_header_1_0(stream, header)
        stream.write(part.tobytes())


def _npz(matrix: Written, stream: BinaryIO) -> None:
    np.savez(stream, matrix=matrix.rows(slice(0, matrix.shape[0])))


ARRAYS: dict[str, Callable[[Written, BinaryIO], None]] = {".npy": _npy, ".npz": _npz}


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
    frame = pandas.DataFrame({"row": rows, "column": columns, "value": values})
    if len(o.bounds):
        flat, bounds = i * m + j, o.bounds
        texts = dict(zip((bounds.i * m + bounds.j).tolist(), bounds.texts, strict=True))
        at = np.flatnonzero(np.isnan(values) & np.isin(flat, list(texts)))
        frame["value"] = frame["value"].astype(object)
        frame.loc[at, "value"] = [texts[place] for place in flat[at].tolist()]
    return frame
