"""What the terminal shows: lines, facts and tables. It takes results and prints them, nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from ..factorization import Factorization
from ..observation import Observation

__all__ = ["answer", "console", "facts", "failure", "line", "share", "table", "working"]


def console(*, stderr: bool = False) -> Console:
    """The terminal, as wide as it is now. Text is printed as it is: a name with brackets or colons is no markup."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def line(text: str) -> None:
    """Print one line, however long."""
    console().print(text, soft_wrap=True)


def failure(error: Exception) -> None:
    """Say in one line on standard error what went wrong."""
    text = f"{error.filename}: {error.strerror}." if isinstance(error, OSError) and error.filename else str(error)
    message = " ".join(text.splitlines())
    console(stderr=True).print(Text.assemble(("error:", "bold red"), " ", message), soft_wrap=True)


def working(what: str) -> Status:
    """Say what is being done, while it is being done."""
    return console().status(Text(what))


def facts(pairs: Iterable[tuple[str, str]], *, title: str = "") -> None:
    """Names and what is to be said of them, in two columns."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    for name, text in pairs:
        grid.add_row(name, text)
    terminal = console()
    if title:
        terminal.print(title, style="bold")
    terminal.print(grid)


def table(headings: Iterable[str], rows: Iterable[Iterable[str]], *, title: str | None = None) -> None:
    """A table with a line around it."""
    drawn = Table(*headings, title=title)
    for row in rows:
        drawn.add_row(*row)
    console().print(drawn)


def answer(approx: Factorization, observation: Observation | None = None) -> None:
    """What an approximation is, how it was found, and, where that is known, what was read for it."""
    known = [(fact.title, fact.text) for fact in approx.facts if fact.is_shown]
    if observation is not None:
        known.insert(1, ("read", _what_was_read(observation)))
    facts(known)


def share(observation: Observation) -> float:
    """Which part of the matrix was read, from 0 to 1."""
    return observation.n_values_read / math.prod(observation.shape)


def _what_was_read(observation: Observation) -> str:
    return (
        f"{observation.n_columns} columns, {observation.n_rows} rows, {observation.n_entries} entries: "
        f"{share(observation):.2%} of the matrix"
    )
