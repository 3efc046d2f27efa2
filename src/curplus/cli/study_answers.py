"""``curplus study fit``, ``predict`` and ``means``: the answer so far, as an approximation, by cell and by line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .._tables import write_frame
from ..exceptions import InvalidArgumentError
from ..factorization import Fact
from ..observation.scale import span_note
from ..sources.content import ending_of
from . import show
from .approximate import save_approximation
from .certify import Level
from .options import Json, Limit, out_option
from .results import answer_facts, certificate_facts, end_facts, read_facts
from .study_options import Axis, Best, MeansOf, Smallest, StudyFile, opened
from .write import FRAMES, TABLES

__all__ = ["fit", "means", "predict"]

MOST_PRINTED = 10_000  # cells in a JSON object
MORE = "; --out writes all"


Names = Annotated[list[str] | None, typer.Option(help="By name; may be given several times. All if left out.")]


def fit(
    study: StudyFile,
    out: Annotated[
        Path | None, out_option("the approximation, for curplus.load (.npz), or all of its numbers", (".npz", *TABLES))
    ] = None,
    json: Json = False,
) -> None:
    """Approximate the matrix from all that is known, and judge the error, which 'study status' remembers."""
    with opened(study) as known, show.working("fitting"):
        approx, certificate, observation = known.fit(), known.certify(), known.observation()
        scale = known.settings.scale
    first, *rest = answer_facts(approx)
    facts = [first, *read_facts(observation), *rest, *certificate_facts(certificate)]
    if scale is None:
        facts.append(Fact("hint", span_note(observation.rows, observation.columns, observation.values) or None))
    if out is not None:
        save_approximation(approx, out)
    facts += end_facts(out, f"curplus study predict {study} --out predicted.csv writes all cells")
    show.result(facts, as_json=json)


def predict(
    study: StudyFile,
    row: Names = None,
    column: Names = None,
    level: Level = 0.9,
    min_value: Limit = None,
    max_value: Limit = None,
    out: Annotated[Path | None, out_option("the table", FRAMES)] = None,
    json: Json = False,
) -> None:
    """Predict cells, with intervals where these can be given; measured values are kept."""
    with opened(study) as known:
        shape = known.settings.shape
        if json and out is None:
            _check_few((len(row) if row else shape[0]) * (len(column) if column else shape[1]))
        with show.working("predicting"):
            table = known.predict(row or None, column or None, level=level, min_value=min_value, max_value=max_value)
    facts = [Fact("shape", shape), Fact("n_cells", len(table), "cells"), Fact("level", level)]
    facts.append(Fact("n_measured", int(table["measured"].sum()), "measured"))
    if out is not None:
        write_frame(table, out, ending_of(out))
        facts += end_facts(out, "")
    elif json:
        facts.append(Fact("cells", _records(table)))
    show.result(facts, as_json=json)
    if out is None and not json:
        show.frame(table, more=MORE)


def _check_few(n_cells: int) -> None:
    if n_cells > MOST_PRINTED:
        raise InvalidArgumentError(
            f"{n_cells:,} cells are too many to be printed: at most {MOST_PRINTED:,}. Name some with --row and "
            "--column, or write them with --out."
        )


def means(
    study: StudyFile,
    axis: MeansOf = Axis.rows,
    best: Best = 1,
    smallest: Smallest = False,
    level: Level = 0.95,
    min_value: Limit = None,
    max_value: Limit = None,
    out: Annotated[Path | None, out_option("the table of all means", FRAMES)] = None,
    json: Json = False,
) -> None:
    """Estimate the mean of every row or column with its interval, and say which may be the best."""
    side = 1 if axis is Axis.rows else 0
    with opened(study) as known, show.working("estimating means"):
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
    if json:
        facts.append(Fact("means", _records(table)))
    show.result(facts, as_json=json)
    if not json:
        show.frame(table.drop(columns=["joint_low", "joint_high", "is_exact"]), more=MORE)


def _records(table: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.to_dict("records")
    return found
