"""Tables as files: frames are written as text, as a table of columns or as a workbook, all or nothing."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, BinaryIO, NamedTuple

from .extras import import_extra
from .replacing import replacing

__all__ = ["FORMULA", "WRITERS", "Form", "write_frame"]

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet takes a text that starts like this for a formula


class Form(NamedTuple):
    """How a table is written, beyond its numbers and names."""

    index_name: str | None = None  # over the names of rows, perhaps empty; None if there are no such names
    has_header: bool = True
    sep: str = ","
    decimal: str = "."


def write_frame(frame: Any, path: str | PathLike[str], ending: str) -> None:
    """Write a frame without its index."""
    with replacing(path) as stream:
        WRITERS[ending]([frame], stream, Form())


def _text(frames: Iterable[Any], stream: BinaryIO, form: Form) -> None:
    text, has_index = io.TextIOWrapper(stream, encoding="utf-8", newline=""), form.index_name is not None
    for k, frame in enumerate(frames):
        header = form.has_header and k == 0
        _safe(frame).to_csv(text, sep=form.sep, decimal=form.decimal, index=has_index, header=header)
    text.flush()
    text.detach()  # the stream stays open for whoever opened it


def _safe(frame: Any) -> Any:
    """A frame in which no text can be taken for a formula by a spreadsheet."""
    words = frame.select_dtypes(exclude="number")
    frame = frame.assign(**{name: words[name].map(_harmless) for name in words}) if len(words.columns) else frame
    frame = frame.rename_axis(index=_harmless(frame.index.name))
    return frame.rename(index=_harmless, columns=_harmless)


def _harmless(name: Any) -> Any:
    """A text cell; one that a spreadsheet would compute gets an apostrophe in front."""
    if not isinstance(name, str) or not name.startswith(FORMULA):
        return name
    try:
        float(name)
    except ValueError:
        return f"'{name}"
    return name  # a negative number


def _parquet(frames: Iterable[Any], stream: BinaryIO, form: Form) -> None:
    arrow = import_extra("pyarrow", extra="arrow", purpose="Parquet files need pyarrow")
    parquet = import_extra("pyarrow.parquet", extra="arrow", purpose="Parquet files need pyarrow")
    writer = None
    for frame in frames:
        table = arrow.Table.from_pandas(frame.rename(columns=str), preserve_index=form.index_name is not None)
        writer = parquet.ParquetWriter(stream, table.schema) if writer is None else writer
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _excel(frames: Iterable[Any], stream: BinaryIO, form: Form) -> None:
    openpyxl = import_extra("openpyxl", extra="excel", purpose="Excel files need openpyxl")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("table")
    for k, frame in enumerate(map(_safe, frames)):
        has_index = form.index_name is not None
        if form.has_header and k == 0:
            sheet.append([*([form.index_name] if has_index else []), *frame.columns])
        for row in frame.astype(object).where(frame.notna(), None).itertuples(index=has_index, name=None):
            sheet.append(row)
    book.save(stream)


#: How frames, one below the other, are written, by the ending of a name.
WRITERS: dict[str, Callable[[Iterable[Any], BinaryIO, Form], None]] = {
    ".csv": _text,
    ".tsv": lambda frames, stream, form: _text(frames, stream, form._replace(sep="\t")),
    ".parquet": _parquet,
    ".xlsx": _excel,
}
