"""A table with holes, as an observation: all of its rows, with gaps."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse

from .._arrays import real_array, with_nan
from .._typing import Matrix
from ..exceptions import InvalidArgumentError
from ..sources import LongSource, as_source
from ..sources.convert import whole_matrix

__all__ = ["FromTable"]

UNSTORED = "unstored"


class FromTable:
    """What an observation can be made of besides its parts: a table with holes."""

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        missing: float | str = float("nan"),
        row_names: Iterable[Any] | None = None,
        column_names: Iterable[Any] | None = None,
        **options: Any,
    ) -> Self:
        """All that a table with holes knows.

        The table is kept as the sampled rows, all of them, with gaps where it has holes. A float array is not copied.

        Parameters
        ----------
        table : array, masked array, DataFrame, sparse matrix or source of shape (n, m)
            NaN, a masked value and a null are holes. Names of rows and columns are kept. The values of a long table,
            ``open_source(path, long=True)``, become scattered entries, each line one record.
        missing : float or "unstored", default nan
            A number that stands for a hole too, such as -999. For a sparse matrix it must be said that what is not
            stored is a hole, and not zero: ``missing="unstored"``. What is stored becomes scattered entries.
        row_names, column_names : sequence, optional
            One name for each row and column, where the table has none.
        **options
            As for :class:`Observation`: for example ``design``, if it is known how the holes came about.

        Returns
        -------
        Observation
            A table without holes has no gaps.

        Examples
        --------
        >>> import numpy as np, curplus
        >>> seen = curplus.Observation.from_table(np.array([[1.0, np.nan], [3.0, 4.0], [np.nan, 6.0]]))
        >>> seen
        <Observation of a 3 x 2 matrix: 0 columns, 3 rows, 0 entries, 2 gaps, float64>
        >>> seen.n_values_read
        4
        """
        hole = _check_missing(missing, sparse=scipy.sparse.issparse(table))
        names = {"row_names": row_names, "column_names": column_names}
        if isinstance(table, LongSource):
            fields = _long_entries(table, hole, names)
        else:
            fields = _stored_entries(table) | names if hole == UNSTORED else _all_rows(table, hole, names)
        make: Any = cls
        made: Self = make(**fields, gaps=True, **options)
        return made


def _all_rows(table: Any, missing: float, names: dict[str, Any]) -> dict[str, Any]:
    """The table as sampled rows, with NaN where it has holes."""
    source = as_source(_without_mask(table) if isinstance(table, np.ma.MaskedArray) else table, **names)
    return {
        "shape": source.shape,
        "row_index": np.arange(source.shape[0]),
        "rows": _with_nan(real_array(whole_matrix(source), name="the table"), missing),
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
    return {"shape": table.shape, "i": table.i, "j": table.j, "values": _with_nan(table.values, missing), **named}


def _without_mask(table: Any) -> Matrix:
    """A masked array as a plain one, with NaN where it is masked."""
    plain = real_array(table.data, name="the table")
    return np.where(np.ma.getmaskarray(table), plain.dtype.type(np.nan), plain)


def _with_nan(x: Matrix, missing: float) -> Matrix:
    """NaN in place of the number that stands for a hole; the same array where that is NaN already."""
    return x if math.isnan(missing) else with_nan(x, x == missing)
