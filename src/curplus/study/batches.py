"""Lists for a lab that measures many cells at once: a multiple of a plate, or whole rows or columns."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._validation import check_count
from ..exceptions import InvalidArgumentError
from .drafting import Wishes, draft_of
from .settings import as_costs
from .storage import Draft, Settings, Snapshot

__all__ = ["Batches"]

UNITS = ("row", "column", "cell")


class Batches(NamedTuple):
    """What is measured together, and what it costs."""

    size: int
    unit: str  # "cell", "row" or "column"
    price: float

    @staticmethod
    def of(size: int | None, unit: str, price: float | None, settings: Settings) -> Batches | None:
        """The batches that a caller describes; None without any."""
        if unit not in UNITS:
            raise InvalidArgumentError(
                f"unit={unit!r} is not what a batch can be made of. Use 'cell', 'row' or 'column'."
            )
        if size is None:
            if unit != "cell" or price is not None:
                raise InvalidArgumentError(
                    "unit and batch_price describe a batch, and batch= is missing. Give its size."
                )
            return None
        size = check_count(size, name="batch", at_least=1)
        if price is None:
            return Batches(size, unit, size * _price_of_one(unit, settings))
        if isinstance(price, bool) or not 0 < price < math.inf:
            raise InvalidArgumentError(f"batch_price={price!r} is no price. Give a number above 0.")
        return Batches(size, unit, float(price))

    def draft(
        self,
        snapshot: Snapshot,
        budget: float,
        required: Wishes,
        forbidden: Wishes,
        seed: int,
        *,
        whole: bool,
        horizon: float | None,
        **about: Any,
    ) -> Draft:
        """A list of as many batches as the budget buys; the last may be short where no more is left."""
        n_batches = math.floor(budget / self.price + 1e-9)
        if not n_batches:
            raise InvalidArgumentError(f"a batch costs {self.price:,.6g}, and the budget is {budget:,.6g}. Give more.")
        count = n_batches * self.size
        end = snapshot.settings.budget if horizon is None else horizon
        in_cells = snapshot._replace(settings=snapshot.settings._replace(costs=None))
        if self.unit == "cell":
            how: dict[str, Any] = {"whole": whole, "horizon": None if end is None else end / self.price * self.size}
        else:
            how = {"n_lines": (count, 0) if self.unit == "row" else (0, count)}
        size = float(count if self.unit == "cell" else math.prod(snapshot.settings.shape))
        draft = draft_of(in_cells, size, required, forbidden, seed, **how, **about)
        if self.unit == "cell":
            n_used = int(np.count_nonzero(~draft.is_known))
        else:
            n_used = sum(line.axis == UNITS.index(self.unit) for line in draft.lines)
        return draft._replace(budget=budget, price=math.ceil(n_used / self.size) * self.price)


def _price_of_one(unit: str, settings: Settings) -> float:
    """Price of a cell, or of a whole row or column; the highest, if they differ."""
    n, m = settings.shape
    costs = as_costs(settings.costs)
    if unit == "cell":
        return float(costs.entry)
    own, length = (costs.row, m) if unit == "row" else (costs.column, n)
    return length * float(costs.entry) if own is None else float(np.max(own))
