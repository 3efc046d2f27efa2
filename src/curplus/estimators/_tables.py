"""Tables with gaps, as the imputer takes them: columns that are no numbers are named, and a gap becomes NaN."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from .._extras import is_kind
from .._typing import FloatArray, IndexVector
from ..exceptions import InvalidArgumentError

__all__ = [
    "UNSTORED",
    "blocks_of_rows",
    "check_any_known",
    "check_columns_are_numbers",
    "check_kind",
    "check_limits",
    "dense_with_gaps",
    "is_gap_marker_nan",
    "known_cells",
    "some_rows",
    "with_gaps",
]

UNSTORED = "unstored"
BLOCK = 2_000_000  # cells that are worked on at a time
SHOWN = 5  # names in a message


def check_columns_are_numbers(table: Any) -> None:
    """Refuse a frame with columns that are not numbers, by their names."""
    if is_kind(table, "polars", "DataFrame"):
        kinds = {name: str(kind) for name, kind in table.schema.items() if not _is_number_in_polars(kind)}
    elif is_kind(table, "pandas", "DataFrame"):
        named = zip(table.columns, (table.iloc[:, k] for k in range(table.shape[1])), strict=True)
        kinds = {str(name): str(column.dtype) for name, column in named if not _is_number_in_pandas(column)}
    else:
        return
    if kinds:
        shown = ", ".join(f"{name!r} ({kind})" for name, kind in list(kinds.items())[:SHOWN])
        more = f" and {len(kinds) - SHOWN} more" if len(kinds) > SHOWN else ""
        raise InvalidArgumentError(
            f"columns that are not numbers: {shown}{more}. The imputer computes with numbers only: drop these columns, "
            "encode them, or choose the others with sklearn.compose.ColumnTransformer."
        )


def _is_number_in_polars(kind: Any) -> bool:
    return bool(kind.is_numeric()) or str(kind) in ("Boolean", "Null")


def _is_number_in_pandas(column: Any) -> bool:
    """Whether the cells are numbers; in a column of objects, each cell that is not a gap."""
    if column.dtype.kind in "biuf":
        return True
    if column.dtype != object:
        return False
    return all(isinstance(cell, (int, float, np.number, np.bool_)) for cell in column[column.notna()])


def is_gap_marker_nan(missing_values: Any) -> bool:
    """Whether NaN, None or pandas.NA marks a gap, instead of a number or what is not stored."""
    if missing_values is None or is_kind(missing_values, "pandas", "NAType"):
        return True
    return isinstance(missing_values, (float, np.floating)) and math.isnan(missing_values)


def check_kind(table: Any, missing_values: Any) -> None:
    """A sparse matrix does not say whether what it does not store is a gap; the option does."""
    unstored = _is_unstored(missing_values)
    if scipy.sparse.issparse(table) and not unstored:
        raise InvalidArgumentError(
            f"X is sparse, and missing_values={missing_values!r} does not say whether values that are not stored are "
            "gaps or zeros. Use missing_values='unstored' if they are gaps, or X.toarray() if they are zeros."
        )
    if isinstance(missing_values, str) and not unstored:
        raise InvalidArgumentError(
            f"missing_values={missing_values!r} is no number. Give the number that marks a gap, NaN, or 'unstored' for "
            "a sparse matrix whose unstored values are gaps."
        )


def _is_unstored(missing_values: Any) -> bool:
    return isinstance(missing_values, str) and missing_values == UNSTORED


def with_gaps(values: Any, missing_values: Any) -> Any:
    """The values (n, m) with NaN at gaps, without a copy where there is nothing to mark; a sparse matrix as it is."""
    if isinstance(missing_values, str) or is_gap_marker_nan(missing_values):
        return values
    is_gap = values == missing_values
    return np.where(is_gap, np.asarray(np.nan, dtype=values.dtype), values) if is_gap.any() else values


def dense_with_gaps(table: Any) -> Any:
    """A table whose gaps are NaN; what a sparse matrix does not store is a gap."""
    if not scipy.sparse.issparse(table):
        return table
    i, j, values = known_cells(table)
    dense = np.full(table.shape, np.nan, dtype=table.dtype)
    dense[i, j] = values
    return dense


def known_cells(table: Any) -> tuple[IndexVector, IndexVector, FloatArray]:
    """Positions and values of all that is known: what is not NaN, or what a sparse matrix stores."""
    if scipy.sparse.issparse(table):
        stored = scipy.sparse.csr_array(table).tocoo()  # by rows, as those of an array
        return stored.row.astype(np.int64), stored.col.astype(np.int64), stored.data
    i, j = np.nonzero(~np.isnan(table))
    return i, j, table[i, j]


def some_rows(table: Any, most_cells: int, rng: np.random.Generator) -> Any:
    """The table, or as many of its rows, drawn at random, as have ``most_cells`` cells; at least 100."""
    n, m = table.shape
    most = max(100, most_cells // max(m, 1))
    return table if n <= most else table[np.sort(rng.choice(n, most, replace=False))]


def check_any_known(table: Any) -> Any:
    """Which columns have a known value, if there are any."""
    if scipy.sparse.issparse(table):
        is_kept = np.bincount(known_cells(table)[1], minlength=table.shape[1]) > 0
    else:
        is_kept = np.zeros(table.shape[1], dtype=bool)
        for rows in blocks_of_rows(table.shape):
            is_kept |= ~np.isnan(table[rows]).all(axis=0)
    if not is_kept.any():
        raise InvalidArgumentError("X has no known value: every cell is a gap. Is missing_values what marks a gap?")
    return is_kept


def check_limits(low: Any, high: Any, n_features: int) -> FloatArray:
    """Least and largest allowed value of each feature, shape (2, m)."""
    limits = np.empty((2, n_features))
    for k, (name, limit, default) in enumerate((("min_value", low, -np.inf), ("max_value", high, np.inf))):
        given = np.asarray(default if limit is None else limit, dtype=np.float64)
        if given.ndim and given.shape != (n_features,):
            raise InvalidArgumentError(
                f"{name} has shape {given.shape} but X has {n_features} features. Give a number, or one for each."
            )
        limits[k] = given
    if not (limits[0] <= limits[1]).all():
        k = int(np.argmax(~(limits[0] <= limits[1])))
        raise InvalidArgumentError(
            f"min_value={limits[0, k]:g} is not below max_value={limits[1, k]:g} (feature {k}), so no value is allowed."
        )
    return limits


def blocks_of_rows(shape: tuple[int, int]) -> Iterator[slice]:
    """Consecutive rows, few enough to be worked on at a time."""
    step = max(1, BLOCK // max(shape[1], 1))
    yield from (slice(start, min(start + step, shape[0])) for start in range(0, shape[0], step))
