"""What was read of a matrix, at its positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import to_numpy
from .._typing import IndexVector
from ..observation import Observation
from .style import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_observation"]

CANVAS = 640  # most pixels along a side


def plot_observation(observation: Observation, *, ax: Axes | None = None, **options: Any) -> Axes:
    """What was read of a matrix, at its positions; the others stay blank.

    Parameters
    ----------
    observation : Observation
        Columns, rows and entries. A large matrix is shown on a canvas of 640 pixels.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.
    **options
        Passed to :meth:`matplotlib.axes.Axes.imshow`.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = new_axes(ax, 6.4, 4.8)
    n, m = observation.shape
    height, width = min(n, CANVAS), min(m, CANVAS)
    canvas = np.full((height, width), np.nan)
    every_row, every_column = _shrink(np.arange(n), n, height), _shrink(np.arange(m), m, width)
    some_rows, some_columns = _shrink(observation.row_index, n, height), _shrink(observation.column_index, m, width)
    canvas[every_row[:, None], some_columns[None, :]] = to_numpy(observation.columns)
    canvas[some_rows[:, None], every_column[None, :]] = to_numpy(observation.rows)
    canvas[_shrink(observation.i, n, height), _shrink(observation.j, m, width)] = to_numpy(observation.values)
    ax.set_facecolor("aliceblue")
    ax.imshow(canvas, **{"interpolation": "none", "extent": (0, m, n, 0), "aspect": "auto"} | options)
    ax.set(xlabel="column", ylabel="row")
    return ax


def _shrink(index: IndexVector, size: int, pixels: int) -> IndexVector:
    return index * pixels // size
