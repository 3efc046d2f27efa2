"""How the error of a filled table depends on the rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._extras import pyplot
from ..estimators import ErrorPath

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_error_path"]


def plot_error_path(path: ErrorPath, *, ax: Axes | None = None) -> Axes:
    """The error at hidden values against the rank, beside the error of the means of the columns.

    Parameters
    ----------
    path : ErrorPath
        What to show: ``error_path_`` of a :class:`curplus.estimators.CURImputer`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = pyplot().subplots(figsize=(6, 3.6), layout="constrained")[1] if ax is None else ax
    ax.plot(path.rank, path.error, color="#0072b2", lw=2, marker="o", ms=4, label="leading directions")
    ax.axhline(path.error_of_means, color="#d55e00", ls="--", label="means of the columns")
    ax.set(xlabel="rank", ylabel="error in standard deviations", title=f"{path.n_hidden} hidden values")
    ax.title.set_fontsize(10)
    ax.locator_params(axis="x", integer=True)
    ax.legend(fontsize=8, frameon=False)
    ax.grid(alpha=0.3)
    return ax
