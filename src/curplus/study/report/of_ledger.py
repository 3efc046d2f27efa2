"""Parts of a report that need no fit: what was measured, what it cost, what comes next."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..._sets import NO_INDEX
from ..._typing import IndexVector
from ..ledger import places_of
from ..progress import Status, stopping_sentence
from ..storage import Line, Round, Snapshot
from .measured import map_of, measured_of
from .next_steps import NextList, next_list_of
from .tables import MOST_LINES, UNKNOWN, Cell, Table, amount, counted, percent, sentence, table_of, when

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["measured_part", "money_part", "next_part"]


def measured_part(
    study: Study, snapshot: Snapshot, rows: IndexVector = NO_INDEX, columns: IndexVector = NO_INDEX
) -> dict[str, Any]:
    """What was measured, with these rows and columns as a whole."""
    settings = study.settings
    places = places_of(snapshot, settings, "all")
    found = measured_of(settings.shape, places, rows, columns, study._storage.pending()[0])
    size = math.prod(settings.shape)
    where = map_of(found)
    n_repeats = places.repeats.freedom
    repeats = f"; {counted(n_repeats, 'reading')} of cells that were known already" if n_repeats else ""
    return {
        "kinds": [(kind, count, count / size) for kind, count in found.counts.items()],
        "n_known": len(places.cells),
        "share_known": len(places.cells) / size,
        "map": where,
        "words": f"{counted(len(rows), 'row')} and {counted(len(columns), 'column')} were asked for and measured as a "
        f"whole, or at least half of each{repeats}.",
        "caption": "Rows and columns in their own order"
        + (f"; a point stands for {where.cells_per_point:,.0f} cells." if where.cells_per_point > 1.5 else "."),
    }


def money_part(study: Study, status: Status, rounds: tuple[Round, ...]) -> dict[str, Any]:
    """What was spent and what the error was, by round and by list."""
    left = status.left or 0.0
    out = 0.0 if status.budget is None else status.budget - status.spent - left
    return {
        "rounds": rounds,
        "table_of_rounds": _table_of_rounds(rounds),
        "lists": _table_of_lists(study),
        "out": out,
        "words": ""
        if status.budget is None
        else f"{amount(status.spent)} spent, {amount(out)} out with lists, {amount(left)} left of "
        f"{amount(status.budget)}.",
    }


def _table_of_rounds(rounds: tuple[Round, ...]) -> Table:
    return table_of(
        ("round", "values", "spent", "error", "interval", "when (UTC)"),
        [
            (
                Cell(str(k), k),
                *(Cell(amount(x), x) for x in (r.n_values, r.spent)),
                percent(r.relative),
                _interval(r),
                when(r.moment),
            )
            for k, r in enumerate(rounds, start=1)
        ],
    )


def _interval(r: Round) -> Cell:
    low, high = percent(r.low), percent(r.high)
    return UNKNOWN if math.isnan(r.low) else Cell(f"{low.text.removesuffix(' %')}–{high.text}", low.sort)


def _table_of_lists(study: Study) -> Table:
    return table_of(
        ("list", "cells", "price", "still out", "when (UTC)", "by"),
        [
            (
                Cell(str(x.id), x.id),
                *(Cell(amount(k), k) for k in (x.n_cells, x.price, x.n_pending)),
                when(x.asked_at),
                x.asked_by,
            )
            for x in study._storage.lists()[-MOST_LINES:]
        ],
    )


def next_part(study: Study, snapshot: Snapshot, rounds: tuple[Round, ...]) -> dict[str, Any]:
    """What the next list would have."""
    found = next_list_of(study.settings, study._storage, snapshot)
    if found.why_not:
        return {"why_not": f"There is no next list: {found.why_not}."}
    return {
        "sentence": sentence(stopping_sentence(rounds, found.n_cells)),
        "call": f"study.ask({found.budget:.10g}{'' if found.whole else ', whole=False'})",
        "words": _words(study, found),
        "sides": [
            {"what": axis.what, "names": _names(found.lines, k, axis.labels), "reasons": _reasons(found.lines, k)}
            for k, axis in enumerate((study._rows, study._columns))
        ],
    }


def _words(study: Study, found: NextList) -> str:
    counts = [*(sum(line.axis == k for line in found.lines) for k in (0, 1)), found.n_single]
    kinds = ("whole row", "whole column", "single cell")
    parts = [counted(count, kind) for count, kind in zip(counts, kinds, strict=True) if count]
    listed = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    price = f"{amount(found.price)} values" if study.settings.costs is None else amount(found.price)
    in_all = f": {counted(found.n_cells, 'cell')} in all" if len(parts) > 1 else ""
    return f"{listed}{in_all}, for {price}"


def _names(lines: tuple[Line, ...], axis: int, labels: Callable[[Any], list[Any]]) -> list[str]:
    return [str(name) for name in labels([line.position for line in lines if line.axis == axis])]


def _reasons(lines: tuple[Line, ...], axis: int) -> list[str]:
    return list(dict.fromkeys(line.reason for line in lines if line.axis == axis))
