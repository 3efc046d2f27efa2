"""From a choice to a work list: which cells to measure, what each is for, and what the list costs.

Batches are for a lab that measures many cells at once; a list for the best rows has those that are left, in columns
drawn uniformly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._arrays import index_table
from .._support.sets import is_in, union, without
from .._typing import IndexVector, Shape
from .._validation import check_count
from ..acquisition import Costs
from ..acquisition.best_round import best_round
from ..evaluation import Best, Decision, decide
from ..exceptions import InvalidArgumentError, StudyError
from ..observation import Observation, SamplePlan
from ..observation.forbidden import Region
from .ledger import Out, observation_of, on_lines, places_of
from .names import Axis
from .next_list import Choice, Excluded, cells_of_lines, next_choice
from .settings import check_left, list_price
from .storage import Asker, Draft, Line, ListInfo, Role, Settings, Snapshot, kept_cells, user_of
from .worklist import Worklist, worklist_of

if TYPE_CHECKING:
    from .answers import Answers

__all__ = ["Batches", "Request", "check_wishes", "compared", "draft_of", "listed", "new_list", "positioned"]

ATTEMPTS = 50  # to keep a list, while others keep theirs

UNITS = ("row", "column", "cell")  # that a batch can be made of


def check_wishes(wishes: Any, axes: tuple[Axis, Axis], *, name: str) -> Region:
    """Wishes by name: a mapping with rows, columns and cells; the last are pairs or a table with row and column."""
    wishes = {} if wishes is None else wishes
    if not isinstance(wishes, Mapping) or not set(wishes) <= {"rows", "columns", "cells"}:
        raise InvalidArgumentError(
            f"{name}={wishes!r} is not understood. Give a dictionary with rows= and columns= (names) and cells= (pairs "
            "of a row and a column)."
        )
    given: dict[str, Any] = {key: value for key, value in wishes.items() if value is not None}
    rows, columns = (axis.positions_of(given.get(f"{axis.what}s", [])) for axis in axes)
    pairs = given.get("cells", [])
    listed = [*map(tuple, zip(pairs["row"], pairs["column"], strict=True) if hasattr(pairs, "columns") else pairs)]
    if any(len(pair) != 2 for pair in listed):
        raise InvalidArgumentError(f"{name}: cells are pairs of a row and a column. Give [(row, column), ...].")
    i, j = (axis.positions_of([pair[k] for pair in listed]) for k, axis in enumerate(axes))
    return Region().union(Region(rows, columns, (i, j)), (axes[0].size, axes[1].size))


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


def new_list(
    study: Answers, request: Request, *, purpose: str = "list", who: str | None = None, timeout: Any = None
) -> Worklist:
    """Draft a list of what is known, and keep it; again, if others kept theirs in the meantime."""
    storage, asker = study._storage, Asker(user_of(who), purpose, _seconds(timeout))
    check_left(study.settings.budget, storage.summary(), request.budget)
    for _ in range(ATTEMPTS):
        snapshot = storage.snapshot()
        draft = draft_of(snapshot, request)
        if isinstance(draft, Decision):
            if draft.looks:
                study._remember(snapshot, draft)
            raise InvalidArgumentError(
                f"a budget of {request.budget:,.6g} buys nothing more: {draft.reason}. Give more, or stop."
            )
        if draft.is_known.all():
            raise InvalidArgumentError(
                f"a budget of {request.budget:,.6g} buys no cell that is not known, out or forbidden. Give more, or "
                "stop."
            )
        if (info := storage.add_list(draft, asker)) is not None:
            return listed(draft, snapshot.settings, info)
    raise StudyError(f"others asked for {ATTEMPTS} lists in the meantime. Try again.")


def listed(draft: Draft, settings: Settings, info: ListInfo | None = None) -> Worklist:
    """What a draft asks for, by name; without a number, if it is not kept."""
    cells = draft.cells[~draft.is_known]
    kept = info or ListInfo(0, datetime.now(UTC), "", "", draft.budget, draft.price, len(cells), 0, None)
    return worklist_of(kept, draft.lines, kept_cells(cells, settings.shape[1]), settings.axes)


def _seconds(timeout: Any) -> float | None:
    if timeout is None:
        return None
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
    if not isinstance(seconds, (int, float)) or isinstance(seconds, bool) or not 0 < seconds < 1e10:
        raise InvalidArgumentError(f"timeout={timeout!r} is no time. Give a number of seconds, or a timedelta.")
    return float(seconds)


def draft_of(snapshot: Snapshot, request: Request) -> Draft | Decision:
    """A list for at most the budget; for the best rows what is decided, if the budget buys nothing more."""
    axes = snapshot.settings.axes
    required, forbidden = (check_wishes(getattr(request, name), axes, name=name) for name in ("required", "forbidden"))
    for what, axis, a, b in zip(("row", "column"), axes, required[:2], forbidden[:2], strict=True):
        if len(both := np.intersect1d(a, b)):
            raise InvalidArgumentError(
                f"{what} {axis.labels(both[:1])[0]!r} is required and forbidden. Take it out of one of them."
            )
    forbidden = _with_retired(forbidden, snapshot.settings)
    if request.best is not None:
        return _draft_of_best(snapshot, request, request.best, forbidden)
    if request.batches is not None:
        return request.batches.draft(snapshot, request, required, forbidden)
    return _draft_of(snapshot, request, required, forbidden)


def _draft_of(snapshot: Snapshot, request: Request, required: Region, forbidden: Region) -> Draft:
    settings, shape, costs = snapshot.settings, snapshot.settings.shape, snapshot.settings.prices
    places = places_of(snapshot, "all")
    done = union(places.cells, places.failed, places.bounded, snapshot.pending)
    lines = tuple(Line(axis, int(k), "given", "required") for axis in (0, 1) for k in required[axis])
    i, j = required.cells
    must = without(union(cells_of_lines(required.rows, required.columns, shape), i * shape[1] + j), done)
    cost = list_price(required.rows, required.columns, must, costs, shape)
    if cost > request.budget:
        raise InvalidArgumentError(
            f"what is required costs {cost:,.6g}, and the budget of the list is {request.budget:,.6g}. Give more, or "
            "require less."
        )
    out = Out(union(snapshot.pending, must), (*snapshot.pending_lines, *lines))
    cells, drawn = union(done, must), snapshot.asked.of_role(Role.DRAWN, Role.STEERING)
    off_lines = cells[~on_lines(cells, (*snapshot.lines, *out.lines), shape)]
    known = Excluded(cells, union(off_lines, drawn[is_in(drawn, done)]), forbidden)
    choice = next_choice(
        observation_of(snapshot, "all", out),
        request.budget - cost,
        settings.budget if request.horizon is None else request.horizon,
        costs,
        known,
        request.seed,
        whole=request.whole,
        n_lines=request.n_lines,
    )
    on_list = without(union(cells_of_lines(choice.rows, choice.columns, shape), choice.drawn), done)
    to_measure = union(known.allowed(on_list, shape), must)
    rows, columns = np.append(choice.rows, required.rows), np.append(choice.columns, required.columns)
    rng = np.random.default_rng([request.seed, snapshot.last_list, len(to_measure)])
    cells, roles = _handed_out(choice, to_measure, rows, shape, rng)
    return Draft(
        budget=request.budget,
        price=list_price(rows, columns, to_measure, costs, shape),
        lines=(*choice.lines, *lines),
        cells=cells,
        roles=roles,
        is_known=~is_in(cells, to_measure),
        forbidden=forbidden,
        after=(snapshot.last_list, snapshot.last_change),
    )


def _with_retired(forbidden: Region, settings: Settings) -> Region:
    """What is forbidden, and rows and columns that are not asked for any more."""
    rows, columns = (np.asarray(sorted(axis.retired), dtype=np.int64) for axis in settings.axes)
    return forbidden.union(Region(rows, columns), settings.shape)


def _handed_out(
    choice: Choice, to_measure: IndexVector, rows: IndexVector, shape: Shape, rng: np.random.Generator
) -> tuple[IndexVector, IndexVector]:
    """Cells in their order on the list, and their roles: drawn ones at random, and then one line after the other.

    So what came back in part are whole rows, or columns.
    """
    others = without(union(to_measure, choice.steering), choice.drawn)
    i, j = np.divmod(others, shape[1])
    on_row = np.isin(i, rows)
    others = others[np.lexsort((np.where(on_row, j, i), np.where(on_row, i, j), ~on_row))]
    cells = np.concatenate([rng.permutation(choice.drawn), others])
    roles = np.where(is_in(cells, choice.steering), Role.STEERING, Role.ON_LINE)
    roles[: len(choice.drawn)] = Role.DRAWN
    return cells, roles


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
            prices = settings.prices.of(settings.shape)
            of_one = {"cell": prices.entry, "row": np.max(prices.rows), "column": np.max(prices.columns)}
            return Batches(size, unit, size * float(of_one[unit]))
        if isinstance(price, bool) or not 0 < price < math.inf:
            raise InvalidArgumentError(f"batch_price={price!r} is no price. Give a number above 0.")
        return Batches(size, unit, float(price))

    def draft(self, snapshot: Snapshot, request: Request, required: Region, forbidden: Region) -> Draft:
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


# -- the best rows, or columns ----------------------------------------------------------------------------------------


def positioned(best: Best, axes: tuple[Axis, Axis]) -> Best:
    """The same goal with positions in place of names."""
    return best if best.among is None else replace(best, among=axes[1 - best.axis].positions_of(best.among).tolist())


def compared(snapshot: Snapshot, forbidden: Region | None = None) -> Observation:
    """What is known for a comparison, in which rows and columns that are retired or forbidden take no part."""
    never = _with_retired(Region(), snapshot.settings) if forbidden is None else forbidden
    if len(never.cells[0]):
        raise InvalidArgumentError(
            "with a goal, whole rows and columns can be forbidden, and not cells. Leave them out."
        )
    return observation_of(snapshot)._replaced(forbidden=never)


def _draft_of_best(snapshot: Snapshot, request: Request, goal: Best, forbidden: Region) -> Draft | Decision:
    """A list of the rows that are left, all of whose budget is spent; what is decided if it buys nothing more.

    Cells that are out are not asked for again. Of each column that is drawn a cell is on the list, known or not: the
    list keeps the order of drawing.
    """
    best, entry = positioned(goal, snapshot.settings.axes), snapshot.settings.prices.entry
    seen = compared(snapshot, forbidden)
    prices = Costs(entry=entry).of(seen.shape)
    plan = best_round(seen, best, request.budget, prices, request.seed, at_once=True)
    if plan is None:
        return decide(seen, best)
    cells, role = _cells_in_turn(seen, plan, best)
    places = places_of(snapshot)
    is_known = is_in(cells, union(places.cells, places.failed, snapshot.pending))
    return Draft(
        budget=request.budget,
        price=int(np.count_nonzero(~is_known)) * float(entry),
        lines=(),
        cells=cells,
        roles=np.full(len(cells), role),
        is_known=is_known,
        forbidden=forbidden,
        after=(snapshot.last_list, snapshot.last_change),
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
    return cells[order], Role.ON_DRAWN_COLUMN if on_columns else Role.ON_DRAWN_ROW
