"""All that a report says, as plain data. A part that cannot be made has a sentence that says why."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._layout import __version__
from ..._support.sets import NO_INDEX, is_in, without
from ..._typing import IndexVector
from ...acquisition.budget import Budget
from ...exceptions import CURPlusError
from ...observation.scale import span_note
from ..drafting import Request, draft_of, listed
from ..ledger import places_of
from ..progress import Fitted, Status, is_judged, round_of, stopping_sentence
from ..storage import Draft, Round, Snapshot
from .answer import MOST_LINES, answer_part, held_out_part, means_part, picks_part
from .cells import UNKNOWN, Cell, amount, counted, percent, place, quantity, sentence, table_of, text, when

if TYPE_CHECKING:
    from ...evaluation import Certificate
    from ..answers import Answers

__all__ = ["facts_of"]

LEVEL = 0.95
FIRST_SHARE = 0.1  # of the matrix: a first list, where nobody said how large
LOGARITHMS = " All of these are natural logarithms."

Facts = dict[str, Any]
Formats = dict[str, Callable[[Any], Cell]]


def facts_of(study: Answers, *, axis: int = 1, n_best: int = 5, largest: bool = True) -> Facts:
    """The facts of a study. The error is judged if that was not done since the last values came."""
    fitted, certificate, why_not = _fit(study)
    rounds, status, snapshot = _rounds(study, fitted, certificate), study.status(), study._storage.snapshot()

    def part(make: Callable[[Fitted], Facts]) -> Facts:
        return {"why_not": why_not} if fitted is None else _or_why(lambda: make(fitted))

    whole = () if fitted is None else (fitted.observation.row_index, fitted.observation.column_index)
    return {
        **_head(study, rounds),
        "status": status,
        "sentence": sentence(stopping_sentence(rounds, status.n_next, status.where)),
        "verdict": "" if certificate is None else sentence(certificate.verdict),
        "measured": _measured(snapshot, *whole),
        "money": _money(study, status, rounds),
        "answer": part(answer_part),
        "picks": part(lambda fitted: picks_part(study, fitted, snapshot.lines)),
        "means": part(lambda _: means_part(study, _n_measured(snapshot, axis), axis, n_best, largest)),
        "held_out": part(lambda fitted: held_out_part(fitted, "" if study.settings.scale is None else LOGARITHMS)),
        "next": _or_why(lambda: _next_part(study, snapshot, rounds)),
    }


def _fit(study: Answers) -> tuple[Fitted | None, Certificate | None, str]:
    """The answer and its error, or why there is none."""
    try:
        return study._fitted(), study.certify(level=LEVEL), ""
    except CURPlusError as error:
        return None, None, sentence(str(error))


def _or_why(make: Callable[[], Facts]) -> Facts:
    """A part of the report, or why it cannot be made."""
    try:
        return {"why_not": "", **make()}
    except CURPlusError as error:
        return {"why_not": sentence(str(error))}


def _rounds(study: Answers, fitted: Fitted | None, certificate: Certificate | None) -> tuple[Round, ...]:
    """Errors by round; the last one is of this moment also where the file cannot be written."""
    rounds = study._storage.rounds()
    if fitted is None or certificate is None or is_judged(rounds, found := round_of(fitted, certificate)):
        return rounds
    return (*rounds, found)


def _head(study: Answers, rounds: tuple[Round, ...]) -> Facts:
    budget, spent = study.settings.budget, study._storage.summary().spent
    return {
        "title": Path(getattr(study._storage, "path", "study")).stem,
        "made_at": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "version": __version__,
        "unit": "values" if study.settings.costs is None else "",
        "spent": amount(spent),
        "budget": "" if budget is None else amount(budget),
        "error": _error(rounds),
    }


def _interval(r: Round) -> Cell:
    low, high = percent(r.low), percent(r.high)
    return UNKNOWN if math.isnan(r.low) else Cell(f"{low.text.removesuffix(' %')}–{high.text}", low.sort)


OF_ROUNDS: Formats = {"round": place, "values": quantity, "spent": quantity, "error": percent, "interval": _interval}
OF_ROUNDS |= {"when (UTC)": when}
OF_LISTS: Formats = {"list": place, "cells": quantity, "price": quantity, "still out": quantity, "when (UTC)": when}
OF_LISTS |= {"by": text}


def _error(rounds: tuple[Round, ...]) -> dict[str, str]:
    """The last error and its interval, in short."""
    rounds = tuple(r for r in rounds if not r.is_decision)
    if not rounds or math.isnan(rounds[-1].relative):
        return {"text": "unknown", "note": "not judged" if not rounds else "no evidence"}
    last = rounds[-1]
    if math.isnan(last.low):
        return {"text": percent(last.relative).text, "note": "an estimate, without an interval"}
    return {"text": percent(last.relative).text, "note": f"{_interval(last).text} ({LEVEL:.0%} confidence)"}


def _measured(snapshot: Snapshot, rows: IndexVector = NO_INDEX, columns: IndexVector = NO_INDEX) -> Facts:
    """What was measured, with these rows and columns as a whole. Each cell is in one of the places, ascending."""
    settings, m = snapshot.settings, snapshot.settings.shape[1]
    found = places_of(snapshot, "all")
    on_line = np.isin(found.cells // m, rows) | np.isin(found.cells % m, columns)
    out = without(snapshot.pending, found.cells)
    places = {
        "on whole rows and columns": found.cells[on_line],
        "single cells": found.cells[~on_line],
        "failed": found.failed[~is_in(found.failed, out)],
        "pending": out,
        **({"bounds, such as >10": found.bounded} if len(found.bounded) else {}),
    }
    size, n_repeats = math.prod(settings.shape), found.repeats.freedom
    hint = span_note(snapshot.values) if settings.scale is None else ""
    repeats = f"; {counted(n_repeats, 'reading')} of cells that were known already" if n_repeats else ""
    return {
        "places": places,
        "kinds": [(kind, len(cells), len(cells) / size) for kind, cells in places.items()],
        "n_known": len(found.cells),
        "share_known": len(found.cells) / size,
        "words": f"{counted(len(rows), 'row')} and {counted(len(columns), 'column')} were asked for and measured as a "
        f"whole, or at least half of each{repeats}.{f' {sentence(hint)}' if hint else ''}",
    }


def _n_measured(snapshot: Snapshot, axis: int) -> IndexVector:
    """How many cells of each row (axis 1) or column (axis 0) were measured."""
    n, m = snapshot.settings.shape
    cells = places_of(snapshot, "all").cells
    return np.bincount(cells // m if axis else cells % m, minlength=n if axis else m)


def _money(study: Answers, status: Status, rounds: tuple[Round, ...]) -> Facts:
    """What was spent and what the error was, by round and by list."""
    budget, left, lists = status.budget, status.left or 0.0, study._storage.lists()
    out = 0.0 if budget is None else budget - status.spent - left
    whole = max(budget or 0.0, status.spent + out) or 1.0
    return {
        "rounds": rounds,
        "table_of_rounds": table_of(
            OF_ROUNDS, ((k, r.n_values, r.spent, r.relative, r, r.moment) for k, r in enumerate(rounds, start=1))
        ),
        "lists": table_of(
            OF_LISTS, ((x.id, x.n_cells, x.price, x.n_pending, x.asked_at, x.asked_by) for x in lists[-MOST_LINES:])
        ),
        "shares": {"spent": status.spent / whole, "out": out / whole},
        "words": ""
        if budget is None
        else f"{amount(status.spent)} spent, {amount(out)} out with lists, {amount(left)} left of {amount(budget)}.",
    }


# -- what to measure next, without asking for it ----------------------------------------------------------------------


def _next_part(study: Answers, snapshot: Snapshot, rounds: tuple[Round, ...]) -> Facts:
    """A list like those before: as large as the last, or as the budget allows. Nothing is kept."""
    settings, budget = snapshot.settings, _budget(study)
    if budget < float(settings.prices.entry):
        return _nothing("the budget is spent, or out with lists that did not come back yet")
    whole = bool(snapshot.lines) or not _could_have_lines(study)
    draft = draft_of(snapshot, Request(budget, whole=whole))
    assert isinstance(draft, Draft)
    if draft.is_known.all():
        return _nothing("every cell is measured, failed or out")
    todo = listed(draft, settings)
    price = f"{amount(draft.price)} values" if settings.costs is None else amount(draft.price)
    return {
        "sentence": sentence(stopping_sentence(rounds, len(todo), study.status().where)),
        "call": f"study.ask({budget:.10g}{'' if whole else ', whole=False'})",
        "words": f"{todo._words}, for {price}",
        "sides": [
            {"what": axis.what, "names": list(map(str, side)), "reasons": list(dict.fromkeys(side.values()))}
            for axis, side in zip(settings.axes, (todo.rows, todo.columns), strict=True)
        ],
    }


def _nothing(why: str) -> Facts:
    return {"why_not": f"There is no next list: {why}."}


def _could_have_lines(study: Answers) -> bool:
    """Whether rows and columns would have been worth their price on the lists so far."""
    settings, summary = study.settings, study._storage.summary()
    money = settings.budget or summary.spent + summary.pending_price
    return Budget((None, None, None), money, settings.prices.of(settings.shape)).split().rows > 0


def _budget(study: Answers) -> float:
    settings, lists, summary = study.settings, study._storage.lists(), study._storage.summary()
    (n, m), entry = settings.shape, float(settings.prices.entry)
    usual = lists[-1].budget if lists else FIRST_SHARE * n * m * entry
    left = math.inf if settings.budget is None else settings.budget - summary.spent - summary.pending_price
    budget = max(min(usual, left), 0.0)
    return budget if settings.costs else float(math.floor(budget + 1e-9))
