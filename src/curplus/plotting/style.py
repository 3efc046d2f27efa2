"""What all pictures share: colours that go together, a place to draw, and names beside an axis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .._support.extras import pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BLUE", "GREY", "ORANGE", "PALE", "PALETTE", "RULE", "finished", "name_rows", "new_axes", "ruled"]

#: Distinct for people who see no red or no green (M. Okabe, K. Ito, Color Universal Design, 2008).
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
BLUE, ORANGE, *_ = PALETTE
PALE, GREY, RULE = "#c6dbef", "#66737f", "#dfe3e7"
LETTERS_PER_INCH = 3.7  # of the width of a figure, so that names take a third of it at most


def new_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Where to draw: a new figure of this size in inches, unless the caller has a place."""
    return ax or pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def finished(ax: Axes, *, lines: Any = "both", **legend: Any) -> Axes:
    """A picture with its legend and faint lines behind it."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(**{"fontsize": 8, "frameon": False} | legend)
    return ruled(ax, lines)


def ruled(ax: Axes, lines: Any) -> Axes:
    """A picture with faint lines behind it: along x, y or both."""
    ax.grid(axis=lines, color=RULE)
    ax.set_axisbelow(True)
    return ax


def name_rows(ax: Axes, names: Iterable[Any]) -> None:
    """Names at the left, the first at the top; long ones are shortened, and a dollar sign is one."""
    shown = [" ".join(str(name).split()) for name in names]
    most = int(LETTERS_PER_INCH * ax.figure.get_window_extent().width / ax.figure.dpi)
    short = [name if len(name) <= most else name[: most - 1].rstrip() + "…" for name in shown]
    ax.set_yticks(range(len(short)), short, fontsize=8, parse_math=False)
    ax.set_ylim(len(short) - 0.5, -0.5)
