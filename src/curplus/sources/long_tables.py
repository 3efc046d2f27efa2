"""Long tables in files and in memory: only their three columns are read, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .._extras import import_extra
from .._typing import Vector
from ..exceptions import InvalidArgumentError, SourceError
from .frames import ARROW, is_arrow, is_polars, is_text
from .long import LongBlock, LongSource, check_long, collect, looks_long
from .table import is_table
from .text import find_text_layout, in_some_encoding, long_text_blocks
from .text_layout import Note, TextLayout

__all__ = ["long_source", "open_table"]

BATCH_ROWS = 2**17
FIRST_ROWS = 100  # are looked at


def open_table(path: Path, *, ending: str, wide: Callable[..., Any], long: Any, said: dict[str, Any]) -> Any:
    """The table in a file: long if that is said or looks so; otherwise what ``wide`` makes of it."""
    if ending in (".parquet", ".feather", ".arrow"):
        if long is not None:
            return _long_arrow(path, ending, long) if long is not False else wide(path)
        source = _long_arrow(path, ending, True) if _file_looks_long(path, ending) else wide(path)
    else:
        layout = find_text_layout(path, ending, **said)
        if long is False or (long is None and not layout.is_long):
            return wide(path, layout)
        source = _long_text(path, layout, True if long is None else long)
    if isinstance(source, LongSource) and long is None:
        source.notes = (*source.notes, Note("long", True, "the table is long: each line has a row, a column, a value"))
    return source


def _long_text(path: Path, layout: TextLayout, long: Any) -> LongSource:
    """The long table in a text file."""
    places = check_long(long, layout.names or tuple(range(layout.n_fields)))
    pandas = import_extra("pandas", extra="pandas", purpose="reading tables needs pandas")

    def read(known: TextLayout) -> tuple[LongSource, TextLayout]:
        return collect(_pandas_blocks(pandas, long_text_blocks(path, known, places), places)), known

    found: tuple[LongSource, TextLayout] = in_some_encoding(read, layout)
    source, layout = found
    source.notes = tuple(note for note in layout.notes if note.name != "index_col")
    return source


def _arrow_file(path: Path, ending: str) -> Any:
    """A Parquet or Arrow file, open."""
    if ending == ".parquet":
        return import_extra("pyarrow.parquet", extra="arrow", purpose=ARROW).ParquetFile(path)
    import_extra("pyarrow.feather", extra="arrow", purpose=ARROW)
    arrow = import_extra("pyarrow", extra="arrow", purpose=ARROW)
    return import_extra("pyarrow.ipc", extra="arrow", purpose=ARROW).open_file(arrow.memory_map(str(path)))


def _long_arrow(path: Path, ending: str, long: Any) -> LongSource:
    """The long table in a Parquet or Arrow file: of a Parquet file, one group of rows after the other."""
    file = _arrow_file(path, ending)
    if ending == ".parquet":
        names = [file.schema_arrow.names[k] for k in check_long(long, file.schema_arrow.names)]
        return collect(_arrow_blocks(b.select(names) for b in file.iter_batches(BATCH_ROWS, columns=names)))
    places = check_long(long, file.schema.names)
    return collect(_arrow_blocks(_selected(file.get_batch(k), places) for k in range(file.num_record_batches)))


def _selected(batch: Any, places: tuple[int, int, int]) -> Any:
    return batch.select([batch.schema.names[k] for k in places])


def _file_looks_long(path: Path, ending: str) -> bool:
    """Whether the table in a Parquet or Arrow file is a long one, by its columns and the first rows."""
    types = import_extra("pyarrow", extra="arrow", purpose=ARROW).types
    file = _arrow_file(path, ending)
    schema = file.schema_arrow if ending == ".parquet" else file.schema
    if len(schema.names) != 3:
        return False
    kinds = ["text" if is_text(types, kind) else "number" for kind in schema.types]
    batches = file.iter_batches(FIRST_ROWS) if ending == ".parquet" else map(file.get_batch, [0])
    first = next(iter(batches)) if (file.metadata.num_rows if ending == ".parquet" else file.num_record_batches) else ()
    return looks_long(schema.names, kinds, first.column(0)[:FIRST_ROWS].to_pylist() if first else [])


def long_source(table: Any, long: Any) -> LongSource:
    """The long table in an object of pandas, Polars or Arrow."""
    if is_table(table):
        pandas = import_extra("pandas", extra="pandas", purpose="reading tables needs pandas")
        places = check_long(long, list(table.columns))
        return collect(_pandas_blocks(pandas, [table.iloc[:, list(places)].set_axis(places, axis=1)], places))
    if is_polars(table):
        table = table.to_arrow()
    if is_arrow(table):
        places = check_long(long, table.column_names)
        return collect(_arrow_blocks(table.select(list(places)).to_batches(BATCH_ROWS)))
    raise InvalidArgumentError(
        f"long={long!r} was given, and a {type(table).__name__} is no table with named columns. Give a file or a table "
        "of pandas, Polars or Arrow."
    )


def _pandas_blocks(pandas: Any, frames: Iterable[Any], places: tuple[int, int, int]) -> Iterator[LongBlock]:
    row, column, value = places
    for frame in frames:
        rows, columns = (pandas.factorize(frame[k]) for k in (row, column))
        values = pandas.to_numeric(frame[value], errors="raise").to_numpy(np.float64, na_value=np.nan)
        yield LongBlock(rows[0], rows[1].tolist(), columns[0], columns[1].tolist(), values)


def _arrow_blocks(batches: Iterable[Any]) -> Iterator[LongBlock]:
    """Blocks of batches that have the row, the column and the value, in this order."""
    for batch in batches:
        parts = [_codes(batch.column(k)) for k in (0, 1)]
        yield LongBlock(*parts[0], *parts[1], _numbers(batch.column(2), batch.schema.names[2]))


def _codes(column: Any) -> tuple[Any, list[Any]]:
    types = import_extra("pyarrow", extra="arrow", purpose=ARROW).types
    encoded = column if types.is_dictionary(column.type) else column.dictionary_encode()
    codes = encoded.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    return codes, encoded.dictionary.to_pylist()


def _numbers(column: Any, name: str) -> Vector:
    types = import_extra("pyarrow", extra="arrow", purpose=ARROW).types
    if is_text(types, column.type):
        raise SourceError(f"column {name!r} of the values has type {column.type}, which is not numeric")
    return np.asarray(column.cast("float64", safe=False).to_numpy(zero_copy_only=False))
