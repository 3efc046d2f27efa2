"""What an observation must fulfil: parts that fit together, finite numbers, and one value for each place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import gather, real_array, rounding_unit, take, to_numpy
from .._typing import Array, IndexVector, Vector
from .._validation import check_finite
from ..exceptions import InconsistentObservationError, InvalidArgumentError
from .plan import SamplingDesign

__all__ = [
    "check_agreement",
    "check_design",
    "check_no_repeats",
    "check_positive",
    "check_shapes",
    "check_values",
    "position",
]

AGREEMENT = 1e-6  # two readings of one place may differ by this much, relative to the larger


def check_design(drawn: Any) -> SamplingDesign:
    """How columns, rows and entries were chosen, in known words."""
    parts = () if isinstance(drawn, str) or drawn is None else tuple(drawn)
    if len(parts) != 3 or not set(parts) <= {"uniform", "given", "adaptive"}:
        raise InvalidArgumentError(
            f"design={drawn!r} must say 'uniform', 'given' or 'adaptive' for columns, rows and entries, as "
            "SamplingDesign does."
        )
    return SamplingDesign(*parts)


def check_positive(values: Any, size: int, *, name: str, at_most: float = math.inf) -> Vector | None:
    """One positive finite number for each entry, or None."""
    if values is None:
        return None
    x = to_numpy(real_array(values, name=name)).astype(np.float64, copy=False)
    if x.shape != (size,):
        raise InvalidArgumentError(f"{name} has shape {x.shape} but there are {size} entries. Give one for each.")
    bad = ~((x > 0) & (x <= at_most) & np.isfinite(x))
    if bad.any():
        t = int(np.argmax(bad))
        limit = f" and at most {at_most:g}" if math.isfinite(at_most) else ""
        raise InvalidArgumentError(
            f"{name}[{t}]={x[t]} must be a positive finite number{limit}. Leave such entries out."
        )
    return x


def check_shapes(seen: Any) -> None:
    """As many columns, rows and values as there are positions for them."""
    n, m = seen.shape
    for name, index, expected in (
        ("columns", "column_index", (n, seen.n_columns)),
        ("rows", "row_index", (seen.n_rows, m)),
        ("values", "i", (seen.n_entries,)),
        ("j", "i", (seen.n_entries,)),
    ):
        shape = tuple(getattr(seen, name).shape)
        if shape != expected:
            raise InvalidArgumentError(
                f"{name} has shape {shape} but {index} has {len(getattr(seen, index))} positions of a {n} x {m} "
                f"matrix, so it must have shape {expected}."
            )


def check_no_repeats(index: IndexVector, name: str) -> None:
    """Each column or row at most once."""
    values, counts = np.unique(index, return_counts=True)
    if np.any(counts > 1):
        raise InvalidArgumentError(
            f"{name} contains {values[np.argmax(counts > 1)]} more than once. Keep each only once: a repeated reading "
            "adds no direction."
        )


def check_values(seen: Any) -> float:
    """Largest magnitude seen; an error if a value is NaN or infinite."""
    return max(
        check_finite(seen.columns, name="columns", place=lambda i, k: f"row {i}, column {seen.column_index[k]}"),
        check_finite(seen.rows, name="rows", place=lambda k, j: f"row {seen.row_index[k]}, column {j}"),
        check_finite(seen.values, name="values", place=lambda t: f"row {seen.i[t]}, column {seen.j[t]}"),
    )


def check_agreement(seen: Any, magnitude: float) -> None:
    """Every place that was read twice must have been read alike."""
    rounding = 8 * rounding_unit(seen.values) * magnitude
    i, j = (x.reshape(-1) for x in np.meshgrid(seen.row_index, seen.column_index, indexing="ij"))
    crossing = take(seen.rows, seen.column_index, axis=1)
    _compare("rows", crossing, "columns", take(seen.columns, seen.row_index, axis=0), i, j, rounding)
    on_row, on_column = position(seen.row_index, seen.i), position(seen.column_index, seen.j)
    t = np.flatnonzero(on_row >= 0)
    _compare(
        "entries",
        take(seen.values, t, axis=0),
        "rows",
        gather(seen.rows, on_row[t], seen.j[t]),
        seen.i[t],
        seen.j[t],
        rounding,
    )
    t = np.flatnonzero(on_column >= 0)
    _compare(
        "entries",
        take(seen.values, t, axis=0),
        "columns",
        gather(seen.columns, seen.i[t], on_column[t]),
        seen.i[t],
        seen.j[t],
        rounding,
    )


def position(index: IndexVector, wanted: IndexVector) -> IndexVector:
    """Where each of ``wanted`` stands in ``index``; -1 where it does not."""
    if len(index) == 0:
        return np.full(len(wanted), -1)
    order = np.argsort(index)
    place = order[np.searchsorted(index, wanted, sorter=order).clip(max=len(index) - 1)]
    return np.where(index[place] == wanted, place, -1)


def _compare(
    first: str, ours: Array, second: str, theirs: Array, i: IndexVector, j: IndexVector, rounding: float
) -> None:
    a, b = to_numpy(ours).reshape(-1), to_numpy(theirs).reshape(-1)
    with np.errstate(over="ignore"):  # an infinite difference is a difference
        bad = np.abs(a - b) > np.maximum(AGREEMENT * np.maximum(np.abs(a), np.abs(b)), rounding)
    if bad.any():
        t = int(np.argmax(bad))
        raise InconsistentObservationError(
            f"row {i[t]}, column {j[t]} was read as {a[t]} among the {first} and as {b[t]} among the {second}. "
            f"One place has one value (to {AGREEMENT:g} relative): check which reading is right, or average them first."
        )
