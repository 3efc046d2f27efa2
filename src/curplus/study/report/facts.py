"""All that a report says, as plain data. What cannot be said has a sentence that says why."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._layout import __version__
from ...exceptions import CURPlusError
from ..progress import round_of, stopping_sentence
from ..storage import Round
from .citation import PAPER, SOFTWARE, bibtex
from .of_answer import answer_part, held_out_part, means_part, picks_part
from .of_ledger import measured_part, money_part, next_part
from .tables import amount, percent, sentence

if TYPE_CHECKING:
    from ...evaluation import Certificate
    from ..fitting import Fitted
    from ..study import Study

__all__ = ["facts_of"]

LEVEL = 0.95

Facts = dict[str, Any]


def facts_of(study: Study, *, axis: int = 1, n_best: int = 5, largest: bool = True) -> Facts:
    """What there is to say of a study. The error is judged if that was not done since the last values came."""
    fitted, certificate, why_not = _fit(study)
    rounds, status, snapshot = _rounds(study, fitted, certificate), study.status(), study._storage.snapshot()

    def part(make: Callable[[Fitted], Facts]) -> Facts:
        return {"why_not": why_not} if fitted is None else _or_why(lambda: make(fitted))

    whole = () if fitted is None else (fitted.observation.row_index, fitted.observation.column_index)
    return {
        **_head(study, rounds),
        "status": status,
        "sentence": sentence(stopping_sentence(rounds, status.n_next)),
        "verdict": "" if certificate is None else sentence(certificate.verdict),
        "measured": measured_part(study, snapshot, *whole),
        "money": money_part(study, status, rounds),
        "answer": part(answer_part),
        "picks": part(lambda fitted: picks_part(study, fitted, snapshot.lines)),
        "means": part(lambda fitted: means_part(study, fitted, axis, n_best, largest)),
        "held_out": part(held_out_part),
        "next": _or_why(lambda: next_part(study, snapshot, rounds)),
    }


def _fit(study: Study) -> tuple[Fitted | None, Certificate | None, str]:
    """The answer and its error, or why there is none."""
    try:
        fitted = study._fits.now()
        return fitted, study._fits.judge(fitted, LEVEL), ""
    except CURPlusError as error:
        return None, None, sentence(str(error))


def _or_why(make: Callable[[], Facts]) -> Facts:
    """A part of the report, or why it cannot be made."""
    try:
        return {"why_not": "", **make()}
    except CURPlusError as error:
        return {"why_not": sentence(str(error))}


def _rounds(study: Study, fitted: Fitted | None, certificate: Certificate | None) -> tuple[Round, ...]:
    """Errors by round; the last one is of this moment also where the file cannot be written."""
    rounds = study._storage.rounds()
    if fitted is None or certificate is None or (rounds and rounds[-1].tell == fitted.last_tell):
        return rounds
    return (*rounds, round_of(certificate, fitted.last_tell, fitted.n_values, study._storage.summary().spent))


def _head(study: Study, rounds: tuple[Round, ...]) -> Facts:
    budget, spent = study.settings.budget, study._storage.summary().spent
    return {
        "title": Path(getattr(study._storage, "path", "study")).stem,
        "made_at": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "version": __version__,
        "unit": "values" if study.settings.costs is None else "",
        "spent": amount(spent),
        "budget": "" if budget is None else amount(budget),
        "error": _error(rounds),
        "cite": [bibtex(PAPER), bibtex(SOFTWARE)],
    }


def _error(rounds: tuple[Round, ...]) -> dict[str, str]:
    """The last error and its interval, in short."""
    if not rounds or math.isnan(rounds[-1].relative):
        return {"text": "unknown", "note": "not judged" if not rounds else "no evidence"}
    last = rounds[-1]
    if math.isnan(last.low):
        return {"text": f"≥ {percent(last.relative).text}", "note": "no interval: it may be larger"}
    ends = [percent(x).text.removesuffix(" %") for x in (last.low, last.high)]
    return {"text": percent(last.relative).text, "note": f"{ends[0]} to {ends[1]} % ({LEVEL:.0%} confidence)"}
