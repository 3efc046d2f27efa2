"""What to put on the next list: whole rows and columns, and scattered cells, within a budget.

How much goes to rows and columns, and which they are, follows as in :func:`curplus.acquire`; what is out counts as
asked for, like a gap. The rest of the budget buys cells drawn uniformly. Where many rows or columns show in nothing
that is known, half of the cells drawn earlier help to choose: they are no evidence of the error any more.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._arrays import index_table, is_among
from .._support.sets import NO_INDEX, is_in, union, without
from .._typing import IndexVector, Shape
from ..acquisition import Adaptive, Costs
from ..acquisition.adaptive import are_untouched
from ..acquisition.candidates import candidate_columns, candidate_rows
from ..acquisition.prices import spent
from ..acquisition.propose import Purchase
from ..observation import Observation, SamplePlan
from ..observation.forbidden import Region
from ..observation.places import still_unmeasured
from ..observation.plan import distinct_others
from .settings import list_price
from .storage import Line, positions_of

__all__ = ["Choice", "Excluded", "cells_of_lines", "next_choice"]

AT_ONCE = Adaptive(rounds=1, steering=0.0)  # a list is one round, and the cells that steer are among those known
MANY = 0.25  # of the rows or columns
NO_COUNTS = {"n_columns": None, "n_rows": None, "n_entries": None}
WHY = {"uniform": "drawn uniformly, as a start", "adaptive": "chosen because it differs most from what is known"}


class Excluded(NamedTuple):
    """What a list need not ask for, or must not."""

    cells: IndexVector  # measured, failed, out or required, ascending
    taken: IndexVector  # of these, drawn on earlier lists, or off the rows and columns that were asked for, ascending
    forbidden: Region

    def allowed(self, cells: IndexVector, shape: Shape) -> IndexVector:
        """Those cells that are not forbidden."""
        return cells[~self.forbidden.cover(cells // shape[1], cells % shape[1], shape)]


class Choice(NamedTuple):
    """What a list has."""

    lines: tuple[Line, ...]
    drawn: IndexVector = NO_INDEX  # cells, ascending; some are known, or on its rows and columns
    steering: IndexVector = NO_INDEX  # cells drawn earlier that helped to choose rows and columns, ascending

    @property
    def rows(self) -> IndexVector:
        return positions_of(self.lines, 0)

    @property
    def columns(self) -> IndexVector:
        return positions_of(self.lines, 1)


def cells_of_lines(rows: IndexVector, columns: IndexVector, shape: Shape) -> IndexVector:
    """All cells of some rows and columns, ascending."""
    n, m = shape
    return union(np.add.outer(rows * m, np.arange(m)).ravel(), np.add.outer(np.arange(n) * m, columns).ravel())


def next_choice(
    seen: Observation,
    budget: float,
    horizon: float | None,  # what the study will have spent in the end, where that is known
    costs: Costs,
    known: Excluded,
    seed: int,
    *,
    whole: bool = True,  # whether rows and columns may be asked for whole; otherwise all is spent on cells
    n_lines: tuple[int, int] | None = None,  # so many rows and columns, and no cells, whatever the budget
) -> Choice:
    """Rows, columns and cells to ask for, for at most the budget; those that are known cost nothing.

    What is out are gaps of the observation. The choice follows from the seed and from what is known.
    """
    rng = np.random.default_rng([seed, *seen.counts, len(known.cells)])
    if n_lines is not None:
        return _lines(seen, known, rng, _counts(seen, known, n_lines))
    choice = Choice(())
    if whole:
        total = budget + spent(seen, costs.of(seen.shape)).total
        choice = _lines(seen, known, rng, NO_COUNTS, budget=total, horizon=max(total, horizon or 0.0), costs=costs)
    rows, columns = choice.rows, choice.columns
    on_lines = known.allowed(without(cells_of_lines(rows, columns, seen.shape), known.cells), seen.shape)
    left = budget - list_price(rows, columns, on_lines, costs, seen.shape)
    count = math.floor(left / float(costs.entry) + 1e-9)
    return choice._replace(drawn=_cells(seen.shape, count, known, rows, columns, rng))


def _counts(seen: Observation, known: Excluded, n_lines: tuple[int, int]) -> dict[str, Any]:
    sides = (
        (seen.shape[0], seen.row_index, known.forbidden.rows),
        (seen.shape[1], seen.column_index, known.forbidden.columns),
    )
    n_rows, n_columns = (
        len(index) + min(count, size - len(np.union1d(index, forbidden)))
        for count, (size, index, forbidden) in zip(n_lines, sides, strict=True)
    )
    return {"n_columns": n_columns, "n_rows": n_rows, "n_entries": seen.n_entries + len(seen.unmeasured_i)}


def _lines(
    seen: Observation, known: Excluded, rng: np.random.Generator, counts: dict[str, Any], **spending: Any
) -> Choice:
    """Rows and columns, until a goal is reached: a budget, as far as it is for them, or a count."""
    seed, before = int(rng.integers(2**63)), seen.steering
    forbidden = {"rows": known.forbidden.rows, "columns": known.forbidden.columns}
    purchase = Purchase.of(seen, counts, forbidden=forbidden, strategy=AT_ONCE, **spending)
    lines, is_start = list[Line](), True
    while (plan := purchase.next_plan(seen, seed)) is not None and len(plan.row_index) + len(plan.column_index):
        if is_start and plan.design.rows == "adaptive":
            is_start = False
            if n_helping := _n_helping(seen):  # what is chosen with their help may be something else
                helping = rng.permutation(np.flatnonzero(~seen.steering))[:n_helping]
                seen = seen._replaced(evidence=~(seen.steering | np.isin(np.arange(seen.n_entries), helping)))
                continue
        lines += _named(plan)
        seen = _asked(seen, plan)
    return Choice(tuple(lines), steering=np.sort(seen.entries.flat_index[seen.steering & ~before]))


def _n_helping(seen: Observation) -> int:
    """How many more of the entries should help to choose.

    They do where many rows or columns show in nothing that is known. Elsewhere they are worth more as evidence.
    """
    unseen = (np.mean(are_untouched(of(seen, wanted_more=False))) for of in (candidate_columns, candidate_rows))
    if seen.design.entries != "uniform" or max(unseen) < MANY:
        return 0
    return max(0, int(Adaptive().steering * seen.n_entries) - int(np.count_nonzero(seen.steering)))


def _named(plan: SamplePlan) -> list[Line]:
    rows, columns = (
        "adaptive" if word == "adaptive" else "uniform" for word in (plan.design.rows, plan.design.columns)
    )
    return [
        *(Line(0, int(i), rows, WHY[rows]) for i in plan.row_index),
        *(Line(1, int(j), columns, WHY[columns]) for j in plan.column_index),
    ]


def _asked(seen: Observation, plan: SamplePlan) -> Observation:
    """What is known once the rows and columns of a plan are out: of these nothing, yet."""
    n, m = seen.shape
    rows = np.concatenate([seen.rows, np.full((len(plan.row_index), m), np.nan)])
    columns = np.concatenate([seen.columns, np.full((n, len(plan.column_index)), np.nan)], axis=1)
    out = seen._replaced(
        rows=rows,
        columns=columns,
        row_index=np.append(seen.row_index, plan.row_index),
        column_index=np.append(seen.column_index, plan.column_index),
        gaps=True,
    )
    return still_unmeasured(out)


def _cells(
    shape: tuple[int, int],
    count: int,
    known: Excluded,
    rows: IndexVector,
    columns: IndexVector,
    rng: np.random.Generator,
) -> IndexVector:
    """Cells drawn uniformly until ``count`` of them are neither known nor on the rows and columns of the list.

    They are drawn from the grid of rows and columns that are not forbidden; none of what is taken is drawn again.
    """
    n, m = shape
    row, column = (np.setdiff1d(np.arange(size), x) for size, x in zip(shape, known.forbidden[:2], strict=True))
    i, j = known.forbidden.cells
    closed = known.allowed(known.taken, shape), i * m + j
    taken = union(*(index_table(row, n)[x // m] * len(column) + index_table(column, m)[x % m] for x in closed))
    size = len(row) * len(column) - len(taken)
    on_row, on_column = is_among(rows, n), is_among(columns, m)
    drawn, in_grid = known.taken[:0], known.taken[:0]
    new_of_all = max(1 - len(known.cells) / (n * m), 1 / (n * m))
    n_new = 0
    while n_new < count and len(drawn) < size:
        at_once = min(math.ceil((count - n_new) / new_of_all), size - len(drawn))
        draws = rng.permutation(distinct_others(rng, len(row) * len(column), at_once, union(taken, in_grid)))
        i, j = row[draws // len(column)], column[draws % len(column)]
        is_new = ~(on_row[i] | on_column[j] | is_in(i * m + j, known.cells))
        enough = np.cumsum(is_new) <= count - n_new
        n_new += int(np.count_nonzero(is_new & enough))
        drawn, in_grid = union(drawn, (i * m + j)[enough]), union(in_grid, draws[enough])
    return drawn
