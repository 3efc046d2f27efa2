"""Which rows are best: their means and ranks, with intervals, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._typing import IndexVector
from .._validation import check_count
from ..evaluation import MeanEstimates
from .style import BLUE, ORANGE, finished, name_rows, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_means", "plot_ranks"]

MOST_LABELS = 40  # names beside an axis; more cannot be read


def plot_means(
    means: MeanEstimates, *, k: int = 1, largest: bool = True, most: int | None = None, ax: Axes | None = None
) -> Axes:
    """Means in order, the best first; thick lines are their own intervals, thin lines the joint ones.

    Those that may be among the ``k`` best have another colour.

    Parameters
    ----------
    means : MeanEstimates
        What to show, from :func:`curplus.estimate_means`.
    k : int, default 1
        How many of the best are looked for.
    largest : bool, default True
        Whether large means are good, or small ones.
    most : int, optional
        How many to show; all if left out. Up to 40 have their names.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
    """
    best, shown = means.best(k, largest=largest), _in_order(means, largest, most)
    ax = new_axes(ax, 6, min(0.16 * len(shown) + 1.2, 7.5))
    possible = np.isin(shown, best)
    for part, colour, label in (
        (possible, ORANGE, f"may be among the {k} best ({len(best)})" if k > 1 else f"may be the best ({len(best)})"),
        (~possible, BLUE, "others"),
    ):
        if part.any():
            _draw(ax, means, shown, part, colour, label)
    _name(ax, means, shown)
    ax.set_xlabel(f"mean of each of the {means.what}")
    given = f"{means.level:.0%} intervals: thick for each, thin for all at once" if not means.reason else "no intervals"
    ax.set_title(given, fontsize=10)
    return finished(ax, lines="x", loc="upper left" if largest else "upper right")


def plot_ranks(means: MeanEstimates, *, largest: bool = True, most: int | None = None, ax: Axes | None = None) -> Axes:
    """Between which ranks each row lies, the best estimate first, with the level of confidence for all at once.

    Parameters
    ----------
    means : MeanEstimates
        What to show, from :func:`curplus.estimate_means` or :meth:`curplus.Factorization.row_means`.
    largest : bool, default True
        Whether rank 1 is that of the largest mean, or of the smallest.
    most : int, optional
        How many to show; all if left out. Up to 40 have their names.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
    """
    shown = _in_order(means, largest, most)
    ax = new_axes(ax, 6, min(0.16 * len(shown) + 1.2, 7.5))
    best, worst = (limit[shown] for limit in means.rank_intervals(largest=largest))
    ax.hlines(np.arange(len(shown)), best, worst, color=BLUE, lw=1.0 if len(shown) > MOST_LABELS else 2.5, alpha=0.8)
    order = np.empty(len(means))
    order[_in_order(means, largest, None)] = np.arange(1, len(means) + 1)
    ax.plot(order[shown], np.arange(len(shown)), "o", color=ORANGE, ms=3, label="by the estimates")
    _name(ax, means, shown)
    ax.set(xlabel=f"rank among {len(means)} {means.what}", xlim=(0.5, len(means) + 0.5))
    ax.set_title(f"ranks, with {means.level:.0%} confidence for all at once", fontsize=10)
    return finished(ax, lines="x", loc="upper right")


def _in_order(means: MeanEstimates, largest: bool, most: int | None) -> IndexVector:
    """Positions of the best estimates, the best first."""
    n_shown = len(means) if most is None else min(check_count(most, name="most"), len(means))
    return np.argsort(means.estimate * (-1 if largest else 1), kind="stable")[:n_shown]


def _name(ax: Axes, means: MeanEstimates, shown: IndexVector) -> None:
    """Names at the places of the rows, if there is room for them."""
    if len(shown) <= MOST_LABELS:
        name_rows(ax, shown if means.names is None else means.names[shown])
    else:
        ax.set(ylabel=f"{means.what}, the best first", ylim=(len(shown) - 0.5, -0.5))


def _draw(ax: Axes, means: MeanEstimates, shown: IndexVector, part: NDArray[np.bool_], colour: str, label: str) -> None:
    """The means of some rows, each with its two intervals."""
    index, place = shown[part], np.flatnonzero(part)
    crowded = len(shown) > MOST_LABELS
    ax.hlines(
        place, means.joint_low[index], means.joint_high[index], color=colour, lw=0.4 if crowded else 0.8, alpha=0.6
    )
    ax.hlines(place, means.low[index], means.high[index], color=colour, lw=1.0 if crowded else 2.5, alpha=0.8)
    ax.plot(means.estimate[index], place, "o", color=colour, ms=1.5 if crowded else 4, label=label)
