"""Tables in memory, of pandas or of any library that hands out its columns as Arrow does, such as Polars and DuckDB.

All are read through pandas, which shares the columns of Arrow instead of copying them. Names travel, a null is a gap,
and only the cells that are asked for are converted.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .._arrays import real_array
from .._support.extras import import_extra, is_kind
from .._support.tables import Form
from .._typing import IndexVector, Matrix, Names, Shape, Vector
from .._validation import check_names
from ..exceptions import InvalidArgumentError
from .layout import Note, repeated_names
from .notation import SIDES, Notation

__all__ = ["FrameSource", "as_frame", "has_index", "is_frame", "is_numeric", "refuse_words", "without_bounds"]

ARROW = "reading Parquet files and tables of Arrow or Polars needs pyarrow and pandas"
MOST_NAMED = 10  # columns in an error
NOTATION = Notation()
TEXT = re.compile(r"(dictionary<values=)?(large_)?string|str$")  # as pandas and Arrow call types of columns


def is_frame(matrix: Any) -> bool:
    """Whether ``matrix`` is a table of pandas, or one whose columns can be had as those of Arrow."""
    return (
        is_kind(matrix, "pandas", "DataFrame")
        or is_kind(matrix, "polars", "LazyFrame")
        or (hasattr(matrix, "__arrow_c_stream__") and not is_kind(matrix, "pandas", "Series"))
    )


def as_frame(table: Any) -> Any:
    """A table of any library as one of pandas; what pandas had written as its index is its index again."""
    if is_kind(table, "pandas", "DataFrame"):
        return table
    arrow = import_extra("pyarrow", extra="arrow", purpose=ARROW)
    pandas = import_extra("pandas", extra="arrow", purpose=ARROW)
    table = table.collect() if is_kind(table, "polars", "LazyFrame") else table
    try:
        return arrow.table(table).to_pandas(types_mapper=pandas.ArrowDtype)
    except (TypeError, ValueError) as error:  # an ArrowInvalid is a ValueError
        raise InvalidArgumentError(
            f"a {type(table).__name__} cannot be read as a matrix ({error}). Give a table of columns."
        ) from error


def has_index(frame: Any) -> bool:
    """Whether the index of a DataFrame is more than a count of its rows."""
    return type(frame.index).__name__ != "RangeIndex"


def is_numeric(column: Any) -> bool:
    """Whether a column holds numbers, truth values, or nothing at all."""
    kind = column.dtype
    return kind.kind in "biufc" or str(kind).startswith("decimal") or (len(column) > 0 and column.isna().all())


class FrameSource:
    """A table of numbers in memory.

    Parameters
    ----------
    table : pandas.DataFrame, or any object with ``__arrow_c_stream__``, of shape (n, m)
        Its index becomes the names of rows; where it has none, a first column of text does. A column of text whose
        cells are numbers, gaps and bounds, such as ``>10``, is one of numbers; ``bounds`` has the bounds, as gaps.
    """

    row_names: Names | None
    column_names: Names | None
    notes: tuple[Note, ...]  # what was found out about the table, or the file it was read from
    form = Form()

    def __init__(self, table: Any) -> None:
        whole = as_frame(table)
        frame, bounds = without_bounds(whole)
        self.gaps = bounds is not None
        if not has_index(frame) and frame.shape[1] > 1 and _is_text(frame.iloc[:, 0]):
            frame = with_names(frame)
            bounds = None if bounds is None else (bounds[0], bounds[1] - 1, *bounds[2:])
        self._frame, self.bounds = frame, bounds
        named = table is whole or has_index(frame)
        self.row_names = check_names(frame.index, len(frame), name="row_names") if named else None
        self.column_names = check_names(frame.columns, frame.shape[1], name="column_names")
        repeated = [(x, what) for x, what in ((frame.columns, "columns"), (frame.index, "rows")) if not x.is_unique]
        self.notes = tuple(note for names, what in repeated for note in repeated_names(names, what))
        self.form = Form(str(frame.index.name or "")) if has_index(frame) else Form()
        kinds = frame.dtypes.tolist()
        words = [k for k, kind in enumerate(kinds) if kind.kind not in "biufc" and not is_numeric(frame.iloc[:, k])]
        refuse_words({frame.columns[k]: f"dtype {kinds[k]}" for k in words})
        self._uniform = len(set(kinds)) == 1 and isinstance(kinds[0], np.dtype)
        numbers = np.result_type(*map(_numpy_kind, kinds), np.bool_)
        self.dtype = real_array(np.empty(0, dtype=numbers), name="the table").dtype

    @property
    def shape(self) -> Shape:
        return int(self._frame.shape[0]), int(self._frame.shape[1])

    def rows(self, index: IndexVector) -> Matrix:
        return self._frame.iloc[np.asarray(index)].to_numpy(self.dtype, na_value=np.nan)

    def columns(self, index: IndexVector) -> Matrix:
        return self._frame.iloc[:, np.asarray(index)].to_numpy(self.dtype, na_value=np.nan)

    def entries(self, i: IndexVector, j: IndexVector) -> Vector:
        i, j = np.asarray(i), np.asarray(j)
        if self._uniform:  # one block of numbers, which pandas returns as it is
            return self._frame.to_numpy()[i, j].astype(self.dtype, copy=False)
        values = np.empty(len(i), dtype=self.dtype)
        order = np.argsort(j, kind="stable")
        needed, starts = np.unique(j[order], return_index=True)
        for k, here in zip(needed.tolist(), np.split(order, starts[1:]), strict=False):  # one gather for each column
            values[here] = self._frame.iloc[i[here], k].to_numpy(self.dtype, na_value=np.nan)
        return values


def without_bounds(frame: Any) -> tuple[Any, tuple[Any, ...] | None]:
    """A frame with gaps in the place of bounds, and these as i, j, value and side; of text, only columns with some."""
    parts: list[tuple[Any, ...]] = []
    for k in range(frame.shape[1]):
        column = frame.iloc[:, k]
        if is_numeric(column) or not any(isinstance(cell, str) and cell.strip()[:1] in SIDES for cell in column):
            continue
        texts = [str(cell) if is_known else "" for cell, is_known in zip(column, column.notna(), strict=True)]
        try:
            values, sides = NOTATION.readings(texts)
        except ValueError:
            continue
        if sides is not None:
            t = np.flatnonzero(sides)
            parts.append((t, np.full(len(t), k), values[t], sides[t]))
            values[t] = np.nan
            frame = frame.copy(deep=False)
            frame.isetitem(k, values)
    return frame, tuple(map(np.concatenate, zip(*parts, strict=True))) if parts else None


def with_names(frame: Any) -> Any:
    """A frame whose first column is its index."""
    return frame.iloc[:, 1:].set_axis(frame.iloc[:, 0].tolist(), axis=0).rename_axis(index=frame.columns[0])


def _is_text(column: Any) -> bool:
    """Whether a column holds text and nothing else."""
    if TEXT.match(str(column.dtype)):
        return True
    return column.dtype.kind == "O" and len(column) > 0 and all(isinstance(cell, str) for cell in column)


def _numpy_kind(kind: Any) -> np.dtype[Any]:
    """The NumPy type of the numbers in a column; those of pandas and Arrow have one too."""
    kind = getattr(kind, "subtype" if type(kind).__name__ == "SparseDtype" else "numpy_dtype", kind)
    return np.dtype(kind) if kind.kind in "biufc" else np.dtype(np.float64)


def refuse_words(kinds: dict[Any, str], *, advice: str = "") -> None:
    """An error that names the columns of a table that are not numeric, with their types, if there are any."""
    if not kinds:
        return
    names, types = list(map(repr, kinds)), ", ".join(dict.fromkeys(kinds.values()))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    s, have, are, them = ("", "has", "is", "it") if len(names) == 1 else ("s", "have", "are", "them")
    raise InvalidArgumentError(
        f"column{s} {', '.join(names[:MOST_NAMED])}{more} of the table {have} {types}, which {are} not numeric. Drop "
        f"{them} or convert {them} to numbers{advice}."
    )
