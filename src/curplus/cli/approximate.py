"""``curplus approximate``: the matrix in a file, in the way we recommend."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import methods
from ..observation import observe
from ..observation.plan import DEFAULT_RANK
from ..sources import open_source
from . import show
from .finish import finish
from .options import Check, Columns, Entries, MatrixFile, Out, Rows, Seed, counts

__all__ = ["approximate"]

Rank = Annotated[
    int | None,
    typer.Option(help=f"Target rank; if left out, the data decide, and the counts are those of {DEFAULT_RANK}."),
]


def approximate(
    matrix: MatrixFile,
    rank: Rank = None,
    columns: Columns = None,
    rows: Rows = None,
    entries: Entries = None,
    seed: Seed = 0,
    out: Out = None,
    check: Check = False,
) -> None:
    """Approximate the matrix in a file in the way we recommend: everything that was read is used."""
    source = open_source(matrix)
    to_read = counts(source.shape, rank, columns, rows, entries)
    with show.working(f"reading {matrix}"):
        observation = observe(source, **to_read._asdict(), rng=seed)
    with show.working("approximating"):
        approx = methods.approximate(observation, rank)
    finish(approx, observation, source, check=check, out=out)
