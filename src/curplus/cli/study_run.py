"""``curplus study run``: a Python function or a command measures cell by cell, and each value is kept at once."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ..exceptions import InvalidArgumentError
from ..factorization import Fact
from ..study import Status, Study
from . import show
from .options import StudyFile, opt, verb

__all__ = ["check_names", "command_as_function", "run"]

NAME = re.compile(r"\{(row|column)\}")
Measure = Callable[[Any, Any], float | None]


@dataclass(frozen=True)
class Pace:
    """How far a run goes, and how it calls what measures."""

    budget: float | None = opt("What the study should have spent in the end; its own budget if left out.")
    tol: float | None = opt("Stop when the interval of the relative error ends below this.")
    n_workers: int = opt("How many are measured at once, at most.", 4, "--workers")
    n_retries: int = opt("How often a failed call is repeated.", 3, "--retries")
    wait: float = opt("Seconds before the first repetition; then twice as long.", 0.5)
    n_rounds: int = opt("In how many lists the budget is spent.", 5, "--rounds")


@verb
def run(
    study: StudyFile,
    pace: Pace,
    function: Annotated[
        str | None, typer.Argument(metavar="MODULE:FUNCTION", help="function(row, column) gives the value.")
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(
            help="A program that prints the value, such as 'measure {row} {column}'. No shell is involved: names are "
            "arguments as they are."
        ),
    ] = None,
) -> list[Fact]:
    """Ask, measure and keep each value at once, until the budget or the goal is reached.

    After an interruption the same command goes on.
    """
    measure = _measure(function, command)

    def tell(status: Status) -> None:
        show.console(stderr=True).print(f"{status.n_values:,} values: {status.sentence}", soft_wrap=True)

    with Study.open(study) as known, show.interruptible("measured"):
        if command is not None:
            check_names(command, row=known.settings.rows.names, column=known.settings.columns.names)
        found = known.run(measure, on_round=tell, progress=show.on_terminal(), **vars(pace))
    end = Fact("next", f"curplus study report {study} writes a page of what was found")
    return [*found.facts, end]


def _measure(function: str | None, command: str | None) -> Measure:
    if (function is None) == (command is None):
        raise InvalidArgumentError("give MODULE:FUNCTION or --command, and not both: one of them measures.")
    return _imported(function) if function is not None else command_as_function(command or "")


def _imported(text: str) -> Measure:
    """The function of a module, which may lie in the present folder."""
    module, colon, name = text.partition(":")
    if not colon or not module or not name:
        raise InvalidArgumentError(f"{text!r} does not name a function. Write MODULE:FUNCTION, such as lab:measure.")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(module), name)
    except ImportError as error:
        raise InvalidArgumentError(f"{module} cannot be imported: {error}. Is it in the present folder?") from error
    except AttributeError:
        raise InvalidArgumentError(f"the module {module} has no function {name}.") from None
    if not callable(found):
        raise InvalidArgumentError(f"{text} is not a function: it cannot be called with a row and a column.")
    return found  # type: ignore[no-any-return]


def check_names(template: str, **names: Iterable[Any] | None) -> None:
    """An error if a program would take a name for an option: names come with the file, perhaps from somebody else."""
    words = _words(template)
    before_options_end = words[: words.index("--")] if "--" in words else words
    for side, listed in names.items():
        is_open = any(word.startswith(f"{{{side}}}") for word in before_options_end)
        wrong = [name for name in map(str, listed or ()) if name.startswith("-")]
        if is_open and wrong:
            raise InvalidArgumentError(
                f"a {side} is called {wrong[0]!r}, which a program may take for an option. Write -- before the names, "
                "such as 'measure -- {row} {column}', if the program knows that as the end of its options, or put the "
                f"name behind something else, such as {side}={{{side}}}."
            )


def command_as_function(template: str) -> Measure:
    """A function that runs a program for a cell and takes the last line that it prints; nothing printed is a failure.

    The template is split into words once, before any name is put in, so that a name is always one argument, or a part
    of one, whatever is in it.
    """
    words = _words(template)

    def measure(row: Any, column: Any) -> float | None:
        check_names(template, row=[row], column=[column])
        names = {"row": str(row), "column": str(column)}
        called = [NAME.sub(lambda found: names[found[1]], word) for word in words]
        done = subprocess.run(called, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode:
            last = done.stderr.strip().rpartition("\n")[2]
            raise RuntimeError(f"{called[0]} ended with {done.returncode}: {last}")
        printed = done.stdout.strip().rpartition("\n")[2]
        return float(printed) if printed else None

    return measure


def _words(template: str) -> list[str]:
    """The words of a command, with a place for the row and one for the column."""
    lexer = shlex.shlex(template, posix=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    if os.name == "nt":
        lexer.escape = ""  # a backslash there separates folders
    try:
        words = list(lexer)
    except ValueError as error:
        raise InvalidArgumentError(f"--command={template!r} cannot be split into words: {error}.") from None
    if not words or not {"row", "column"} <= {found for word in words for found in NAME.findall(word)}:
        raise InvalidArgumentError(
            f"--command={template!r} needs {{row}} and {{column}}, such as 'measure {{row}} {{column}}'."
        )
    return words
