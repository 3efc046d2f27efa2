"""Which of the sampled columns and rows matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._support.extras import pyplot
from .._validation import check_count
from ..factorization import Importance, Merits
from .style import BLUE, ORANGE, PALE, finished, name_rows, new_axes, ruled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_importance", "plot_merits"]


def plot_importance(importance: Importance, *, most: int = 15) -> Figure:
    """Sampled columns and rows in their order of merit, side by side: see :func:`plot_merits`.

    Parameters
    ----------
    importance : Importance
        What to show, from :meth:`curplus.Factorization.importance`.
    most : int, default 15
        How many columns, and how many rows, to show.

    Returns
    -------
    matplotlib.figure.Figure
    """
    most = check_count(most, name="most", at_least=1)
    longest = max(min(len(picks.index), most) for picks in (importance.columns, importance.rows))
    figure: Figure
    figure, axes = pyplot().subplots(1, 2, figsize=(9, 0.26 * longest + 1.4), sharex=True, layout="constrained")
    for ax, kind, picks in zip(axes, ("columns", "rows"), (importance.columns, importance.rows), strict=True):
        _draw(ruled(ax, "x"), picks, most)
        ax.set_title(f"{min(most, len(picks.index))} of {len(picks.index)} sampled {kind}", fontsize=10)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return figure


def plot_merits(merits: Merits, *, most: int = 15, ax: Axes | None = None) -> Axes:
    """Columns, or rows, in their order of merit: what each explains alone, what it adds, and the sum so far.

    Parameters
    ----------
    merits : Merits
        What to show, ``importance.columns`` or ``importance.rows``.
    most : int, default 15
        How many to show.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
    """
    most = min(check_count(most, name="most", at_least=1), len(merits.index))
    ax = new_axes(ax, 5, 0.26 * most + 1.4)
    _draw(ax, merits, most)
    return finished(ax, lines="x")


def _draw(ax: Axes, merits: Merits, most: int) -> None:
    places = np.arange(min(most, len(merits.index)))
    ax.barh(places, merits.alone[:most], color=PALE, height=0.8, label="alone")
    ax.barh(places, merits.gain[:most], color=BLUE, height=0.45, label="beyond those above it")
    ax.plot(merits.explained[:most], places, "o-", color=ORANGE, ms=4, lw=1.2, label="with those above it")
    name_rows(ax, merits.names[:most])
    ax.set(xlim=(0, 1), xlabel="share explained")
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
