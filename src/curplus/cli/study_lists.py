"""``curplus study ask``, ``tell``, ``cancel`` and ``status``: what to measure, what came back, where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..evaluation import Best
from ..exceptions import InvalidArgumentError
from ..factorization import Fact
from ..sources.logs.open_logs import HARNESSES
from ..study import Study, Worklist
from ..study.logs import check_harness
from . import show
from .options import Aim, Json, Logs, Names, Seed, StudyFile, Who, Writing, check_ending, opt, verb

__all__ = ["ask", "cancel", "status", "tell"]

ENDINGS = (".csv", ".parquet", ".xlsx")


@dataclass(frozen=True)
class Lots:
    """How a list is made up."""

    whole: bool = opt("Whether whole rows and columns may be asked for.", True, "--whole/--scattered")
    batch: int | None = opt("How many are measured together, such as 96 on a plate: a multiple is asked for.")
    unit: str = opt("What a batch is made of: cell, or whole row or column.", "cell")
    batch_price: float | None = opt("Price of a batch; that of its cells, rows or columns if left out.")
    timeout: float | None = opt("Seconds after which it may be asked for again.")


@verb
def ask(
    study: StudyFile,
    out: Annotated[Path, typer.Option(help=f"Save the list, to be filled in: {', '.join(ENDINGS)}; or a new folder.")],
    lots: Lots,
    aim: Aim,
    harness: Annotated[
        str | None, typer.Option("--format", help=f"Write what a harness takes: {', '.join(HARNESSES)}.")
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(help="For this list alone: below 1 a share of the matrix, else values; money with prices."),
    ] = None,
    number: Annotated[
        int | None, typer.Option("--list", help="Write what is pending of this list; nothing new is asked.")
    ] = None,
    require_row: Names = None,
    require_column: Names = None,
    forbid_row: Names = None,
    forbid_column: Names = None,
    seed: Seed = 0,
    who: Who = None,
) -> list[Fact]:
    """Ask what to measure next, and write it as a table with an empty column for the values."""
    if (budget is None) == (number is None):
        raise InvalidArgumentError("give --budget for a new list, or --list for one that is out, and not both.")
    goal = aim.as_goal()
    if harness is None:
        check_ending(out, ENDINGS)
    else:
        check_harness(out, harness)
    with Study.open(study) as known:
        if number is not None:
            todo = known.worklist(number)
        else:
            wishes = (require_row, require_column), (forbid_row, forbid_column)
            required, forbidden = ({"rows": x, "columns": y} if x or y else None for x, y in wishes)
            how = {"required": required, "forbidden": forbidden, "goal": goal, "width": aim.width, **vars(lots)}
            with show.working("choosing what to measure"):
                todo = known.ask(budget or 0, **how, rng=seed, who=who)
        decided = known.decide(goal).facts[1:] if isinstance(goal, Best) else ()
        shape = known.settings.shape
    _write(todo, out, harness)
    return [
        Fact("shape", shape),
        Fact("list", todo.id),
        Fact("n_cells", len(todo), "cells to measure"),
        Fact("rows", [str(name) for name in todo.rows] or None, "whole rows"),
        Fact("columns", [str(name) for name in todo.columns] or None, "whole columns"),
        *decided,
        Fact("price", todo.price),
        Fact("expires", None if todo.expires is None else todo.expires.isoformat()),
        Fact("out", str(out), "list in"),
        Fact("next", _next(study, out, harness)),
    ]


def _next(study: Path, out: Path, harness: str | None) -> str:
    if harness is None:
        return f"fill in its column value, and: curplus study tell {study} {out}"
    return f"run {harness} with each file of {out}, and: curplus study tell {study} LOGS --format {harness}"


def _write(todo: Worklist, out: Path, harness: str | None) -> None:
    if harness is not None:
        todo.to_harness(out, harness)
        return
    write = {".csv": todo.to_csv, ".parquet": todo.to_parquet, ".xlsx": todo.to_excel}
    write[out.suffix.lower()](out)


@dataclass(frozen=True)
class Telling:
    """What is said of what was measured."""

    history: bool = opt("Measured before the study: it is used, and costs nothing.", False, "--history")
    design: str | None = opt('"uniform" promises that chance alone chose these cells: they are evidence.')
    force: bool = opt("Keep values far larger than usual, and a list in which all failed.", False, "--force")


@verb
def tell(
    study: StudyFile,
    tables: Annotated[list[Path], typer.Argument(help="Lists that were filled in, other tables with values, or logs.")],
    telling: Telling,
    writing: Writing,
    logs: Logs,
    who: Who = None,
    json: Json = False,
) -> list[Fact]:
    """Keep what was measured: each table as a whole, or nothing of it; logs of evaluations all together."""
    told, how = [], logs.as_keywords(writing.as_keywords())
    with Study.open(study) as known:
        for table in [tables] if logs.format else tables:
            receipt = known.tell(table, who=who, **vars(telling), **how)
            told.append({**vars(receipt), "moment": receipt.moment.isoformat(), "is_new": receipt.is_new})
            if not json:
                show.words(str(receipt))
        shape = known.settings.shape
    if json:
        return [Fact("shape", shape), Fact("tables", told)]
    return [
        Fact("next", f"curplus study fit {study} judges what is known now, and curplus study status {study} sums up")
    ]


@verb
def cancel(
    study: StudyFile,
    number: Annotated[int, typer.Argument(metavar="LIST", help="The number of the list.")],
) -> list[Fact]:
    """Take back what is pending of a list, so that it can be asked for again."""
    with Study.open(study) as known:
        n_cells = known.cancel(number)
        shape = known.settings.shape
    return [Fact("shape", shape), Fact("list", number), Fact("n_cells", n_cells, "cells taken back")]


@verb
def status(
    study: StudyFile,
    next_values: Annotated[
        int | None, typer.Option("--next", help="For how many more values the error is foretold.")
    ] = None,
) -> list[Fact]:
    """Say where the study stands: spent, left, pending, the error by round, and when to stop. Nothing is fitted."""
    with Study.open(study) as known:
        found = known.status(n_next=next_values)
    return [*found.facts, Fact("rounds", [r._asdict() for r in found.judged], "error by round")]
