"""``curplus study create``, ``add``, ``rename`` and ``retire``: a study file, and rows and columns that change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..exceptions import InvalidArgumentError
from ..factorization import Fact
from ..study import Study
from .options import Logs, Names, Prices, Rank, Scale, StudyFile, Who, opt, verb

__all__ = ["add", "create", "names_in", "rename", "retire"]

LONGEST_LIST = 2**26  # bytes of a file of names

Side = Annotated[str | None, typer.Option(help="How many, or a text file with one name in each line.")]


@dataclass(frozen=True)
class Terms:
    """What a study may spend, and what its readings are."""

    budget: float | None = opt(
        "What may be spent in all: below 1 a share of the matrix, else values; money with prices."
    )
    noise: str | None = opt("Standard deviation of a reading, or unknown; if left out, readings are exact.")
    records: str = opt("What counts where a cell was measured again: all (their mean), latest or error.", "all")


@dataclass(frozen=True)
class FromLogs(Logs):
    """Logs that have the models and the questions."""

    from_logs: list[str] | None = opt(
        "Models and questions of these logs, files or folders, with what is known of them."
    )
    row: list[str] | None = opt("A model that is in no log yet; may be given again.")


@verb
def create(
    study: StudyFile,
    terms: Terms,
    prices: Prices,
    logs: FromLogs,
    rows: Side = None,
    columns: Side = None,
    rank: Rank = None,
    scale: Scale = None,
) -> list[Fact]:
    """Make a new study: a file that does not exist yet, on a local disk."""
    settings = {**vars(terms), "noise": _noise(terms.noise), "costs": prices.as_costs(), "rank": rank, "scale": scale}
    said = logs.as_keywords({})
    make: Callable[..., Study]
    if logs.from_logs:
        if rows is not None or columns is not None or logs.format is None:
            raise InvalidArgumentError(
                "--from-logs needs --format, and takes rows and columns from the logs: leave out --rows and --columns, "
                "and name new models with --row."
            )
        make = partial(Study.from_logs, logs=logs.from_logs, new_rows=logs.row or (), **said)
    elif rows is None or columns is None or logs.row or said:
        raise InvalidArgumentError(
            "--rows and --columns are needed: how many, or a file with their names. Or --from-logs with --format, and "
            "--row for models that are new."
        )
    else:
        make = partial(Study.create, rows=names_in(rows, "--rows"), columns=names_in(columns, "--columns"))
    with make(study, **settings) as made:
        known = [Fact("shape", made.settings.shape), Fact("budget", made.settings.budget)]
    end = Fact("next", f"curplus study ask {study} --budget 0.1 --out list.csv")
    return [*known, Fact("out", str(study), "made"), end]


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


@verb
def add(
    study: StudyFile,
    rows: Side = None,
    columns: Side = None,
    row: Names = None,
    column: Names = None,
    price: Annotated[
        float | None, typer.Option(help="Price of each as a whole, if each has a price of its own.")
    ] = None,
    who: Who = None,
) -> list[Fact]:
    """Add rows or columns. Cells that were drawn before are no evidence of the error of the larger matrix."""
    sides = (("rows", rows, row), ("columns", columns, column))
    _check_some(*(given for _, *both in sides for given in both), options="--rows, --columns, --row or --column")
    with Study.open(study) as known:
        for (side, many, listed), method in zip(sides, (known.add_rows, known.add_columns), strict=True):
            if many is not None and listed:
                raise InvalidArgumentError(f"give --{side} or --{side[:-1]}, and not both.")
            if many is not None or listed:
                method(listed if many is None else names_in(many, f"--{side}"), price=price, who=who)
        shape = known.settings.shape
    return [Fact("shape", shape)]


@verb
def rename(
    study: StudyFile,
    new: Annotated[str, typer.Argument(help="The new name.")],
    row: Annotated[str | None, typer.Option(help="The row that gets it.")] = None,
    column: Annotated[str | None, typer.Option(help="The column that gets it.")] = None,
    who: Who = None,
) -> list[Fact]:
    """Give a row or a column another name; tables with the old one are still understood."""
    if (row is None) == (column is None):
        raise InvalidArgumentError("give --row or --column, and not both: one of them gets the new name.")
    with Study.open(study) as known:
        if row is not None:
            known.rename_row(row, new, who=who)
        else:
            known.rename_column(column, new, who=who)
        shape = known.settings.shape
    return [Fact("shape", shape), Fact("name", new)]


@verb
def retire(study: StudyFile, row: Names = None, column: Names = None, who: Who = None) -> list[Fact]:
    """Ask no more for some rows or columns; what is known of them stays."""
    _check_some(row, column, options="--row or --column")
    with Study.open(study) as known:
        if row:
            known.retire_row(row, who=who)
        if column:
            known.retire_column(column, who=who)
        settings, pending = known.settings, known.status().n_pending
    facts = [Fact(f"n_{x.what}s", len(x.retired), f"{x.what}s retired") for x in settings.axes]
    return [Fact("shape", settings.shape), *facts, Fact("n_pending", pending, "pending")]


def _check_some(*given: object, options: str) -> None:
    if not any(given):
        raise InvalidArgumentError(f"nothing is named. Give {options}.")
