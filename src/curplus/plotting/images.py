"""Matrices as images, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._support.extras import pyplot
from ..observation import Observation
from .observation import plot_observation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_images"]


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
