"""The singular values of an approximation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._arrays import to_numpy
from ..factorization import Factorization
from .style import BLUE, PALE, finished, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_spectrum"]


def plot_spectrum(approximation: Factorization, *, ax: Axes | None = None) -> Axes:
    """Singular values of an approximation on a logarithmic scale; those that are rounding are left out.

    Parameters
    ----------
    approximation : Factorization
        What to show.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = new_axes(ax, 6, 3.6)
    from matplotlib import ticker

    s = to_numpy(approximation.svd().s)
    s = s[s > 1e-12 * s.max(initial=0.0)]
    place, bottom = np.arange(1, len(s) + 1), s[-1] / 1.5 if len(s) else 0.5
    ax.vlines(place, bottom, s, color=PALE, lw=min(12.0, 150 / max(len(s), 1)))
    ax.plot(place, s, "o", color=BLUE, ms=5)
    ax.set(yscale="log", xlim=(0.4, len(s) + 0.6), xlabel="number of the direction", ylabel="singular value")
    ax.set_ylim(bottom=bottom)
    ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    for which in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
        which(ticker.LogFormatter(minor_thresholds=(2, 0.5)))  # numbers, not formulas
    return finished(ax, lines="y")
