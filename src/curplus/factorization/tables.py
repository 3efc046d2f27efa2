"""Tables in, tables out: the numbers in an array or a frame, and the same kind of table with other numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import array_namespace, is_numpy_array, real_array, to_device, to_numpy
from .._support.extras import import_extra, is_kind
from .._typing import IndexVector, Matrix, Names
from ..exceptions import InvalidArgumentError
from ..observation import Observation
from ..observation.fill import filled_array, limited
from ..observation.observation import check_observation
from ..sources import as_source
from ..sources.frames import is_frame

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["check_not_infinite", "column_order", "filled_frame", "like_table", "numbers", "within"]


def numbers(table: Any, *, name: str) -> tuple[Matrix, Names | None, Names | None]:
    """Values of a table (p, m), NaN if there is none, and the names of its rows and columns."""
    if is_frame(table):
        source: Any = as_source(table)
        return source.rows(np.arange(source.shape[0])), source.row_names, source.column_names
    if isinstance(table, np.ma.MaskedArray):
        table = np.ma.filled(table.astype(np.result_type(table.dtype, np.float32)), np.nan)
    x = real_array(table, name=name)
    if len(x.shape) != 2:
        raise InvalidArgumentError(
            f"{name} has shape {tuple(x.shape)}. Give a table of two axes, also for a single one."
        )
    return x, None, None


def like_table(table: Any, values: Matrix) -> Any:
    """``values`` as a table of the same kind, with the same names."""
    if is_kind(table, "pandas", "DataFrame"):
        return type(table)(to_numpy(values), index=table.index, columns=table.columns)
    if is_kind(table, "polars", "DataFrame"):
        polars = import_extra("polars", extra="polars", purpose="tables of Polars need Polars")
        return polars.DataFrame(to_numpy(values), schema=table.columns)
    return values


def column_order(given: Names | None, expected: Names | None, *, name: str, axis: str) -> IndexVector | None:
    """Position of each column of the matrix in a table; None if they are in order or have no names."""
    if given is None or expected is None or np.array_equal(given, expected) or _is_counted(given):
        return None
    where = {label: t for t, label in enumerate(given.tolist())}
    order = [where.get(label, -1) for label in expected.tolist()]
    if sorted(order) != list(range(len(given))):
        missing = [str(label) for label, t in zip(expected.tolist(), order, strict=True) if t < 0][:3]
        what = f"does not have {', '.join(missing)}" if missing else f"has several {axis} of the same name"
        raise InvalidArgumentError(
            f"{name} {what}, and the {axis} of the approximation have names. Give all of its {axis}, by the same names "
            "in any order, NaN if a value is not known; or an array without names."
        )
    return np.asarray(order, dtype=np.int64)


def _is_counted(names: Names) -> bool:
    """Whether names are only positions, which pandas gives to rows and columns without names."""
    return names.dtype.kind in "iu" and np.array_equal(names, np.arange(len(names)))


def within(values: Matrix, min_value: float | None, max_value: float | None, like: Matrix) -> Matrix:
    """Values between two limits, in the library, type and device of ``like``."""
    xp = array_namespace(like)
    if array_namespace(values) is not xp:
        values = to_numpy(values) if is_numpy_array(like) else to_device(to_numpy(values), like)
    return xp.astype(limited(values, min_value, max_value), like.dtype, copy=False)


def filled_frame(
    approximation: Factorization, observation: Observation | None, min_value: float | None, max_value: float | None
) -> Any:
    """All numbers of an approximation, or of an observation that it fills, as a pandas DataFrame."""
    pandas = import_extra("pandas", extra="pandas", purpose="tables with names need pandas")
    names = {"row_names": approximation.row_names, "column_names": approximation.column_names}
    if observation is None:
        values = limited(approximation.to_array(), min_value, max_value)
    else:
        values = filled_array(check_observation(observation), approximation, min_value, max_value)
        names = {name: getattr(observation, name) if own is None else own for name, own in names.items()}
    return pandas.DataFrame(to_numpy(values), index=names["row_names"], columns=names["column_names"])


def check_not_infinite(x: Matrix, *, name: str) -> None:
    """Known values are finite; NaN, and nothing else, stands for an unknown one."""
    xp = array_namespace(x)
    if xp.any(xp.isinf(x)):
        i, j = (int(k[0]) for k in xp.nonzero(xp.isinf(x)))
        raise InvalidArgumentError(
            f"{name}[{i}, {j}] is infinite, and known values must be finite. Use NaN for a value that is not known."
        )
