"""A budget: what it should buy, given what was bought so far and what that has shown."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from .._typing import Shape
from ..exceptions import InvalidArgumentError
from ..observation import Observation, SampleCounts
from ..observation.plan import check_counts
from .budget import ORDINARY, Split, check_budget, split_budget
from .candidates import candidate_columns, candidate_rows
from .costs import Prices, Spent, spent
from .goal import Goal, Lines
from .limits import Limits
from .unexplained import Unexplained, unexplained_in_largest

__all__ = ["goal_for"]

TOO_FEW = 0.005  # a last round of fewer entries than this share of all is not worth a round
ROUNDED_UP = 0.5  # of a row or column that its share of the money buys: it is bought whole


def goal_for(
    observation: Observation,
    counts: dict[str, Any],
    budget: Any,
    costs: Any,
    limits: Limits,
    *,
    symmetric: bool,
    horizon: Any = None,
) -> Goal:
    """What is wanted, given what is known.

    Parameters
    ----------
    observation : Observation
        What is known.
    counts : dict
        ``n_columns``, ``n_rows`` and ``n_entries``, each a number, or None where the budget decides.
    budget, costs : float and Costs, optional
        See :func:`curplus.acquire`.
    limits : Limits
        What must not be read.
    symmetric : bool
        Whether rows come with the columns.
    horizon : float, optional
        See :func:`curplus.propose`.
    """
    missing = [name for name, count in counts.items() if count is None]
    if budget is None:
        return _by_counts(observation, counts, missing, costs, limits)
    money, prices = check_budget(budget, costs, observation.shape)
    fixed = _fixed(observation.shape, counts, observation.counts)
    purse = Purse(observation, limits, prices, money, fixed, frozenset(missing), symmetric)
    in_the_end = money if horizon is None else check_budget(horizon, costs, observation.shape)[0]
    split = partial(
        split_budget,
        max(money - purse.reserved, 0.0),
        prices,
        missing=purse.missing,
        symmetric=symmetric,
        horizon=in_the_end - purse.reserved,
    )
    first = split()
    wanted_first = purse.wanted(first)
    can_tell = observation.n_columns and observation.n_rows and observation.steering.any()
    if not can_tell or first.columns + first.rows == 0:
        return purse.goal(first, wanted_first)
    seen = purse.unexplained(first)
    return purse.goal(split(unexplained=seen), wanted_first, _because(seen))


def _because(seen: Unexplained) -> str:
    """What has been seen of rows and columns that moves money to them; empty where nothing was."""
    return " and ".join(
        f"the largest {kind} leave {times:.1f} times the mean unexplained"
        for kind, times in seen._asdict().items()
        if times > ORDINARY
    )


@dataclass(frozen=True)
class Purse:
    """A budget, what it is for, and what was bought so far."""

    observation: Observation
    limits: Limits
    prices: Prices
    money: float
    fixed: SampleCounts  # totals that are given; what there is where the budget decides
    missing: frozenset[str]  # those that the budget decides
    symmetric: bool

    @cached_property
    def paid(self) -> Spent:
        """What was spent."""
        return spent(self.observation, self.prices, symmetric=self.symmetric)

    @property
    def left(self) -> float:
        """What was not."""
        return max(self.money - self.paid.total, 0.0)

    @cached_property
    def reserved(self) -> float:
        """Expected price of the totals that are given."""
        return self.price_of(self.fixed, self.missing)

    def price_of(self, counts: SampleCounts, without: Container[str]) -> float:
        """Expected price of so many, without those of some kinds."""
        row = 0.0 if self.symmetric else float(np.mean(self.prices.rows))
        each = (float(np.mean(self.prices.columns)), row, self.prices.mean_entry)
        given = zip(counts._asdict().items(), each, strict=True)
        return float(sum(count * price for (name, count), price in given if name not in without))

    def lines(self, split: Split) -> tuple[Lines, Lines]:
        """Columns and rows, with the money for them."""
        column, row = float(np.mean(self.prices.columns)), float(np.mean(self.prices.rows))
        for_columns, for_rows = (
            min(part + ROUNDED_UP * price - paid if name in self.missing else self.left, self.left)
            for name, part, price, paid in (
                ("n_columns", split.columns, column, self.paid.columns),
                ("n_rows", split.rows - _rounded_up_by(split.columns, column), row, self.paid.rows),
            )
        )
        if {"n_columns", "n_rows"} <= self.missing:
            for_columns, for_rows = _together_within(self.left, for_columns, for_rows)
        known = self.observation
        return (
            Lines(known.column_index, self.limits.columns, self.prices.columns, for_columns),
            Lines(known.row_index, self.limits.rows, self.prices.rows, for_rows),
        )

    def wanted(self, split: Split) -> SampleCounts:
        """Totals of columns and rows that the money buys; of entries, the total that is given."""
        have, (columns, rows) = self.observation.counts, self.lines(split)
        n_columns = have.n_columns + columns.affordable if "n_columns" in self.missing else self.fixed.n_columns
        n_rows = have.n_rows + rows.affordable if "n_rows" in self.missing else self.fixed.n_rows
        n_columns = min(n_columns, have.n_columns + columns.n_available)
        n_rows = n_columns if self.symmetric else min(n_rows, have.n_rows + rows.n_available)
        return SampleCounts(n_columns, n_rows, self.fixed.n_entries)

    def unexplained(self, split: Split) -> Unexplained:
        """How much is unexplained in columns and rows: in as many of the largest as a split buys of them."""
        kinds = (
            (candidate_columns, self.limits.columns, self.prices.columns, split.columns),
            (candidate_rows, self.limits.rows, self.prices.rows, split.rows),
        )
        return Unexplained(
            *(
                unexplained_in_largest(
                    candidates(self.observation, wanted_more=False)._replace(excluded=forbidden, prices=prices),
                    int(part / float(np.mean(prices))),
                )
                for candidates, forbidden, prices, part in (kinds[:1] if self.symmetric else kinds)
            )
        )

    def goal(self, split: Split, wanted_first: SampleCounts, because: str = "") -> Goal:
        """What a split of the budget is for."""
        have, wanted, (columns, rows) = self.observation.counts, self.wanted(split), self.lines(split)
        first = self.fixed.n_entries
        if "n_entries" in self.missing:
            done = wanted[:2] == have[:2]
            for_lines = self.price_of(wanted, {"n_entries"})  # whole ones, which may be more than their part
            first = int(max(min(split.entries, self.money - for_lines), 0.0) / self.prices.mean_entry)
            n_entries = _entries_for(self.observation, self.left if done else split.entries, self.prices, done)
            wanted = wanted._replace(n_entries=n_entries)
        fewest = min(wanted_first[:2])
        return Goal(wanted, first, columns, rows, fewest, self.prices, self.left, split.reason, because)


def _rounded_up_by(part: float, price: float) -> float:
    """What whole ones cost more than their part: the other kind gets less."""
    return max(math.floor(part / price + ROUNDED_UP) * price - part, 0.0) if price else 0.0


def _together_within(left: float, for_columns: float, for_rows: float) -> tuple[float, float]:
    """Both, less if that is more than is left: where more than their share went to entries before."""
    share = min(1.0, left / max(max(for_columns, 0.0) + max(for_rows, 0.0), 1e-300))
    return share * for_columns, share * for_rows


def _by_counts(
    observation: Observation, counts: dict[str, Any], missing: list[str], costs: Any, limits: Limits
) -> Goal:
    if missing:
        raise InvalidArgumentError(
            f"{', '.join(missing)} and a budget are missing. Give budget=, a share of the matrix such as 0.1, or all "
            "of n_columns, n_rows and n_entries."
        )
    if costs is not None:
        raise InvalidArgumentError("costs= are prices for a budget. Give budget= too, in the same currency.")
    wanted = check_counts(observation.shape, **counts)
    columns = Lines(observation.column_index, limits.columns)
    rows = Lines(observation.row_index, limits.rows)
    for what, lines, size, total in (
        ("columns", columns, observation.shape[1], wanted.n_columns),
        ("rows", rows, observation.shape[0], wanted.n_rows),
    ):
        allowed = size - len(np.setdiff1d(lines.forbidden, lines.taken))
        if total > allowed:
            raise InvalidArgumentError(
                f"n_{what}={total} but only {allowed} {what} are not forbidden and have no forbidden cell. "
                f"Use n_{what}={allowed} or fewer, or let rows and columns have gaps (gaps=True)."
            )
    return Goal(wanted, wanted.n_entries, columns, rows, min(wanted[:2]))


def _fixed(shape: Shape, counts: dict[str, Any], have: SampleCounts) -> SampleCounts:
    """The totals that are given; where the budget decides, what there is."""
    given = {name: have_it if counts[name] is None else counts[name] for name, have_it in have._asdict().items()}
    return check_counts(shape, **given)


def _entries_for(observation: Observation, money: float, prices: Prices, done: bool) -> int:
    """How many entries there are once the money is spent; once the rows and columns are read, some cost nothing."""
    n, m = observation.shape
    free = (1 - observation.n_rows / n) * (1 - observation.n_columns / m) if done and prices.by_cell else 1.0
    if free <= 0:
        return observation.n_entries
    more = int(money / (prices.mean_entry * free) + 1e-9)
    if not done:
        return max(more, observation.n_entries)
    if more < TOO_FEW * observation.n_entries:
        return observation.n_entries
    return max(observation.n_entries, min(observation.n_entries + more, n * m - len(observation.gap_index())))
