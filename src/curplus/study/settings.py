"""The settings of a study: as a user gives them, as later changes make them, and as they stand in its file."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._typing import IndexVector, Shape
from .._validation import check_amount, check_count, check_one_noise
from ..acquisition import Costs
from ..exceptions import FileFormatError, InvalidArgumentError
from ..observation.scale import check_scale
from .ledger import check_counted
from .names import axes_of, check_axis
from .schema import WIDTH, DamageError
from .storage import Settings, Summary

__all__ = [
    "as_costs",
    "change_at",
    "change_row",
    "check_left",
    "check_settings",
    "check_stored_settings",
    "grown",
    "list_price",
    "renamed",
    "retired",
    "settings_of",
]

PRICED = ("row", "column", "entry")
WHAT = ("row", "column")


def check_settings(
    *, rows: Any, columns: Any, budget: Any, costs: Any, noise: Any, rank: Any, records: Any, scale: Any
) -> Settings:
    """The settings of a new study."""
    row_axis, column_axis = check_axis(rows, "row"), check_axis(columns, "column")
    n, m = shape = _checked_shape((row_axis.size, column_axis.size))
    prices = _check_costs(costs, shape)
    return Settings(
        shape=(n, m),
        row_names=row_axis.names,
        column_names=column_axis.names,
        budget=None if budget is None else check_amount(budget, shape, is_money=prices is not None),
        costs=prices,
        noise=check_one_noise(noise),
        rank=None if rank is None else check_count(rank, name="rank", at_least=1),
        records=check_counted(records),
        scale=check_scale(scale),
    )


def _checked_shape(shape: Shape) -> Shape:
    if max(shape) > WIDTH:
        raise InvalidArgumentError(f"a matrix of shape {shape} is too large: a side may have {WIDTH:,} places.")
    return shape


def check_stored_settings(settings: Settings, path: Any) -> None:
    """An error if a file has settings that nobody could have given."""
    (n, m), rest = settings.shape, settings._asdict()
    rows, columns = settings.row_names or n, settings.column_names or m
    given = {name: rest[name] for name in ("budget", "costs", "noise", "rank", "records", "scale")}
    try:
        if check_settings(rows=rows, columns=columns, **given).shape != (n, m):
            raise ValueError(f"it has not one name for each row and column of a {n} x {m} matrix.")
        for size, some, former in zip(
            (n, m), (settings.retired_rows, settings.retired_columns), settings.former, strict=True
        ):
            if not all(0 <= k < size for k in (*some, *former.values())):
                raise ValueError(f"it has rows or columns that are not in its {n} x {m} matrix.")
    except (InvalidArgumentError, AttributeError, TypeError, ValueError) as error:
        raise FileFormatError(f"{path} cannot be used as a study: {error} Restore it from a copy.") from error


# -- changes ------------------------------------------------------------------------------------------------------


def grown(settings: Settings, axis: int, given: Any, price: Any) -> Settings:
    """With more rows (axis 0) or columns: names, or how many where they are numbered."""
    what, size = WHAT[axis], settings.shape[axis]
    names = (settings.row_names, settings.column_names)[axis]
    if names is None:
        size, names_after = size + check_count(given, name=f"{what}s", at_least=1), None
    else:
        if isinstance(given, (int, np.integer)):
            raise InvalidArgumentError(
                f"{what}s={given!r} is a number, and the {what}s have names. Give a list of names."
            )
        listed = [given] if isinstance(given, str) else list(given)
        names_after = check_axis([*names, *listed], what).names
        size = len(names_after or ())
    shape = _checked_shape((size, settings.shape[1]) if axis == 0 else (settings.shape[0], size))
    costs = _grown_costs(settings, axis, size, price)
    return _with_names(settings, axis, names_after)._replace(shape=shape, costs=costs)


def _with_names(settings: Settings, axis: int, names: tuple[Any, ...] | None) -> Settings:
    return settings._replace(row_names=names) if axis == 0 else settings._replace(column_names=names)


def _grown_costs(settings: Settings, axis: int, size: int, price: Any) -> Mapping[str, Any] | None:
    """Prices with those of new rows or columns, where each has one of its own."""
    what, costs, n_new = WHAT[axis], dict(settings.costs or {}), size - settings.shape[axis]
    if not isinstance(costs.get(what), list):
        if price is not None:
            raise InvalidArgumentError(
                f"price={price!r} was given, but the {what}s of this study have no price of their own."
            )
        return settings.costs
    if price is None or np.ndim(price) > 1 or np.size(price) not in (1, n_new):
        raise InvalidArgumentError(
            f"each {what} has a price of its own, and there are {n_new} more. Give price=, one or {n_new}."
        )
    costs[what] = [*costs[what], *np.broadcast_to(np.asarray(price, dtype=float).ravel(), n_new).tolist()]
    shape = (size, settings.shape[1]) if axis == 0 else (settings.shape[0], size)
    return _check_costs(costs, shape)


def renamed(settings: Settings, axis: int, old: Any, new: Any) -> Settings:
    """With another name of a row (axis 0) or column."""
    what, names = WHAT[axis], (settings.row_names, settings.column_names)[axis]
    if names is None:
        raise InvalidArgumentError(f"the {what}s of this study are numbers, so none can be renamed.")
    position = int(axes_of(settings)[axis].positions_of([old])[0])
    after = check_axis([*names[:position], new, *names[position + 1 :]], what).names
    former = list(settings.former)
    former[axis] = {**former[axis], str(names[position]): position}
    return _with_names(settings, axis, after)._replace(former=(former[0], former[1]))


def retired(settings: Settings, axis: int, names: Any) -> Settings:
    """With rows (axis 0) or columns that are not asked for any more."""
    positions = axes_of(settings)[axis].positions_of(names).tolist()
    if axis == 0:
        return settings._replace(retired_rows=settings.retired_rows.union(positions))
    return settings._replace(retired_columns=settings.retired_columns.union(positions))


# -- prices -------------------------------------------------------------------------------------------------------


def _check_costs(costs: Any, shape: Shape) -> dict[str, Any] | None:
    """Costs as plain numbers and lists: a mapping, or an object with row, column and entry."""
    if costs is None:
        return None
    given: dict[str, Any] = (
        dict(costs) if isinstance(costs, Mapping) else {name: getattr(costs, name, None) for name in PRICED}
    )
    if unknown := set(given) - set(PRICED):
        raise InvalidArgumentError(f"costs has {sorted(unknown)}, and it may have row, column and entry.")
    given = {name: price for name, price in given.items() if price is not None}
    if "entry" in given and np.ndim(given["entry"]):
        raise InvalidArgumentError("costs has a price for each entry, and in a study all cost the same. Give one.")
    as_costs(given).of(shape)
    return {name: np.asarray(given[name], dtype=float).tolist() for name in PRICED if name in given} or None


def as_costs(stored: Mapping[str, Any] | None) -> Costs:
    """The prices that a file has; without any, a cell costs 1."""
    return Costs(**dict(stored or {}))


def list_price(rows: IndexVector, columns: IndexVector, cells: IndexVector, costs: Costs, shape: Shape) -> float:
    """Price of a list: of whole rows and columns that have a price of their own, and of its other cells."""
    prices, m = costs.of(shape), shape[1]
    total = 0.0
    if costs.row is not None:
        total += float(np.sum(prices.rows[rows]))
        cells = cells[~np.isin(cells // m, rows)]
    if costs.column is not None:
        total += float(np.sum(prices.columns[columns]))
        cells = cells[~np.isin(cells % m, columns)]
    return total + len(cells) * float(prices.entry)


def check_left(budget: float | None, summary: Summary, amount: float) -> None:
    """An error if a list would cost more than is left."""
    left = math.inf if budget is None else budget - summary.spent - summary.pending_price
    if amount > left * (1 + 1e-9) + 1e-9:
        raise InvalidArgumentError(
            f"the list would cost up to {amount:,.6g}, and {max(left, 0):,.6g} is left of the budget of {budget:,.6g} "
            f"(spent {summary.spent:,.6g}, pending {summary.pending_price:,.6g})."
        )


# -- in the file --------------------------------------------------------------------------------------------------


def change_row(settings: Settings, number: int, now: int, who: str) -> tuple[Any, ...]:
    """The row of a change, with all settings after it."""
    stored = settings._asdict()
    return number, now, who, *stored.pop("shape"), json.dumps(stored, default=sorted)  # sets as lists


def change_at(db: sqlite3.Connection, moment: int) -> int:
    """The last change up to a moment; before the first one, that."""
    return int(db.execute("SELECT ifnull(max(id), 1) FROM changes WHERE changed_at <= ?", (moment,)).fetchone()[0])


def settings_of(db: sqlite3.Connection, change: int) -> Settings:
    """The settings after a change."""
    row = db.execute("SELECT n, m, settings FROM changes WHERE id = ?", (change,)).fetchone()
    if row is None:
        raise DamageError("it does not say of which matrix")
    try:
        found = {name: STORED_AS.get(name, _as_it_is)(value) for name, value in json.loads(row[2]).items()}
        return Settings(row[:2], **found)
    except (ValueError, TypeError, AttributeError) as error:
        raise DamageError(f"its settings make no sense ({error})") from error


def _names(stored: Any) -> tuple[Any, ...] | None:
    return None if stored is None else tuple(stored)


def _as_it_is(stored: Any) -> Any:
    return stored


#: What JSON has no types for.
STORED_AS: Mapping[str, Callable[[Any], Any]] = {
    "row_names": _names,
    "column_names": _names,
    "retired_rows": frozenset,
    "retired_columns": frozenset,
    "former": tuple,
}
