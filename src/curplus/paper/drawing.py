"""What the pictures of Experiment II have in common: a panel for each matrix and rank, a curve for each method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._support.extras import pyplot
from . import matrices
from .tables import Rows, unique, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["STYLES", "Style", "panels"]


class Style(NamedTuple):
    """How a method is drawn."""

    colour: str
    line: str = "-"


#: The style of each method, in the order of the legends; a method and its cut to rank r have one colour.
STYLES = {
    "CUR+ converged": Style("#d55e00"),
    "CUR+, 10 steps": Style("#e69f00", "--"),
    "CUR-E": Style("#cc79a7"),
    "CUR-E, rank r": Style("#cc79a7", ":"),
    "CUR-F": Style("#666666"),
    "CUR-F, rank r": Style("#666666", ":"),
    "best core": Style("#009e73", "--"),
    "approximate": Style("#0072b2"),
}
BEYOND = 10  # times the error of the zero matrix: errors are cut off here
NORM_LABELS = {"spectral": r"$\ell_s$", "frobenius": r"$\ell_F$"}


def panels(table: Rows, along: str, *, norm: str, label: str) -> Figure:
    """Median and quartiles of each method, and its mean as a ring, on a log axis; a method without entries is flat.

    Parameters
    ----------
    table : list of dict
        Rows of :func:`~curplus.paper.comparison.relative_errors`.
    along : str
        The column that runs along the horizontal axis.
    norm : str
        ``"spectral"`` or ``"frobenius"``, for the axis.
    label : str
        What stands under the horizontal axis.

    Returns
    -------
    matplotlib.figure.Figure
    """
    names, ranks = unique(table, "data"), sorted(unique(table, "rank"))
    size = (3.1 * len(names) + 0.6, 2.6 * len(ranks) + 1.1)
    figure: Figure
    figure, axes = pyplot().subplots(len(ranks), len(names), figsize=size, squeeze=False, layout="constrained")
    for rank, row in zip(ranks, axes, strict=True):
        for name, ax in zip(names, row, strict=True):
            ax.set(title=f"{matrices.label(name)}, r = {rank}", yscale="log")
            _panel(ax, where(table, data=name, rank=rank), along)
            ax.title.set_size(10)
            ax.grid(alpha=0.25, which="both")
            _plain_ticks(ax)
        row[0].set_ylabel(f"{NORM_LABELS[norm]}, best rank r = 1")
    for ax in axes[-1]:
        ax.set_xlabel(label)
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(),
        title="line: median, band: quartiles, ring: mean; a triangle at the edge is a mean beyond it",
        loc="outside upper center",
        ncols=3 if len(names) < 3 else 5,
        fontsize=9,
    )
    return figure


def _panel(ax: Any, rows: Rows, along: str) -> None:
    places = sorted(set(unique(where(rows, method="CUR-E"), along)))
    zero = where(rows, method="zero matrix")[0]["error"]
    edge = BEYOND * zero
    for method, (colour, line) in STYLES.items():
        mine = where(rows, method=method)
        if not mine:
            continue
        flat = unique(mine, along) == [0]
        groups = [[row["error"] for row in (mine if flat else where(mine, **{along: place}))] for place in places]
        low, middle, high = np.array([np.quantile(group, (0.25, 0.5, 0.75)) for group in groups]).T
        style = {"color": colour, "zorder": 3 if method == "approximate" else 2}
        ax.fill_between(places, low, high, alpha=0.15, lw=0, color=colour)
        ax.plot(places, middle, line, lw=1.6, label=method, **style)
        means = np.array([np.mean(group) for group in groups])
        ax.plot(places, np.where(means > edge, np.nan, means), "o", ms=4, mfc="none", **style)
        ax.plot(places, np.where(means > edge, edge, np.nan), "^", ms=5, mfc="none", clip_on=False, **style)
    ax.axhline(zero, color="black", lw=1.2, label="zero matrix")
    ax.axhline(1, color="black", lw=0.8, ls=":", label="best rank r")
    ax.set_xticks(places)
    ax.set_ylim(top=min(edge, ax.get_ylim()[1]))


def _plain_ticks(ax: Any) -> None:
    """Numbers as people write them: 1.2 rather than 1.2 x 10^0."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = ax.get_ylim()
    narrow = high / low < 12
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 1.2, 1.5, 2, 3, 5, 7) if narrow else (1,)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
