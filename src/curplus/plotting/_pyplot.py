"""Matplotlib, where it is installed."""

from __future__ import annotations

from typing import Any

from ..exceptions import MissingExtraError

__all__ = ["pyplot"]


def pyplot() -> Any:
    """Matplotlib's pyplot, or an error that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("pictures need Matplotlib: pip install 'curplus[plot]'.") from error
    return plt
