"""From a plan to a work list: which cells to measure, what each is for, and what the list costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .._typing import IndexVector, Shape
from ..exceptions import InvalidArgumentError
from ..observation import SamplePlan
from .cells import different, is_in, union, without
from .ledger import observation_of, places_of
from .money import Prices
from .names import Axis
from .next_list import Known, next_plan
from .storage import DRAWN, ON_LINE, Draft, Line, Settings, Snapshot

__all__ = ["Context", "Wishes", "check_wishes", "draft_of"]

NO_INDEX: IndexVector = np.empty(0, dtype=np.int64)


class Wishes(NamedTuple):
    """Rows, columns and cells that a list must have, or must not."""

    rows: IndexVector = NO_INDEX
    columns: IndexVector = NO_INDEX
    cells: IndexVector = NO_INDEX

    def all_cells(self, shape: Shape) -> IndexVector:
        """All cells that these are, ascending."""
        return union(_cells_of(self.rows, self.columns, shape), self.cells)


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


class Context(NamedTuple):
    """What a list is drafted from."""

    settings: Settings
    snapshot: Snapshot
    pending: IndexVector  # cells that are out, ascending
    pending_lines: tuple[Line, ...]


def draft_of(
    context: Context, budget: float, required: Wishes, forbidden: Wishes, seed: int, *, whole: bool = True, **about: Any
) -> Draft:
    """A list for at most ``budget``; ``whole`` says whether it may have rows and columns that nobody requires."""
    settings, snapshot = context.settings, context.snapshot
    shape = settings.shape
    places = places_of(snapshot, settings, "all")
    done = union(places.cells, places.failed, context.pending)
    prices = Prices.of(settings.costs, shape).without(done)
    must = _required_cells(required, done, shape)
    cost = _price(required.rows, required.columns, must, prices, shape)
    if cost > budget:
        raise InvalidArgumentError(
            f"what is required costs {cost:,.6g}, and the budget of the list is {budget:,.6g}. Give more, or "
            "require less."
        )
    observation = observation_of(snapshot, settings, "all")
    banned, drawn = forbidden.all_cells(shape), union(snapshot.drawn, snapshot.steering)
    known = Known(
        cells=union(done, must),
        drawn=drawn[is_in(drawn, done)],
        forbidden=banned,
        rows=_taken(context, 0, observation.row_index, required.rows),
        columns=_taken(context, 1, observation.column_index, required.columns),
        forbidden_rows=forbidden.rows,
        forbidden_columns=forbidden.columns,
    )
    plan = next_plan(observation, budget - cost, prices, known, seed, whole=whole)
    return _draft(plan, required, must, done, banned, prices, budget=budget, after_list=snapshot.last_list, **about)


def _required_cells(required: Wishes, done: IndexVector, shape: Shape) -> IndexVector:
    return without(required.all_cells(shape), done)


def _taken(context: Context, axis: int, *others: IndexVector) -> IndexVector:
    out = [line.position for line in context.pending_lines if line.axis == axis]
    return different(np.concatenate([np.asarray(out, dtype=np.int64), *others]))


def _price(rows: IndexVector, columns: IndexVector, cells: IndexVector, prices: Prices, shape: Shape) -> float:
    """Price of a list: of its cells, or of whole rows and columns and the other cells."""
    if prices.by_cell:
        return len(cells) * prices.entry
    single = without(cells, _cells_of(rows, columns, shape))
    return float(np.sum(prices.row[rows]) + np.sum(prices.column[columns]) + len(single) * prices.entry)


def _cells_of(rows: IndexVector, columns: IndexVector, shape: Shape) -> IndexVector:
    """All cells of some rows and columns, ascending."""
    n, m = shape
    return union(np.add.outer(rows * m, np.arange(m)).ravel(), np.add.outer(np.arange(n) * m, columns).ravel())


def _draft(
    plan: SamplePlan,
    required: Wishes,
    must: IndexVector,
    done: IndexVector,
    banned: IndexVector,
    prices: Prices,
    **about: Any,
) -> Draft:
    drawn = different(plan.i * plan.shape[1] + plan.j)
    rows, columns = np.append(plan.row_index, required.rows), np.append(plan.column_index, required.columns)
    to_measure = without(union(_cells_of(rows, columns, plan.shape), drawn, must), done)
    to_measure = without(to_measure, without(banned, must))
    cells = union(to_measure, drawn)
    lines = (
        *(Line(0, int(i), plan.design.rows, plan.reasons[0] if plan.reasons else "") for i in plan.row_index),
        *(Line(1, int(j), plan.design.columns, plan.reasons[0] if plan.reasons else "") for j in plan.column_index),
        *(Line(0, int(i), "given", "required") for i in required.rows),
        *(Line(1, int(j), "given", "required") for j in required.columns),
    )
    return Draft(
        price=_price(rows, columns, to_measure, prices, plan.shape),
        lines=lines,
        cells=cells,
        roles=np.where(is_in(cells, drawn), DRAWN, ON_LINE).astype(np.int64),
        is_known=~is_in(cells, to_measure),
        **about,
    )
