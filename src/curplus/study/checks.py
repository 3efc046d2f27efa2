"""Checks of readings before they are kept: values that are far too large, and corrections of another cell."""

from __future__ import annotations

import hashlib

import numpy as np

from .._typing import FloatArray
from ..exceptions import InvalidArgumentError
from .names import Axis
from .storage import Records, Storage

__all__ = ["check_corrections", "check_outliers", "digest_of"]

OUTLIER = 1000.0  # times the median magnitude
ENOUGH = 10  # values to judge others by
RECENT = 1000


def check_outliers(records: Records, storage: Storage, rows: Axis, columns: Axis) -> None:
    """Refuse values a thousand times as large as usual: mostly a wrong unit or a lost decimal point."""
    values = np.abs(records.values[np.isfinite(records.values)])
    usual = _median_magnitude(np.concatenate([np.abs(storage.recent_values(RECENT)), values]))
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero(np.abs(records.values) >= OUTLIER * usual)
    if not len(wrong):
        return
    k = int(wrong[0])
    i, j = divmod(int(records.cells[k]), columns.size)
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    raise InvalidArgumentError(
        f"the value {records.values[k]:g} of row {rows.labels([i])[0]!r}, column {columns.labels([j])[0]!r}{more} is "
        f"{abs(records.values[k]) / usual:,.0f} times as large as the median magnitude, {usual:.4g}. Is it a wrong "
        "unit or a lost decimal point? Nothing was kept. If the value is right, use force=True."
    )


def _median_magnitude(magnitudes: FloatArray) -> float:
    some = magnitudes[magnitudes > 0]
    return float(np.median(some)) if len(some) >= ENOUGH else float("inf")


def check_corrections(records: Records, storage: Storage) -> None:
    """A correction names an earlier record of the same cell."""
    if records.corrects is None:
        return
    named = [number for number in records.corrects if number is not None]
    found = storage.find_records(named)
    for cell, number in zip(records.cells.tolist(), records.corrects, strict=True):
        if number is not None and (what := _why_not(number, cell, found, named)):
            raise InvalidArgumentError(f"a value says that it corrects record {number}, but {what}. Nothing was kept.")


def _why_not(number: int, cell: int, found: dict[int, tuple[int, bool]], named: list[int]) -> str:
    """Why a record cannot be corrected; empty if it can."""
    if number not in found:
        return "there is no such record"
    of_cell, is_corrected = found[number]
    if of_cell != cell:
        return "that record is of another cell"
    if is_corrected or named.count(number) > 1:
        return "that record is corrected by another one as well: name the latest"
    return ""


def digest_of(records: Records) -> str:
    """What tells one table from another: its content, in its order."""
    found = hashlib.sha256(records.cells.astype("<i8").tobytes())
    found.update(records.values.astype("<f8").tobytes())
    for listed in records[2:]:
        found.update(repr(listed).encode())
    return found.hexdigest()
