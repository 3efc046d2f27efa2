"""The app: its verbs, one file each, its version, and one line for a failure that was foreseen."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .._layout import __version__
from .._support.spelling import SPELLING
from ..exceptions import CURPlusError, InconsistentObservationError, InvalidArgumentError
from . import (
    acquire,
    approximate,
    certify,
    complete,
    datasets,
    demo,
    info,
    reproduce,
    show,
    study_answers,
    study_lists,
    study_making,
    study_run,
)
from .options import spelled

__all__ = ["EXIT_CODES", "app", "run"]

#: How a command ends, for scripts.
EXIT_CODES = {
    0: "it worked",
    1: "the work failed: a file that cannot be read or written, values that contradict each other, a missing package",
    2: "it was called wrongly: an unknown verb or option, or a value that cannot work; nothing was written",
    130: "it was interrupted",
}
EPILOG = "Exit codes: " + "; ".join(f"{code}, {meaning}" for code, meaning in EXIT_CODES.items()) + "."

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None, epilog=EPILOG)
study_app = typer.Typer(help="Buy a matrix in pieces: ask what to measure, tell what came back.", no_args_is_help=True)
datasets_app = typer.Typer(help="Real matrices to try things on.", no_args_is_help=True)
for verb in (approximate.approximate, acquire.acquire, certify.certify, complete.complete, info.info):
    app.command()(verb)
app.add_typer(study_app, name="study")
app.command()(demo.demo)
app.add_typer(datasets_app, name="datasets")
app.command()(reproduce.reproduce)
for verb in (
    *(study_making.create, study_lists.ask, study_lists.tell, study_lists.cancel, study_lists.status),
    *(study_making.add, study_making.rename, study_making.retire, study_answers.fit, study_answers.predict),
    *(study_answers.means, study_answers.report, study_answers.export, study_run.run),
):
    study_app.command()(verb)
datasets_app.command("list")(datasets.list_all)
datasets_app.command()(datasets.info)
datasets_app.command()(datasets.fetch)


def run() -> None:
    """Run a command; an expected failure is one line, not a traceback."""
    before = SPELLING.set(spelled)
    try:
        app()
    except MemoryError:
        show.failure(MemoryError("there is not enough memory. Ask for less, or give --memory-limit for a large file."))
        sys.exit(1)
    except (CURPlusError, OSError) as error:
        show.failure(error)
        sys.exit(_exit_code(error))
    finally:
        SPELLING.reset(before)


def _exit_code(error: Exception) -> int:
    wrong_call = isinstance(error, InvalidArgumentError) and not isinstance(error, InconsistentObservationError)
    return 2 if wrong_call else 1


def _version(wanted: bool) -> None:
    if wanted:
        show.line(f"curplus {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    """Approximate a matrix from a few of its columns, rows and scattered entries."""
