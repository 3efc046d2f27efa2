"""Options that several verbs share. What can be checked is checked here, before any work is done."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from .._files import check_destination
from .._typing import Shape
from .._validation import check_count
from ..observation import SampleCounts, default_counts
from ..sources.file import READERS

__all__ = ["Check", "Columns", "Entries", "MatrixFile", "Out", "Rows", "Seed", "check_seed", "check_writable", "counts"]


def check_seed(seed: int) -> int:
    """A seed that a random generator takes."""
    return check_count(seed, name="--seed")


def check_writable(path: Path | None) -> Path | None:
    """A place where a file can be saved, or None."""
    if path is not None:
        with tempfile.TemporaryFile(dir=check_destination(path).parent):
            pass
    return path


def counts(shape: Shape, rank: int | None, columns: int | None, rows: int | None, entries: int | None) -> SampleCounts:
    """How much to read: what was asked for, and the library's defaults for the rest."""
    n, m = shape
    default = default_counts(shape, None if rank is None else check_count(rank, name="--rank", at_least=1))
    return SampleCounts(
        default.n_columns if columns is None else check_count(columns, name="--columns", at_most=m, of="columns"),
        default.n_rows if rows is None else check_count(rows, name="--rows", at_most=n, of="rows"),
        default.n_entries if entries is None else check_count(entries, name="--entries", at_most=n * m, of="entries"),
    )


MatrixFile = Annotated[Path, typer.Argument(help=f"A file: {', '.join(READERS)}.")]
Columns = Annotated[int | None, typer.Option(help="How many columns to read; 5 x rank or all if left out.")]
Rows = Annotated[int | None, typer.Option(help="How many rows to read; 5 x rank or all if left out.")]
Entries = Annotated[int | None, typer.Option(help="How many entries to read; 20 x rank^2 or all if left out.")]
Seed = Annotated[int, typer.Option(callback=check_seed, help="Seed of all that is drawn.")]
Out = Annotated[
    Path | None, typer.Option(callback=check_writable, help="Save the result here, to be read with curplus.load.")
]
Check = Annotated[bool, typer.Option(help="Read the whole matrix and say how far off the approximation is.")]
