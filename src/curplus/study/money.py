"""What a list costs, and the prices of a study: those of :class:`curplus.Costs`, as plain numbers in its file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._typing import IndexVector, Shape
from ..acquisition import Costs
from ..exceptions import InvalidArgumentError

__all__ = ["as_costs", "check_costs", "list_price"]

PARTS = ("row", "column", "entry")


def check_costs(costs: Any, shape: Shape) -> dict[str, Any] | None:
    """Costs as plain numbers and lists: a mapping, or an object with row, column and entry."""
    if costs is None:
        return None
    given: dict[str, Any] = (
        dict(costs) if isinstance(costs, Mapping) else {name: getattr(costs, name, None) for name in PARTS}
    )
    if unknown := set(given) - set(PARTS):
        raise InvalidArgumentError(f"costs has {sorted(unknown)}, and it may have row, column and entry.")
    given = {name: price for name, price in given.items() if price is not None}
    if "entry" in given and np.ndim(given["entry"]):
        raise InvalidArgumentError("costs has a price for each entry, and in a study all cost the same. Give one.")
    as_costs(given).of(shape)
    return {name: np.asarray(given[name], dtype=float).tolist() for name in PARTS if name in given} or None


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
