"""From a table to readings: a long table, a wide one, or a work list that was filled in.

Nothing is written here. Everything that is wrong with a table is found before anything is kept, and the first few
faults are told, each with its line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._sets import NO_INDEX
from .._typing import FloatArray, IndexVector
from ..exceptions import InvalidArgumentError
from .frames import pandas_for_studies
from .names import Axis
from .storage import Records
from .table_files import Piece, pieces_of_file

__all__ = ["Faults", "read_table"]

MOST_SHOWN = 5
LONGEST_NOTE = 10_000  # characters
EMPTY = ("", "nan", "na", "n/a", "null", "none", "<na>")  # of a value: the measurement failed


class Faults:
    """What is wrong with a table, to be told at once."""

    def __init__(self, source: str) -> None:
        self.source, self.count = source, 0
        self.sentences: list[str] = []

    def add(self, line: int, sentence: str) -> None:
        """Note what is wrong with a line."""
        self.count += 1
        if len(self.sentences) < MOST_SHOWN:
            self.sentences.append(f"line {line}: {sentence}")

    def add_where(self, wrong: Any, first_line: int, sentence: Callable[[int], str]) -> None:
        """Note what is wrong with all lines that a mask names."""
        where = np.flatnonzero(wrong)
        for k in where[: MOST_SHOWN - len(self.sentences)].tolist():
            self.sentences.append(f"line {first_line + k}: {sentence(k)}")
        self.count += len(where)

    def raise_if_any(self) -> None:
        """An error with the first few faults, if there are any."""
        if self.count:
            more = f"; and {self.count - len(self.sentences)} more" if self.count > len(self.sentences) else ""
            raise InvalidArgumentError(
                f"{self.source} has {self.count} fault{'s' if self.count > 1 else ''}, so nothing of it was kept: "
                f"{'; '.join(self.sentences)}{more}."
            )


class Readings(NamedTuple):
    """Part of a table, with positions instead of names."""

    i: IndexVector
    j: IndexVector
    values: FloatArray
    notes: list[str | None] | None = None
    times: list[str | None] | None = None
    corrects: list[int | None] | None = None


def read_table(table: Any, rows: Axis, columns: Axis, pending: Callable[[], IndexVector]) -> tuple[Records, str]:
    """The readings of a table, and where they are from.

    In a wide table an empty place that is ``pending`` is a failed measurement, and any other was not measured.
    """
    pieces, source = _pieces(table)
    faults = Faults(source)
    parts = []
    for piece in pieces:
        is_long = _is_long(piece.header, source)
        parts.append(_long(piece, rows, columns, faults) if is_long else _wide(piece, rows, columns, pending, faults))
    faults.raise_if_any()
    joined = _joined(parts, columns.size)
    if not len(joined):
        raise InvalidArgumentError(f"{source} has no readings. Give at least one line with row, column and value.")
    return joined, source


def _pieces(table: Any) -> tuple[Iterator[Piece], str]:
    if isinstance(table, (str, Path)):
        path = Path(table)
        return pieces_of_file(path), path.name
    if hasattr(table, "to_pandas"):
        table = table.to_pandas()
    pandas = pandas_for_studies()
    if not isinstance(table, pandas.DataFrame):
        raise InvalidArgumentError(f"the table is a {type(table).__name__}. Give a DataFrame or the path of a file.")
    header = tuple(map(str, table.columns))
    columns = [table.iloc[:, k] for k in range(len(header))]
    return iter([Piece(header, columns, 0, table.index)]), "the table"


def _is_long(header: Sequence[str], source: str) -> bool:
    words = [name.strip().lower() for name in header]
    if not {"row", "column"} <= set(words):
        return False
    if "value" not in words:
        raise InvalidArgumentError(f"{source} has the columns row and column, but no column called value. Add it.")
    for word in ("row", "column", "value", "note", "time", "corrects"):
        if words.count(word) > 1:
            raise InvalidArgumentError(f"{source} has {words.count(word)} columns called {word}. Keep one.")
    return True


def _long(piece: Piece, rows: Axis, columns: Axis, faults: Faults) -> Readings:
    named = {name.strip().lower(): column for name, column in zip(piece.header, piece.columns, strict=True)}
    i = _positions(named["row"], rows, piece.first_line, faults)
    j = _positions(named["column"], columns, piece.first_line, faults)
    values = _numbers(named["value"], piece.first_line, faults)
    notes, times = (_texts(named.get(name), name, piece.first_line, faults) for name in ("note", "time"))
    return Readings(i, j, values, notes, times, _record_numbers(named.get("corrects"), piece.first_line, faults))


def _wide(piece: Piece, rows: Axis, columns: Axis, pending: Callable[[], IndexVector], faults: Faults) -> Readings:
    header, index, listed = piece.header, piece.index, piece.columns
    numbered = index is not None and type(index).__name__ == "RangeIndex"
    if index is None or (numbered and len(header) > 1 and columns.find(header[0]) < 0):
        header, index, listed = header[1:], listed[0], listed[1:]
    unknown = [name for name in header if columns.find(name) < 0]
    for name in unknown:
        faults.add(1, f"no column is called {name!r} ({columns.nearest(name)})")
    i = _positions(index, rows, piece.first_line, faults)
    if unknown or not header:
        return Readings(i[:0], i[:0], np.empty(0))
    j = columns.positions_of(header)
    values = np.stack([_numbers(column, piece.first_line, faults) for column in listed], axis=1)
    cells = np.add.outer(i * columns.size, j)
    keep = ~np.isnan(values)
    if not keep.all():
        keep |= np.isin(cells, pending())
    which_row, which_column = np.nonzero(keep)
    return Readings(i[which_row], j[which_column], values[keep])


def _positions(labels: Any, axis: Axis, first_line: int, faults: Faults) -> IndexVector:
    """Positions of names; each different name is looked up once."""
    pandas = pandas_for_studies()
    codes, different = pandas.factorize(np.asarray(labels) if isinstance(labels, (list, tuple)) else labels)
    found: IndexVector = np.asarray([axis.find(name) for name in different] + [-1], dtype=np.int64)[codes]
    listed = labels if isinstance(labels, (list, tuple)) else np.asarray(labels)
    faults.add_where(
        found < 0, first_line, lambda k: f"no {axis.what} is called {_shown(listed[k])} ({axis.nearest(listed[k])})"
    )
    return found


def _numbers(column: Any, first_line: int, faults: Faults) -> FloatArray:
    """Values as numbers; NaN where there is none."""
    kind = getattr(column, "dtype", None)
    if getattr(kind, "kind", "O") in "iufb":
        pandas = pandas_for_studies()
        values: FloatArray = pandas.Series(column).to_numpy(dtype=np.float64, na_value=np.nan)
        wrong = np.isinf(values)
    else:
        values, wrong = _parsed(list(column))
    listed = column if isinstance(column, (list, tuple)) else np.asarray(column)
    faults.add_where(wrong, first_line, lambda k: f"the value is {_shown(listed[k])}, which is not a finite number")
    return values


def _parsed(column: list[Any]) -> tuple[FloatArray, Any]:
    """Texts and objects as numbers, and which of them are none; empty ones are NaN."""
    texts = np.asarray(["" if x is None else str(x) for x in column], dtype=str)
    texts = np.strings.strip(texts)
    empty = np.isin(np.strings.lower(texts), EMPTY)
    texts = np.where(empty, "nan", texts)
    wrong = np.strings.find(texts, "_") >= 0
    try:
        values = np.where(wrong, "nan", texts).astype(np.float64)
    except ValueError:
        values = np.asarray([_one_number(text) for text in texts.tolist()])
    return values, ~empty & (wrong | ~np.isfinite(values))


def _one_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _texts(column: Any, name: str, first_line: int, faults: Faults) -> list[str | None] | None:
    """Notes and times, as they were written; None where all are empty."""
    if column is None:
        return None
    texts = [None if str(x).lower() in EMPTY else str(x) for x in list(column)]
    if not any(texts):
        return None
    wrong = [x is not None and (len(x) > LONGEST_NOTE or "\0" in x) for x in texts]
    faults.add_where(wrong, first_line, lambda k: f"the {name} is longer than {LONGEST_NOTE} characters or has a NUL")
    return texts


def _record_numbers(column: Any, first_line: int, faults: Faults) -> list[int | None] | None:
    if column is None:
        return None
    numbers = _numbers(column, first_line, faults)
    known = ~np.isnan(numbers)
    faults.add_where(
        known & (numbers % 1 != 0), first_line, lambda k: f"corrects is {numbers[k]:g}, not a record number"
    )
    listed: list[int | None] = [int(x) if is_known else None for x, is_known in zip(numbers, known, strict=True)]
    return listed if known.any() else None


def _shown(label: Any) -> str:
    text = repr(label.item() if isinstance(label, np.generic) else label)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _joined(parts: list[Readings], m: int) -> Records:
    empty = Readings(NO_INDEX, NO_INDEX, np.empty(0))
    i, j, values = (np.concatenate([part[k] for part in parts] or [empty[k]]) for k in range(3))
    lists: list[Any] = [None, None, None]
    for k in range(3):
        if any(part[3 + k] is not None for part in parts):
            lists[k] = [x for part in parts for x in (part[3 + k] or [None] * len(part.i))]
    return Records(i * m + j, values, *lists)
