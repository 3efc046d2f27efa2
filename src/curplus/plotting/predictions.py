"""Predictions beside what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import InvalidArgumentError
from .style import BLUE, GREY, ORANGE, finished, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FEW_VALUES", "plot_predictions"]

MOST_DRAWN = 1200  # points; more hide each other
FEW_VALUES = 12  # different values; if there are fewer, points are moved apart (the report of a study uses it, too)
PREDICTED_GROUPS, FEWEST_IN_A_GROUP = 10, 5  # whose means are drawn


def plot_predictions(predicted: Any, measured: Any, *, ax: Axes | None = None) -> Axes:
    """What was measured against what was predicted; on the dashed line both are equal.

    From 50 values on, dots show the means of ten groups of them, by prediction. If few different values were measured,
    points are moved apart a little.

    Parameters
    ----------
    predicted, measured : array of shape (h,)
        Predictions and true values. Of very many a part is drawn.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
    """
    x, y = np.asarray(predicted, dtype=np.float64), np.asarray(measured, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1 or not len(x):
        raise InvalidArgumentError(
            f"predicted has shape {x.shape} and measured {y.shape}. Give one prediction for each measured value."
        )
    ax = new_axes(ax, 5, 4.4)
    rng = np.random.default_rng(0)
    some, moved = rng.permutation(len(x))[:MOST_DRAWN], np.zeros(len(x))
    if len(np.unique(y)) < FEW_VALUES:
        moved = 0.03 * (np.ptp(y) or 1.0) * rng.uniform(-1, 1, len(x))
    ax.plot(x[some], (y + moved)[some], "o", color=BLUE, ms=3.5, mew=0, alpha=0.35, label="values")
    low, high = max(x.min(), y.min()), min(x.max(), y.max())
    if low < high:
        ax.plot([low, high], [low, high], ls="--", color=GREY, lw=1)
    if len(x) >= PREDICTED_GROUPS * FEWEST_IN_A_GROUP:
        groups = np.array_split(np.argsort(x, kind="stable"), PREDICTED_GROUPS)
        ends = [[side[group].mean() for group in groups] for side in (x, y)]
        ax.plot(*ends, "o", color=ORANGE, ms=6, label=f"means of {PREDICTED_GROUPS} groups")
    ax.set(xlabel="predicted", ylabel="measured")
    return finished(ax, loc="upper left")
