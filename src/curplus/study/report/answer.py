"""What a report says of the answer, as plain data: its spectrum, what explains it, means, held-out cells.

Each cell of a table has what is shown and what it is sorted by.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._arrays import to_numpy
from ..._typing import FloatArray, IndexVector
from ...evaluation import MeanEstimates
from ...evaluation.cross_fit import cross_fit
from ...factorization.importance import Merits, merits
from ...plotting.predictions import FEW_VALUES
from ..names import Axis
from ..storage import Line

if TYPE_CHECKING:
    from ..answers import Fitted
    from ..study import Study

__all__ = [
    "MOST_LINES",
    "UNKNOWN",
    "Cell",
    "Table",
    "amount",
    "answer_part",
    "counted",
    "held_out_part",
    "means_part",
    "number",
    "percent",
    "picks_part",
    "sentence",
    "table_of",
    "when",
]

MOST_LINES = 200  # of a table
PICKED = {"uniform": "drawn", "adaptive": "chosen", "given": "required"}


def answer_part(fitted: Fitted) -> dict[str, Any]:
    """The approximation: its rank, its spectrum, and what the method chose."""
    approximation = fitted.approximation
    facts = {fact.name: fact for fact in approximation.report.facts if fact.is_shown}
    s = to_numpy(approximation.svd().s).astype(float)
    shares = s**2 / (float(np.sum(s**2)) or 1.0)
    lines = [
        (Cell(str(k), k), number(size), percent(share))
        for k, (size, share) in enumerate(zip(s[:MOST_LINES], shares, strict=False), start=1)
        if size > 0
    ]
    return {
        "approximation": approximation,
        "rank": approximation.rank,
        "spectrum": table_of(("direction", "singular value", "share of squares"), lines),
        "verdict": sentence(facts["verdict"].text) if "verdict" in facts else "",
        "facts": [(fact.title, fact.text) for name, fact in facts.items() if name not in ("rank", "verdict")],
    }


def picks_part(study: Study, fitted: Fitted, asked: tuple[Line, ...]) -> dict[str, Any]:
    """Rows and columns that were measured as a whole, with what each explains and why it was asked for."""
    lines = {(line.axis, line.position): line for line in reversed(asked)}
    sides = [
        {"what": axis.what, "merits": picks, "table": _table_of_picks(k, axis.what, picks, lines)}
        for k, (axis, picks) in enumerate(zip((study._rows, study._columns), _merits(study, fitted), strict=True))
        if len(picks.index)
    ]
    if not sides:
        return {"why_not": "No row or column was measured as a whole; the answer rests on single cells."}
    reasons = {PICKED.get(line.design, ""): line.reason for line in lines.values() if line.reason != "required"}
    return {"sides": sides, "reasons": sorted(reasons.items())}


def _merits(study: Study, fitted: Fitted) -> tuple[Merits, Merits]:
    """How much of the approximation each sampled row, and each sampled column, explains; gaps hold predictions.

    The approximation need not be made of them, so all of them together may explain less than the whole.
    """
    approximation, seen = fitted.approximation, fitted.observation
    U, s, Vt = (to_numpy(x) for x in approximation.svd())
    rows = _filled(seen.rows, approximation.rows(seen.row_index))
    columns = _filled(seen.columns, approximation.columns(seen.column_index))
    return (
        _merits_of(rows.T, Vt.T * s, seen.row_index, study._rows),
        _merits_of(columns, U * s, seen.column_index, study._columns),
    )


def _merits_of(sample: FloatArray, directions: FloatArray, index: IndexVector, axis: Axis) -> Merits:
    names = np.asarray(axis.labels(index), dtype=object)
    return merits(sample, directions, index, names) if len(index) else Merits(index, names, np.empty(0), np.empty(0))


def _filled(values: Any, predicted: Any) -> FloatArray:
    known: FloatArray = to_numpy(values).astype(float)
    return np.where(np.isnan(known), to_numpy(predicted), known)


def _table_of_picks(axis: int, what: str, picks: Merits, asked: dict[tuple[int, int], Line]) -> Table:
    lines = list(zip(picks.index, picks.names, picks.alone, picks.gain, picks.explained, strict=True))
    designs = [asked[axis, int(at)].design if (axis, int(at)) in asked else "" for at in picks.index]
    return table_of(
        (what, "alone", "adds", "so far", "picked"),
        [
            (str(name), *(percent(share) for share in shares), PICKED.get(design, ""))
            for (_, name, *shares), design in zip(lines[:MOST_LINES], designs, strict=False)
        ],
    )


def means_part(study: Study, n_measured: IndexVector, axis: int, n_best: int, largest: bool) -> dict[str, Any]:
    """Means of rows or columns, and which may be best."""
    found = study.means(axis)
    side = (study._columns, study._rows)[axis]
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
    return table_of(
        ("no.", side.what, "mean", "from", "to", "cells", "best?"),
        [
            (
                Cell(str(place), place),
                str(name),
                *(number(x[k]) for x in (found.estimate, found.low, found.high)),
                Cell(amount(n_measured[k]), int(n_measured[k])),
                word,
            )
            for place, (k, name, word) in enumerate(zip(order, side.labels(order), best, strict=False), start=1)
        ],
    )


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


# -- tables and words ----------------------------------------------------------------------------------------------


class Cell(NamedTuple):
    """One place of a table."""

    text: str
    sort: float | None = None  # the number behind the text, nan where it is not known; None for words


UNKNOWN = Cell("–", math.nan)


class Table(NamedTuple):
    """A table that can be sorted."""

    labels: tuple[str, ...]
    is_number: tuple[bool, ...]  # for each column
    lines: tuple[tuple[Cell, ...], ...]


def table_of(labels: Sequence[str], lines: Iterable[Sequence[Cell | str]]) -> Table:
    """A table; a column with numbers behind its cells is set to the right."""
    listed = tuple(tuple(x if isinstance(x, Cell) else Cell(x) for x in line) for line in lines)
    is_number = tuple(any(line[k].sort is not None for line in listed) for k in range(len(labels)))
    return Table(tuple(labels), is_number, listed)


def amount(x: float) -> str:
    """A number of values, or money: all digits before the point."""
    return f"{x:,.0f}" if abs(x) >= 1000 or float(x).is_integer() else f"{x:,.4g}"


def number(x: Any) -> Cell:
    """A number with four digits; a dash where there is none."""
    value = float(x)
    if not math.isfinite(value):
        return UNKNOWN
    return Cell(f"{value:,.0f}" if abs(value) >= 1000 and abs(value) < 1e9 else f"{value:#.4g}", value)


def percent(x: Any) -> Cell:
    """A share in percent; a dash where there is none."""
    value = float(x)
    if not math.isfinite(value):
        return UNKNOWN
    digits = 2 if 0 < abs(value) < 0.01 else 1
    return Cell(f"{100 * value:.{digits}f} %", value)


def when(moment: datetime) -> Cell:
    """A moment, in universal time to the minute."""
    return Cell(f"{moment:%Y-%m-%d %H:%M}", moment.timestamp())


def counted(count: int, noun: str) -> str:
    """How many there are of something."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def sentence(words: str) -> str:
    """Words with a capital letter and a full stop."""
    return words[:1].upper() + words[1:] + ("" if words.endswith(".") else ".")
