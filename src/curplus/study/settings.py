"""The settings of a study: as a user gives them, as later changes make them, and as they stand in its file."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import IndexVector, Shape
from .._validation import check_amount, check_count, check_one_noise
from ..acquisition import Costs
from ..exceptions import InvalidArgumentError
from ..observation.scale import check_scale
from .ledger import check_counted
from .names import Axis, check_axis
from .schema import DamageError
from .storage import Settings, Summary

__all__ = ["change_row", "check_left", "check_settings", "grown", "list_price", "settings_of"]

PRICED = ("row", "column", "entry")


def check_settings(
    *, rows: Any, columns: Any, budget: Any, costs: Any, noise: Any, rank: Any, records: Any, scale: Any
) -> Settings:
    """The settings of a new study."""
    axes = check_axis(rows, "row"), check_axis(columns, "column")
    shape = axes[0].size, axes[1].size
    prices = _check_costs(costs, shape)
    return Settings(
        *axes,
        budget=None if budget is None else check_amount(budget, shape, is_money=prices is not None),
        costs=prices,
        noise=check_one_noise(noise),
        rank=None if rank is None else check_count(rank, name="rank", at_least=1),
        records=check_counted(records),
        scale=check_scale(scale),
    )


def grown(settings: Settings, axis: Axis, given: Any, price: Any) -> Settings:
    """With more rows or columns, and their prices if each has one of its own."""
    after, costs = axis.grown(given), dict(settings.costs or {})
    settings, what, n_new = settings.with_axis(after), axis.what, after.size - axis.size
    if not isinstance(costs.get(what), list):
        if price is not None:
            raise InvalidArgumentError(
                f"price={price!r} was given, but the {what}s of this study have no price of their own."
            )
        return settings
    if price is None or np.ndim(price) > 1 or np.size(price) not in (1, n_new):
        raise InvalidArgumentError(
            f"each {what} has a price of its own, and there are {n_new} more. Give price=, one or {n_new}."
        )
    costs[what] = [*costs[what], *np.broadcast_to(np.asarray(price, dtype=float).ravel(), n_new).tolist()]
    return settings._replace(costs=_check_costs(costs, settings.shape))


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
    Costs(**given).of(shape)
    return {name: np.asarray(given[name], dtype=float).tolist() for name in PRICED if name in given} or None


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
    axes = [{"names": axis.names, "former": axis.former, "retired": sorted(axis.retired)} for axis in settings.axes]
    others = dict(zip(settings._fields[2:], settings[2:], strict=True))
    return number, now, who, *settings.shape, json.dumps({"axes": axes, **others})


def settings_of(db: sqlite3.Connection, change: int) -> Settings:
    """The settings after a change; an error if nobody could have given them."""
    row = db.execute("SELECT n, m, settings FROM changes WHERE id = ?", (change,)).fetchone()
    if row is None:
        raise DamageError("it does not say of which matrix")
    try:
        stored = json.loads(row[2])
        sides = zip(("row", "column"), row[:2], stored.pop("axes"), strict=True)
        rows, columns = (_stored_axis(*side) for side in sides)
        check_settings(rows=rows, columns=columns, **stored)
        return Settings(rows, columns, **stored)
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        raise DamageError(f"its settings make no sense ({error})") from error


def _stored_axis(what: str, size: int, stored: dict[str, Any]) -> Axis:
    given = check_axis(size if stored["names"] is None else stored["names"], what)
    axis = replace(given, former=dict(stored["former"]), retired=frozenset(stored["retired"]))
    if axis.size != size or not all(0 <= k < size for k in (*axis.retired, *axis.former.values())):
        raise ValueError(f"they have not one name for each of {size} {what}s, or positions beyond them")
    return axis
