"""The fields of a sample that is a part of another, or the same turned, in other units, or in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import take
from .._sets import NO_INDEX
from .._typing import IndexVector
from .._validation import check_index
from .checks import check_evidence, check_no_repeats
from .noise import noise_of_records, scaled_noise
from .plan import SampleCounts
from .symmetry import symmetry_in_units

if TYPE_CHECKING:
    from .observation import Observation

__all__ = ["evidence_of_records", "forbidden_of", "part_fields", "parts_to_save", "scaled_fields", "turned_fields"]

FORBIDDEN = ("rows", "columns", "i", "j")  # parts of the forbidden places in a file


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
        keep = _positions(entries, o.n_entries, "entries", repeats=True)
        some, changes["noise"] = o.entries.take(keep), noise_of_records(o.noise, keep)
        changes |= {name: getattr(some, name) for name in ("i", "j", "values", "probabilities", "weights")}
        changes["evidence"] = evidence_of_records(o, keep)
    return changes


def evidence_of_records(observation: Observation, which: IndexVector) -> NDArray[np.bool_] | None:
    """Which of some records are evidence; None where all are."""
    return None if observation.evidence is None else check_evidence(observation.evidence[which], len(which))


def turned_fields(observation: Observation) -> dict[str, Any]:
    """The fields that change when the matrix is transposed."""
    o = observation
    return {
        "shape": (o.shape[1], o.shape[0]),
        "column_index": o.row_index,
        "columns": o.rows.T,
        "row_index": o.column_index,
        "rows": o.columns.T,
        "i": o.j,
        "j": o.i,
        "row_names": o.column_names,
        "column_names": o.row_names,
        "design": o.design.T.of(SampleCounts(o.n_rows, o.n_columns, o.n_entries)),
        "unmeasured_i": o.unmeasured_j,
        "unmeasured_j": o.unmeasured_i,
        "forbidden": o.forbidden.T,
    }


def scaled_fields(observation: Observation, unit: float) -> dict[str, Any]:
    """The fields that change when values are divided by a unit."""
    o = observation
    changes = {name: getattr(o, name) / unit for name in ("columns", "rows", "values")}
    changes["noise"] = scaled_noise(o.noise, unit)
    changes["symmetry"] = symmetry_in_units(o.symmetry, unit)
    if o.repeats is not None:
        changes["repeats"] = o.repeats._replace(squares=o.repeats.squares / unit / unit)
    return changes


def parts_to_save(parts: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arrays, and what else a file holds; what older versions do not know is left out where it says nothing."""
    arrays = {name: part for name, part in parts.items() if part is None or hasattr(part, "dtype")}
    header = {
        name: part for name, part in parts.items() if name not in arrays and (part or name in ("shape", "design"))
    }
    if not parts["gaps"]:
        del arrays["unmeasured_i"], arrays["unmeasured_j"]
    rows, columns, (i, j) = header.pop("forbidden")
    arrays |= {f"forbidden_{name}": x for name, x in zip(FORBIDDEN, (rows, columns, i, j), strict=True) if len(x)}
    return arrays, header


def forbidden_of(arrays: dict[str, Any]) -> Any:
    """The forbidden places that :func:`parts_to_save` made arrays of, taken out of these."""
    rows, columns, i, j = (arrays.pop(f"forbidden_{name}", NO_INDEX) for name in FORBIDDEN)
    return {"rows": rows, "columns": columns, "cells": (i, j)}


def _positions(chosen: Any, size: int, name: str, *, repeats: bool = False) -> IndexVector:
    """Positions in ``range(size)``, from positions or truth values."""
    chosen = np.asarray(chosen)
    if chosen.dtype == bool and chosen.shape == (size,):
        chosen = np.flatnonzero(chosen)
    index = check_index(chosen, size, name=name)
    if not repeats:
        check_no_repeats(index, name)
    return index
