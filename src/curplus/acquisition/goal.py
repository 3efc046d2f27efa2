"""How much there shall be in the end: as counts, or as a budget."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray, IndexVector, Shape
from ..exceptions import InvalidArgumentError
from ..observation import Observation, SampleCounts
from ..observation.plan import check_counts
from .budget import check_budget, split_budget
from .costs import Prices, spent
from .limits import Limits

__all__ = ["Goal", "goal_for"]

TOO_FEW = 0.005  # a last round of fewer entries than this share of all is not worth a round

ROUNDED_UP = 0.5  # of a row or column that its share of the money buys: it is bought whole


class Lines(NamedTuple):
    """The rows, or columns, that can be chosen, and what they cost."""

    taken: IndexVector
    forbidden: IndexVector
    prices: FloatArray | None = None  # (size,)
    money: float = math.inf  # what may be spent on them

    @property
    def excluded(self) -> IndexVector:
        """Those that cannot be chosen although they are not known: forbidden, or too dear."""
        if self.prices is None:
            return self.forbidden
        return np.union1d(self.forbidden, np.flatnonzero(self.prices > self.money))

    @property
    def n_available(self) -> int:
        """How many can be chosen."""
        return 0 if self.prices is None else len(self.prices) - len(np.union1d(self.taken, self.excluded))

    @property
    def affordable(self) -> int:
        """How many more the money buys, if those that cost less are chosen more often."""
        if self.prices is None:
            return 0
        others = np.delete(self.prices, np.union1d(self.taken, self.excluded))
        if not len(others):
            return 0
        usual = len(others) / np.sum(1 / others)
        return max(1, min(int(self.money / usual + 1e-9), len(others)))

    def within_money(self, index: IndexVector) -> IndexVector:
        """The first of some, as far as the money goes."""
        return index if self.prices is None else index[np.cumsum(self.prices[index]) <= self.money * (1 + 1e-12)]


class Goal(NamedTuple):
    """How much there shall be in the end, and what there is to be paid for it."""

    counts: SampleCounts  # totals, those that are known included
    n_entries_first: int  # of the entries so many are bought whatever the rows and columns cost
    columns: Lines
    rows: Lines
    prices: Prices | None = None  # of a budget
    money: float = math.inf  # what is left of it
    reason: str = ""

    def within_money(
        self, observation: Observation, i: IndexVector, j: IndexVector, rng: Any, *, evidence: bool = True
    ) -> IndexVector:
        """Which of some entries can be paid for; those to be left out are drawn. What is known costs nothing.

        Entries that help to choose count as paid for wherever they stand, as in :func:`.costs.spent`.
        """
        if self.prices is None:
            return np.arange(len(i))
        on_lines = np.isin(i, observation.row_index) | np.isin(j, observation.column_index)
        cost = np.where(on_lines & evidence, 0.0, self.prices.entries(i, j))
        order = rng.permutation(len(i))
        return np.sort(order[np.cumsum(cost[order]) <= self.money * (1 + 1e-12)])


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
    have, paid = observation.counts, spent(observation, prices, symmetric=symmetric)
    fixed = _fixed(observation.shape, counts, have)
    reserved = _price_of(fixed, missing, prices, symmetric)
    in_the_end = money if horizon is None else check_budget(horizon, costs, observation.shape)[0]
    split = split_budget(
        max(money - reserved, 0.0),
        prices,
        missing=frozenset(missing),
        symmetric=symmetric,
        horizon=in_the_end - reserved,
    )
    left = max(money - paid.total, 0.0)
    column, row = float(np.mean(prices.columns)), float(np.mean(prices.rows))
    for_columns, for_rows = (
        min(part + ROUNDED_UP * price - paid_for if name in missing else left, left)
        for name, part, price, paid_for in (
            ("n_columns", split.columns, column, paid.columns),
            ("n_rows", split.rows - _rounded_up_by(split.columns, column), row, paid.rows),
        )
    )
    if {"n_columns", "n_rows"} <= set(missing):
        for_columns, for_rows = _together_within(left, for_columns, for_rows)
    columns = Lines(observation.column_index, limits.columns, prices.columns, for_columns)
    rows = Lines(observation.row_index, limits.rows, prices.rows, for_rows)
    wanted = SampleCounts(
        have.n_columns + columns.affordable if "n_columns" in missing else fixed.n_columns,
        have.n_rows + rows.affordable if "n_rows" in missing else fixed.n_rows,
        fixed.n_entries,
    )
    wanted = wanted._replace(
        n_columns=min(wanted.n_columns, have.n_columns + columns.n_available),
        n_rows=wanted.n_columns if symmetric else min(wanted.n_rows, have.n_rows + rows.n_available),
    )
    first = fixed.n_entries
    if "n_entries" in missing:
        done = wanted[:2] == have[:2]
        for_lines = _price_of(wanted, ["n_entries"], prices, symmetric)  # whole ones, which may be more than their part
        first = int(max(min(split.entries, money - for_lines), 0.0) / prices.mean_entry)
        wanted = wanted._replace(n_entries=_entries_for(observation, left if done else split.entries, prices, done))
    return Goal(wanted, first, columns, rows, prices, left, split.reason)


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
    return Goal(wanted, wanted.n_entries, columns, rows)


def _fixed(shape: Shape, counts: dict[str, Any], have: SampleCounts) -> SampleCounts:
    """The totals that are given; where the budget decides, what there is."""
    given = {name: have_it if counts[name] is None else counts[name] for name, have_it in have._asdict().items()}
    return check_counts(shape, **given)


def _price_of(fixed: SampleCounts, missing: list[str], prices: Prices, symmetric: bool) -> float:
    """Expected price of the totals that are given."""
    row = 0.0 if symmetric else float(np.mean(prices.rows))
    each = (float(np.mean(prices.columns)), row, prices.mean_entry)
    given = zip(fixed._asdict().items(), each, strict=True)
    return float(sum(count * price for (name, count), price in given if name not in missing))


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
    return min(observation.n_entries + more, n * m - len(observation.gap_index()))
