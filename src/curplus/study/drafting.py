"""From a choice to a work list: which cells to measure, what each is for, and what the list costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .._sets import NO_INDEX, different, is_in, union, without
from .._typing import IndexVector, Shape
from ..acquisition import Costs
from ..exceptions import InvalidArgumentError
from ..observation.forbidden import Region
from .ledger import Out, observation_of, on_lines, places_of
from .names import Axis
from .next_list import Choice, Known, Money, cells_of_lines, next_choice
from .settings import as_costs, list_price
from .storage import CELLS, COLUMNS, DRAWN, ON_LINE, ROWS, STEERING, Draft, Line, Settings, Snapshot

__all__ = ["Wishes", "check_wishes", "draft_of", "with_retired"]


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


def draft_of(
    snapshot: Snapshot,
    budget: float,
    required: Wishes,
    forbidden: Wishes,
    seed: int,
    *,
    whole: bool = True,
    horizon: float | None = None,
    n_lines: tuple[int, int] | None = None,
    **about: Any,
) -> Draft:
    """A list for at most ``budget``; ``whole`` says whether it may have rows and columns that nobody requires.

    With ``n_lines`` it has so many whole rows and columns besides those required, and no single cells. Rows and
    columns that are retired are forbidden.
    """
    settings = snapshot.settings
    forbidden = with_retired(forbidden, settings)
    shape, costs = settings.shape, as_costs(settings.costs)
    places = places_of(snapshot, settings, "all")
    done = union(places.cells, places.failed, places.bounded, snapshot.pending)
    must = without(required.all_cells(shape), done)
    cost = list_price(required.rows, required.columns, must, costs, shape)
    if cost > budget:
        raise InvalidArgumentError(
            f"what is required costs {cost:,.6g}, and the budget of the list is {budget:,.6g}. Give more, or "
            "require less."
        )
    out = Out(union(snapshot.pending, must), (*snapshot.pending_lines, *required.lines))
    cells, drawn = union(done, must), snapshot.asked.of_role(DRAWN, STEERING)
    off_lines = cells[~on_lines(cells, (*snapshot.lines, *out.lines), shape)]
    known = Known(cells, union(off_lines, drawn[is_in(drawn, done)]), forbidden.region(shape))
    money = Money(budget - cost, settings.budget if horizon is None else horizon, costs)
    choice = next_choice(
        observation_of(snapshot, settings, "all", out), money, known, seed, whole=whole, n_lines=n_lines
    )
    on_list = without(union(cells_of_lines(choice.rows, choice.columns, shape), choice.drawn), done)
    to_measure = union(known.allowed(on_list, shape), must)
    shuffled = np.random.default_rng([seed, snapshot.last_list, len(to_measure)]).permutation(choice.drawn)
    about |= {"budget": budget, "after_list": snapshot.last_list, "after_change": snapshot.last_change}
    about |= {"forbidden": forbidden.listed()}
    return _draft(choice._replace(drawn=shuffled), required, to_measure, costs, shape, **about)


def with_retired(forbidden: Wishes, settings: Settings) -> Wishes:
    """What is forbidden, and rows and columns that are not asked for any more."""
    rows, columns = (
        union(different(given), np.asarray(sorted(retired), dtype=np.int64))
        for given, retired in ((forbidden.rows, settings.retired_rows), (forbidden.columns, settings.retired_columns))
    )
    return forbidden._replace(rows=rows, columns=columns)


def _draft(
    choice: Choice, required: Wishes, to_measure: IndexVector, costs: Costs, shape: Shape, **about: Any
) -> Draft:
    rows, columns = np.append(choice.rows, required.rows), np.append(choice.columns, required.columns)
    others = without(union(to_measure, choice.steering), np.sort(choice.drawn))
    cells = np.concatenate([choice.drawn, _line_by_line(others, rows, shape)])
    roles = np.where(is_in(cells, choice.steering), STEERING, ON_LINE)
    roles[: len(choice.drawn)] = DRAWN
    return Draft(
        price=list_price(rows, columns, to_measure, costs, shape),
        lines=(*choice.lines, *required.lines),
        cells=cells,
        roles=roles.astype(np.int64),
        is_known=~is_in(cells, to_measure),
        **about,
    )


def _line_by_line(cells: IndexVector, rows: IndexVector, shape: Shape) -> IndexVector:
    """Row after row, and then column after column, so that what came back in part are whole ones."""
    i, j = np.divmod(cells, shape[1])
    on_row = np.isin(i, rows)
    ordered: IndexVector = cells[np.lexsort((np.where(on_row, j, i), np.where(on_row, i, j), ~on_row))]
    return ordered
