"""A table with holes, as an observation: all of its rows, with gaps."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse

from .._arrays import real_array, with_nan
from .._typing import Matrix
from ..exceptions import InvalidArgumentError
from ..sources import LongSource, as_source
from ..sources.convert import whole_matrix

__all__ = ["parts_of_table"]

UNSTORED = "unstored"


def parts_of_table(table: Any, missing: Any, names: dict[str, Any]) -> dict[str, Any]:
    """The rows or entries of a table with holes, with its size and names."""
    hole = _check_missing(missing, sparse=scipy.sparse.issparse(table))
    if isinstance(table, LongSource):
        return _long_entries(table, hole, names)
    return _stored_entries(table) | names if hole == UNSTORED else _all_rows(table, hole, names)


def _all_rows(table: Any, missing: float, names: dict[str, Any]) -> dict[str, Any]:
    """The table as sampled rows, with NaN where it has holes."""
    source = as_source(_without_mask(table) if isinstance(table, np.ma.MaskedArray) else table, **names)
    return {
        "shape": source.shape,
        "row_index": np.arange(source.shape[0]),
        "rows": _with_nan(real_array(whole_matrix(source), name="the table"), missing),
        "bounds": getattr(source, "bounds", None),
        "row_names": getattr(source, "row_names", None),
        "column_names": getattr(source, "column_names", None),
    }


def _check_missing(missing: Any, *, sparse: bool) -> Any:
    """What stands for a hole: a number, NaN above all, or the word for what a sparse matrix does not store."""
    if isinstance(missing, str) and missing == UNSTORED:
        if sparse:
            return missing
        raise InvalidArgumentError(
            f"missing={missing!r} is for sparse matrices, and the table is none. Give the number that stands for a "
            "hole; NaN does in any case."
        )
    if isinstance(missing, (bool, np.bool_)) or not isinstance(missing, Real):
        raise InvalidArgumentError(
            f"missing={missing!r} is not a number. Give the number that stands for a hole; NaN does in any case."
        )
    if sparse:
        raise InvalidArgumentError(
            "the table is a sparse matrix, and what it does not store can be a hole, as in ratings, or the value zero, "
            "as in word counts. If it is a hole, use missing='unstored'. If it is zero, there is nothing to fill: read "
            "the matrix with observe or acquire."
        )
    return float(missing)


def _stored_entries(table: Any) -> dict[str, Any]:
    """What a sparse matrix stores, as entries; duplicate positions add up, as in SciPy."""
    kind = real_array(np.empty(0, dtype=table.dtype), name="the table").dtype
    stored = scipy.sparse.coo_array(table.astype(kind, copy=True))
    stored.sum_duplicates()
    i, j = (np.asarray(index, dtype=np.int64) for index in stored.coords)
    return {"shape": stored.shape, "i": i, "j": j, "values": stored.data}


def _long_entries(table: LongSource, missing: float, names: dict[str, Any]) -> dict[str, Any]:
    """The values of a long table, as entries; a place may have several."""
    own = {"row_names": table.row_names, "column_names": table.column_names}
    named = {name: own[name] if given is None else given for name, given in names.items()}
    values, bounds = _with_nan(table.values, missing), table.bounds
    return {"shape": table.shape, "i": table.i, "j": table.j, "values": values, "bounds": bounds, **named}


def _without_mask(table: Any) -> Matrix:
    """A masked array as a plain one, with NaN where it is masked."""
    plain = real_array(table.data, name="the table")
    return np.where(np.ma.getmaskarray(table), plain.dtype.type(np.nan), plain)


def _with_nan(x: Matrix, missing: float) -> Matrix:
    """NaN in place of the number that stands for a hole; the same array if that is NaN already."""
    return x if math.isnan(missing) else with_nan(x, x == missing)
