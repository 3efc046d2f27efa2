"""What rows, columns and single entries cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray, IndexVector, Shape
from ..exceptions import InvalidArgumentError
from ..observation import Observation

__all__ = ["Costs", "Prices", "Spent", "affordable", "prices_of", "spent"]

ROUNDED_UP = 1 + 1e-12  # what costs all the money can be bought, although sums are rounded


@dataclass(frozen=True)
class Costs:
    """Prices of whole rows, whole columns and single entries, in any one currency.

    Parameters
    ----------
    row, column : float or array, optional
        Price of a whole row, or of each row, shape (n,); and of columns, shape (m,). Left out, it is the sum of the
        prices of its entries. It may be less: one preparation may serve a whole row.
    entry : float or array, default 1.0
        Price of a single entry, or of each, shape (n, m).

    Examples
    --------
    A plate (a row) costs 40, a single well 1:

    >>> import curplus
    >>> curplus.Costs(row=40.0)
    Costs(row=40.0, column=None, entry=1.0)
    """

    row: Any = None
    column: Any = None
    entry: Any = 1.0

    def of(self, shape: Shape) -> Prices:
        """These prices, for a matrix of a size."""
        n, m = shape
        entry = _checked(self.entry, (n, m), "entry")
        by_row, by_column = (m * entry, n * entry) if np.ndim(entry) == 0 else (entry.sum(axis=1), entry.sum(axis=0))
        row = by_row if self.row is None else _checked(self.row, (n,), "row")
        column = by_column if self.column is None else _checked(self.column, (m,), "column")
        by_cell = self.row is None or self.column is None
        return Prices(np.broadcast_to(row, n), np.broadcast_to(column, m), entry, by_cell)


@dataclass(frozen=True)
class Prices:
    """A price for each row, column and entry of a matrix."""

    rows: FloatArray  # (n,)
    columns: FloatArray  # (m,)
    entry: FloatArray  # () or (n, m)
    by_cell: bool  # whether rows or columns are paid cell by cell, so that cells that are known cost nothing

    def entries(self, i: IndexVector, j: IndexVector) -> FloatArray:
        """Prices of single entries, shape (len(i),)."""
        return np.broadcast_to(self.entry, len(i)) if self.entry.ndim == 0 else self.entry[i, j]

    @property
    def mean_entry(self) -> float:
        """What a random entry costs."""
        return float(np.mean(self.entry))


def prices_of(costs: Any, shape: Shape) -> Prices:
    """The prices of a matrix of a size; without costs, each entry costs 1."""
    if costs is not None and not isinstance(costs, Costs):
        raise InvalidArgumentError(f"costs={costs!r} are no prices. Give curplus.Costs(row=, column=, entry=).")
    return (Costs() if costs is None else costs).of(shape)


def affordable(prices: FloatArray, money: float) -> NDArray[np.bool_]:
    """Which of some things can be bought one after the other, as far as the money goes."""
    bought: NDArray[np.bool_] = np.cumsum(prices) <= money * ROUNDED_UP
    return bought


class Spent(NamedTuple):
    """What an observation has cost."""

    columns: float
    rows: float
    entries: float

    @property
    def total(self) -> float:
        return self.columns + self.rows + self.entries


def spent(observation: Observation, prices: Prices, *, symmetric: bool = False) -> Spent:
    """What an observation has cost. Rows that came with the columns of a symmetric matrix cost nothing."""
    columns = float(np.sum(prices.columns[observation.column_index]))
    rows = 0.0 if symmetric else float(np.sum(prices.rows[observation.row_index]))
    asked = observation.outside if prices.by_cell else observation.outside | observation.steering
    entries = float(np.sum(prices.entries(observation.i[asked], observation.j[asked])))
    entries += float(np.sum(prices.entries(observation.unmeasured_i, observation.unmeasured_j)))
    if prices.by_cell and not symmetric:  # where rows and columns cross they are paid once
        i, j = np.meshgrid(observation.row_index, observation.column_index, indexing="ij")
        rows -= float(np.sum(prices.entries(i.ravel(), j.ravel())))
    return Spent(columns, rows, entries)


def _checked(price: Any, shape: tuple[int, ...], name: str) -> FloatArray:
    try:
        array = np.asarray(price, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.shape not in ((), shape):
        raise InvalidArgumentError(
            f"Costs({name}=...) has shape {array.shape}. Give one number, or an array of shape {shape}."
        )
    if not np.all(np.isfinite(array)) or not np.all(array > 0):
        raise InvalidArgumentError(f"Costs({name}=...) has a price that is not a positive number. Prices are above 0.")
    return array
