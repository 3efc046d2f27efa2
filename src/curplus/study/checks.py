"""Checks of readings before they are kept: values that are far too large."""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray
from ..exceptions import InvalidArgumentError
from .names import Axis
from .schema import WIDTH
from .storage import Records

__all__ = ["check_design", "check_outliers"]

OUTLIER = 1000.0  # times the median magnitude
ENOUGH = 10  # values to judge others by


def check_outliers(records: Records, recent: FloatArray, rows: Axis, columns: Axis) -> None:
    """Refuse values a thousand times as large as usual: mostly a wrong unit or a lost decimal point."""
    values = np.abs(records.values[np.isfinite(records.values)])
    usual = _median_magnitude(np.concatenate([np.abs(recent), values]))
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero(np.abs(records.values) >= OUTLIER * usual)
    if not len(wrong):
        return
    k = int(wrong[0])
    i, j = divmod(int(records.cells[k]), WIDTH)
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    raise InvalidArgumentError(
        f"the value {records.values[k]:g} of row {rows.labels([i])[0]!r}, column {columns.labels([j])[0]!r}{more} is "
        f"{abs(records.values[k]) / usual:,.0f} times as large as the median magnitude, {usual:.4g}. Is it a wrong "
        "unit or a lost decimal point? Nothing was kept. If the value is right, use force=True."
    )


def _median_magnitude(magnitudes: FloatArray) -> float:
    some = magnitudes[magnitudes > 0]
    return float(np.median(some)) if len(some) >= ENOUGH else float("inf")


def check_design(design: str | None) -> str:
    """A promise of how the cells of a table were chosen."""
    if design not in (None, "uniform"):
        raise InvalidArgumentError(
            f"design={design!r} is no promise. Use 'uniform' if the cells were drawn uniformly, or leave it out."
        )
    return design or ""
