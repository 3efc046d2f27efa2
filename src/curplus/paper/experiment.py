"""What a figure or table is: which sweeps it needs, what it takes from them, and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .tables import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Experiment"]


@dataclass(frozen=True)
class Experiment:
    """A figure or table of the paper."""

    name: str
    title: str
    sweeps: tuple[str, ...]  # names of the sweeps it is made from
    table: Callable[[dict[str, Rows]], Rows]  # from the tables of these sweeps
    plot: Callable[[Rows], Figure] | None = None  # from its own table
