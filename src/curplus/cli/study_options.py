"""What the verbs of studies share: the file, and what is said of its error."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..factorization import Fact
from ..study import Round, Status

__all__ = ["Axis", "Best", "MeansOf", "Names", "SmallMeans", "StudyFile", "Who", "status_facts"]


class Axis(StrEnum):
    """Whose means."""

    rows = "rows"
    columns = "columns"


MeansOf = Annotated[Axis, typer.Option(help="Means of rows, or of columns.")]
Best = Annotated[int, typer.Option(help="How many of the best are looked for.")]
SmallMeans = Annotated[bool, typer.Option("--smallest", help="Small means are good, not large ones.")]
Names = Annotated[list[str] | None, typer.Option(help="By name; may be given several times.")]
StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", help="The file of the study.")]
Who = Annotated[str | None, typer.Option(help="Who it was; the user of the computer if left out.")]


def status_facts(status: Status) -> list[Fact]:
    """Where a study stands."""
    s = status
    return [
        Fact("shape", s.shape),
        Fact("n_values", s.n_values, "values"),
        Fact("n_failed", s.n_failed, "failed"),
        Fact("n_pending", s.n_pending, "pending"),
        Fact("n_unasked", s.n_unasked or None, "not asked for"),
        Fact("n_lists", s.n_lists, "lists"),
        Fact("spent", s.spent),
        Fact("budget", s.budget),
        Fact("left", s.left),
        *_error_facts(s.judged[-1] if s.judged else None, s.where or "the matrix"),
        Fact("n_unjudged", s.n_unjudged or None, "values since then"),
        Fact("sentence", s.sentence, "when to stop"),
    ]


def _error_facts(last: Round | None, what: str) -> list[Fact]:
    """The error that was judged last; its interval in the Frobenius norm, like the error."""
    if last is None:
        return []
    unit = last.error / last.relative if last.relative else 0.0
    ends = None if math.isnan(last.low) else (last.low * unit, last.high * unit)
    return [
        Fact("error", last.error, unit="in the Frobenius norm"),
        Fact("relative_error", last.relative, unit=f"of {what}"),
        Fact("interval", ends, "95% interval", reason="" if ends else f"none: {last.reason}"),
    ]
