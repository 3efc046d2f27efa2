"""The command line: it parses, calls and prints; the mathematics is elsewhere."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from . import __version__, metrics
from ._typing import Source
from ._validation import check_count
from .core import SOLVERS
from .decompose import cur_full, cur_plus
from .exceptions import CURPlusError
from .factorization import Factorization
from .loading import load
from .observation import Observation, observe
from .sampling import default_counts
from .sources import as_source
from .sources.files import open_matrix

app = typer.Typer(
    help="Approximate a matrix from a few of its columns, rows and scattered entries.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console()

Rank = Annotated[int, typer.Option(help="Target rank.")]
Columns = Annotated[int | None, typer.Option(help="How many columns to read; 5 x rank if left out.")]
Rows = Annotated[int | None, typer.Option(help="How many rows to read; 5 x rank if left out.")]
Entries = Annotated[int | None, typer.Option(help="How many entries to read; 20 x rank^2 if left out.")]
Seed = Annotated[int, typer.Option(help="Seed of the draw.")]
Solver = Annotated[str, typer.Option(help=f"Solver for the core: auto, {', '.join(SOLVERS)}.")]


def run() -> None:
    """Run a command; an expected failure is one line, not a traceback."""
    try:
        app()
    except (CURPlusError, OSError) as error:
        Console(stderr=True).print(f"[bold red]error:[/] {error}", highlight=False)
        sys.exit(2)


def _version(wanted: bool) -> None:
    if wanted:
        console.print(f"curplus {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    """Approximate a matrix from a few of its columns, rows and scattered entries."""


@app.command()
def decompose(
    matrix: Annotated[Path, typer.Argument(help="A .npy, .npz (sparse), .csv or .tsv file.")],
    rank: Rank,
    columns: Columns = None,
    rows: Rows = None,
    entries: Entries = None,
    seed: Seed = 0,
    solver: Solver = "auto",
    out: Annotated[Path | None, typer.Option(help="Save the result here, to be read with curplus.load.")] = None,
    check: Annotated[bool, typer.Option(help="Read the whole matrix and say how far off the answer is.")] = False,
) -> None:
    """Approximate the matrix in a file with CUR+."""
    whole = open_matrix(matrix)
    source = as_source(whole)
    check_count(rank, name="rank", at_least=1)
    with console.status(f"reading {matrix}"):
        observation = _observe(source, rank, columns, rows, entries, seed)
    with console.status("solving for the core"):
        approx = cur_plus(observation, rank, solver=solver)
    _describe(approx, observation)
    if check:
        with console.status("reading the whole matrix"):
            best = cur_full(source, observation, rank)
            target = metrics.Target(whole)
        _compare(target, {"CUR+": approx, "best core for these rows and columns (CUR-F)": best}, rank)
    if out is not None:
        approx.save(out)
        console.print(f"saved to {out}", highlight=False)


@app.command()
def info(file: Annotated[Path, typer.Argument(help="A file that curplus saved.")]) -> None:
    """Say what a saved file holds."""
    saved = load(file)
    if isinstance(saved, Observation):
        console.print(repr(saved), highlight=False)
    else:
        _describe(saved)


@app.command()
def demo(
    rank: Rank = 10,
    columns: Columns = 25,
    rows: Rows = 25,
    entries: Entries = 4000,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Where to put the picture.")] = Path("curplus-demo.png"),
) -> None:
    """Approximate a photograph from a tenth of its pixels, and draw the result."""
    from .plotting import plot_images, sample_photograph

    photograph = sample_photograph()
    observation = _observe(as_source(photograph), rank, columns, rows, entries, seed)
    approx = cur_plus(observation, rank)
    best_core = cur_full(photograph, observation, rank)
    target = metrics.Target(photograph)
    _describe(approx, observation)
    _compare(target, {"CUR+": approx, "best core for these rows and columns (CUR-F)": best_core}, rank)
    images = {
        "the photograph": photograph,
        f"what was read: {_share(observation):.0%} of it": observation,
        f"CUR+, rank {rank}": approx.to_array(),
        f"CUR-F, rank {rank}: same rows and columns, sees all": best_core.to_array(),
    }
    plot_images(images).savefig(out, dpi=120)
    console.print(f"picture in {out}", highlight=False)


def _observe(
    source: Source, rank: int, columns: int | None, rows: int | None, entries: int | None, seed: int
) -> Observation:
    counts = default_counts(source.shape, rank)
    return observe(
        source,
        n_columns=counts.n_columns if columns is None else columns,
        n_rows=counts.n_rows if rows is None else rows,
        n_entries=counts.n_entries if entries is None else entries,
        rng=seed,
    )


def _share(observation: Observation) -> float:
    return observation.n_distinct / math.prod(observation.shape)


def _describe(approx: Factorization, observation: Observation | None = None) -> None:
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    core = approx.core
    facts = {"matrix": f"{approx.shape[0]} x {approx.shape[1]}"}
    if observation is not None:
        facts["read"] = (
            f"{observation.n_columns} columns, {observation.n_rows} rows, {observation.n_entries} entries: "
            f"{_share(observation):.2%} of the matrix"
        )
    facts["core"] = f"{approx.left.rank} x {approx.right.rank}, by {core.solver}"
    facts["columns"] = ", ".join(str(name) for name in approx.picked_columns[:8])
    facts["rows"] = ", ".join(str(name) for name in approx.picked_rows[:8])
    facts["residual"] = f"{core.residual_norm:.4g} on the entries"
    if core.condition is not None:
        facts["condition"] = f"{core.condition:.3g}"
    for note in core.notes:
        facts["note" if "note" not in facts else f"note {len(facts)}"] = note
    for name, value in facts.items():
        table.add_row(f"[bold]{name}[/]", value)
    console.print(table, highlight=False)


def _compare(target: metrics.Target, answers: dict[str, Factorization], rank: int) -> None:
    table = Table("", "relative error", "l_F", "l_s", title=f"Against the whole matrix (best rank {rank} has l = 1)")
    for name, answer in answers.items():
        relative = metrics.frobenius_error(target, answer) / target.frobenius_norm
        l_f = metrics.relative_frobenius_error(target, answer, rank)
        l_s = metrics.relative_spectral_error(target, answer, rank)
        table.add_row(name, f"{relative:.4g}", f"{l_f:.4g}", f"{l_s:.4g}")
    console.print(table)
