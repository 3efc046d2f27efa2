"""The app: its verbs, one file each, its version, and one line for a failure that was foreseen."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .._layout import __version__
from ..exceptions import CURPlusError
from . import approximate, datasets, decompose, demo, info, reproduce, show

__all__ = ["app", "run"]

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command()(approximate.approximate)
app.command()(decompose.decompose)
app.command()(info.info)
app.command()(demo.demo)
app.add_typer(datasets.app, name="datasets")
app.command()(reproduce.reproduce)


def run() -> None:
    """Run a command; an expected failure is one line, not a traceback."""
    try:
        app()
    except (CURPlusError, OSError) as error:
        show.failure(error)
        sys.exit(2)


def _version(wanted: bool) -> None:
    if wanted:
        show.line(f"curplus {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    """Approximate a matrix from a few of its columns, rows and scattered entries."""
