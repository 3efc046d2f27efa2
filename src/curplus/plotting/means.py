"""Which rows are best: their means, with intervals, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._extras import pyplot
from .._typing import IndexVector
from .._validation import check_count
from ..evaluation import MeanEstimates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_means"]

BEST, OTHER = "#d55e00", "#0072b2"
MOST_NAMES = 40  # that can be read


def plot_means(means: MeanEstimates, *, k: int = 1, most: int | None = None, ax: Axes | None = None) -> Axes:
    """Means in descending order; thick lines are their own intervals, thin lines the joint ones.

    Those that may be among the ``k`` best have another colour, and a line shows what k of them surely reach.

    Parameters
    ----------
    means : MeanEstimates
        What to show, from :func:`curplus.estimate_means`.
    k : int, default 1
        How many of the best are looked for.
    most : int, optional
        How many to show; all if left out. Up to 40 have their names.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
    """
    best = means.best(k)
    shown = np.argsort(-means.estimate, kind="stable")[: None if most is None else check_count(most, name="most")]
    if ax is None:
        height = min(0.16 * len(shown) + 1.2, 7.5)
        ax = pyplot().subplots(figsize=(6, height), layout="constrained")[1]
    possible = np.isin(shown, best)
    for part, colour, label in (
        (possible, BEST, f"may be among the {k} best ({len(best)})" if k > 1 else f"may be the best ({len(best)})"),
        (~possible, OTHER, "others"),
    ):
        if part.any():
            _draw(ax, means, shown, part, colour, label)
    floor = np.sort(means.joint_low)[-k]
    if np.isfinite(floor):
        ax.axvline(floor, color=BEST, ls=":", lw=1)
    _label(ax, means, shown)
    return ax


def _draw(ax: Axes, means: MeanEstimates, shown: IndexVector, part: NDArray[np.bool_], colour: str, label: str) -> None:
    """The means of some rows, each with its two intervals."""
    index, place = shown[part], np.flatnonzero(part)
    crowded = len(shown) > MOST_NAMES
    ax.hlines(
        place, means.joint_low[index], means.joint_high[index], color=colour, lw=0.4 if crowded else 0.8, alpha=0.6
    )
    ax.hlines(place, means.low[index], means.high[index], color=colour, lw=1.0 if crowded else 2.5, alpha=0.8)
    ax.plot(means.estimate[index], place, "o", color=colour, ms=1.5 if crowded else 4, label=label)


def _label(ax: Axes, means: MeanEstimates, shown: IndexVector) -> None:
    """Names or ranks, and what the lines are."""
    if len(shown) <= MOST_NAMES:
        names = shown if means.names is None else means.names[shown]
        ax.set_yticks(np.arange(len(shown)), [str(name) for name in names], fontsize=7)
    else:
        ax.set_ylabel(f"{means.what}, the largest first")
    ax.set(xlabel=f"mean of each of the {means.what}", ylim=(len(shown) - 0.5, -0.5))
    given = f"{means.level:.0%} intervals: thick for each, thin for all at once" if not means.reason else "no intervals"
    ax.set_title(given, fontsize=10)
    ax.legend(fontsize=8, frameon=False, loc="upper left")
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)
