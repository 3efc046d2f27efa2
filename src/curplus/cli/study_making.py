"""``curplus study create``, ``report`` and ``export``: a study file, a page about it, and the same as tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..exceptions import InvalidArgumentError
from ..factorization import Fact
from ..study import Study
from . import show
from .options import AT_COST, NO_LOGS, Json, Logs, Prices, Rank, Scale, out_option, with_groups
from .study_options import Axis, Best, MeansOf, Smallest, StudyFile, opened

__all__ = ["create", "export", "names_in", "report"]

HOW_MANY = "How many, or a text file with one name in each line."
LONGEST_LIST = 2**26  # bytes of a file of names

Side = Annotated[str | None, typer.Option(help=HOW_MANY)]
Budget = Annotated[
    float | None,
    typer.Option(help="What may be spent in all: below 1 a share of the matrix, else values; money with prices."),
]
Noise = Annotated[
    str | None, typer.Option(help="Standard deviation of a reading, or unknown; if left out, readings are exact.")
]
Counted = Annotated[
    str, typer.Option(help="What counts where a cell was measured again: all (their mean), latest or error.")
]
Page = Annotated[Path | None, out_option("the report", (".html",))]


@with_groups
def create(
    study: StudyFile,
    rows: Side = None,
    columns: Side = None,
    from_logs: Annotated[
        list[str] | None,
        typer.Option(help="Models and questions of these logs, files or folders, with what is known of them."),
    ] = None,
    row: Annotated[list[str] | None, typer.Option(help="A model that is in no log yet; may be given again.")] = None,
    budget: Budget = None,
    noise: Noise = None,
    rank: Rank = None,
    records: Counted = "all",
    scale: Scale = None,
    json: Json = False,
    prices: Prices = AT_COST,
    logs: Logs = NO_LOGS,
) -> None:
    """Make a new study: a file that does not exist yet, on a local disk."""
    settings: dict[str, Any] = {"budget": budget, "costs": prices.as_costs(), "noise": _noise(noise)}
    settings |= {"rank": rank, "records": records, "scale": scale}
    make: Callable[..., Study]
    if from_logs:
        make = partial(Study.from_logs, logs=from_logs, new_rows=row or (), **_log_options(logs, rows, columns))
    elif rows is None or columns is None or row or logs.as_keywords({}):
        raise InvalidArgumentError(
            "--rows and --columns are needed: how many, or a file with their names. Or --from-logs with --format, and "
            "--row for models that are new."
        )
    else:
        make = partial(Study.create, rows=names_in(rows, "--rows"), columns=names_in(columns, "--columns"))
    with make(study, **settings) as made:
        known = [Fact("shape", made.settings.shape), Fact("budget", made.settings.budget)]
    end = Fact("next", f"curplus study ask {study} --budget 0.1 --out list.csv")
    show.result([*known, Fact("out", str(study), "made"), end], as_json=json)


def _log_options(logs: Logs, rows: str | None, columns: str | None) -> dict[str, Any]:
    """How logs are read that have the names of rows and columns."""
    if rows is not None or columns is not None or logs.format is None:
        raise InvalidArgumentError(
            "--from-logs needs --format, and takes rows and columns from the logs: leave out --rows and --columns, and "
            "name new models with --row."
        )
    return logs.as_keywords({})


def names_in(text: str, option: str) -> Any:
    """How many, or the lines of a file."""
    if text.isascii() and text.isdigit():
        return int(text)
    path = Path(text)
    if not path.is_file():
        raise InvalidArgumentError(f"{option}={text} is neither a number nor a file with one name in each line.")
    if path.stat().st_size > LONGEST_LIST:
        raise InvalidArgumentError(f"{option}={text} is no list of names: it is larger than {LONGEST_LIST:,} bytes.")
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InvalidArgumentError(f"{option}={text} is not written in UTF-8. Save it as UTF-8.") from None
    return [line for line in lines if line.strip()]


def _noise(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def report(
    study: StudyFile,
    axis: MeansOf = Axis.rows,
    best: Best = 5,
    smallest: Smallest = False,
    out: Page = None,
    json: Json = False,
) -> None:
    """Write one HTML page: what was measured, money and error by round, the answer, what to measure next."""
    path = Path(f"{study.stem}-report.html") if out is None else out
    with opened(study) as known:
        with show.working("writing the report"):
            known.report(path, axis=1 if axis is Axis.rows else 0, n_best=best, largest=not smallest)
        facts = [Fact("shape", known.settings.shape), Fact("out", str(path), "report in")]
    show.result(facts, as_json=json)


def export(
    study: StudyFile,
    folder: Annotated[Path, typer.Argument(help="A folder that does not exist yet.")],
    json: Json = False,
) -> None:
    """Write everything as CSV tables into a new folder, for other programs. Copy the file to keep the study."""
    with opened(study) as known:
        known.export(folder)
        facts = [Fact("shape", known.settings.shape), Fact("out", str(folder), "exported to")]
    show.result(facts, as_json=json)
