"""The report of a fit as data: text, HTML, JSON and the command line are made from it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from .._support.html import html_table

__all__ = ["Fact", "FitReport", "facts_as_html", "facts_as_text"]

OTHER_AXIS = {"rows": "columns", "columns": "rows", "": ""}


class Fact(NamedTuple):
    """One fact: a value with its unit, and why it is so."""

    name: str  # in code
    value: Any  # a number, a truth value or text; nan or None if there is none
    label: str = ""  # for people; "{axis}" stands for the axis
    unit: str = ""
    reason: str = ""
    axis: str = ""  # "rows" or "columns", if the fact is about one of them
    is_judgement: bool = False  # of this very approximation, so that it does not hold for a part of it
    is_decision: bool = False  # made from the values: the name, its outcome as the value, its evidence as the reason

    @property
    def is_known(self) -> bool:
        """Whether there is a value."""
        return self.value is not None and not (isinstance(self.value, float) and math.isnan(self.value))

    @property
    def is_shown(self) -> bool:
        """Whether there is something to show: a value, or why there is none."""
        return self.is_known or bool(self.reason)

    @property
    def title(self) -> str:
        """The value as text."""
        return (self.label or self.name.replace("_", " ")).replace("{axis}", self.axis)

    @property
    def text(self) -> str:
        """The value with its unit and reason."""
        shown = f"{self.value:.4g}" if isinstance(self.value, float) else str(self.value)
        if isinstance(self.value, bool):
            shown = "yes" if self.value else "no"
        reason = self.reason.replace("{axis}", self.axis)
        if not self.is_known:
            return reason
        return f"{shown} {self.unit}".rstrip() + (f", {reason}" if reason else "")

    @property
    def T(self) -> Fact:
        """The same fact of the transposed matrix."""
        axis = OTHER_AXIS[self.axis]
        name = self.name
        if axis:
            name = name.replace(self.axis[:-1] + "_", axis[:-1] + "_")
        return self._replace(name=name, axis=axis)


@dataclass(frozen=True)
class FitReport:
    """The facts of a fit, in order; each value is also an attribute, such as ``report.rank``.

    Examples
    --------
    >>> from curplus.factorization import Fact, FitReport
    >>> report = FitReport((Fact("rank", 3, reason="asked for"), Fact("noise", 0.25, unit="of the matrix")))
    >>> print(report)
    rank: 3, asked for
    noise: 0.25 of the matrix
    >>> report.rank, report["rank"].reason
    (3, 'asked for')
    """

    facts: tuple[Fact, ...] = ()

    def __getitem__(self, name: str) -> Fact:
        for fact in self.facts:
            if fact.name == name:
                return fact
        raise KeyError(name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "facts":
            raise AttributeError(name)
        try:
            return self[name].value
        except KeyError:
            known = ", ".join(fact.name for fact in self.facts) or "nothing"
            raise AttributeError(f"the report has no {name!r}; it has {known}") from None

    @property
    def decisions(self) -> tuple[Fact, ...]:
        """What was decided from the values, and by which evidence."""
        return tuple(fact for fact in self.facts if fact.is_decision)

    @property
    def T(self) -> FitReport:
        """The report of the transposed fit."""
        return FitReport(tuple(fact.T for fact in self.facts))

    def to_dict(self) -> dict[str, Any]:
        """Name to value, for those facts that have one."""
        return {fact.name: fact.value for fact in self.facts if fact.is_known}

    def __repr__(self) -> str:
        names = [fact.name for fact in self.facts if fact.is_known]
        return f"<FitReport of {len(names)} facts: {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}>"

    def __str__(self) -> str:
        return facts_as_text(self.facts)

    def _repr_html_(self) -> str:
        return facts_as_html("Fit", self.facts)


def facts_as_text(facts: Iterable[Fact]) -> str:
    """A line for each fact."""
    return "\n".join(f"{fact.title}: {fact.text}" for fact in facts if fact.is_shown)


def facts_as_html(caption: str, facts: Iterable[Fact]) -> str:
    """A table of two columns."""
    return html_table(caption, ((fact.title, fact.text) for fact in facts if fact.is_shown))
