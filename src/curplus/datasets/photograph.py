"""A photograph to try things on, without a download."""

from __future__ import annotations

import numpy as np

from .._extras import pyplot
from .._typing import Matrix

__all__ = ["sample_photograph"]


def sample_photograph() -> Matrix:
    """A photograph that comes with Matplotlib, as grey levels: Grace Hopper, 600 x 512."""
    plt = pyplot()
    from matplotlib.cbook import get_sample_data

    return np.asarray(plt.imread(get_sample_data("grace_hopper.jpg", asfileobj=False)), dtype=float).mean(axis=2)
