"""``curplus decompose``: the matrix in a file, by the paper's algorithm."""

from __future__ import annotations

from typing import Annotated

import typer

from ..methods import cur_plus
from ..observation import observe
from ..solvers import SOLVERS
from ..sources import open_source
from . import show
from .finish import finish
from .options import Check, Columns, Entries, MatrixFile, Out, Rows, Seed, counts

__all__ = ["decompose"]


def _check_solver(solver: str) -> str:
    SOLVERS.resolve(solver)
    return solver


Rank = Annotated[int, typer.Option(help="Target rank.")]
Solver = Annotated[str, typer.Option(callback=_check_solver, help=f"Solver for the core: {', '.join(SOLVERS)}.")]


def decompose(
    matrix: MatrixFile,
    rank: Rank,
    columns: Columns = None,
    rows: Rows = None,
    entries: Entries = None,
    seed: Seed = 0,
    solver: Solver = "auto",
    out: Out = None,
    check: Check = False,
) -> None:
    """Approximate the matrix in a file with CUR+, the paper's algorithm."""
    source = open_source(matrix)
    to_read = counts(source.shape, rank, columns, rows, entries)
    with show.working(f"reading {matrix}"):
        observation = observe(source, **to_read._asdict(), rng=seed)
    with show.working("solving for the core"):
        approx = cur_plus(observation, rank, solver=solver)
    finish(approx, observation, source, check=check, out=out)
