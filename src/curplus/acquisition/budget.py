"""What a budget buys: how many rows, columns and entries there should be in the end, given what was read so far.

It begins with the split of ``_support/budget.py``, for these prices. A row that is bought is known exactly. If ten
times as much is unexplained in it as in others, it is worth ten of them, so money moves to the kind (rows or columns)
that has such. Large rows may be well explained by others, so size is not enough: the residuals of the entries that help
to choose are used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._arrays import to_numpy
from .._support.budget import parts_by_length, share_for_crosses
from .._support.sets import union
from .._typing import FloatArray, IndexVector, Shape
from .._validation import check_amount
from ..evaluation.effective_sample import FEWEST
from ..exceptions import InvalidArgumentError
from ..observation import Observation, SampleCounts, SamplePlan
from ..observation.plan import check_counts
from .candidates import Candidates, candidate_columns, candidate_rows
from .constraints import Constraints
from .prices import ROUNDED_UP, Costs, Prices, Spent, affordable, prices_of, spent
from .score import squared_norms

__all__ = ["Budget", "Side", "Split", "Wanted", "check_budget", "unexplained_in_largest"]

ORDINARY = 3.0  # times as much unexplained as elsewhere: rows and columns of any matrix differ by that
TOO_FEW = 0.005  # a last round of fewer entries than this share of all is not worth a round


class Split(NamedTuple):
    """Money for columns, rows and entries."""

    columns: float
    rows: float
    entries: float
    reason: str


class Side(NamedTuple):
    """The rows, or columns, that can be chosen, and the money for them."""

    taken: IndexVector
    forbidden: IndexVector
    prices: FloatArray  # (size,)
    money: float

    @property
    def excluded(self) -> IndexVector:
        """Those that cannot be chosen although they are not known: forbidden, or too expensive."""
        return np.union1d(self.forbidden, np.flatnonzero(self.prices > self.money))

    def total(self, fixed: int | None) -> int:
        """How many there will be: so many, or those that the money buys if cheap ones are chosen more often."""
        others = np.delete(self.prices, np.union1d(self.taken, self.excluded))
        if fixed is None and len(others):
            usual = len(others) / np.sum(1 / others)
            return len(self.taken) + max(1, min(int(self.money / usual + 1e-9), len(others)))
        return min(len(self.taken) + len(others), len(self.taken) if fixed is None else fixed)

    def within_money(self, index: IndexVector) -> IndexVector:
        """The first of some, as far as the money goes."""
        return index[affordable(self.prices[index], self.money)]


class Wanted(NamedTuple):
    """What there should be in the end, and the money left for it."""

    counts: SampleCounts  # totals, those that are known included
    n_entries_first: int  # of the entries so many are bought whatever the rows and columns cost
    columns: Side
    rows: Side
    prices: Prices
    money: float  # that is left; infinite without a budget
    n_of_a_kind: int  # rows, or columns if they are fewer, that are wanted before anything is seen
    reason: str  # of the split before anything is seen
    because: str = ""  # what has been seen that changed it

    def within_money(
        self, observation: Observation, i: IndexVector, j: IndexVector, rng: Any, *, evidence: bool = True
    ) -> IndexVector:
        """Which of some entries can be paid for; those to be left out are drawn. What is known costs nothing.

        Entries that help to choose count as paid for wherever they stand, as in :func:`.prices.spent`.
        """
        if math.isinf(self.money):
            return np.arange(len(i))
        known = np.isin(i, observation.row_index) | np.isin(j, observation.column_index)
        cost = np.where(known & evidence, 0.0, self.prices.entries(i, j))
        order = rng.permutation(len(i))
        return np.sort(order[affordable(cost[order], self.money)])


@dataclass(frozen=True)
class Budget:
    """What may be spent, and the totals that are given; with all of them given, the money has no end."""

    given: tuple[int | None, int | None, int | None]  # columns, rows and entries; None where the money decides
    money: float
    prices: Prices
    symmetric: bool = False  # whether rows come with the columns, so that only columns are paid for
    horizon: float = 0.0  # the money in the end, if that is more: it decides how much goes to rows and columns
    amount: float = math.inf  # the budget as it was given, a share or a number

    @classmethod
    def of(
        cls, shape: Shape, counts: dict[str, Any], budget: Any, costs: Any, *, symmetric: bool, horizon: Any = None
    ) -> Budget:
        """A budget and counts as :func:`curplus.acquire` takes them; of a symmetric matrix rows are the columns."""
        missing = [name for name, count in counts.items() if count is None]
        checked = check_counts(shape, *(0 if count is None else count for count in counts.values()))
        given: Any = tuple(None if a is None else b for a, b in zip(counts.values(), checked, strict=True))
        if budget is None:
            if missing:
                raise InvalidArgumentError(
                    f"{', '.join(missing)} and a budget are missing. Give budget=, a share of the matrix such as 0.1, "
                    "or all of n_columns, n_rows and n_entries."
                )
            if costs is not None:
                raise InvalidArgumentError("costs= are prices for a budget. Give budget= too, in the same currency.")
            return cls(given, math.inf, prices_of(None, shape), symmetric)
        money, prices = check_budget(budget, costs, shape)
        end = money if horizon is None else check_budget(horizon, costs, shape)[0]
        return cls(given, money, prices, symmetric, end, float(budget))

    def wanted(self, observation: Observation, constraints: Constraints) -> Wanted:
        """What is wanted, given what is known: money moves to rows, or columns, if they hold what is unexplained."""
        nothing = Spent(0.0, 0.0, 0.0)
        paid = nothing if math.isinf(self.money) else spent(observation, self.prices, symmetric=self.symmetric)
        now = _Now(self, observation, constraints, paid)
        split = self.split()
        wanted = now.wanted(split)
        n_of_a_kind = min(wanted.counts[:2])
        can_tell = observation.n_columns and observation.n_rows and observation.steering.any()
        if can_tell and split.columns + split.rows > 0:
            times = now.unexplained(split)
            wanted = now.wanted(self.split(times))._replace(
                because=" and ".join(
                    f"the largest {kind} leave {x:.1f} times the mean unexplained"
                    for kind, x in zip(("columns", "rows"), times, strict=False)
                    if x > ORDINARY
                )
            )
        return wanted._replace(n_of_a_kind=n_of_a_kind)

    def price_of(self, counts: tuple[int | None, ...]) -> float:
        """Expected price of so many columns, rows and entries, those that are not given left out."""
        row = 0.0 if self.symmetric else float(np.mean(self.prices.rows))
        each = (float(np.mean(self.prices.columns)), row, self.prices.mean_entry)
        return float(sum(n * price for n, price in zip(counts, each, strict=True) if n is not None))

    def check_affordable(self, required: SamplePlan, money: float) -> None:
        """What is required costs no more than is left."""
        prices, (rows, columns) = self.prices, (required.row_index, required.column_index)
        total = np.sum(prices.columns[columns]) + np.sum(prices.entries(required.i, required.j))
        if not self.symmetric:
            total += np.sum(prices.rows[rows])
            if prices.by_cell:  # where rows and columns cross they are paid once
                total -= np.sum(prices.entries(*(x.ravel() for x in np.meshgrid(rows, columns))))
        if total > money * ROUNDED_UP:
            raise InvalidArgumentError(
                f"the required rows, columns and cells cost {total:.10g}, and {money:.10g} of the budget are left. "
                "Give a larger budget, or require less."
            )

    def split(self, unexplained: tuple[float, ...] = ()) -> Split:
        """Money for what is not given: ``unexplained`` is how many times the mean the largest columns and rows leave.

        If that is clearly more than elsewhere, their kind gets more, and the others less, down to half.
        """
        reserved = self.price_of(self.given)
        money = max(self.money - reserved, 0.0)
        lengths, prices = (len(self.prices.rows), len(self.prices.columns)), (self.prices.columns, self.prices.rows)
        kinds = [k for k in ((0,) if self.symmetric else (0, 1)) if self.given[k] is None]
        if not kinds:
            return Split(0.0, 0.0, money, "all for entries")
        crosses = max(money, self.horizon - reserved) / sum(float(np.mean(prices[k])) for k in kinds)
        share = share_for_crosses(crosses)
        reason = f"{share:.0%} for rows and columns: it could buy {crosses:.3g} of each"
        if self.given[2] is not None:
            share, reason = 1.0, "all for rows and columns"
        elif not share:
            reason = f"all for entries: it could buy {crosses:.1f} rows and columns, too few to be of use"
        parts = dict(zip(kinds, parts_by_length(*(lengths[k] for k in kinds)), strict=True))
        columns, rows = (share * parts.get(k, 0.0) for k in (0, 1))
        more = [part * max(times - ORDINARY, 0.0) for part, times in zip((columns, rows), unexplained, strict=False)]
        moved = 1 / max(sum(more), 1.0)  # the kind without such rows or columns keeps half of its money
        columns, rows = (part + moved * x for part, x in zip((columns, rows), (*more, 0.0, 0.0), strict=False))
        unit = money / (columns + rows + 1 - share)
        return Split(unit * columns, unit * rows, unit * (1 - share), reason)


class _Now(NamedTuple):
    """A budget, and what was bought so far."""

    budget: Budget
    observation: Observation
    constraints: Constraints
    paid: Spent

    @property
    def left(self) -> float:
        return max(self.budget.money - self.paid.total, 0.0)

    @property
    def n_open(self) -> int:
        """Number of positions that can be read as entries, known ones included."""
        (i, j), o = self.constraints.cells, self.observation
        return math.prod(o.shape) - len(union(o.gap_index(), i * o.shape[1] + j))

    def sides(self, split: Split) -> tuple[Side, Side]:
        """Columns and rows, with the money for them: one of which half can be paid for is bought."""
        given, prices, known = self.budget.given, self.budget.prices, self.observation
        column, row = float(np.mean(prices.columns)), float(np.mean(prices.rows))
        rounded_up = max(math.floor(split.columns / column + 0.5) * column - split.columns, 0.0)
        money = [
            self.left if count is not None else min(part + price / 2 - paid, self.left)
            for count, part, price, paid in (
                (given[0], split.columns, column, self.paid.columns),
                (given[1], split.rows - rounded_up, row, self.paid.rows),
            )
        ]
        if given[:2] == (None, None):  # no more than is left, if entries had more than their part
            share = min(1.0, self.left / max(max(money[0], 0.0) + max(money[1], 0.0), 1e-300))
            money = [share * x for x in money]
        return (
            Side(known.column_index, self.constraints.columns, prices.columns, money[0]),
            Side(known.row_index, self.constraints.rows, prices.rows, money[1]),
        )

    def wanted(self, split: Split) -> Wanted:
        """What a split of the money is for."""
        budget, have, (columns, rows) = self.budget, self.observation.counts, self.sides(split)
        n_columns, n_rows = columns.total(budget.given[0]), rows.total(budget.given[1])
        counts = SampleCounts(n_columns, n_columns if budget.symmetric else n_rows, first := budget.given[2] or 0)
        if budget.given[2] is None:
            done = counts[:2] == have[:2]
            for_both = budget.price_of((*counts[:2], None))  # whole ones, which may be more than their part
            first = int(max(min(split.entries, budget.money - for_both), 0.0) / budget.prices.mean_entry)
            first = min(first, self.n_open)
            counts = counts._replace(n_entries=self.n_entries(self.left if done else split.entries, done))
        return Wanted(counts, first, columns, rows, budget.prices, self.left, 0, split.reason)

    def n_entries(self, money: float, done: bool) -> int:
        """How many entries there are once money is spent; once rows and columns are read, those on them are free."""
        seen, prices = self.observation, self.budget.prices
        n, m = seen.shape
        free = (1 - seen.n_rows / n) * (1 - seen.n_columns / m) if done and prices.by_cell else 1.0
        if free <= 0:
            return seen.n_entries
        more = int(money / (prices.mean_entry * free) + 1e-9)
        if not done:
            return max(more, seen.n_entries)
        if more < TOO_FEW * seen.n_entries:
            return seen.n_entries
        return max(seen.n_entries, min(seen.n_entries + more, self.n_open))

    def unexplained(self, split: Split) -> tuple[float, ...]:
        """How much is unexplained in columns and rows: in as many of the largest as a split buys of them."""
        prices, places = self.budget.prices, self.constraints
        kinds = (
            (candidate_columns, places.columns, prices.columns, split.columns),
            (candidate_rows, places.rows, prices.rows, split.rows),
        )
        return tuple(
            unexplained_in_largest(
                candidates(self.observation, wanted_more=False)._replace(excluded=forbidden, prices=price),
                int(part / float(np.mean(price))),
            )
            for candidates, forbidden, price, part in (kinds[:1] if self.budget.symmetric else kinds)
        )


def unexplained_in_largest(candidates: Candidates, count: int) -> float:
    """Mean squared residual of entries in the ``count`` largest candidates for their price, over that of all entries.

    A standard error is taken off; it is 1 if too few entries were read.
    """
    available, left = candidates.available, candidates.entry_squares
    count = min(count, len(available))
    if count < 1 or not float(np.sum(left)) > 0:
        return 1.0
    size = candidates.worth(to_numpy(squared_norms(candidates.sample)))[available]
    largest = available[np.argpartition(-size, count - 1)[:count]]
    in_largest = left[np.isin(candidates.entry_index, largest)] / float(np.mean(left))
    if len(in_largest) < FEWEST:
        return 1.0
    error = float(np.std(in_largest, ddof=1)) / math.sqrt(len(in_largest))
    return max(float(np.mean(in_largest)) - error, 0.0)


def check_budget(budget: Any, costs: Costs | None, shape: Shape) -> tuple[float, Prices]:
    """A budget in money, and the prices; without costs an entry costs 1, and a budget below 1 is a share."""
    return check_amount(budget, shape, is_money=costs is not None), prices_of(costs, shape)
