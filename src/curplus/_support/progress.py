"""How far long work has come: shown on standard error on request, from the second second on.

On a terminal, and in a notebook, it is a bar if Rich is installed. Elsewhere it is a line now and then, each after
twice the time of the one before: a log file of a day has some seventeen of them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any, Protocol

__all__ = ["Tell", "showing"]

SILENT_SECONDS = 1.0  # seconds before anything is shown

#: Called with how much is done, and of how much if that is known.
Tell = Callable[..., None]


class Display(Protocol):
    """Something that shows how far work has come."""

    def start(self) -> None:
        """Begin to show it."""

    def update(self, done: float, total: float | None = None) -> None:
        """So much is done."""

    def stop(self) -> None:
        """Show it no more."""


@contextmanager
def showing(what: str, *, wanted: bool) -> Iterator[Tell]:
    """Show that something is being done, and how far it has come, if that is ``wanted`` and takes its time."""
    if not wanted:
        yield lambda done, total=None: None
        return
    display = _bar(what) or _Lines(what)
    timer = Timer(SILENT_SECONDS, display.start)
    timer.daemon = True
    timer.start()
    try:
        yield display.update
    finally:
        timer.cancel()
        timer.join()
        display.stop()


def _words(done: float, total: float | None) -> str:
    return f"{done:,.0f}" + (f" of {total:,.0f}" if total else "")


def _bar(what: str) -> Display | None:
    """A bar, if there is a place for one and Rich to draw it."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        return None
    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        return None
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.fields[words]}"))
    return _Bar(Progress(*columns, TimeElapsedColumn(), console=console, transient=True), what)


class _Bar:
    """A bar of Rich, which is gone when the work is done."""

    def __init__(self, progress: Any, what: str) -> None:
        self._progress, self._shown = progress, False
        self._task = progress.add_task(what, total=None, words="")

    def start(self) -> None:
        self._shown = True
        self._progress.start()

    def update(self, done: float, total: float | None = None) -> None:
        self._progress.update(self._task, completed=done, total=total, words=_words(done, total))

    def stop(self) -> None:
        if self._shown:
            self._progress.stop()


class _Lines:
    """Lines of text, fewer and fewer."""

    def __init__(self, what: str) -> None:
        self._line, self._what = what, what
        self._began, self._next = time.monotonic(), float("inf")

    def start(self) -> None:
        sys.stderr.write(f"{self._line}\n")
        sys.stderr.flush()
        self._next = self._began + 2 * (time.monotonic() - self._began)

    def update(self, done: float, total: float | None = None) -> None:
        self._line = f"{self._what}: {_words(done, total)}"
        if time.monotonic() >= self._next:
            self.start()

    def stop(self) -> None:
        self._next = float("inf")
