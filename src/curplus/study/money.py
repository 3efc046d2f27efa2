"""What things cost, and what a budget means: a share of the matrix, a number of values, or money."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray, IndexVector, Shape
from ..exceptions import InvalidArgumentError

__all__ = ["Prices", "check_costs", "in_units"]

PARTS = ("row", "column", "entry")


class Prices(NamedTuple):
    """Prices of whole rows, whole columns and single cells; without costs, their numbers of cells."""

    row: FloatArray  # (n,)
    column: FloatArray  # (m,)
    entry: float
    by_cell: bool  # whether rows and columns cost as much as their cells, so that one that is known is free

    @staticmethod
    def of(costs: Mapping[str, Any] | None, shape: Shape) -> Prices:
        """The prices that costs mean; a row without a price of its own costs as much as its cells."""
        n, m = shape
        given = dict(costs or {})
        entry = 1.0 if given.get("entry") is None else float(given["entry"])
        row = m * entry if given.get("row") is None else given["row"]
        column = n * entry if given.get("column") is None else given["column"]
        by_cell = given.get("row") is None and given.get("column") is None
        return Prices(_of_each(row, n), _of_each(column, m), entry, by_cell)

    def without(self, cells: IndexVector) -> Prices:
        """The same where these cells are known already."""
        if not self.by_cell:
            return self
        n, m = len(self.row), len(self.column)
        known_of_row, known_of_column = np.bincount(cells // m, minlength=n), np.bincount(cells % m, minlength=m)
        return self._replace(
            row=np.maximum(m - known_of_row, 1) * self.entry, column=np.maximum(n - known_of_column, 1) * self.entry
        )


def _of_each(price: Any, size: int) -> FloatArray:
    return np.broadcast_to(np.asarray(price, dtype=float), size)


def check_costs(costs: Any, shape: Shape) -> dict[str, Any] | None:
    """Costs as plain numbers and lists: a mapping, or an object with row, column and entry."""
    if costs is None:
        return None
    given = dict(costs) if isinstance(costs, Mapping) else {name: getattr(costs, name, None) for name in PARTS}
    if unknown := set(given) - set(PARTS):
        raise InvalidArgumentError(f"costs has {sorted(unknown)}, and it may have row, column and entry.")
    kept: dict[str, Any] = {}
    for name, size in zip(PARTS, (*shape, 1), strict=True):
        if given.get(name) is None:
            continue
        x = np.asarray(given[name], dtype=float)
        if (
            x.shape not in ((), (size,))
            or not np.all(np.isfinite(x))
            or not np.all(x > 0)
            or (name == "entry" and x.ndim)
        ):
            raise InvalidArgumentError(
                f"costs: {name}={given[name]!r} is no price. Give a positive number"
                + (f", or {size} of them." if name != "entry" else ".")
            )
        kept[name] = x.tolist()
    return kept or None


def in_units(budget: Any, shape: Shape, *, is_money: bool) -> float:
    """A budget as a number of values, or as money; without costs, one below 1 is a share of the matrix."""
    if isinstance(budget, (bool, np.bool_)) or not isinstance(budget, Real) or not 0 < float(budget) < math.inf:
        raise InvalidArgumentError(
            f"budget={budget!r} is no budget. Give a share of the matrix below 1, a number of values from 1 on, or "
            "money where the study has costs."
        )
    amount = float(budget)
    return amount if is_money or amount >= 1 else amount * shape[0] * shape[1]
