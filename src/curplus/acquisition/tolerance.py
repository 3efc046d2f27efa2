r"""Reading until the error is small enough: crosses through the places that are explained worst.

Each look draws fresh entries, and measures the error of the cross of the rows and columns read before there
(:mod:`.look`). If it is not small enough, a quarter more are read: rows through entries drawn by their squared errors,
and columns where these rows, once read, are explained worst. If only evidence is missing, only entries are read.
Entries of a look help to choose afterwards, and are no evidence any more.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._arrays import adjoint, double, take
from .._support.sets import NO_INDEX
from .._typing import IndexVector, Shape
from ..evaluation.residual import zero_at_gaps
from ..observation import Observation, SamplePlan
from ..observation.plan import ALL_UNIFORM, CHOSEN_ROWS_AND_COLUMNS, distinct_others
from .budget import check_budget
from .candidates import scaled
from .goals import Rounds
from .look import FIRST_LOOK, Look, look
from .open_grid import OpenGrid
from .prices import Prices, spent
from .score import ResidualColumns, weighted_draw

__all__ = ["Allowance", "rounds_to_tolerance"]

# more rows and columns after each look; half of it below twice the tolerance (benchmarks/tolerance.py: 3 to 12 %)
MORE_CROSSES = 0.25
NAMED = 20  # entries that are drawn for each row, as many are in the same rows


class Allowance(NamedTuple):
    """A budget for reading to a tolerance; without one, everything may be read."""

    money: float
    prices: Prices
    symmetric: bool

    @classmethod
    def of(cls, budget: Any, costs: Any, shape: Shape, symmetric: bool) -> Allowance:
        """The budget in its units; None is one without an end."""
        money, prices = check_budget(1.0 if budget is None else budget, costs, shape)
        return cls(math.inf if budget is None else money, prices, symmetric)

    def left(self, seen: Observation) -> float:
        """The rest of it."""
        return self.money - spent(seen, self.prices, symmetric=self.symmetric).total

    def entries(self, seen: Observation) -> int:
        """How many more entries can be paid for."""
        return int(min(self.left(seen) / float(np.max(self.prices.entry)), seen.shape[0] * seen.shape[1]))

    def crosses(self, seen: Observation) -> int:
        """How many more rows and columns of each kind can be paid for, with a look at them."""
        dearest = float(np.max(self.prices.columns)) + (0.0 if self.symmetric else float(np.max(self.prices.rows)))
        for_a_look = FIRST_LOOK * float(np.max(self.prices.entry))
        return int(min(max(self.left(seen) - for_a_look, 0.0) / dearest, *seen.shape))


def rounds_to_tolerance(seen: Observation, tol: float, allowance: Allowance, *, seed: int) -> Rounds:
    """Looks, and crosses at the largest errors of the last look, until the error is small enough."""
    if seen.design.entries != "uniform" or seen.probabilities is not None:  # entries of ``start`` are no evidence
        seen = seen._replaced(evidence=np.zeros(seen.n_entries, dtype=bool))
    wanted, number = FIRST_LOOK, 1
    while True:
        rng = np.random.default_rng([seed, *seen.counts])
        affordable = min(wanted, allowance.entries(seen))
        plan = fresh_entries(seen, affordable, rng)
        seen = yield plan, seen
        if len(plan.i) < affordable or seen.n_rows == seen.shape[0] or seen.n_columns == seen.shape[1]:
            return seen.noted("stopped, as everything is read")
        found = look(seen, tol, number)
        if found.bound <= tol:
            return seen.noted(f"stopped at the tolerance {tol:g}: {found.summary}")
        if needs_entries := found.error <= tol and found.lacks_entries:
            wanted, most = max(2 * wanted, found.enough), allowance.entries(seen)
        else:
            growth = MORE_CROSSES if found.error > 2 * tol else MORE_CROSSES / 2
            most = min(allowance.crosses(seen), max(1, math.ceil(growth * seen.n_rows), 2 - seen.n_rows))
            wanted = min(2 * wanted, found.enough)
        if most < 1:
            return seen.noted(f"stopped before the tolerance {tol:g}, as the budget is spent: {found.summary}")
        seen = found.steering
        if not needs_entries:
            seen = yield from _more_crosses(found, most, allowance.symmetric, rng)
        number += found.size >= found.enough


def _more_crosses(found: Look, most: int, symmetric: bool, rng: np.random.Generator) -> Rounds:
    """Rows through large errors, then columns where these rows have them; of a symmetric matrix only columns."""
    rows = more_rows(found, most, rng)
    if symmetric:
        seen = yield _plan(found.steering, columns=rows), found.steering
        return seen
    seen = yield _plan(found.steering, rows=rows), found.steering
    seen = yield _plan(seen, columns=more_columns(found, seen, rows, most)), seen
    return seen


def _plan(seen: Observation, *, rows: IndexVector = NO_INDEX, columns: IndexVector = NO_INDEX) -> SamplePlan:
    what = f"{len(rows)} rows" if len(rows) else f"{len(columns)} columns"
    reason = f"{what} through the largest errors of the last look"
    return SamplePlan(seen.shape, columns, rows, NO_INDEX, NO_INDEX, design=CHOSEN_ROWS_AND_COLUMNS, reasons=(reason,))


def fresh_entries(seen: Observation, wanted: int, rng: np.random.Generator) -> SamplePlan:
    """Entries for the next look, uniformly from all positions of which none is known as an entry."""
    grid = OpenGrid.of(seen)
    i, j = grid.draw(min(wanted, grid.n_left), rng)
    reason = f"{len(i)} entries drawn uniformly, to judge"
    return SamplePlan(seen.shape, NO_INDEX, NO_INDEX, i, j, design=ALL_UNIFORM, reasons=(reason,))


def more_rows(found: Look, most: int, rng: np.random.Generator) -> IndexVector:
    """Rows through entries that are explained badly; entries on known rows and columns have no error."""
    seen = found.steering
    count = min(most, seen.shape[0] - seen.n_rows)
    places = min(NAMED * count, int(np.count_nonzero(found.errors)))
    named = seen.i[weighted_draw(found.errors**2, places, rng)]
    _, first = np.unique(named, return_index=True)
    rows = named[np.sort(first)][:count]
    others = distinct_others(rng, seen.shape[0], count - len(rows), np.union1d(seen.row_index, rows))
    return np.concatenate([rows, others]).astype(np.int64)


def more_columns(found: Look, seen: Observation, new_rows: IndexVector, most: int) -> IndexVector:
    """Columns where the new rows, once they are read, are explained worst."""
    where = np.flatnonzero(np.isin(seen.row_index, new_rows))
    errors, cross = double(take(seen.rows, where, axis=0)), found.cross
    if cross is not None:
        errors = errors - cross.combined(take(cross.left, seen.row_index[where], axis=0)) @ adjoint(cross.right)
    errors = errors if seen.known_rows is None else zero_at_gaps(errors, take(seen.known_rows, where, axis=0))
    residual = ResidualColumns(scaled(errors), excluded=seen.column_index)
    return np.asarray(residual.pick(min(len(new_rows), most), residual.norms), dtype=np.int64)
