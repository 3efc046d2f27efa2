"""Parts of a report that need a fit: the answer, what explains it, means, and cells that the fit did not use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...factorization.importance import Merits
from ..storage import Line
from .answer import Means, held_out_of, means_of, merits_of, spectrum_of
from .tables import MOST_LINES, Cell, Table, amount, counted, number, percent, sentence, table_of

if TYPE_CHECKING:
    from ..fitting import Fitted
    from ..study import Study

__all__ = ["answer_part", "held_out_part", "means_part", "picks_part"]

PICKED = {"uniform": "drawn", "adaptive": "chosen", "given": "required"}


def answer_part(fitted: Fitted) -> dict[str, Any]:
    """The approximation: its rank, its spectrum, and what the method chose."""
    approximation = fitted.approximation
    facts = {fact.name: fact for fact in approximation.report.facts if fact.is_shown}
    return {
        "rank": approximation.rank,
        "spectrum": spectrum_of(approximation),
        "verdict": sentence(facts["verdict"].text) if "verdict" in facts else "",
        "facts": [(fact.title, fact.text) for name, fact in facts.items() if name not in ("rank", "verdict")],
    }


def picks_part(study: Study, fitted: Fitted, asked: tuple[Line, ...]) -> dict[str, Any]:
    """Rows and columns that were measured as a whole, with what each explains and why it was asked for."""
    both = merits_of(fitted.approximation, fitted.observation, (study._rows, study._columns))
    lines = {(line.axis, line.position): line for line in reversed(asked)}
    sides = [
        {"what": what, "merits": picks, "table": _table_of_picks(axis, what, picks, lines)}
        for axis, (what, picks) in enumerate(zip(("row", "column"), both, strict=True))
        if len(picks.index)
    ]
    if not sides:
        return {"why_not": "No row or column was measured as a whole; the answer rests on single cells."}
    reasons = {PICKED.get(line.design, ""): line.reason for line in lines.values() if line.reason != "required"}
    return {"sides": sides, "reasons": sorted(reasons.items())}


def _table_of_picks(axis: int, what: str, picks: Merits, asked: dict[tuple[int, int], Line]) -> Table:
    lines = list(zip(picks.index, picks.names, picks.alone, picks.gain, picks.explained, strict=True))
    designs = [asked[axis, int(at)].design if (axis, int(at)) in asked else "" for at in picks.index]
    return table_of(
        (what, "alone", "adds", "so far", "picked"),
        [
            (str(name), percent(alone), percent(gain), percent(explained), PICKED.get(design, ""))
            for (_, name, alone, gain, explained), design in zip(lines[:MOST_LINES], designs, strict=False)
        ],
    )


def means_part(study: Study, fitted: Fitted, axis: int, n_best: int, largest: bool) -> dict[str, Any]:
    """Means of rows or columns, and which may be best."""
    axes = (study._rows, study._columns)
    found = means_of(fitted.approximation, fitted.observation, axes, axis, n_best, largest)
    n, order = len(found.names), "largest" if largest else "smallest"
    intervals = (
        f", each with its own {found.level:.0%} interval. Blue, and yes in the table: may be among the "
        f"{found.n_wanted} best"
    )
    return {
        "means": found,
        "verdict": found.verdict,
        "table": _table_of_means(found),
        "caption": f"The {order} estimates first{'' if found.reason else intervals}.",
        "left_out": f"The first {MOST_LINES} of {n:,}; study.means({axis}) has all." if n > MOST_LINES else "",
    }


def _table_of_means(means: Means) -> Table:
    columns = (means.names, means.mean, means.low, means.high, means.n_measured, means.may_be_best)
    lines = list(zip(*(column[:MOST_LINES] for column in columns), strict=True))
    return table_of(
        ("no.", means.what, "mean", "from", "to", "cells", "best?"),
        [
            (
                Cell(str(k), k),
                str(name),
                *(number(x) for x in (mean, low, high)),
                Cell(amount(count), int(count)),
                Cell("–") if means.reason else Cell("yes" if best else "no"),
            )
            for k, (name, mean, low, high, count, best) in enumerate(lines, start=1)
        ],
    )


def held_out_part(fitted: Fitted) -> dict[str, Any]:
    """Predictions beside what was measured, by fits that did not use it."""
    found = held_out_of(fitted.approximation, fitted.observation)
    if not len(found.measured):
        return {"why_not": "No cell can be kept out of the fit, so there is nothing to compare predictions with."}
    error, spread = number(found.error).text, number(found.spread).text
    return {
        "cells": found,
        "words": f"{counted(len(found.measured), 'cell')} were predicted without them. The predictions are off by "
        f"{error} (root of the mean square). The same number for their own mean, predicted everywhere, is {spread}.",
        "caption": "Blue: cells, predicted by a fit that did not use them. On the dashed line both are equal."
        + (" Red: means of ten groups of them, by prediction." if found.has_groups else "")
        + (" Points are moved apart a little, since there are few different values." if found.is_coarse else ""),
    }
