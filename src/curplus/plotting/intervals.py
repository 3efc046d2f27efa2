"""How far predictions of single values can be off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluation import EntryIntervals
from ..exceptions import InvalidArgumentError
from .style import BLUE, GREY, ORANGE, PALE, finished, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_intervals"]


def plot_intervals(intervals: EntryIntervals, *, truth: Any = None, ax: Axes | None = None) -> Axes:
    """Predicted values in ascending order, with their intervals; values that were measured are left out.

    Parameters
    ----------
    intervals : EntryIntervals
        What to show, from :func:`curplus.predict_interval`; up to some hundred can be distinguished.
    truth : array of shape (k,), optional
        The true values: drawn as dots, in another colour outside the interval.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
    """
    true = None if truth is None else np.asarray(truth, dtype=np.float64)
    if true is not None and true.shape != intervals.value.shape:
        raise InvalidArgumentError(
            f"truth has shape {true.shape} and there are {len(intervals)} intervals. Give one value for each."
        )
    ax = new_axes(ax, 7, 3.6)
    index = np.flatnonzero(~np.asarray(intervals.is_measured))
    index = index[np.argsort(intervals.value[index], kind="stable")]
    place = np.arange(len(index))
    low, high = intervals.low[index], intervals.high[index]
    ax.vlines(place, low, high, color=PALE, lw=max(0.5, min(6.0, 400 / max(len(index), 1))), label="interval")
    ax.plot(place, intervals.value[index], color=BLUE, lw=1.5, label="predicted")
    title = f"{intervals.level:.0%} intervals" if not intervals.reason else "no intervals"
    if true is not None:
        inside = (low <= true[index]) & (true[index] <= high)
        ax.plot(place[inside], true[index][inside], ".", color=GREY, ms=4, label="true, inside")
        ax.plot(place[~inside], true[index][~inside], ".", color=ORANGE, ms=5, label="true, outside")
        title += f"; {inside.mean():.0%} of {len(index)} values inside" if len(index) and not intervals.reason else ""
    ax.set(xlabel="entries, by predicted value", ylabel="value")
    ax.set_title(title, fontsize=10)
    return finished(ax, lines="y")
