"""Pictures of results. Needs Matplotlib: ``pip install 'curplus[plot]'``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import to_numpy
from ._typing import IndexVector, Matrix
from .exceptions import MissingExtraError
from .observation import Observation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_images", "plot_observation", "sample_photograph"]

CANVAS = 640  # most pixels along a side


def plot_observation(observation: Observation, *, ax: Axes | None = None, **options: Any) -> Axes:
    """What was seen of a matrix, in its place; what was not seen stays blank.

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
    ax = pyplot().subplots()[1] if ax is None else ax
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


def plot_images(images: Mapping[str, Any], **options: Any) -> Figure:
    """Matrices side by side as grey images on one scale, each under its title.

    Parameters
    ----------
    images : mapping of str to array or Observation
        What to show; an observation is drawn with :func:`plot_observation`.
    **options
        Passed to :meth:`matplotlib.axes.Axes.imshow`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    dense = [np.asarray(image) for image in images.values() if not isinstance(image, Observation)]
    options = {"cmap": "gray", "vmin": float(dense[0].min()), "vmax": float(dense[0].max())} | options
    height, width = dense[0].shape
    across = min(len(images), 2)
    down = -(-len(images) // across)
    size = (4.4 * across, 4.4 * down * height / width + 0.3 * down)
    figure: Figure
    figure, axes = pyplot().subplots(down, across, figsize=size, squeeze=False, layout="constrained")
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    for ax, (title, image) in zip(axes.flat, images.items(), strict=False):
        if isinstance(image, Observation):
            plot_observation(image, ax=ax, **options).set(xlabel="", ylabel="", xticks=[], yticks=[])
        else:
            ax.imshow(image, **options)
        ax.set_title(title, fontsize=10)
    return figure


def sample_photograph() -> Matrix:
    """A photograph that comes with Matplotlib, as grey levels: Grace Hopper, 606 x 512."""
    plt = pyplot()
    from matplotlib.cbook import get_sample_data

    return np.asarray(plt.imread(get_sample_data("grace_hopper.jpg", asfileobj=False)), dtype=float).mean(axis=2)


def _shrink(index: IndexVector, size: int, pixels: int) -> IndexVector:
    return index * pixels // size


def pyplot() -> Any:
    """Matplotlib's pyplot, or an error that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("pictures need Matplotlib: pip install 'curplus[plot]'.") from error
    return plt
