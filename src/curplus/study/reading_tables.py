"""From a table to readings: a long table, a wide one, or a work list that was filled in.

Nothing is written here. Everything that is wrong with a table is found before anything is kept, and the error names the
first few faults, each with its line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._support.spelling import option
from .._typing import FloatArray, IndexVector
from ..exceptions import InvalidArgumentError
from ..observation.scale import NOT_POSITIVE
from ..sources.cells import CellTable, open_cells
from ..sources.content import damage_told, ending_of, kind_by_content
from ..sources.file import ARROWS, TEXTS
from ..sources.frames import as_frame, has_index, is_frame
from ..sources.notation import Notation
from ..sources.parquet import read_arrow
from .names import Axis
from .schema import WIDTH
from .storage import Records

__all__ = ["check_filled", "check_outliers", "check_positive", "read_table"]

MOST_SHOWN = 5
LONGEST_NOTE = 10_000  # characters
OUTLIER = 1000.0  # times the median magnitude
ENOUGH = 10  # values to judge others by


class Table(NamedTuple):
    """The cells of a table, column by column."""

    header: Sequence[str]
    columns: Sequence[Sequence[Any]]  # one for each name; in a wide table, the first has the names of rows
    lines: Sequence[int]  # as the file counts them
    notation: Notation = Notation()


class Faults:
    """What is wrong with a table: one error for all faults."""

    def __init__(self, source: str, lines: Sequence[int]) -> None:
        self.source, self.lines, self.count = source, lines, 0
        self.sentences: list[str] = []
        self.advice = ""

    def add(self, wrong: Sequence[int], sentence: Callable[[int], str], line: int | None = None) -> None:
        """Note what is wrong with some rows of the table, or with some names in a line of it."""
        for k in wrong[: MOST_SHOWN - len(self.sentences)]:
            self.sentences.append(f"line {line or self.lines[k]}: {sentence(k)}")
        self.count += len(wrong)

    def raise_if_any(self) -> None:
        """An error with the first few faults, if there are any."""
        if self.count:
            more = f"; and {self.count - len(self.sentences)} more" if self.count > len(self.sentences) else ""
            raise InvalidArgumentError(
                f"{self.source} has {self.count} fault{'s' if self.count > 1 else ''}, so nothing of it was kept: "
                f"{'; '.join(self.sentences)}{more}.{self.advice}"
            )


def read_table(
    table: Any, rows: Axis, columns: Axis, pending: Callable[[], IndexVector] | None, **how: Any
) -> tuple[Records, str]:
    """The readings of a table, and where they are from; ``how`` are options of :func:`curplus.open_source`.

    In a wide table an empty cell that is ``pending`` is a failed measurement, and any other was not measured.
    """
    is_file = isinstance(table, (str, PathLike))
    source = Path(table).name if is_file else "the table"
    found = _table_in_file(Path(table), how) if is_file else _table_of_frame(table, columns)
    faults = Faults(source, found.lines)
    words = [name.strip().lower() for name in found.header]
    if {"row", "column"} <= set(words):
        _check_header(words, source)
        records = _long(found, dict(zip(words, found.columns, strict=True)), rows, columns, faults)
    else:
        records = _wide(found, rows, columns, pending, faults)
    faults.raise_if_any()
    if not len(records):
        raise InvalidArgumentError(f"{source} has no readings. Give at least one line with row, column and value.")
    return records, source


def _table_in_file(path: Path, how: dict[str, Any]) -> Table:
    ending = kind_by_content(path, ending_of(path))
    if not path.is_file() or ending not in (*TEXTS, ".xlsx", *ARROWS):
        what = f"{path} is no table" if path.exists() else f"there is no file {path}"
        raise InvalidArgumentError(f"{what}. Give a file that ends in {', '.join((*TEXTS, '.xlsx', *ARROWS))}.")
    with damage_told(path, ending):
        if ending in ARROWS:
            return _table_of_frame(read_arrow(path, ending), None)
        found: Table = open_cells(path, ending, _table_of_cells, **{"header": True} | how)
        return found


def _table_of_cells(table: CellTable) -> Table:
    blocks = list(table.blocks())
    columns = list(zip(*(row for _, rows in blocks for row in rows), strict=True))
    lines = [line for lines, _ in blocks for line in lines]
    return Table(table.column_names, columns or [()] * table.layout.n_fields, lines, table.notation)


def _table_of_frame(table: Any, known: Axis | None) -> Table:
    """A table in memory; its index, or else its first column, has the names of rows."""
    if not is_frame(table):
        raise InvalidArgumentError(f"the table is a {type(table).__name__}. Give a DataFrame or the path of a file.")
    frame = as_frame(table)
    header = list(map(str, frame.columns))
    columns = [frame.iloc[:, k].tolist() for k in range(len(header))]
    if not header or has_index(frame) or (known is not None and known.find(header[0]) >= 0):
        header, columns = ["", *header], [frame.index.tolist(), *columns]
    return Table(header, columns, range(len(frame)))


def _check_header(words: Sequence[str], source: str) -> None:
    if "value" not in words:
        raise InvalidArgumentError(f"{source} has the columns row and column, but no column called value. Add it.")
    for word in ("row", "column", "value", "note", "time", "corrects", "list"):
        if words.count(word) > 1:
            raise InvalidArgumentError(f"{source} has {words.count(word)} columns called {word}. Keep one.")


def _long(table: Table, named: dict[str, Any], rows: Axis, columns: Axis, faults: Faults) -> Records:
    i, j = (_positions(named[axis.what], axis, faults) for axis in (rows, columns))
    values, sides = _readings(named["value"], table.notation, faults)
    texts = {
        f"{name}s": _texts(named[name], name, table.notation, faults) for name in ("note", "time") if name in named
    }
    numbers = {
        key: _whole_numbers(named[name], f"{name} is {{:g}}, not the number of a {of}", table.notation, faults)
        for name, key, of in (("corrects", "corrects", "record"), ("list", "lists", "work list"))
        if name in named
    }
    return Records.of(i * WIDTH + j, values, sides, **texts, **numbers)


def _wide(
    table: Table, rows: Axis, columns: Axis, pending: Callable[[], IndexVector] | None, faults: Faults
) -> Records:
    names = table.header[1:]
    i, j = _positions(table.columns[0], rows, faults, once=True), _positions(names, columns, faults, once=True, line=1)
    listed = [_readings(column, table.notation, faults) for column in table.columns[1:]]
    none = np.empty(len(i)), np.zeros(len(i), dtype=np.int64)
    values, sides = (np.stack(part, axis=1)[:, : len(j)] for part in zip(*(listed or [none]), strict=True))
    keep, cells = ~np.isnan(values), np.add.outer(i * WIDTH, j)
    if pending is not None and not keep.all():
        keep |= np.isin(cells, pending())
    return Records.of(cells[keep], values[keep], sides[keep])


def _positions(
    labels: Sequence[Any], axis: Axis, faults: Faults, *, once: bool = False, line: int | None = None
) -> IndexVector:
    """Positions of names, which may have to differ."""
    positions = axis.find_all(labels)
    wrong = np.flatnonzero(positions < 0).tolist()
    faults.add(wrong, lambda k: f"no {axis.what} is called {_shown(labels[k])} ({axis.nearest(labels[k])})", line)
    if wrong:
        faults.advice = " Study.add_rows and add_columns, or 'curplus study add', add rows and columns that are new."
    if once:
        again = np.setdiff1d(np.flatnonzero(positions >= 0), np.unique(positions, return_index=True)[1]).tolist()
        advice = "Keep one, or tell repeats as a long table"
        faults.add(again, lambda k: f"a second {axis.what} is called {_shown(labels[k])}. {advice}", line)
    return positions


def _readings(column: Any, notation: Notation, faults: Faults) -> tuple[FloatArray, IndexVector]:
    """Values as numbers, NaN where there is none, and the side of each that is a bound, else 0."""
    cells, wrong, sides = [str(cell).strip() for cell in column], list[int](), None
    try:
        values, sides = notation.readings(cells)
        wrong = np.flatnonzero(np.isinf(values)).tolist()
    except ValueError:
        values, wrong = np.full(len(cells), np.nan), notation.wrong(cells)
    sentence = "the value is {}, which is not a finite number. {}"
    faults.add(wrong, lambda k: sentence.format(_shown(cells[k]), notation.advice(cells[k])))
    return values, np.zeros(len(cells), dtype=np.int64) if sides is None else sides


def _texts(column: Any, name: str, notation: Notation, faults: Faults) -> list[str | None]:
    """Notes and times, as they were written; None where there is none."""
    texts = [None if notation.is_gap(str(x)) else str(x) for x in column]
    wrong = [k for k, x in enumerate(texts) if x is not None and (len(x) > LONGEST_NOTE or "\0" in x)]
    faults.add(wrong, lambda _: f"the {name} is longer than {LONGEST_NOTE} characters or has a NUL")
    return texts


def _whole_numbers(column: Any, sentence: str, notation: Notation, faults: Faults) -> list[int | None]:
    """Numbers of records or of lists; None where there is none."""
    numbers, sides = _readings(column, notation, faults)
    known = ~np.isnan(numbers)
    wrong = known & ((sides != 0) | (numbers != np.floor(numbers)) | (numbers < 1) | (numbers > 2**53))
    faults.add(np.flatnonzero(wrong).tolist(), lambda k: sentence.format(numbers[k]))
    return [int(x) if is_known else None for x, is_known in zip(numbers, known & ~wrong, strict=True)]


def _shown(label: Any) -> str:
    text = repr(label.item() if isinstance(label, np.generic) else label)
    return text if len(text) <= 60 else f"{text[:57]}..."


def check_filled(records: Records) -> None:
    """Refuse a work list in which nothing was written: its measurements have not failed."""
    is_blank = np.isnan(records.values) & [
        list_ is not None and not note for list_, note in zip(records.lists, records.notes, strict=True)
    ]
    if len(records) >= ENOUGH and is_blank.all():
        raise InvalidArgumentError(
            f"none of the {len(records)} lines of the list has a value or a note. Fill in its column value, or say "
            f"{option('force', True)} if all of these measurements failed. Nothing was kept."
        )


def check_positive(records: Records, rows: Axis, columns: Axis) -> None:
    """Refuse values that have no logarithm."""
    wrong = np.flatnonzero(records.values <= 0)
    if len(wrong):
        raise InvalidArgumentError(
            f"{_at(records, wrong, rows, columns)} has no logarithm, and the study has scale='log'. Nothing was kept. "
            f"{NOT_POSITIVE}."
        )


def check_outliers(records: Records, recent: FloatArray, rows: Axis, columns: Axis, *, is_log: bool) -> None:
    """Refuse values a thousand times as large as usual: mostly a wrong unit or a lost decimal point.

    Usual is the median magnitude, or the largest that was told before if values span powers of ten.
    """
    magnitudes = np.abs(np.concatenate([recent, [] if is_log else records.values[np.isfinite(records.values)]]))
    magnitudes = magnitudes[magnitudes > 0]
    if len(magnitudes) < ENOUGH:
        return
    usual, word = (np.max(magnitudes), "largest value") if is_log else (np.median(magnitudes), "median magnitude")
    wrong = np.flatnonzero(np.abs(records.values) >= OUTLIER * usual)
    if len(wrong):
        value = abs(records.values[wrong[0]])
        raise InvalidArgumentError(
            f"{_at(records, wrong, rows, columns)} is {value / usual:,.0f} times as large as the {word} so far, "
            f"{usual:.4g}. Is it a wrong unit or a lost decimal point? Nothing was kept. If the value is right, say "
            f"{option('force', True)}."
        )


def _at(records: Records, wrong: IndexVector, rows: Axis, columns: Axis) -> str:
    """The first of some wrong values, and where it stands."""
    i, j = divmod(int(records.cells[wrong[0]]), WIDTH)
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    value, row, column = records.values[wrong[0]], rows.labels([i])[0], columns.labels([j])[0]
    return f"the value {value:g} of row {row!r}, column {column!r}{more}"
