"""What a report says of the answer, as plain data: its spectrum, what explains it, means, held-out cells.

Each cell of a table has what is shown and what it is sorted by.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._arrays import to_numpy
from ..._typing import FloatArray, IndexVector
from ...evaluation import MeanEstimates
from ...evaluation.cross_fit import cross_fit
from ...factorization.importance import Merits, merits
from ...plotting.predictions import FEW_VALUES
from ..names import Axis
from ..storage import Line
from .cells import Table, counted, number, percent, place, quantity, sentence, table_of, text

if TYPE_CHECKING:
    from ..answers import Answers
    from ..progress import Fitted

__all__ = ["MOST_LINES", "answer_part", "held_out_part", "means_part", "picks_part"]

MOST_LINES = 200  # of a table
PICKED = {"uniform": "drawn", "adaptive": "chosen", "given": "required"}


def answer_part(fitted: Fitted) -> dict[str, Any]:
    """The approximation: its rank, its spectrum, and what the method chose."""
    approximation = fitted.approximation
    facts = {fact.name: fact for fact in approximation.report.facts if fact.is_shown}
    s = to_numpy(approximation.svd().s).astype(float)
    shares = s**2 / (float(np.sum(s**2)) or 1.0)
    formats = {"direction": place, "singular value": number, "share of squares": percent}
    lines = [line for line in zip(range(1, MOST_LINES + 1), s, shares, strict=False) if line[1] > 0]
    return {
        "approximation": approximation,
        "rank": approximation.rank,
        "spectrum": table_of(formats, lines),
        "verdict": sentence(facts["verdict"].text) if "verdict" in facts else "",
        "facts": [(fact.title, fact.text) for name, fact in facts.items() if name not in ("rank", "verdict")],
    }


def picks_part(study: Answers, fitted: Fitted, asked: tuple[Line, ...]) -> dict[str, Any]:
    """Rows and columns that were measured as a whole, with what each explains and why it was asked for."""
    lines = {(line.axis, line.position): line for line in reversed(asked)}
    sides = [
        {"what": axis.what, "merits": picks, "table": _table_of_picks(k, axis.what, picks, lines)}
        for k, (axis, picks) in enumerate(zip(study.settings.axes, _merits(study.settings.axes, fitted), strict=True))
        if len(picks.index)
    ]
    if not sides:
        return {"why_not": "No row or column was measured as a whole; the answer rests on single cells."}
    reasons = {PICKED.get(line.design, ""): line.reason for line in lines.values() if line.reason != "required"}
    return {"sides": sides, "reasons": sorted(reasons.items())}


def _merits(axes: tuple[Axis, Axis], fitted: Fitted) -> tuple[Merits, Merits]:
    """How much of the approximation each sampled row, and each sampled column, explains; gaps hold predictions.

    The approximation need not be made of them, so all of them together may explain less than the whole.
    """
    approximation, seen = fitted.approximation, fitted.observation
    U, s, Vt = (to_numpy(x) for x in approximation.svd())
    rows = _filled(seen.rows, approximation.rows(seen.row_index))
    columns = _filled(seen.columns, approximation.columns(seen.column_index))
    return (
        _merits_of(rows.T, Vt.T * s, seen.row_index, axes[0]),
        _merits_of(columns, U * s, seen.column_index, axes[1]),
    )


def _merits_of(sample: FloatArray, directions: FloatArray, index: IndexVector, axis: Axis) -> Merits:
    names = np.asarray(axis.labels(index), dtype=object)
    return merits(sample, directions, index, names) if len(index) else Merits(index, names, np.empty(0), np.empty(0))


def _filled(values: Any, predicted: Any) -> FloatArray:
    known: FloatArray = to_numpy(values).astype(float)
    return np.where(np.isnan(known), to_numpy(predicted), known)


def _table_of_picks(axis: int, what: str, picks: Merits, asked: dict[tuple[int, int], Line]) -> Table:
    designs = (PICKED.get(asked[axis, at].design, "") if (axis, at) in asked else "" for at in picks.index.tolist())
    lines = zip(picks.names, picks.alone, picks.gain, picks.explained, designs, strict=True)
    formats = {what: text, "alone": percent, "adds": percent, "so far": percent, "picked": text}
    return table_of(formats, itertools.islice(lines, MOST_LINES))


def means_part(study: Answers, n_measured: IndexVector, axis: int, n_best: int, largest: bool) -> dict[str, Any]:
    """Means of rows or columns, and which may be best."""
    found = study.means(axis)
    side = study.settings.axes[1 - axis]
    n_best, order = min(n_best, side.size), np.argsort(-found.estimate if largest else found.estimate, kind="stable")
    may_be = np.isin(order, found.best(n_best, largest=largest))
    wanted = f"the {n_best} {found.what} with the {'largest' if largest else 'smallest'} means"
    own = "" if found.reason else f" Intervals ({found.level:.0%}): thick for each by itself, thin for all at once."
    left_out = f"The first {MOST_LINES} of {side.size:,}; study.means({axis}) has all."
    return {
        "means": found,
        "n_best": n_best,
        "largest": largest,
        "verdict": _verdict(found, found.n_possible(n_best, largest=largest), wanted),
        "table": _table_of_means(found, side, order[:MOST_LINES], may_be, n_measured),
        "caption": f"The {'largest' if largest else 'smallest'} estimates first.{own}",
        "left_out": left_out if side.size > MOST_LINES else "",
    }


def _verdict(found: MeanEstimates, n_possible: int, wanted: str) -> str:
    """The best set in a sentence."""
    n, what = int(np.count_nonzero(found.is_open)), found.what
    what = what if found.n_places is None else f"{what} with places that may be read"
    if found.reason:
        return f"Which of the {n:,} {what} are {wanted} is not known yet: there are no intervals, since {found.reason}."
    if n_possible == n:
        return f"Any of the {n:,} {what} may still be among {wanted}: measure more to rule some out."
    return (
        f"Of {n:,} {what}, {n_possible:,} may be among {wanted}. The other {n - n_possible:,} are not, with "
        f"{found.level:.0%} confidence for all of them at once."
    )


def _table_of_means(
    found: MeanEstimates, side: Axis, order: IndexVector, may_be: Any, n_measured: IndexVector
) -> Table:
    best = ["–" if found.reason else "yes" if possible else "no" for possible in may_be]
    numbers = (x[order] for x in (found.estimate, found.low, found.high))
    lines = zip(range(1, len(order) + 1), side.labels(order), *numbers, n_measured[order], best, strict=False)
    formats = {"no.": place, side.what: text, "mean": number, "from": number, "to": number, "cells": quantity}
    return table_of(formats | {"best?": text}, lines)


def held_out_part(fitted: Fitted, unit: str = "") -> dict[str, Any]:
    """Predictions beside what was measured, by fits that did not use it."""
    fits = cross_fit(fitted.approximation, fitted.observation)
    if not len(fits.counted):
        return {"why_not": f"There is nothing to compare predictions with: {fits.reason}."}
    measured = to_numpy(fits.sample.values)[fits.counted].astype(float)
    error, spread = math.sqrt(float(np.mean(fits.residuals**2))), float(np.std(measured))
    return {
        "predicted": measured - fits.residuals,
        "measured": measured,
        "error": error,
        "words": f"Predictions of {counted(len(measured), 'cell')}, by fits that did not use them, are off by "
        f"{number(error).text} (root of the mean square). If their mean were predicted everywhere, it would be "
        f"{number(spread).text}.{unit}",
        "caption": "Cells, predicted by a fit that did not use them. On the dashed line both are equal."
        + (
            " Points are moved apart a little, since there are few different values."
            if len(np.unique(measured)) < FEW_VALUES
            else ""
        ),
    }
