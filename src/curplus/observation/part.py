"""A part of a sample: some of its columns, rows and records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import take
from .._typing import IndexVector
from .._validation import check_index
from .checks import check_no_repeats

if TYPE_CHECKING:
    from .observation import Observation

__all__ = ["part_fields"]


def part_fields(observation: Observation, columns: Any, rows: Any, entries: Any) -> dict[str, Any]:
    """The fields that change when only some columns, rows and records are kept; all of those that are None."""
    o = observation
    changes: dict[str, Any] = {}
    if columns is not None:
        keep = _positions(columns, o.n_columns, "columns")
        changes |= {"column_index": o.column_index[keep], "columns": take(o.columns, keep, axis=1)}
    if rows is not None:
        keep = _positions(rows, o.n_rows, "rows")
        changes |= {"row_index": o.row_index[keep], "rows": take(o.rows, keep, axis=0)}
    if entries is not None:
        some = o.entries.take(_positions(entries, o.n_entries, "entries", repeats=True))
        changes |= {name: getattr(some, name) for name in ("i", "j", "values", "probabilities", "weights")}
    return changes


def _positions(chosen: Any, size: int, name: str, *, repeats: bool = False) -> IndexVector:
    """Positions in ``range(size)``, from positions or truth values."""
    chosen = np.asarray(chosen)
    if chosen.dtype == bool and chosen.shape == (size,):
        chosen = np.flatnonzero(chosen)
    index = check_index(chosen, size, name=name)
    if not repeats:
        check_no_repeats(index, name)
    return index
