"""``curplus info``: what a saved file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..methods import load
from ..observation import Observation
from . import show

__all__ = ["info"]


def info(file: Annotated[Path, typer.Argument(help="A file that curplus saved.")]) -> None:
    """Say what a saved file holds."""
    saved = load(file)
    if isinstance(saved, Observation):
        show.line(repr(saved))
    else:
        show.answer(saved)
