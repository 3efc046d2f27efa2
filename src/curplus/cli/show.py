"""What the terminal shows: facts as text or as JSON, tables, progress. It takes results and prints them."""

from __future__ import annotations

import json
import math
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .._support.progress import Tell, showing
from ..factorization import Fact

__all__ = [
    "console",
    "failure",
    "interruptible",
    "line",
    "note",
    "on_terminal",
    "result",
    "words",
    "working",
]

UNWRAPPED = 100_000  # characters
MOST_NAMES = 6  # of a list that is shown
MOST_LINES = 10  # of a table
UNSHOWN = {"joint_low", "joint_high", "is_exact", "moment", "tell", "error", "reason"}  # of lines: JSON has them


def console(*, stderr: bool = False) -> Console:
    """The terminal, as wide as it is now. Text is printed as it is: a name with brackets or colons is no markup.

    What goes to a file or to another program is not wrapped.
    """
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else UNWRAPPED
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False, width=width)


def line(text: str) -> None:
    """Print one line, however long, such as a path: it can be copied as it is."""
    console().print(text, soft_wrap=True)


def words(text: str, *, terminal: Console | None = None) -> None:
    """Print sentences in lines no longer than the terminal, broken between words."""
    terminal = terminal or console()
    terminal.print("\n".join(textwrap.wrap(text, terminal.width, break_long_words=False)), soft_wrap=True)


def note(text: str) -> None:
    """Say on standard error what is worth knowing and is no result."""
    words(f"note: {text}", terminal=console(stderr=True))


def failure(error: Exception) -> None:
    """Print on standard error what went wrong: in one line for programs, broken between words on a terminal."""
    text = f"{error.filename}: {error.strerror}." if isinstance(error, OSError) and error.filename else str(error)
    terminal, message = console(stderr=True), " ".join(f"error: {text}".splitlines())
    if on_terminal():
        message = "\n".join(textwrap.wrap(message, terminal.width, break_long_words=False))
    terminal.print(Text.assemble(("error:", "bold red"), message.removeprefix("error:")), soft_wrap=True)


def on_terminal() -> bool:
    """Whether somebody sees what is said on standard error."""
    return sys.stderr.isatty()


def working(what: str) -> AbstractContextManager[Tell]:
    """Show what is being done, and how far it has come, where somebody sees it."""
    return showing(what, wanted=on_terminal())


@contextmanager
def interruptible(done: str) -> Iterator[None]:
    """Answer Ctrl-C with one sentence: what was ``done``, such as "measured", is kept."""
    try:
        yield
    except KeyboardInterrupt:
        note(f"interrupted. What was {done} is kept: the same command goes on from there.")
        raise typer.Exit(130) from None


def result(known: Iterable[Fact], *, as_json: bool) -> None:
    """Print facts, as text or as one JSON object, which always has shape, rank, error and interval."""
    known = tuple(known)
    if as_json:
        text = json.dumps(_object(known), ensure_ascii=False, default=_plain)
        plain = json.loads(text, parse_constant=lambda _: None)  # JSON has no nan
        sys.stdout.write(json.dumps(plain, ensure_ascii=False) + "\n")
        return
    tables = [fact for fact in known if _is_table(fact.value)]
    shown = [fact for fact in known if fact.is_shown and fact.name != "out" and fact not in tables]
    _facts((fact.title, _words(fact)) for fact in shown)
    for fact in known:
        if fact.name == "out":
            line(f"{fact.title} {fact.value}")
    for fact in tables:
        if len(fact.value):
            _table(fact)


def _is_table(value: Any) -> bool:
    """Whether a value is a DataFrame, or a list of lines, each of which is a dictionary."""
    return hasattr(value, "itertuples") or (isinstance(value, list) and all(isinstance(x, Mapping) for x in value))


def _object(known: Sequence[Fact]) -> dict[str, Any]:
    """Values by name; a name that occurs several times has a list."""
    found: dict[str, Any] = dict.fromkeys(("shape", "rank", "error", "interval"))
    for fact in known:
        same = [other.value for other in known if other.name == fact.name]
        found[fact.name] = fact.value if len(same) == 1 and fact.name != "note" else same
    return found


def _plain(value: Any) -> Any:
    """What JSON has no type for: tables, arrays and their numbers, and anything else as text."""
    if hasattr(value, "itertuples"):
        return value.to_dict("records")
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else str(value)


def _words(fact: Fact) -> str:
    """A fact in words: pairs and lists too."""
    value = fact.value
    if fact.name in IN_WORDS and value is not None:
        value = IN_WORDS[fact.name](value)
    elif isinstance(value, Mapping):
        value = _listed([f"{name.replace('_e', ' e')} {_number(part)}" for name, part in value.items()])
    elif isinstance(value, (list, tuple, np.ndarray)):
        value = _listed([str(part) for part in value]) or None
    return fact._replace(value=value).text


#: How some facts are put into words.
IN_WORDS: Mapping[str, Callable[[Any], str]] = {
    "shape": lambda shape: f"{shape[0]:,} x {shape[1]:,}",
    "column_errors": lambda errors: _listed(
        [f"{name} {_number(x)}" for name, x in sorted(errors.items(), key=lambda pair: -np.nan_to_num(pair[1]))]
    ),
    "interval": lambda ends: f"{ends[0]:.4g} to {ends[1]:.4g}",
    "read": lambda read: (
        f"{read['columns']} columns, {read['rows']} rows, {read['entries']} entries: {read['share']:.2%} of the matrix"
        + (f", {read['gaps']} gaps" if read["gaps"] else "")
    ),
}


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _listed(names: Sequence[str]) -> str:
    """Names one after the other, the first few of many."""
    shown = ", ".join(names[:MOST_NAMES])
    return shown + (f", ... ({len(names)} in all)" if len(names) > MOST_NAMES else "")


def _facts(pairs: Iterable[tuple[str, str]]) -> None:
    """Names and what is to be said of them, in two columns."""
    terminal, listed = console(), list(pairs)
    wide = max((len(name) for name, _ in listed), default=0)
    if terminal.width == UNWRAPPED:  # not padded to the longest
        for name, text in listed:
            terminal.print(f"{name:<{wide}}  {text}")
        return
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    for name, text in listed:
        grid.add_row(name, text)
    terminal.print(grid)


def _table(fact: Fact) -> None:
    """The first lines of a table, and how to have more."""
    lines = fact.value if isinstance(fact.value, list) else fact.value.head(MOST_LINES).to_dict("records")
    headings = [name for name in lines[0] if name not in UNSHOWN]
    drawn = Table(*(name.replace("_", " ") for name in headings), title=fact.label or None)
    for cells in lines:
        drawn.add_row(*(_cell(cells[name]) for name in headings))
    console().print(drawn)
    if len(fact.value) > len(lines):
        line(f"the first {len(lines)} of {len(fact.value):,}; --out writes all")


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
