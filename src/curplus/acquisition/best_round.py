"""The next round of a search for the best rows: columns drawn uniformly, read in the rows that are left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._support.sets import NO_INDEX
from .._support.spelling import counted
from .._typing import IndexVector
from ..evaluation import Best
from ..evaluation.best import standing_of
from ..evaluation.differences import Paired, columns_in_turn
from ..evaluation.elimination import Standing
from ..exceptions import InvalidArgumentError
from ..observation import Observation, SamplePlan
from ..observation.plan import ALL_UNIFORM
from .prices import ROUNDED_UP, Prices

__all__ = ["best_round"]

CATCH_UP = 4  # times the columns of the next look that rows which know less than the others are read in at once


def best_round(
    observation: Observation, best: Best, money: float, prices: Prices, seed: int, *, at_once: bool = False
) -> SamplePlan | None:
    """What is read before the next look, for at most so much money; None if all is decided, or nothing can be bought.

    Parameters
    ----------
    observation : Observation
        What is known.
    best : Best
        What is looked for.
    money : float
        What may be spent.
    prices : Prices
        What entries and columns cost.
    seed : int
        The order in which columns are drawn follows from it.
    at_once : bool, default False
        Whether all the money is spent at once, on more columns than the next look needs.
    """
    decision, standing = standing_of(observation, best)
    if decision.is_decided:
        return None
    if not standing.next_size:
        raise InvalidArgumentError(f"{decision.reason}. So {best.what} are not compared: leave out the goal.")
    if best.axis == 1:
        return _round(observation, best, standing, money, prices, seed, at_once)
    plan = _round(observation.T, best, standing, money, _turned_prices(prices), seed, at_once)
    return None if plan is None else _turned(plan)


class _Wanted(NamedTuple):
    """Values that are not known yet, column after column in the order of drawing."""

    rows: IndexVector  # that are left
    columns: IndexVector  # (c,), in the order of drawing
    i: IndexVector  # (w,)
    place: IndexVector  # (w,), in columns; ascending
    is_whole: bool  # whether these are whole columns of which nothing is known

    @classmethod
    def of(cls, seen: Observation, standing: Standing, drawn: IndexVector, seed: int, at_once: bool) -> _Wanted:
        """What the next look needs, or as much as can be wanted at once."""
        rows, size = np.sort(standing.left), seen.shape[1] if at_once else standing.next_size
        paired = Paired.of(seen._replaced(drawn_columns=_with_more(seen, rows, drawn, size, seed)), rows)
        usable = np.flatnonzero(~paired.is_gap.any(axis=0))[:size]
        is_open = np.isnan(paired.values[:, usable])
        is_late = is_open[:, : standing.next_size].any(axis=1)
        if at_once and is_late.any() and not is_late.all():  # such as rows that were added: they come first
            rows, usable = rows[is_late], usable[: CATCH_UP * standing.next_size]
            is_open = is_open[is_late, : len(usable)]
        place, p = np.nonzero(is_open.T)
        return cls(rows, paired.columns[usable], rows[p], place, len(rows) == seen.shape[0] and bool(is_open.all()))

    def within(self, money: float, prices: Prices) -> _Wanted:
        """As many of the columns as the money buys."""
        price = np.bincount(self.place, prices.entries(self.i, self.columns[self.place]), len(self.columns))
        total = np.cumsum(prices.columns[self.columns] if self.is_whole else price)
        bought = int(np.searchsorted(total, money * ROUNDED_UP, side="right"))
        kept = self.place < bought
        return self._replace(columns=self.columns[:bought], i=self.i[kept], place=self.place[kept])


def _round(
    seen: Observation, best: Best, standing: Standing, money: float, prices: Prices, seed: int, at_once: bool
) -> SamplePlan | None:
    """The round for rows, whatever they are called."""
    drawn = columns_in_turn(seen)
    wanted = _Wanted.of(seen, standing, drawn, seed, at_once).within(money, prices)
    new = wanted.columns[~np.isin(wanted.columns, drawn)]
    if not len(new) and not len(wanted.i):
        return None
    row, column = ("row", "column") if best.axis else ("column", "row")
    counts = counted(len(wanted.columns), column), counted(len(wanted.rows), row)
    cells = (NO_INDEX, NO_INDEX) if wanted.is_whole else (wanted.i, wanted.columns[wanted.place])
    return SamplePlan(
        seen.shape,
        wanted.columns if wanted.is_whole else NO_INDEX,
        NO_INDEX,
        *cells,
        design=ALL_UNIFORM,
        reasons=(f"{counts[0]} drawn uniformly, in {counts[1]} that are left",),
        evidence=not len(cells[0]),
        forbidden=seen.forbidden,
        drawn_columns=np.concatenate([drawn, new]),
    )


def _with_more(seen: Observation, rows: IndexVector, drawn: IndexVector, size: int, seed: int) -> IndexVector:
    """Columns in the order of drawing, with as many new ones as it takes to have ``size`` without gaps."""
    order = np.random.default_rng(seed).permutation(seen.shape[1])
    others = order[~np.isin(order, np.concatenate([drawn, seen.forbidden.columns]))]
    n_usable = np.count_nonzero(~Paired.of(seen, rows).is_gap.any(axis=0))
    return np.concatenate([drawn, others[: max(size - n_usable, 0)]])


def _turned(plan: SamplePlan) -> SamplePlan:
    """The same plan for the transposed matrix."""
    return plan._replace(
        shape=(plan.shape[1], plan.shape[0]),
        column_index=plan.row_index,
        row_index=plan.column_index,
        i=plan.j,
        j=plan.i,
        design=plan.design.T,
        forbidden=plan.forbidden.T,
        drawn_columns=plan.drawn_rows,
        drawn_rows=plan.drawn_columns,
    )


def _turned_prices(prices: Prices) -> Prices:
    return Prices(prices.columns, prices.rows, prices.entry.T, prices.by_cell)
