"""``curplus study fit``, ``predict``, ``means``, ``report`` and ``export``: the answer so far."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._support.tables import write_frame
from ..factorization import Fact
from ..observation.scale import span_note
from ..sources.content import ending_of
from ..study import Study
from . import show
from .approximate import save_approximation
from .certify import Level
from .options import Limit, out_option, verb
from .results import answer_facts, certificate_facts, end_facts, read_facts
from .study_options import Axis, Best, MeansOf, Names, SmallMeans, StudyFile
from .write import FRAMES, TABLES

__all__ = ["export", "fit", "means", "predict", "report"]


@verb
def fit(
    study: StudyFile,
    out: Annotated[
        Path | None, out_option("the approximation, for curplus.load (.npz), or all of its numbers", (".npz", *TABLES))
    ] = None,
) -> list[Fact]:
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
    study: StudyFile,
    row: Names = None,
    column: Names = None,
    level: Level = 0.9,
    min_value: Limit = None,
    max_value: Limit = None,
    out: Annotated[Path | None, out_option("the table", FRAMES)] = None,
) -> list[Fact]:
    """Predict cells, with intervals where these can be given; measured values are kept."""
    with Study.open(study) as known, show.working("predicting"):
        shape = known.settings.shape
        table = known.predict(row or None, column or None, level=level, min_value=min_value, max_value=max_value)
    facts = [Fact("shape", shape), Fact("n_cells", len(table), "cells"), Fact("level", level)]
    facts.append(Fact("n_measured", int(table["measured"].sum()), "measured"))
    if out is None:
        return [*facts, Fact("cells", table)]
    write_frame(table, out, ending_of(out))
    return [*facts, *end_facts(out, "")]


@verb
def means(
    study: StudyFile,
    axis: MeansOf = Axis.rows,
    best: Best = 1,
    smallest: SmallMeans = False,
    level: Level = 0.95,
    min_value: Limit = None,
    max_value: Limit = None,
    out: Annotated[Path | None, out_option("the table of all means", FRAMES)] = None,
) -> list[Fact]:
    """Estimate the mean of every row or column with its interval, and say which may be the best."""
    side = 1 if axis is Axis.rows else 0
    with Study.open(study) as known, show.working("estimating means"):
        found = known.means(side, level=level, min_value=min_value, max_value=max_value)
        shape = known.settings.shape
    may_be = found.best(best, largest=not smallest)
    table = found.to_frame().rename(columns={"estimate": "mean"})
    table.insert(0, axis.value[:-1], table.index)
    table = table.assign(may_be_best=False).reset_index(drop=True)
    table.loc[may_be, "may_be_best"] = True
    table = table.sort_values("mean", ascending=smallest, kind="stable")
    facts = [
        Fact("shape", shape),
        *(fact for fact in found.facts if fact.name not in ("may_be_largest", "largest")),
        Fact(
            "n_best",
            found.n_possible(best, largest=not smallest),
            f"may be among the {best} best" if best > 1 else "may be the best",
            axis.value,
        ),
    ]
    if out is not None:
        write_frame(table, out, ending_of(out))
        facts += end_facts(out, "")
    return [*facts, Fact("means", table)]


@verb
def report(
    study: StudyFile,
    axis: MeansOf = Axis.rows,
    best: Best = 5,
    smallest: SmallMeans = False,
    out: Annotated[Path | None, out_option("the report", (".html",))] = None,
) -> list[Fact]:
    """Write one HTML page: what was measured, money and error by round, the answer, what to measure next."""
    path = Path(f"{study.stem}-report.html") if out is None else out
    with Study.open(study) as known:
        with show.working("writing the report"):
            known.report(path, axis=1 if axis is Axis.rows else 0, n_best=best, largest=not smallest)
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
