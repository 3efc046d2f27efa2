"""The cells of an Excel workbook as text: formulas are not computed, and one without a stored value is refused."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._support.extras import import_extra
from .._support.spelling import option
from ..exceptions import CURPlusError, SourceError

__all__ = ["workbook_records"]

LARGEST_WORKBOOK = 2**30  # bytes, unpacked


def workbook_records(path: Path, sheet: str | int | None = None) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row of a sheet that is not empty, and the number of the row; all of one length."""
    openpyxl = import_extra("openpyxl", extra="excel", purpose="Excel files need openpyxl")
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > LARGEST_WORKBOOK:
            raise SourceError(f"{path} would take {unpacked:,} bytes unpacked. Save the table as CSV or Parquet")
        with contextlib.ExitStack() as books:
            values, formulas = (
                _sheet(books.enter_context(contextlib.closing(book)), sheet)
                for book in (openpyxl.load_workbook(path, read_only=True, data_only=only) for only in (True, False))
            )
            yield from _records(values, formulas)
    except CURPlusError:
        raise
    except Exception as error:  # a damaged file can fail in many ways, all of which mean this
        raise SourceError(f"{path} cannot be read as an Excel workbook: {error}. Save it again") from error


def _sheet(book: Any, wanted: str | int | None) -> Any:
    """One sheet of a workbook: the one that is not empty, if none is named."""
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if wanted is None:
        filled = [name for name, sheet in sheets.items() if any(map(any, sheet.iter_rows(values_only=True)))]
        if len(filled) > 1:
            raise SourceError(f"it has the sheets {', '.join(filled)}. Say which: {option('sheet', filled[0])}")
        return sheets[(filled or list(sheets))[0]]
    if wanted in sheets:
        return sheets[str(wanted)]
    if not str(wanted).isdigit() or int(wanted) >= len(sheets):
        raise SourceError(f"{option('sheet', wanted)} is no sheet of it. Its sheets are {', '.join(sheets)}")
    return book.worksheets[int(wanted)]


def _records(values: Any, formulas: Any) -> Iterator[tuple[int, list[str]]]:
    width = 0
    both = zip(values.iter_rows(values_only=True), formulas.iter_rows(values_only=True), strict=True)
    for line, (cells, written) in enumerate(both, start=1):
        if lost := [formula for cell, formula in zip(cells, written, strict=True) if cell is None and formula]:
            raise SourceError(
                f"row {line} has the formula {str(lost[0])[:40]!r} and no stored value. Open it in a spreadsheet and "
                "save it, or save the values as CSV"
            )
        texts = [_text(cell) for cell in cells]
        while len(texts) > width and not texts[-1].strip():
            texts.pop()
        width = max(width, len(texts))
        if any(map(str.strip, texts)):
            yield line, texts + [""] * (width - len(texts))


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))  # 12 is a better name of a row than 12.0
    return "" if cell is None else str(cell)
