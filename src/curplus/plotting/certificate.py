"""Whether a few errors decide an estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..evaluation import Certificate
from ..evaluation.effective_sample import MIN_EFFECTIVE_SIZE
from .style import BLUE, ORANGE, finished, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_certificate"]


def plot_certificate(certificate: Certificate, *, ax: Axes | None = None) -> Axes:
    """The share of each squared error in their sum, largest first: an interval is given if a few do not decide it.

    Parameters
    ----------
    certificate : Certificate
        What to show.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = new_axes(ax, 6, 3.6)
    largest = float(np.max(certificate.errors, initial=0.0)) or 1.0
    squares = np.sort(certificate.errors / largest)[::-1] ** 2
    share = squares / max(float(np.sum(squares)), np.finfo(float).tiny)
    rank = np.arange(1, len(share) + 1)
    ax.loglog(rank, share, color=BLUE, lw=2, label="share of each squared error, largest first")
    fewest = MIN_EFFECTIVE_SIZE.get(certificate.evidence, 1)
    ax.axhline(1 / fewest, color=ORANGE, ls="--", label=f"share of each if {fewest} made up the sum")
    positive = share[share > 0]
    if len(positive):
        ax.set_ylim(max(positive.min(), positive.max() * 1e-6) / 2, 1.0)
    ax.set(xlabel=f"rank among {len(share)} ({certificate.evidence})", ylabel="share of the sum")
    interval = (
        "refused" if certificate.interval is None else f"{certificate.interval[0]:.3g} to {certificate.interval[1]:.3g}"
    )
    ax.set_title(f"error {certificate.error:.3g}, interval {interval}", fontsize=10)
    return finished(ax)
