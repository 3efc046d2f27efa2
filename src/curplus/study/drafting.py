"""From a choice to a work list: which cells to measure, what each is for, and what the list costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .._sets import NO_INDEX, different, is_in, union, without
from .._typing import IndexVector, Shape
from ..acquisition import Costs
from ..exceptions import InvalidArgumentError
from .cells import cells_of_lines
from .ledger import Out, observation_of, places_of
from .money import as_costs, list_price
from .names import Axis
from .next_list import Choice, Known, Money, next_choice
from .storage import DRAWN, ON_LINE, STEERING, Draft, Line, Settings, Snapshot

__all__ = ["Context", "Wishes", "check_wishes", "draft_of"]


class Wishes(NamedTuple):
    """Rows, columns and cells that a list must have, or must not."""

    rows: IndexVector = NO_INDEX
    columns: IndexVector = NO_INDEX
    cells: IndexVector = NO_INDEX

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


class Context(NamedTuple):
    """What a list is drafted from."""

    settings: Settings
    snapshot: Snapshot
    pending: IndexVector  # cells that are out, ascending
    pending_lines: tuple[Line, ...]


def draft_of(
    context: Context,
    budget: float,
    required: Wishes,
    forbidden: Wishes,
    seed: int,
    *,
    whole: bool = True,
    horizon: float | None = None,
    **about: Any,
) -> Draft:
    """A list for at most ``budget``; ``whole`` says whether it may have rows and columns that nobody requires."""
    settings, snapshot = context.settings, context.snapshot
    shape, costs = settings.shape, as_costs(settings.costs)
    places = places_of(snapshot, settings, "all")
    done = union(places.cells, places.failed, context.pending)
    must = without(required.all_cells(shape), done)
    cost = list_price(required.rows, required.columns, must, costs, shape)
    if cost > budget:
        raise InvalidArgumentError(
            f"what is required costs {cost:,.6g}, and the budget of the list is {budget:,.6g}. Give more, or "
            "require less."
        )
    out = Out(union(context.pending, must), (*context.pending_lines, *required.lines))
    banned, drawn = forbidden.all_cells(shape), union(snapshot.drawn, snapshot.steering)
    known = Known(
        cells=union(done, must),
        drawn=drawn[is_in(drawn, done)],
        forbidden=banned,
        forbidden_rows=forbidden.rows,
        forbidden_columns=forbidden.columns,
    )
    money = Money(budget - cost, settings.budget if horizon is None else horizon, costs)
    choice = next_choice(observation_of(snapshot, settings, "all", out), money, known, seed, whole=whole)
    to_measure = without(union(cells_of_lines(choice.rows, choice.columns, shape), choice.drawn), union(done, banned))
    cells = union(to_measure, must)
    return _draft(choice, required, cells, costs, shape, budget=budget, after_list=snapshot.last_list, **about)


def _draft(
    choice: Choice, required: Wishes, to_measure: IndexVector, costs: Costs, shape: Shape, **about: Any
) -> Draft:
    rows, columns = np.append(choice.rows, required.rows), np.append(choice.columns, required.columns)
    cells = union(to_measure, choice.drawn, choice.steering)
    roles = np.where(is_in(cells, choice.drawn), DRAWN, np.where(is_in(cells, choice.steering), STEERING, ON_LINE))
    return Draft(
        price=list_price(rows, columns, to_measure, costs, shape),
        lines=(*choice.lines, *required.lines),
        cells=cells,
        roles=roles.astype(np.int64),
        is_known=~is_in(cells, to_measure),
        **about,
    )
