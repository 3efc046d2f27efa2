"""``curplus study fit``, ``predict``, ``means``, ``report`` and ``export``: the answer so far."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .._support.tables import write_frame
from ..factorization import Fact
from ..observation.scale import span_note
from ..sources.content import ending_of
from ..study import Study
from . import show
from .approximate import Out, save_approximation
from .options import Level, Names, Range, StudyFile, opt, out_option, verb
from .results import answer_facts, certificate_facts, end_facts, read_facts
from .write import FRAMES

__all__ = ["export", "fit", "means", "predict", "report"]


class Axis(StrEnum):
    """Whose means."""

    rows = "rows"
    columns = "columns"

    @property
    def number(self) -> int:
        """As functions of the library count axes."""
        return 1 if self is Axis.rows else 0


Table = Annotated[Path | None, out_option("the whole table", FRAMES)]
Best = Annotated[int, typer.Option(help="How many of the best are looked for.")]


@dataclass(frozen=True)
class Compared:
    """Means of what are compared, and which are good."""

    axis: Axis = opt("Means of rows, or of columns.", Axis.rows)
    smallest: bool = opt("Small means are good, not large ones.", False, "--smallest")


@verb
def fit(study: StudyFile, out: Out = None) -> list[Fact]:
    """Approximate the matrix from all that is known, and judge the error, which 'study status' remembers."""
    with Study.open(study) as known, show.working("fitting"):
        approx, certificate, observation = known.fit(), known.certify(), known.observation()
        scale = known.settings.scale
    first, *rest = answer_facts(approx)
    facts = [first, *read_facts(observation), *rest, *certificate_facts(certificate)]
    if scale is None:
        facts.append(Fact("hint", span_note(observation.rows, observation.columns, observation.values) or None))
    if out is not None:
        save_approximation(approx, out)
    return [*facts, *end_facts(out, f"curplus study predict {study} --out predicted.csv writes all cells")]


@verb
def predict(
    study: StudyFile, limits: Range, row: Names = None, column: Names = None, level: Level = 0.9, out: Table = None
) -> list[Fact]:
    """Predict cells, with intervals where these can be given; measured values are kept."""
    with Study.open(study) as known, show.working("predicting"):
        cells, shape = known.predict(row or None, column or None, level=level, **vars(limits)), known.settings.shape
    facts = [Fact("shape", shape), Fact("n_cells", len(cells), "cells"), Fact("level", level)]
    facts.append(Fact("n_measured", int(cells["measured"].sum()), "measured"))
    if out is None:
        return [*facts, Fact("cells", cells)]
    write_frame(cells, out, ending_of(out))
    return [*facts, *end_facts(out, "")]


@verb
def means(
    study: StudyFile, compared: Compared, limits: Range, best: Best = 1, level: Level = 0.95, out: Table = None
) -> list[Fact]:
    """Estimate the mean of every row or column with its interval, and say which may be the best."""
    axis, largest = compared.axis, not compared.smallest
    with Study.open(study) as known, show.working("estimating means"):
        found, shape = known.means(axis.number, level=level, **vars(limits)), known.settings.shape
    frame = found.to_frame().rename(columns={"estimate": "mean"})
    frame.insert(0, axis.value[:-1], frame.index)
    frame = frame.assign(may_be_best=False).reset_index(drop=True)
    frame.loc[found.best(best, largest=largest), "may_be_best"] = True
    frame = frame.sort_values("mean", ascending=not largest, kind="stable")
    among = f"may be among the {best} best" if best > 1 else "may be the best"
    facts = [
        Fact("shape", shape),
        *(fact for fact in found.facts if fact.name not in ("may_be_largest", "largest")),
        Fact("n_best", found.n_possible(best, largest=largest), among, axis.value),
    ]
    if out is not None:
        write_frame(frame, out, ending_of(out))
        facts += end_facts(out, "")
    return [*facts, Fact("means", frame)]


@verb
def report(
    study: StudyFile,
    compared: Compared,
    best: Best = 5,
    out: Annotated[Path | None, out_option("the report", (".html",))] = None,
) -> list[Fact]:
    """Write one HTML page: what was measured, money and error by round, the answer, what to measure next."""
    path = out or Path(f"{study.stem}-report.html")
    with Study.open(study) as known:
        with show.working("writing the report"):
            known.report(path, axis=compared.axis.number, n_best=best, largest=not compared.smallest)
        return [Fact("shape", known.settings.shape), Fact("out", str(path), "report in")]


@verb
def export(
    study: StudyFile,
    folder: Annotated[Path, typer.Argument(help="A folder that does not exist yet.")],
) -> list[Fact]:
    """Write readings, lists and errors as CSV tables into a new folder. Copy the file to keep the study."""
    with Study.open(study) as known:
        known.export(folder)
        return [Fact("shape", known.settings.shape), Fact("out", str(folder), "exported to")]
