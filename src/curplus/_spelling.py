"""How an option is written in a message: as a keyword of Python, unless the caller writes it in another way.

An error says which option settles what is ambiguous. It is made where that is found, and read by somebody who called a
function or typed a command: ``long=True`` or ``--long``. The command line sets its own spelling before it starts.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

__all__ = ["SPELLING", "option"]


def _keyword(name: str, value: object) -> str:
    return f"{name}={value!r}"


#: How the caller writes an option with its value.
SPELLING: ContextVar[Callable[[str, object], str]] = ContextVar("SPELLING", default=_keyword)


def option(name: str, value: object) -> str:
    """An option of a reader, as the caller writes it."""
    return SPELLING.get()(name, value)
