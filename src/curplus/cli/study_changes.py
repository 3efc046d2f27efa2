"""``curplus study add``, ``rename`` and ``retire``: rows and columns of a study that lives."""

from __future__ import annotations

from typing import Annotated

import typer

from ..exceptions import InvalidArgumentError
from ..factorization import Fact
from . import show
from .options import Json
from .study_making import names_in
from .study_options import StudyFile, Who, opened

__all__ = ["add", "rename", "retire"]

More = Annotated[str | None, typer.Option(help="How many, or a text file with one name in each line.")]
Name = Annotated[list[str] | None, typer.Option(help="By name; may be given several times.")]
Price = Annotated[float | None, typer.Option(help="Price of each as a whole, if each has a price of its own.")]


def add(
    study: StudyFile,
    rows: More = None,
    columns: More = None,
    row: Name = None,
    column: Name = None,
    price: Price = None,
    who: Who = None,
    json: Json = False,
) -> None:
    """Add rows or columns. Cells that were drawn before are no evidence of the error of the larger matrix."""
    sides = (("rows", rows, row), ("columns", columns, column))
    _check_some(*(given for _, *both in sides for given in both), options="--rows, --columns, --row or --column")
    with opened(study) as known:
        for (side, many, listed), method in zip(sides, (known.add_rows, known.add_columns), strict=True):
            if many is not None and listed:
                raise InvalidArgumentError(f"give --{side} or --{side[:-1]}, and not both.")
            if many is not None or listed:
                method(listed if many is None else names_in(many, f"--{side}"), price=price, who=who)
        shape = known.settings.shape
    show.result([Fact("shape", shape)], as_json=json)


def rename(
    study: StudyFile,
    new: Annotated[str, typer.Argument(help="The new name.")],
    row: Annotated[str | None, typer.Option(help="The row that gets it.")] = None,
    column: Annotated[str | None, typer.Option(help="The column that gets it.")] = None,
    who: Who = None,
    json: Json = False,
) -> None:
    """Give a row or a column another name; tables with the old one are still understood."""
    if (row is None) == (column is None):
        raise InvalidArgumentError("give --row or --column, and not both: one of them gets the new name.")
    with opened(study) as known:
        if row is not None:
            known.rename_row(row, new, who=who)
        else:
            known.rename_column(column, new, who=who)
        shape = known.settings.shape
    show.result([Fact("shape", shape), Fact("name", new)], as_json=json)


def retire(study: StudyFile, row: Name = None, column: Name = None, who: Who = None, json: Json = False) -> None:
    """Ask no more for some rows or columns; what is known of them stays."""
    _check_some(row, column, options="--row or --column")
    with opened(study) as known:
        if row:
            known.retire_row(row, who=who)
        if column:
            known.retire_column(column, who=who)
        settings, pending = known.settings, known.status().n_pending
    counts = len(settings.retired_rows), len(settings.retired_columns)
    facts = [Fact("n_rows", counts[0], "rows retired"), Fact("n_columns", counts[1], "columns retired")]
    show.result([Fact("shape", settings.shape), *facts, Fact("n_pending", pending, "pending")], as_json=json)


def _check_some(*given: object, options: str) -> None:
    if not any(given):
        raise InvalidArgumentError(f"nothing is named. Give {options}.")
