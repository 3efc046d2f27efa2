"""Lists for the best rows, or columns: those that are left, in columns drawn uniformly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._arrays import index_table
from .._sets import is_in, union
from .._typing import IndexVector
from ..acquisition import Costs
from ..acquisition.best_round import best_round
from ..evaluation import Best
from ..exceptions import InvalidArgumentError
from ..observation import Observation, SamplePlan
from .drafting import Wishes, with_retired
from .ledger import observation_of, places_of
from .names import Axis
from .next_list import cells_of_lines
from .settings import as_costs, list_price
from .storage import ON_DRAWN_COLUMN, ON_DRAWN_ROW, Draft, Snapshot

__all__ = ["compared", "draft_of_best", "positioned"]


def positioned(best: Best, axes: tuple[Axis, Axis]) -> Best:
    """The same goal with positions in place of names."""
    return best if best.among is None else replace(best, among=axes[1 - best.axis].positions_of(best.among).tolist())


def compared(snapshot: Snapshot, forbidden: Wishes | None = None) -> Observation:
    """What is known for a comparison, in which rows and columns that are retired or forbidden take no part."""
    settings = snapshot.settings
    never = with_retired(Wishes() if forbidden is None else forbidden, settings)
    if len(never.cells):
        raise InvalidArgumentError(
            "with a goal, whole rows and columns can be forbidden, and not cells. Leave them out."
        )
    region = never.region(settings.shape)
    return observation_of(snapshot, settings, settings.records)._replaced(forbidden=region)


def draft_of_best(
    snapshot: Snapshot, budget: float, best: Best, forbidden: Wishes, seed: int, **about: Any
) -> Draft | None:
    """A list for at most ``budget``, all of which it spends if rows are left; None if it is decided.

    Cells that are out are not asked for again. Of each column that is drawn a cell is on the list, known or not: the
    list keeps the order of drawing.
    """
    settings = snapshot.settings
    shape, costs = settings.shape, as_costs(settings.costs)
    seen = compared(snapshot, forbidden)
    plan = best_round(seen, best, budget, Costs(entry=costs.entry).of(shape), seed, at_once=True)
    if plan is None:
        return None
    cells, role = _cells_in_turn(seen, plan, best)
    places = places_of(snapshot, settings, settings.records)
    is_known = is_in(cells, union(places.cells, places.failed, snapshot.pending))
    about |= {"after_list": snapshot.last_list, "after_change": snapshot.last_change}
    nothing = cells[:0]
    return Draft(
        budget=budget,
        price=list_price(nothing, nothing, np.sort(cells[~is_known]), costs, shape),
        lines=(),
        cells=cells,
        roles=np.full(len(cells), role),
        is_known=is_known,
        forbidden=with_retired(forbidden, settings).listed(),
        **about,
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
