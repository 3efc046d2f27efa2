"""Which of the sampled columns and rows matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._extras import pyplot
from .._validation import check_count
from ..factorization import Importance, Merits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_importance"]

ALONE, GAIN, EXPLAINED = "#c6dbef", "#0072b2", "#d55e00"


def plot_importance(importance: Importance, *, most: int = 15) -> Figure:
    """Sampled columns and rows in their order of merit: what each explains alone, what it adds, and the sum so far.

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
        _draw(ax, picks, most)
        ax.set_title(f"{min(most, len(picks.index))} of {len(picks.index)} sampled {kind}", fontsize=10)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return figure


def _draw(ax: Axes, picks: Merits, most: int) -> None:
    names = [str(name) for name in picks.names[:most]]
    places = np.arange(len(names))
    ax.barh(places, picks.alone[:most], color=ALONE, height=0.8, label="alone")
    ax.barh(places, picks.gain[:most], color=GAIN, height=0.45, label="beyond those above it")
    ax.plot(picks.explained[:most], places, "o-", color=EXPLAINED, ms=4, lw=1.2, label="with those above it")
    ax.set_yticks(places, names, fontsize=8)
    ax.set(xlim=(0, 1), ylim=(len(names) - 0.5, -0.5), xlabel="share of the approximation that is explained")
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)
