"""From a choice to a work list: which cells to measure, what each is for, and what the list costs.

Batches are for a lab that measures many cells at once; a list for the best rows has those that are left, in columns
drawn uniformly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._arrays import index_table
from .._support.sets import NO_INDEX, different, is_in, union, without
from .._typing import IndexVector, Shape
from .._validation import check_count
from ..acquisition import Costs
from ..acquisition.best_round import best_round
from ..evaluation import Best, Decision, decide
from ..exceptions import InvalidArgumentError
from ..observation import Observation, SamplePlan
from ..observation.forbidden import Region
from .ledger import Out, observation_of, on_lines, places_of
from .names import Axis, axes_of
from .next_list import Excluded, Money, cells_of_lines, next_choice
from .settings import as_costs, list_price
from .storage import (
    CELLS,
    COLUMNS,
    DRAWN,
    ON_DRAWN_COLUMN,
    ON_DRAWN_ROW,
    ON_LINE,
    ROWS,
    STEERING,
    Draft,
    Line,
    Settings,
    Snapshot,
)

__all__ = ["Batches", "Request", "check_wishes", "compared", "draft_of", "draft_of_best", "positioned"]

UNITS = ("row", "column", "cell")  # that a batch can be made of


class Wishes(NamedTuple):
    """Rows, columns and cells that a list must have, or must not."""

    rows: IndexVector = NO_INDEX
    columns: IndexVector = NO_INDEX
    cells: IndexVector = NO_INDEX

    def region(self, shape: Shape) -> Region:
        """The same places, cells as pairs of positions."""
        i, j = np.divmod(self.cells, shape[1])
        return Region(self.rows, self.columns, (i, j))

    def listed(self) -> IndexVector:
        """The same places, one after the other: kind and position, shape (k, 2)."""
        kinds = np.repeat([ROWS, COLUMNS, CELLS], [len(positions) for positions in self])
        return np.stack([kinds, np.concatenate(self)], axis=1)

    def all_cells(self, shape: Shape) -> IndexVector:
        """All cells that these are, ascending."""
        return union(cells_of_lines(self.rows, self.columns, shape), self.cells)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The rows and columns, as parts of a list."""
        parts = ((0, self.rows), (1, self.columns))
        return tuple(Line(axis, int(k), "given", "required") for axis, positions in parts for k in positions)


def check_wishes(wishes: Any, rows: Axis, columns: Axis, *, name: str) -> Wishes:
    """Wishes by name: a mapping with rows, columns and cells; the last are pairs or a table with row and column."""
    if wishes is None:
        return Wishes()
    if not isinstance(wishes, Mapping) or not set(wishes) <= {"rows", "columns", "cells"}:
        raise InvalidArgumentError(
            f"{name}={wishes!r} is not understood. Give a dictionary with rows= and columns= (names) and cells= (pairs "
            "of a row and a column)."
        )
    some_rows = rows.positions_of([] if wishes.get("rows") is None else wishes["rows"])
    some_columns = columns.positions_of([] if wishes.get("columns") is None else wishes["columns"])
    pairs: Any = [] if wishes.get("cells") is None else wishes["cells"]
    listed = zip(pairs["row"], pairs["column"], strict=True) if hasattr(pairs, "columns") else pairs
    first, second = _split(listed, name)
    cells = different(rows.positions_of(first) * columns.size + columns.positions_of(second))
    return Wishes(some_rows, some_columns, cells)


def _split(pairs: Iterable[Any], name: str) -> tuple[list[Any], list[Any]]:
    listed = [tuple(pair) for pair in pairs]
    if any(len(pair) != 2 for pair in listed):
        raise InvalidArgumentError(f"{name}: cells are pairs of a row and a column. Give [(row, column), ...].")
    return [pair[0] for pair in listed], [pair[1] for pair in listed]


class Request(NamedTuple):
    """What is asked for."""

    budget: float
    seed: int = 0
    required: Any = None  # by name, see Study.ask
    forbidden: Any = None
    whole: bool = True  # whether there may be rows and columns that nobody requires
    horizon: float | None = None  # what the study will have spent in the end, if that is not its budget
    batches: Batches | None = None
    best: Best | None = None  # by name
    n_lines: tuple[int, int] | None = None  # so many whole rows and columns besides those required, and no cells


def draft_of(snapshot: Snapshot, request: Request) -> Draft:
    """A list for at most the budget. Rows and columns that are retired are forbidden."""
    axes = axes_of(snapshot.settings)
    required, forbidden = (
        check_wishes(wishes, *axes, name=name)
        for wishes, name in ((request.required, "required"), (request.forbidden, "forbidden"))
    )
    if request.batches is not None:
        return request.batches.draft(snapshot, request, required, forbidden)
    return _draft_of(snapshot, request, required, forbidden)


def _draft_of(snapshot: Snapshot, request: Request, required: Wishes, forbidden: Wishes) -> Draft:
    settings, seed = snapshot.settings, request.seed
    forbidden = _with_retired(forbidden, settings)
    shape, costs = settings.shape, as_costs(settings.costs)
    places = places_of(snapshot, settings, "all")
    done = union(places.cells, places.failed, places.bounded, snapshot.pending)
    must = without(required.all_cells(shape), done)
    cost = list_price(required.rows, required.columns, must, costs, shape)
    if cost > request.budget:
        raise InvalidArgumentError(
            f"what is required costs {cost:,.6g}, and the budget of the list is {request.budget:,.6g}. Give more, or "
            "require less."
        )
    out = Out(union(snapshot.pending, must), (*snapshot.pending_lines, *required.lines))
    cells, drawn = union(done, must), snapshot.asked.of_role(DRAWN, STEERING)
    off_lines = cells[~on_lines(cells, (*snapshot.lines, *out.lines), shape)]
    known = Excluded(cells, union(off_lines, drawn[is_in(drawn, done)]), forbidden.region(shape))
    money = Money(request.budget - cost, settings.budget if request.horizon is None else request.horizon, costs)
    seen = observation_of(snapshot, settings, "all", out)
    choice = next_choice(seen, money, known, seed, whole=request.whole, n_lines=request.n_lines)
    on_list = without(union(cells_of_lines(choice.rows, choice.columns, shape), choice.drawn), done)
    to_measure = union(known.allowed(on_list, shape), must)
    shuffled = np.random.default_rng([seed, snapshot.last_list, len(to_measure)]).permutation(choice.drawn)
    rows, columns = np.append(choice.rows, required.rows), np.append(choice.columns, required.columns)
    others = without(union(to_measure, choice.steering), choice.drawn)
    cells = np.concatenate([shuffled, _line_by_line(others, rows, shape)])
    roles = np.where(is_in(cells, choice.steering), STEERING, ON_LINE).astype(np.int64)
    roles[: len(shuffled)] = DRAWN
    return Draft(
        budget=request.budget,
        price=list_price(rows, columns, to_measure, costs, shape),
        lines=(*choice.lines, *required.lines),
        cells=cells,
        roles=roles,
        is_known=~is_in(cells, to_measure),
        forbidden=forbidden.listed(),
        after_list=snapshot.last_list,
        after_change=snapshot.last_change,
    )


def _with_retired(forbidden: Wishes, settings: Settings) -> Wishes:
    """What is forbidden, and rows and columns that are not asked for any more."""
    rows, columns = (
        union(different(given), np.asarray(sorted(retired), dtype=np.int64))
        for given, retired in ((forbidden.rows, settings.retired_rows), (forbidden.columns, settings.retired_columns))
    )
    return forbidden._replace(rows=rows, columns=columns)


def _line_by_line(cells: IndexVector, rows: IndexVector, shape: Shape) -> IndexVector:
    """Row after row, and then column after column, so that what came back in part are whole ones."""
    i, j = np.divmod(cells, shape[1])
    on_row = np.isin(i, rows)
    ordered: IndexVector = cells[np.lexsort((np.where(on_row, j, i), np.where(on_row, i, j), ~on_row))]
    return ordered


# -- batches ----------------------------------------------------------------------------------------------------------


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

    def draft(self, snapshot: Snapshot, request: Request, required: Wishes, forbidden: Wishes) -> Draft:
        """A list of as many batches as the budget buys; the last may be short where no more is left."""
        budget, of_cells = request.budget, self.unit == "cell"
        n_batches = math.floor(budget / self.price + 1e-9)
        if not n_batches:
            raise InvalidArgumentError(f"a batch costs {self.price:,.6g}, and the budget is {budget:,.6g}. Give more.")
        count, end = n_batches * self.size, snapshot.settings.budget
        in_cells = snapshot._replace(settings=snapshot.settings._replace(costs=None))
        if of_cells:
            horizon = None if end is None else end / self.price * self.size
            request = request._replace(budget=float(count), horizon=horizon)
        else:
            n_lines = (count, 0) if self.unit == "row" else (0, count)
            request = request._replace(budget=float(math.prod(snapshot.settings.shape)), n_lines=n_lines)
        draft = _draft_of(in_cells, request, required, forbidden)
        lines = [line for line in draft.lines if line.axis == UNITS.index(self.unit)]
        n_used = np.count_nonzero(~draft.is_known) if of_cells else len(lines)
        return draft._replace(budget=budget, price=math.ceil(n_used / self.size) * self.price)


def _price_of_one(unit: str, settings: Settings) -> float:
    """Price of a cell, or of a whole row or column; the highest, if they differ."""
    n, m = settings.shape
    costs = as_costs(settings.costs)
    if unit == "cell":
        return float(costs.entry)
    own, length = (costs.row, m) if unit == "row" else (costs.column, n)
    return length * float(costs.entry) if own is None else float(np.max(own))


# -- the best rows, or columns ----------------------------------------------------------------------------------------


def positioned(best: Best, axes: tuple[Axis, Axis]) -> Best:
    """The same goal with positions in place of names."""
    return best if best.among is None else replace(best, among=axes[1 - best.axis].positions_of(best.among).tolist())


def compared(snapshot: Snapshot, forbidden: Wishes | None = None) -> Observation:
    """What is known for a comparison, in which rows and columns that are retired or forbidden take no part."""
    settings = snapshot.settings
    never = _with_retired(Wishes() if forbidden is None else forbidden, settings)
    if len(never.cells):
        raise InvalidArgumentError(
            "with a goal, whole rows and columns can be forbidden, and not cells. Leave them out."
        )
    region = never.region(settings.shape)
    return observation_of(snapshot, settings, settings.records)._replaced(forbidden=region)


def draft_of_best(snapshot: Snapshot, request: Request) -> Draft | Decision:
    """A list of the rows that are left, all of whose budget is spent; what is decided if it buys nothing more.

    Cells that are out are not asked for again. Of each column that is drawn a cell is on the list, known or not: the
    list keeps the order of drawing.
    """
    assert request.best is not None
    settings, axes = snapshot.settings, axes_of(snapshot.settings)
    best, forbidden = positioned(request.best, axes), check_wishes(request.forbidden, *axes, name="forbidden")
    shape, costs = settings.shape, as_costs(settings.costs)
    seen = compared(snapshot, forbidden)
    plan = best_round(seen, best, request.budget, Costs(entry=costs.entry).of(shape), request.seed, at_once=True)
    if plan is None:
        return decide(seen, best)
    cells, role = _cells_in_turn(seen, plan, best)
    places = places_of(snapshot, settings, settings.records)
    is_known = is_in(cells, union(places.cells, places.failed, snapshot.pending))
    nothing = cells[:0]
    return Draft(
        budget=request.budget,
        price=list_price(nothing, nothing, np.sort(cells[~is_known]), costs, shape),
        lines=(),
        cells=cells,
        roles=np.full(len(cells), role),
        is_known=is_known,
        forbidden=_with_retired(forbidden, settings).listed(),
        after_list=snapshot.last_list,
        after_change=snapshot.last_change,
    )


def _cells_in_turn(seen: Observation, plan: SamplePlan, best: Best) -> tuple[IndexVector, int]:
    """The cells of a plan, column after column as they were drawn (or row after row), and their role."""
    m, on_columns = seen.shape[1], best.axis == 1
    cells = union(plan.i * m + plan.j, cells_of_lines(plan.row_index, plan.column_index, seen.shape))
    in_turn = plan.drawn_columns if on_columns else plan.drawn_rows
    if len(plan.i):
        cells = union(cells, plan.i[0] * m + in_turn if on_columns else in_turn * m + plan.j[0])
    i, j = np.divmod(cells, m)
    along, across = (j, i) if on_columns else (i, j)
    order = np.lexsort((across, index_table(in_turn, max(seen.shape))[along]))
    return cells[order], ON_DRAWN_COLUMN if on_columns else ON_DRAWN_ROW
