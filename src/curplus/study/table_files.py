"""Tables in files, as people write them: CSV, Parquet and Excel, read in pieces of bounded size.

A file is data and nothing else: formulas are not computed, and what is too long, not text or not a table is refused
with the line where that shows.
"""

from __future__ import annotations

import csv
import itertools
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .._extras import import_extra
from ..exceptions import FileFormatError, InvalidArgumentError

__all__ = ["FILE_ENDINGS", "Piece", "pieces_of_file", "text_lines"]

LONGEST_LINE = 2**24  # bytes
LARGEST_WORKBOOK = 2**30  # bytes, unpacked
LINES_AT_ONCE = 100_000
CELLS_AT_ONCE = 1_000_000
SEPARATORS = ",;\t"
FILE_ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".xlsx")


class Piece(NamedTuple):
    """Some lines of a table, column by column."""

    header: tuple[str, ...]
    columns: list[Any]  # a sequence for each name of the header
    first_line: int  # as the file counts them
    index: Any = None  # names of rows, where the table has them apart from its columns


def pieces_of_file(path: Path) -> Iterator[Piece]:
    """The lines of a file, some at a time."""
    ending = path.suffix.lower()
    if ending not in FILE_ENDINGS:
        raise InvalidArgumentError(
            f"{path.name} cannot be read as a table. Give a file that ends in {', '.join(FILE_ENDINGS)}."
        )
    if not path.is_file():
        raise InvalidArgumentError(f"there is no file {path}. Give the path of a table.")
    reader = {".parquet": _parquet, ".xlsx": _workbook}.get(ending, _text)
    return reader(path)


def _text(path: Path) -> Iterator[Piece]:
    lines = text_lines(path)
    blank = 0
    for first in lines:
        if first.strip():
            break
        blank += 1
    else:
        raise FileFormatError(f"{path} is empty. Give a table with a header: row, column, value.")
    separator = max(SEPARATORS, key=first.count)
    reader = csv.reader(itertools.chain([first], lines), delimiter=separator, strict=True)
    try:
        header = tuple(next(reader))
        at_once = max(1, min(LINES_AT_ONCE, CELLS_AT_ONCE // len(header)))
        start = blank + reader.line_num + 1
        block = list(itertools.islice(reader, at_once))
        if not block:
            yield Piece(header, [[] for _ in header], start)
        while block:
            some = [line for line in block if line]
            _check_lengths(path, some, header, start)
            if some:
                yield Piece(header, list(zip(*some, strict=True)), start)
            start = blank + reader.line_num + 1
            block = list(itertools.islice(reader, at_once))
    except csv.Error as error:
        at = blank + reader.line_num
        raise FileFormatError(f"{path}, line {at}: this is no CSV ({error}). Repair the line.") from error


def _check_lengths(path: Path, lines: list[list[str]], header: tuple[str, ...], start: int) -> None:
    for k, line in enumerate(lines):
        if len(line) != len(header):
            raise FileFormatError(
                f"{path}, line {start + k} or soon after has {len(line)} fields and the header has {len(header)}. "
                "Repair the line; texts with a separator in them need quotation marks."
            )


def text_lines(path: Path) -> Iterator[str]:
    """Lines of a text file, each of bounded length."""
    with path.open("rb") as stream:
        number = 0
        while line := stream.readline(LONGEST_LINE + 1):
            number += 1
            if number == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise FileFormatError(f"{path} is written in UTF-16. Save it as UTF-8.")
            if len(line) > LONGEST_LINE:
                raise FileFormatError(f"{path}, line {number} is longer than {LONGEST_LINE:,} bytes: this is no table.")
            if b"\0" in line:
                raise FileFormatError(f"{path}, line {number} has a NUL byte: this is no text. Save the table as CSV.")
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise FileFormatError(
                    f"{path}, line {number} is not written in UTF-8 (byte {error.start} is 0x{line[error.start]:02x}). "
                    "Save the file as UTF-8."
                ) from error


def _parquet(path: Path) -> Iterator[Piece]:
    parquet = import_extra("pyarrow.parquet", extra="arrow", purpose="Parquet files need pyarrow")
    import_extra("pandas", extra="pandas", purpose="tables need pandas")
    try:
        with parquet.ParquetFile(path) as file:
            width = max(len(file.schema_arrow.names), 1)
            first = 1
            for batch in file.iter_batches(batch_size=max(1000, 4 * CELLS_AT_ONCE // width)):
                frame = batch.to_pandas()
                header = tuple(map(str, frame.columns))
                yield Piece(header, [frame[name] for name in frame.columns], first, frame.index)
                first += len(frame)
    except Exception as error:  # a damaged file can fail in many ways, all of which mean this
        raise FileFormatError(f"{path} cannot be read as Parquet: {error}. Write it again.") from error


def _workbook(path: Path) -> Iterator[Piece]:
    openpyxl = import_extra("openpyxl", extra="excel", purpose="Excel files need openpyxl")
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > LARGEST_WORKBOOK:
            raise FileFormatError(f"{path} would take {unpacked:,} bytes unpacked. Save the table as CSV or Parquet.")
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            yield from _sheet(book.worksheets[0], path)
        finally:
            book.close()
    except FileFormatError:
        raise
    except Exception as error:  # a damaged file can fail in many ways, all of which mean this
        raise FileFormatError(f"{path} cannot be read as an Excel workbook: {error}. Save it again.") from error


def _sheet(sheet: Any, path: Path) -> Iterator[Piece]:
    lines = (line for line in sheet.iter_rows(values_only=True) if any(x is not None for x in line))
    first = next(lines, None)
    if first is None:
        raise FileFormatError(f"{path} is empty. Give a table with a header: row, column, value.")
    header = tuple("" if x is None else str(x) for x in first)
    start = 2
    while some := list(itertools.islice(lines, LINES_AT_ONCE)):
        yield Piece(header, list(zip(*(line[: len(header)] for line in some), strict=True)), start)
        start += len(some)
