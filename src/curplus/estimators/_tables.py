"""Tables with gaps, as the imputer takes them: columns that are no numbers are named, and a gap becomes NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse

from .._support.extras import is_kind
from .._typing import FloatArray
from ..exceptions import InvalidArgumentError
from ..observation import Bounds
from ..observation.table import UNSTORED
from ..sources.frames import as_frame, refuse_words, without_bounds

__all__ = [
    "UNSTORED",
    "check_columns_are_numbers",
    "check_kind",
    "check_limits",
    "dense_with_gaps",
    "is_nan",
    "split_bounds",
    "with_gaps",
]


def split_bounds(table: Any) -> tuple[Any, Bounds]:
    """A frame with gaps where cells are bounds, such as ``>10``, and these; any other table as it is."""
    if is_kind(table, "pandas", "DataFrame"):
        found, bounds = without_bounds(table)
    elif is_kind(table, "polars", "DataFrame") and any(str(kind) == "String" for kind in table.schema.values()):
        frame, bounds = without_bounds(as_frame(table))
        found = type(table)({name: frame[name].to_numpy() for name in frame.columns}) if bounds else table
    else:
        return table, Bounds()
    return (table, Bounds()) if bounds is None else (found, Bounds(*bounds))


def check_columns_are_numbers(table: Any) -> None:
    """Refuse a frame with columns that are not numbers, by their names."""
    words: dict[Any, str] = {}
    if is_kind(table, "polars", "DataFrame"):
        words = {name: f"type {kind}" for name, kind in table.schema.items() if not _is_number_in_polars(kind)}
    elif is_kind(table, "pandas", "DataFrame"):
        named = zip(table.columns, (table.iloc[:, k] for k in range(table.shape[1])), strict=True)
        words = {name: f"dtype {column.dtype}" for name, column in named if not _is_number_in_pandas(column)}
    refuse_words(words, advice=", or choose the others with sklearn.compose.ColumnTransformer")


def _is_number_in_polars(kind: Any) -> bool:
    return bool(kind.is_numeric()) or str(kind) in ("Boolean", "Null")


def _is_number_in_pandas(column: Any) -> bool:
    """Whether the cells are numbers; in a column of objects, each cell that is not a gap."""
    if column.dtype.kind in "biuf":
        return True
    return column.dtype == object and all(
        isinstance(cell, (int, float, np.number, np.bool_)) for cell in column[column.notna()]
    )


def is_nan(missing_values: Any) -> bool:
    """Whether NaN, None or pandas.NA marks a gap, instead of a number or what is not stored."""
    if missing_values is None or is_kind(missing_values, "pandas", "NAType"):
        return True
    return isinstance(missing_values, (float, np.floating)) and math.isnan(missing_values)


def check_kind(table: Any, missing_values: Any) -> None:
    """For a sparse matrix, the option decides whether a value that is not stored is a gap."""
    unstored = isinstance(missing_values, str) and missing_values == UNSTORED
    if scipy.sparse.issparse(table) and not unstored:
        raise InvalidArgumentError(
            f"X is sparse, and missing_values={missing_values!r} leaves open whether values that are not stored are "
            "gaps or zeros. Use missing_values='unstored' if they are gaps, or X.toarray() if they are zeros."
        )
    if isinstance(missing_values, str) and not unstored:
        raise InvalidArgumentError(
            f"missing_values={missing_values!r} is no number. Give the number that marks a gap, NaN, or 'unstored' for "
            "a sparse matrix whose unstored values are gaps."
        )


def with_gaps(values: Any, missing_values: Any) -> Any:
    """The values (n, m) with NaN at gaps, without a copy if there is nothing to mark; a sparse matrix as it is."""
    if isinstance(missing_values, str) or is_nan(missing_values):
        return values
    is_gap = values == missing_values
    return np.where(is_gap, np.asarray(np.nan, dtype=values.dtype), values) if is_gap.any() else values


def dense_with_gaps(table: Any) -> Any:
    """A table whose gaps are NaN; what a sparse matrix does not store is a gap."""
    if not scipy.sparse.issparse(table):
        return table
    stored = scipy.sparse.coo_array(table)
    dense = np.full(table.shape, np.nan, dtype=table.dtype)
    dense[stored.coords] = stored.data
    return dense


def check_limits(low: Any, high: Any, n_features: int) -> FloatArray:
    """Least and largest allowed value of each feature, shape (2, m)."""
    limits = np.empty((2, n_features))
    for k, (name, limit, default) in enumerate((("min_value", low, -np.inf), ("max_value", high, np.inf))):
        try:
            given = np.asarray(default if limit is None else limit, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidArgumentError(
                f"{name}={limit!r} is no limit. Give a number, or one for each of the {n_features} features."
            ) from None
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
