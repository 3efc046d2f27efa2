"""How an option is written in a message: as a keyword of Python, unless the caller writes it in another way.

An error names the option that settles what is ambiguous. It is made where that is found, and read by a user who
called a function or typed a command: ``long=True`` or ``--long``. The command line sets its own spelling before it
starts.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

__all__ = ["SPELLING", "call_or_option", "counted", "option"]


def _keyword(name: str, value: object) -> str:
    return f"{name}={value!r}"


#: How the caller writes an option with its value.
SPELLING: ContextVar[Callable[[str, object], str]] = ContextVar("SPELLING", default=_keyword)


def option(name: str, value: object) -> str:
    """An option of a reader, as the caller writes it."""
    return SPELLING.get()(name, value)


def call_or_option(call: str, name: str, value: object) -> str:
    """What settles something: a call in Python, and an option where these are not keywords."""
    return call if SPELLING.get() is _keyword else option(name, value)


def counted(count: int, noun: str) -> str:
    """A number with its noun: ``1 entry``, ``2 entries``."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count} {noun if count == 1 else plural}"
