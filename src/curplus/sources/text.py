"""A table in a text file, as people write it: numbers bit for bit, gaps as NaN, an error that says where text is."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .._extras import import_extra
from .._typing import Names
from ..exceptions import SourceError
from .table import TableSource
from .text_layout import GAPS, Note, TextLayout, find_layout, is_number
from .text_stream import encoding_of, head_of, open_text

__all__ = ["find_text_layout", "in_some_encoding", "long_text_blocks", "read_text"]

BLOCK_ROWS = 2**16
INTEGER = re.compile(r"0|-?[1-9]\d{0,17}")


def read_text(path: Path, layout: TextLayout) -> TableSource:
    """The table of a text file; ``notes`` has what was found out about it, and ``gaps`` whether it has some."""
    frame, layout = in_some_encoding(lambda known: _frame(path, known), layout)
    source = TableSource(frame)
    source.notes = layout.notes
    source.gaps = bool(frame.isna().to_numpy().any())
    return source


def find_text_layout(path: Path, ending: str, **options: Any) -> TextLayout:
    """How a text file is written; options are those of :func:`curplus.open_source`."""
    said = options.pop("encoding", None)
    encoding = encoding_of(path) if said is None else said
    try:
        found = find_layout(head_of(path, encoding), encoding=encoding, ending=ending, **options)
    except UnicodeDecodeError as error:
        raise _wrong_encoding(encoding, error) from error
    if said is not None or encoding == "utf-8":
        return found
    return found._replace(notes=(Note("encoding", encoding, f"the encoding is {encoding}"), *found.notes))


def long_text_blocks(path: Path, layout: TextLayout, places: tuple[int, int, int]) -> Iterator[Any]:
    """The row, the column and the value of each line, in frames of some thousand lines; keys are text."""
    row, column, value = places
    gaps = {row: [""], column: [""], value: sorted(GAPS)}
    options = {"usecols": sorted(places), "na_values": gaps, "dtype": {row: str, column: str, value: str}}
    with open_text(path, layout.encoding) as stream:
        for frame in _read(stream, layout, chunksize=BLOCK_ROWS, **options):
            try:
                frame[value] = _numbers(frame[value], layout)
            except ValueError:
                _refuse_text(path, layout, [value])
                raise
            yield frame


def _text_blocks(path: Path, layout: TextLayout, columns: list[int]) -> Iterator[Any]:
    """Some columns of a text, as text, in frames of some thousand rows."""
    with open_text(path, layout.encoding) as stream:
        yield from _read(stream, layout, dtype=str, na_filter=False, usecols=columns, chunksize=BLOCK_ROWS)


def in_some_encoding(read: Callable[[TextLayout], Any], layout: TextLayout) -> Any:
    """What is read in the encoding that was found; if only later lines show that it is not UTF-8, in Latin-1."""
    try:
        return read(layout)
    except UnicodeDecodeError as error:
        if layout.encoding != "utf-8":
            raise _wrong_encoding(layout.encoding, error) from error
        note = Note("encoding", "latin-1", "the encoding is not utf-8, so it is read as latin-1")
        return read(layout._replace(encoding="latin-1", notes=(note, *layout.notes)))


def _wrong_encoding(encoding: str, error: UnicodeDecodeError) -> SourceError:
    return SourceError(
        f"byte {error.start} of a part is not {encoding} ({error.reason}). Say the encoding: encoding='latin-1', "
        "for example"
    )


def _read(stream: Any, layout: TextLayout, **options: Any) -> Any:
    """What pandas reads, columns numbered from 0."""
    pandas = import_extra("pandas", extra="pandas", purpose="reading tables needs pandas")
    options = {"na_values": sorted(GAPS), "keep_default_na": False} | options
    return pandas.read_csv(
        stream,
        sep=r"\s+" if layout.sep == " " else layout.sep,
        decimal=layout.decimal,
        header=None,
        skiprows=layout.n_skipped,
        skipinitialspace=True,
        float_precision="round_trip",
        **options,
    )


def _frame(path: Path, layout: TextLayout) -> tuple[Any, TextLayout]:
    """The numbers of a table with its names, and how it is written."""
    pandas = import_extra("pandas", extra="pandas", purpose="reading tables needs pandas")
    kinds = {k: str if k == layout.index_col else np.float64 for k in range(layout.n_fields)}
    counted = "" if layout.sep == " " else layout.sep
    with open_text(path, layout.encoding, counted) as stream:
        try:
            frame = _read(stream, layout, dtype=kinds)
        except (UnicodeDecodeError, pandas.errors.ParserError):
            raise
        except ValueError:  # pandas says what it could not read, and not where
            frame = _truth_values(path, layout, kinds)
    if not stream.has_quotes and counted:
        _check_all_there(path, layout, stream.n_counted, len(frame))
    return _named(path, layout, frame)


def _truth_values(path: Path, layout: TextLayout, kinds: dict[int, Any]) -> Any:
    """The table where it has true and false; text that is neither that nor a number is refused with its place."""
    data = [k for k in kinds if k != layout.index_col]
    _refuse_text(path, layout, data)
    with open_text(path, layout.encoding) as stream:
        frame = _read(stream, layout, dtype=str)
    for k in data:
        frame[k] = _numbers(frame[k], layout)
    return frame


def _numbers(column: Any, layout: TextLayout) -> Any:
    """A column of text as numbers, bit for bit; true is 1 and false is 0, and blanks may stand around a gap."""
    cells = column.str.strip()
    cells = cells.mask(cells.isin(GAPS)).str.lower().replace({"true": "1", "false": "0"})
    return cells.str.replace(layout.decimal, ".", regex=False).astype(object).astype(np.float64)


def _refuse_text(path: Path, layout: TextLayout, data: list[int]) -> None:
    """Find the first cell that is no number, block by block, and say where it stands."""
    for block in _text_blocks(path, layout, list(range(layout.n_fields))):
        for k in data:
            cells = block[k].str.strip()
            bad = ~(cells.isin(GAPS) | cells.map(functools.partial(is_number, decimal=layout.decimal)))
            if bad.any():
                row = int(np.flatnonzero(bad)[0])
                raise _text_found(layout, block, row, k)


def _text_found(layout: TextLayout, block: Any, row: int, k: int) -> SourceError:
    """What stood where a number should have."""
    cell = str(block[k].iloc[row])
    shown = cell if len(cell) <= 60 else f"{cell[:60]}..."
    line = int(block.index[row]) + layout.n_skipped + 1
    name = "" if layout.index_col is None else f" (row {block[layout.index_col].iloc[row]!r})"
    column = f"column {k}" if layout.names is None else f"column {_column_names(layout)[k]!r}"
    return SourceError(
        f"{shown!r} in line {line}{name}, {column} is not a number. Leave the cell empty if nothing was measured. If "
        "the column holds names, say so (index_col=); if each line has a row, a column and a value, say long=True; if "
        "numbers are written in another way, say how (sep=, decimal=)"
    )


def _check_all_there(path: Path, layout: TextLayout, n_separators: int, n_rows: int) -> None:
    """A line that ends too early is refused, for the file may have been cut off."""
    in_header = 0 if layout.names is None else len(layout.names) - 1
    if n_separators - in_header == n_rows * (layout.n_fields - 1):
        return
    with open_text(path, layout.encoding) as stream:
        for number, line in enumerate(stream.lines(), start=1):
            n_cells = line.count(layout.sep) + 1
            if line.strip() and n_cells < layout.n_fields and (number > 1 or layout.names is None):
                raise SourceError(
                    f"line {number} has {n_cells} cells, and {layout.n_fields} are expected. If the file was cut off, "
                    "get it again; if cells are empty, keep their separators"
                )


def _named(path: Path, layout: TextLayout, frame: Any) -> tuple[Any, TextLayout]:
    """A frame with the names of its columns, and those of its rows where it has them."""
    if layout.names is not None:
        frame.columns = _column_names(layout)
    index = layout.index_col
    if index is not None:
        labels = _labels(path, layout, frame.iloc[:, index])
        if layout.index_is_doubtful and len(np.unique(labels)) < len(labels):  # then they name no rows
            frame.isetitem(index, _numbers(frame.iloc[:, index], layout))
            layout = layout._replace(notes=tuple(note for note in layout.notes if note.name != "index_col"))
        else:
            frame = frame.iloc[:, [k for k in range(frame.shape[1]) if k != index]].set_axis(labels, axis=0)
    if layout.names is None:
        frame.columns = range(frame.shape[1])
    return _without_empty_end(frame, layout)


def _column_names(layout: TextLayout) -> list[str]:
    """The name of each column; where the header has one fewer, the first has none."""
    assert layout.names is not None
    return [""] * (layout.n_fields - len(layout.names)) + list(layout.names)


def _labels(path: Path, layout: TextLayout, column: Any) -> Names:
    """Names of rows as they are written, those that look like gaps too; whole numbers are numbers."""
    if column.isna().any():
        parts = [block.iloc[:, 0] for block in _text_blocks(path, layout, [layout.index_col or 0])]
        column = import_extra("pandas", extra="pandas", purpose="reading tables needs pandas").concat(parts)
    texts = [str(name).strip() for name in column]
    return np.array([int(text) for text in texts] if all(map(INTEGER.fullmatch, texts)) else texts)


def _without_empty_end(frame: Any, layout: TextLayout) -> tuple[Any, TextLayout]:
    """Where every line ends with a separator, there is no last column."""
    if layout.names and layout.names[-1] == "" and frame.shape[1] > 1 and frame.iloc[:, -1].isna().all():
        note = Note("", None, "every line ends with a separator; the empty last column is left out")
        return frame.iloc[:, :-1], layout._replace(notes=(*layout.notes, note))
    return frame, layout
