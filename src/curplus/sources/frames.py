"""Tables of Polars and Arrow, which store columns: names travel, and a null is a gap, NaN."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._arrays import real_array
from .._extras import import_extra, is_kind
from .._typing import IndexVector, Matrix, Names, Shape, Vector
from .._validation import check_names
from .table import refuse_words

__all__ = [
    "ARROW",
    "ArrowColumns",
    "FrameSource",
    "PolarsColumns",
    "is_arrow",
    "is_polars",
    "is_text",
    "open_feather",
    "with_row_names",
]


def is_polars(matrix: Any) -> bool:
    """Whether ``matrix`` is a polars.DataFrame."""
    return is_kind(matrix, "polars", "DataFrame")


def is_arrow(matrix: Any) -> bool:
    """Whether ``matrix`` is a pyarrow.Table."""
    return is_kind(matrix, "pyarrow", "Table")


class Columns(Protocol):
    """The numeric columns of a table."""

    names: list[str]
    n_rows: int
    row_names: Any

    def kind(self, k: int) -> np.dtype[Any] | None:
        """The NumPy type of the numbers in a column; None where there are none."""

    def kind_in_words(self, k: int) -> str:
        """The type of a column, as its library calls it."""

    def cells(self, k: int, index: IndexVector | None, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Cells of a column, all of them for None, with NaN for null."""


class FrameSource:
    """A table that stores columns; only the cells that are asked for are converted.

    Parameters
    ----------
    columns : PolarsColumns or ArrowColumns
        The table, of shape (n, m).
    """

    row_names: Names | None
    column_names: Names | None
    gaps = False

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        kinds = [columns.kind(k) for k in range(len(columns.names))]
        words = {columns.names[k]: f"type {columns.kind_in_words(k)}" for k, kind in enumerate(kinds) if kind is None}
        refuse_words(words, advice="; names of rows can be given as row_names")
        self.row_names = check_names(columns.row_names, columns.n_rows, name="row_names")
        self.column_names = check_names(columns.names, len(kinds), name="column_names")
        numbers = [kind for kind in kinds if kind is not None]
        self.dtype = real_array(np.empty(0, dtype=np.result_type(*numbers, np.bool_)), name="the table").dtype

    @property
    def shape(self) -> Shape:
        return self._columns.n_rows, len(self._columns.names)

    def rows(self, index: IndexVector) -> Matrix:
        return self._table(np.asarray(index), np.arange(self.shape[1]), len(index))

    def columns(self, index: IndexVector) -> Matrix:
        return self._table(None, np.asarray(index), self.shape[0])

    def entries(self, i: IndexVector, j: IndexVector) -> Vector:
        i, j = np.asarray(i), np.asarray(j)
        values = np.empty(len(i), dtype=self.dtype)
        order = np.argsort(j, kind="stable")
        needed, starts = np.unique(j[order], return_index=True)
        for k, here in zip(needed.tolist(), np.split(order, starts[1:]), strict=False):
            values[here] = self._columns.cells(k, i[here], self.dtype)
        return values

    def _table(self, rows: IndexVector | None, columns: IndexVector, n_rows: int) -> Matrix:
        values = np.empty((n_rows, len(columns)), dtype=self.dtype)
        for t, k in enumerate(columns.tolist()):
            values[:, t] = self._columns.cells(k, rows, self.dtype)
        return values


class PolarsColumns:
    """The columns of a polars.DataFrame, which has no names of rows."""

    row_names = None

    def __init__(self, frame: Any) -> None:
        self._series = frame.get_columns()
        self.names, self.n_rows = list(frame.columns), int(frame.height)

    def kind(self, k: int) -> np.dtype[Any] | None:
        kind = self._series[k].dtype
        if kind.is_decimal() or str(kind) in ("Int128", "UInt128"):
            return np.dtype(np.float64)
        number = kind.is_numeric() or str(kind) == "Boolean"
        return np.dtype("bool" if str(kind) == "Boolean" else str(kind).lower()) if number else None

    def kind_in_words(self, k: int) -> str:
        return str(self._series[k].dtype)

    def cells(self, k: int, index: IndexVector | None, dtype: np.dtype[Any]) -> NDArray[Any]:
        polars = import_extra("polars", extra="polars", purpose="reading Polars tables needs Polars")
        series = self._series[k] if index is None else self._series[k].gather(index)
        return np.asarray(series.cast(polars.Float32 if dtype == np.float32 else polars.Float64).to_numpy())


class ArrowColumns:
    """The columns of a pyarrow.Table; what pandas has written as its index become the names of rows."""

    def __init__(self, table: Any) -> None:
        index = _pandas_index(table.schema.metadata)
        self._types = import_extra("pyarrow", extra="arrow", purpose=ARROW).types
        self._columns = [
            column for name, column in zip(table.column_names, table.columns, strict=True) if name not in index
        ]
        self.names, self.n_rows = [name for name in table.column_names if name not in index], int(table.num_rows)
        levels = [table.column(name).to_pylist() for name in index if name in table.column_names]
        self.row_names = None if not levels else levels[0] if len(levels) == 1 else list(zip(*levels, strict=True))

    def kind(self, k: int) -> np.dtype[Any] | None:
        kind = self._columns[k].type
        if self._types.is_decimal(kind):
            return np.dtype(np.float64)
        number = self._types.is_integer(kind) or self._types.is_floating(kind) or self._types.is_boolean(kind)
        return np.dtype(kind.to_pandas_dtype()) if number else None

    def kind_in_words(self, k: int) -> str:
        return str(self._columns[k].type)

    def cells(self, k: int, index: IndexVector | None, dtype: np.dtype[Any]) -> NDArray[Any]:
        column = self._columns[k] if index is None else self._columns[k].take(index)
        if not self._types.is_floating(column.type):
            column = column.cast("float64", safe=False)
        return np.asarray(column.to_numpy()).astype(dtype, copy=False)


ARROW = "reading Parquet files and Arrow tables needs pyarrow"


def open_feather(path: Path) -> FrameSource:
    """The table in an Arrow file, also called Feather, in which a null and NaN are gaps."""
    feather = import_extra("pyarrow.feather", extra="arrow", purpose=ARROW)
    source = with_row_names(feather.read_table(path, memory_map=True))
    source.gaps = True
    return source


def with_row_names(table: Any) -> FrameSource:
    """A table; the first column, if it is text and there is no other index, holds the names of rows."""
    types = import_extra("pyarrow", extra="arrow", purpose=ARROW).types
    has_index = bool(_pandas_index(table.schema.metadata))
    if has_index or table.num_columns < 2 or not is_text(types, table.schema.types[0]):
        return FrameSource(ArrowColumns(table))
    columns = ArrowColumns(table.remove_column(0))
    columns.row_names = table.column(0).to_pylist()
    return FrameSource(columns)


def is_text(types: Any, kind: Any) -> bool:
    """Whether a column of an Arrow type holds text."""
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _pandas_index(metadata: dict[bytes, bytes] | None) -> list[str]:
    """Names of the columns that hold what was the index of a pandas DataFrame."""
    written = (metadata or {}).get(b"pandas")
    index = json.loads(written).get("index_columns", []) if written else []
    return [name for name in index if isinstance(name, str)]  # a range is not stored as a column
