"""What a budget would have bought."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..acquisition import Backtest
from .style import PALETTE, finished, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_backtest"]


def plot_backtest(result: Backtest, *, ax: Axes | None = None) -> Axes:
    """Error at values that were not read against the budget, a curve for each strategy and method.

    Parameters
    ----------
    result : Backtest
        What to show: see :func:`curplus.backtest`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = new_axes(ax, 6, 3.8)
    table = result.table()
    for t, kind in enumerate(dict.fromkeys((row["strategy"], row["method"]) for row in table)):
        rows = sorted(
            (row for row in table if (row["strategy"], row["method"]) == kind), key=lambda row: float(row["budget"])
        )
        x, y = [row["budget"] for row in rows], [row["error"] for row in rows]
        style = "--" if kind[1] == "additive" else "-"
        label = kind[0] if kind[1] == "approximate" else f"{kind[0]}, {kind[1]} model"
        reach = [2 * row["standard_error"] for row in rows]
        ax.errorbar(x, y, reach, color=PALETTE[t % len(PALETTE)], ls=style, marker="o", ms=4, capsize=2, label=label)
    ax.set(xscale="log", xlabel="budget", ylabel="error at values not read")
    budgets = sorted({row["budget"] for row in table})
    ax.set_xticks(budgets, [f"{b:.0%}" if b < 1 else f"{b:g}" for b in budgets])
    ax.minorticks_off()
    return finished(ax)
