"""The next round of a search for the best rows: columns drawn uniformly, read in the rows that are left."""

from __future__ import annotations

import numpy as np

from .._sets import NO_INDEX
from .._spelling import counted
from .._typing import IndexVector
from ..evaluation import Best
from ..evaluation.best import standing_of
from ..evaluation.paired import Paired, columns_in_turn
from ..observation import Observation, SamplePlan
from ..observation.plan import ALL_UNIFORM
from .costs import Prices

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
    if best.axis == 0:
        plan = _round(observation.T, observation, best, money, _turned_prices(prices), seed, at_once)
        return None if plan is None else _turned(plan)
    return _round(observation, observation, best, money, prices, seed, at_once)


def _round(
    seen: Observation, observation: Observation, best: Best, money: float, prices: Prices, seed: int, at_once: bool
) -> SamplePlan | None:
    decision, standing = standing_of(observation, best)
    if decision.is_decided:
        return None
    left, drawn = np.sort(standing.left), columns_in_turn(seen)
    size = seen.shape[1] if at_once else standing.next_size
    paired = Paired.of(_with_drawn(seen, _more_columns(seen, left, drawn, size, seed)), left)
    usable = np.flatnonzero(~paired.is_gap.any(axis=0))[:size]
    is_open = np.isnan(paired.values[:, usable])
    is_late = is_open[:, : standing.next_size].any(axis=1)
    if at_once and is_late.any() and not is_late.all():  # such as rows that were added: they come first
        left, usable = left[is_late], usable[: CATCH_UP * standing.next_size]
        is_open = is_open[is_late, : len(usable)]
    columns = paired.columns[usable]
    whole = len(left) == seen.shape[0] and bool(is_open.all())
    p, t = np.nonzero(is_open.T)[::-1]
    price = prices.columns[columns] if whole else np.bincount(t, prices.entries(left[p], columns[t]), len(columns))
    bought = int(np.searchsorted(np.cumsum(price), money * (1 + 1e-12), side="right"))
    kept = t < bought
    new = np.setdiff1d(columns[:bought], drawn, assume_unique=True)
    in_turn = np.concatenate([drawn, columns[:bought][np.isin(columns[:bought], new)]])
    if not len(new) and not kept.any():
        return None
    reason = f"{counted(bought, 'column')} of those drawn uniformly, in {counted(len(left), 'row')} that are left"
    i, j = (NO_INDEX, NO_INDEX) if whole else (left[p[kept]], columns[t[kept]])
    return SamplePlan(
        seen.shape,
        columns[:bought] if whole else NO_INDEX,
        NO_INDEX,
        i,
        j,
        design=ALL_UNIFORM,
        reasons=(reason if best.axis else reason.replace("column", "line").replace("row", "column"),),
        evidence=not len(i),
        forbidden=seen.forbidden,
        drawn_columns=in_turn,
    )


def _more_columns(seen: Observation, left: IndexVector, drawn: IndexVector, size: int, seed: int) -> IndexVector:
    """Columns in the order of drawing, with as many new ones as it takes to have ``size`` without gaps."""
    order = np.random.default_rng(seed).permutation(seen.shape[1])
    others = order[~np.isin(order, np.concatenate([drawn, seen.forbidden.columns]))]
    n_usable = np.count_nonzero(~Paired.of(seen, left).is_gap.any(axis=0))
    return np.concatenate([drawn, others[: max(size - n_usable, 0)]])


def _with_drawn(seen: Observation, columns: IndexVector) -> Observation:
    return seen._replaced(drawn_columns=columns)


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
