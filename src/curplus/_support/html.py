"""What a notebook shows: a table of two columns."""

from __future__ import annotations

import html
from collections.abc import Iterable

__all__ = ["html_table"]


def html_table(caption: str, pairs: Iterable[tuple[str, object]]) -> str:
    """Names, each with its text."""
    rows = (f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(text))}</td></tr>" for name, text in pairs)
    return f"<table><caption>{html.escape(caption)}</caption>{''.join(rows)}</table>"
