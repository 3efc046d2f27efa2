"""The command line: it parses, calls and prints; the mathematics is elsewhere."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .._layout import __version__
from .._validation import check_count
from ..evaluation import metrics
from ..exceptions import CURPlusError
from ..factorization.factorization import Factorization
from ..methods import cur_full, cur_plus
from ..methods.approximate.approximate import approximate
from ..methods.loading import load
from ..observation.observation import Observation
from ..observation.plan import default_counts
from ..observation.read import observe
from ..solvers import SOLVERS
from ..sources import as_source
from ..sources.file import open_source
from . import datasets as cli_datasets
from . import reproduce as cli_reproduce

app = typer.Typer(
    help="Approximate a matrix from a few of its columns, rows and scattered entries.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(cli_datasets.app, name="datasets")
app.command("reproduce")(cli_reproduce.reproduce)
console = Console()

Rank = Annotated[int, typer.Option(help="ReferenceMatrix rank.")]
Columns = Annotated[int | None, typer.Option(help="How many columns to read; 5 x rank if left out.")]
Rows = Annotated[int | None, typer.Option(help="How many rows to read; 5 x rank if left out.")]
Entries = Annotated[int | None, typer.Option(help="How many entries to read; 20 x rank^2 if left out.")]
Seed = Annotated[int, typer.Option(help="Seed of the draw.")]
MatrixFile = Annotated[Path, typer.Argument(help="A .npy, .npz (sparse), .csv or .tsv file.")]
Out = Annotated[Path | None, typer.Option(help="Save the result here, to be read with curplus.load.")]
Check = Annotated[bool, typer.Option(help="Read the whole matrix and say how far off the answer is.")]
Solver = Annotated[str, typer.Option(help=f"Solver for the core: auto, {', '.join(SOLVERS)}.")]


def run() -> None:
    """Run a command; an expected failure is one line, not a traceback."""
    try:
        app()
    except (CURPlusError, OSError) as error:
        Console(stderr=True).print(f"[bold red]error:[/] {escape(str(error))}", highlight=False)
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


@app.command("approximate")
def approximate_command(
    matrix: MatrixFile,
    rank: Annotated[int | None, typer.Option(help="Rank of the answer; chosen from the data if left out.")] = None,
    columns: Annotated[int, typer.Option(help="How many columns to read.")] = 50,
    rows: Annotated[int, typer.Option(help="How many rows to read.")] = 50,
    entries: Annotated[int, typer.Option(help="How many scattered entries to read.")] = 2000,
    seed: Seed = 0,
    out: Out = None,
    check: Check = False,
) -> None:
    """Approximate the matrix in a file in the way we recommend: everything that was read is used."""
    whole = open_source(matrix)
    with console.status(f"reading {matrix}"):
        observation = observe(whole, n_columns=columns, n_rows=rows, n_entries=entries, rng=seed)
    with console.status("approximating"):
        approx = approximate(observation, rank)
    _report(approx, observation, whole if check else None, out)


@app.command()
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
    whole = open_source(matrix)
    counts = default_counts(as_source(whole).shape, check_count(rank, name="rank", at_least=1))
    with console.status(f"reading {matrix}"):
        observation = observe(
            whole,
            n_columns=counts.n_columns if columns is None else columns,
            n_rows=counts.n_rows if rows is None else rows,
            n_entries=counts.n_entries if entries is None else entries,
            rng=seed,
        )
    with console.status("solving for the core"):
        approx = cur_plus(observation, rank, solver=solver)
    _report(approx, observation, whole if check else None, out)


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
    columns: Annotated[int, typer.Option(help="How many columns of pixels to read.")] = 25,
    rows: Annotated[int, typer.Option(help="How many rows of pixels to read.")] = 25,
    entries: Annotated[int, typer.Option(help="How many single pixels to read.")] = 4000,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Where to put the picture.")] = Path("curplus-demo.png"),
) -> None:
    """Approximate a photograph from a tenth of its pixels, and draw the result."""
    from ..datasets.photograph import sample_photograph
    from ..plotting import plot_images

    photograph = sample_photograph()
    observation = observe(photograph, n_columns=columns, n_rows=rows, n_entries=entries, rng=seed)
    answers = {
        "CUR+, the paper's algorithm": cur_plus(observation, rank),
        "approximate, the recommended one": approximate(observation, rank),
        "CUR-F, which sees all pixels": cur_full(photograph, observation, rank),
    }
    _describe(answers["approximate, the recommended one"], observation)
    _compare(metrics.ReferenceMatrix(photograph), answers, rank)
    images = {"the photograph": photograph, f"what was read: {_share(observation):.0%} of it": observation}
    images |= {f"{name.split(',')[0]}, rank {rank}": answer.to_array() for name, answer in list(answers.items())[:2]}
    plot_images(images).savefig(out, dpi=120)
    console.print(f"picture in {out}", highlight=False)


def _report(approx: Factorization, observation: Observation, whole: Any, out: Path | None) -> None:
    """Describe an answer, compare it with the whole matrix where that is given, and save it where that is asked for."""
    _describe(approx, observation)
    if whole is not None:
        with console.status("reading the whole matrix"):
            best = cur_full(whole, observation).truncate(approx.rank)
            target = metrics.ReferenceMatrix(whole)
        _compare(target, {approx.core.solver: approx, "CUR-F, which sees all": best}, approx.rank)
    if out is not None:
        approx.save(out)
        console.print(f"saved to {out}", highlight=False)


def _share(observation: Observation) -> float:
    return observation.n_values_read / math.prod(observation.shape)


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
    if len(approx.column_index) and len(approx.row_index):
        facts["columns"] = ", ".join(str(name) for name in approx.sampled_column_names[:8])
        facts["rows"] = ", ".join(str(name) for name in approx.sampled_row_names[:8])
    facts["residual"] = f"{core.residual_norm:.4g} on the entries"
    if core.condition is not None:
        facts["condition"] = f"{core.condition:.3g}"
    if approx.report is not None:
        facts |= dict(line.split(": ", 1) for line in str(approx.report).splitlines())
    for note in core.notes:
        facts["note" if "note" not in facts else f"note {len(facts)}"] = note
    for name, value in facts.items():
        table.add_row(f"[bold]{name}[/]", value)
    console.print(table, highlight=False)


def _compare(target: metrics.ReferenceMatrix, answers: dict[str, Factorization], rank: int) -> None:
    table = Table("", "relative error", "l_F", "l_s", title=f"Against the whole matrix (best rank {rank} has l = 1)")
    for name, answer in answers.items():
        relative = metrics.frobenius_error(target, answer) / target.frobenius_norm
        l_f = metrics.relative_frobenius_error(target, answer, rank)
        l_s = metrics.relative_spectral_error(target, answer, rank)
        table.add_row(name, f"{relative:.4g}", f"{l_f:.4g}", f"{l_s:.4g}")
    console.print(table)
