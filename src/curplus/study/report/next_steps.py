"""What to measure next, without asking for it: what the next list would have, and what it is expected to bring."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...acquisition.budget import split_budget
from ..drafting import Context, Wishes, draft_of
from ..money import as_costs
from ..storage import Line, Settings, Snapshot, Storage

__all__ = ["NextList", "next_list_of"]

FIRST_SHARE = 0.1  # of the matrix: a first list, where nobody said how large


class NextList(NamedTuple):
    """What ``ask(budget, whole=whole)`` would give now."""

    budget: float  # in the unit of the budget; 0 if there is no list to speak of
    whole: bool  # whether rows and columns may be asked for whole; not, if lists before had none though they could
    n_cells: int
    n_single: int  # that are on none of the whole rows and columns
    price: float
    lines: tuple[Line, ...]
    why_not: str  # empty where there is a list


def next_list_of(settings: Settings, storage: Storage, snapshot: Snapshot) -> NextList:
    """A list like those before: as large as the last, or as the budget allows. Nothing is kept."""
    budget = _budget(settings, storage)
    if budget < float(as_costs(settings.costs).entry):
        return _no_list("the budget is spent, or out with lists that did not come back yet")
    context = Context(settings, snapshot, *storage.pending())
    about: dict[str, Any] = {"asked_by": "", "purpose": "", "expires_after": None}
    whole = bool(snapshot.lines) or not _could_have_lines(settings, storage)
    draft = draft_of(context, budget, Wishes(), Wishes(), 0, whole=whole, **about)
    cells, m = draft.cells[~draft.is_known], settings.shape[1]
    if not len(cells):
        return _no_list("every cell is measured, failed or out")
    rows, columns = ([line.position for line in draft.lines if line.axis == axis] for axis in (0, 1))
    on_line = np.isin(cells // m, rows) | np.isin(cells % m, columns)
    return NextList(budget, whole, len(cells), int(np.count_nonzero(~on_line)), draft.price, draft.lines, "")


def _could_have_lines(settings: Settings, storage: Storage) -> bool:
    """Whether rows and columns would have been worth their price on the lists so far."""
    summary = storage.summary()
    money = settings.budget or summary.spent + summary.pending_price
    return split_budget(money, as_costs(settings.costs).of(settings.shape)).rows > 0


def _no_list(why: str) -> NextList:
    return NextList(0.0, False, 0, 0, 0.0, (), why)


def _budget(settings: Settings, storage: Storage) -> float:
    lists, summary, (n, m) = storage.lists(), storage.summary(), settings.shape
    usual = lists[-1].budget if lists else FIRST_SHARE * n * m * float(as_costs(settings.costs).entry)
    left = math.inf if settings.budget is None else settings.budget - summary.spent - summary.pending_price
    budget = max(min(usual, left), 0.0)
    return budget if settings.costs else float(math.floor(budget + 1e-9))
