r"""The second open question: entries needed against n / d, beside the :math:`n^2 / d^2` of Theorem 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._support.extras import pyplot
from .entries_needed import KINDS
from .experiment import Experiment
from .tables import Rows, unique, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

COLOURS = ("#56b4e9", "#0072b2", "#009e73", "#d55e00")  # of the sizes
DRAWS = {"uniform": ("o-", "uniform entries"), "leverage": ("s--", "drawn by leverage")}


def table(results: dict[str, Rows]) -> Rows:
    """All that was measured."""
    return results["entries_needed"]


def plot(table: Rows) -> Figure:
    """A panel for each kind of matrix: the median number of entries, and the slope of Theorem 3."""
    figure: Figure
    figure, axes = pyplot().subplots(1, len(KINDS), figsize=(9.5, 4.4), sharey=True, layout="constrained")
    for ax, kind in zip(axes, KINDS, strict=True):
        _panel(ax, where(table, matrix=kind))
        ax.set(title=f"{kind} matrices", xscale="log", yscale="log", xlabel="n / d")
        ax.grid(alpha=0.25, which="both")
    axes[0].set_ylabel("entries that CUR+ needs")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize=9)
    return figure


def _panel(ax: Any, rows: Rows) -> None:
    for n, colour in zip(sorted(unique(rows, "n")), COLOURS, strict=False):
        for draw, (style, name) in DRAWS.items():
            found = where(rows, n=n, measured=draw)
            columns = sorted(unique(found, "d"))
            medians = [_median(where(found, d=d)) for d in columns]
            ax.plot([n / d for d in columns], medians, style, color=colour, ms=5, mfc="none", label=f"n = {n}, {name}")
    ratios = np.array([min(row["n"] / row["d"] for row in rows), max(row["n"] / row["d"] for row in rows)])
    least = min(row["value"] for row in where(rows, measured=tuple(DRAWS)) if row["value"] > 0)
    ax.plot(ratios, least * (ratios / ratios[0]) ** 2, ":", color="black", label="the slope of Theorem 3")


def _median(rows: Rows) -> float:
    """A matrix for which no number was enough counts as infinitely many."""
    middle = float(np.median([row["value"] if row["value"] > 0 else np.inf for row in rows]))
    return middle if np.isfinite(middle) else np.nan


EXPERIMENT = Experiment("open_question", "entries that matrices of full rank need", ("entries_needed",), table, plot)
