"""How far a study has come, in numbers and in a sentence that says when to stop. Nothing is fitted here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray, Shape
from ..evaluation import Certificate, Decision
from ..evaluation.residual import Residual
from ..factorization import Fact, Factorization
from ..observation import Observation
from ..observation.forbidden import OPEN_PLACES
from ..observation.scale import LOG
from .storage import Round, Settings, Snapshot, Summary

__all__ = ["Fitted", "Status", "expected_error", "is_judged", "round_of", "status_of", "stopping_sentence"]


class Fitted(NamedTuple):
    """An approximation, and what it knew."""

    last_tell: int
    last_list: int
    last_change: int
    n_values: int
    spent: float
    observation: Observation
    approximation: Factorization


@dataclass(frozen=True, repr=False)
class Status:
    """Where a study stands. Budgets are numbers of values, or money where the study has costs."""

    shape: Shape
    n_values: int  # readings that succeeded, repeats included
    n_failed: int
    n_pending: int  # cells that are out
    n_unasked: int  # readings of cells that nobody had asked for
    n_lists: int
    spent: float
    budget: float | None
    left: float | None  # of the budget, without what is out
    rounds: tuple[Round, ...]  # error by round, as certify found it
    n_unjudged: int  # readings since the last round
    n_next: int  # values that the sentence speaks of
    sentence: str  # when to stop
    where: str = ""  # what the error is one of, if not of the values of the whole matrix

    @property
    def judged(self) -> tuple[Round, ...]:
        """The rounds that have an error, and are no decision."""
        return tuple(r for r in self.rounds if not r.is_decision)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The status as facts, ready to be shown."""
        last = self.judged[-1] if self.judged else None
        money = {"spent": self.spent, "budget": self.budget, "left": self.left}
        return (
            Fact("shape", self.shape),
            Fact("n_values", self.n_values, "values"),
            Fact("n_failed", self.n_failed, "failed"),
            Fact("n_pending", self.n_pending, "pending"),
            Fact("n_unasked", self.n_unasked or None, "not asked for"),
            Fact("n_lists", self.n_lists, "lists"),
            *(Fact(name, x if x is None or x % 1 else int(x)) for name, x in money.items()),
            *(() if last is None else _facts_of_error(last, self.where or "the matrix")),
            Fact("n_unjudged", self.n_unjudged or None, "values since then"),
            Fact("sentence", self.sentence, "when to stop"),
        )

    def __str__(self) -> str:
        n, m = self.shape
        budget = "" if self.budget is None else f" of {self.budget:,.6g}, {self.left:,.6g} left"
        return (
            f"{n} x {m} matrix: {self.n_values:,} values, {self.n_failed:,} failed, {self.n_pending:,} pending; "
            f"spent {self.spent:,.6g}{budget}; {self.sentence}"
        )

    def __repr__(self) -> str:
        return f"<Status of a {self}>"


def _facts_of_error(last: Round, what: str) -> tuple[Fact, ...]:
    """The error that was judged last; its interval in the Frobenius norm, like the error."""
    unit = last.error / last.relative if last.relative else 0.0
    ends = None if math.isnan(last.low) else (last.low * unit, last.high * unit)
    return (
        Fact("error", last.error, unit="in the Frobenius norm"),
        Fact("relative_error", last.relative, unit=f"of {what}"),
        Fact("interval", ends, "95% interval", reason="" if ends else f"none: {last.reason}"),
    )


def status_of(settings: Settings, summary: Summary, rounds: tuple[Round, ...], n_next: int) -> Status:
    """The status that these numbers make."""
    counts = {name: getattr(summary, name) for name in ("n_values", "n_failed", "n_pending", "n_unasked", "n_lists")}
    budget = settings.budget
    logarithms = ("the logarithms",) if settings.scale == LOG else ()
    where = " at ".join((*logarithms, *((OPEN_PLACES,) if summary.is_partial else ())))
    return Status(
        settings.shape,
        **counts,
        spent=summary.spent,
        budget=budget,
        left=None if budget is None else budget - summary.spent - summary.pending_price,
        rounds=rounds,
        n_unjudged=summary.n_values - (rounds[-1].n_values if rounds else 0),
        n_next=n_next,
        sentence=stopping_sentence(rounds, n_next, where),
        where=where,
    )


def stopping_sentence(rounds: tuple[Round, ...], n_next: int, where: str = "") -> str:
    """The error, and what the next values are expected to make of it; ``where`` it is that, if not everywhere."""
    if not rounds:
        return "error unknown: nothing was judged yet (certify does)"
    last = rounds[-1]
    if decided := [r.reason for r in rounds if r.tell == last.tell and r.is_decision]:
        errors = tuple(r for r in rounds if not r.is_decision)
        return "; ".join((decided[-1], *((stopping_sentence(errors, n_next, where),) if errors else ())))
    if math.isnan(last.relative):
        return f"error unknown: {last.reason}"
    why = f": {last.reason}" if last.reason else ""
    no_interval = f"an estimate from left-out values, without an interval{why}"
    ends = no_interval if math.isnan(last.low) else f"{_number(last.low)}-{_number(last.high)} %"
    known = f"error about {_number(last.relative)} %{f' of {where}' if where else ''} ({ends})"
    expected = expected_error(rounds, n_next)
    if math.isnan(expected):
        return f"{known}; no forecast yet: it follows from the errors of two rounds"
    if expected > 0.995 * last.relative:
        return f"{known}; it did not fall lately, so the next {n_next:,} values may not lower it either"
    return f"{known}; the next {n_next:,} values are expected to bring it to {_number(expected)} %"


def expected_error(rounds: tuple[Round, ...], n_more: int) -> float:
    r"""Relative error after more values, if it goes on to fall like a power of their number.

    The power is fitted to the errors by round (least squares of logarithms), and once more to the last two alone; the
    smaller fall of the two counts, since errors stop falling where the noise begins. The curve goes through the last
    error. Errors without an interval count too. The result is nan with fewer than two rounds of different size.
    """
    by_size = {r.n_values: r.relative for r in rounds if r.relative > 0 and r.n_values > 0}
    last = rounds[-1] if rounds else None
    if len(by_size) < 2 or last is None or not last.relative > 0:
        return math.nan
    x, y = (np.log(list(values)) for values in (by_size.keys(), by_size.values()))
    slope = min(max(_slope(x, y), _slope(x[-2:], y[-2:])), 0.0)
    return float(last.relative * (1 + n_more / last.n_values) ** slope)


def _slope(x: FloatArray, y: FloatArray) -> float:
    return float(np.sum((x - x.mean()) * (y - y.mean())) / np.sum((x - x.mean()) ** 2))


def _number(share: float) -> str:
    """A share in percent, with two digits, or all before the point."""
    return f"{100 * share:.2g}" if share < 0.995 else f"{100 * share:.0f}"


def is_judged(rounds: tuple[Round, ...], found: Round) -> bool:
    """Whether this error, or decision, is kept already, of what was known with the same table."""
    return (found.tell, found.reason) in ((r.tell, r.reason) for r in rounds)


def round_of(known: Fitted | Snapshot, found: Certificate | Decision) -> Round:
    """What is remembered of a decision, or of a certificate; the interval as a share of the matrix, like the error.

    If a certificate has no estimate, the error, and its share of the matrix, are those at values that the fit left out.
    """
    error = relative = low = high = math.nan
    if isinstance(found, Certificate):
        error, relative = found.error, found.relative_error
        if found.interval is not None and error > 0:
            low, high = (end / error * relative for end in found.interval)
        elif found.interval == (0.0, 0.0):
            relative = low = high = 0.0  # also of a matrix of zeros
        elif math.isnan(error) and isinstance(known, Fitted):
            error, relative = _left_out(known)
    numbers = known.last_tell, known.n_values, known.spent, error, relative, low, high
    return Round(datetime.now().astimezone(), *numbers, found.reason)


def _left_out(fitted: Fitted) -> tuple[float, float]:
    """Norm of an error like that at the values that the fit left out, and its share of the matrix; nan without any."""
    left_out = (fact.value for fact in fitted.approximation.report.facts if fact.name == "left_out_error")
    residual = Residual(fitted.approximation, fitted.observation)
    error = next(left_out, math.nan) * math.sqrt(math.prod(fitted.observation.shape))
    norm = residual.matrix_norm() * residual.unit
    return error, error / norm if norm else math.nan
