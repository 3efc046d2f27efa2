r"""When rows are compared again and again: at which numbers of columns, and with which chance of a mistake each time.

The mean of :math:`d` of :math:`m` columns, drawn uniformly, less the mean of all, has the variance
:math:`\sigma^2 (1/d - 1/m)`, and means at :math:`d < d'` have the covariance :math:`\sigma^2 (1/d' - 1/m)`. So the
standardised means at successive looks are those of a Brownian motion with the information
:math:`I = 1 / (1/d - 1/m)`, which is infinite once all columns are read. A look spends a part of the chance that one
comparison is ever wrong, and its bound follows from the distribution of what has not crossed an earlier bound
(Armitage, McPherson and Rowe 1969; Lan and DeMets 1983).
"""

from __future__ import annotations

import math

import numpy as np
import scipy.special

from .._typing import FloatArray

__all__ = ["Boundary", "look_sizes"]

FIRST = 20  # columns: with fewer, Student's t is off for 0/1 answers (benchmarks/best.py, coverage)
GROWTH = 1.1  # benchmarks/best.py: with 1.2 it takes 2 to 4 % more answers
LOWEST, HIGHEST, STEPS = -6.0, 12.0, 120  # grid of the normal densities, and the largest bound


def look_sizes(n_columns: int) -> list[int]:
    """Numbers of columns at which rows are compared, ascending; the last is all of them."""
    sizes, size = list[int](), float(FIRST)
    while size < n_columns:
        sizes.append(round(size))
        size *= GROWTH
    return [size for size in sizes if size < n_columns] + [n_columns]


class Boundary:
    """Bounds of one comparison at successive looks, each of which spends a chance of being wrong."""

    def __init__(self) -> None:
        self._information = 0.0
        self._places: FloatArray = np.zeros(0)  # standardised means that crossed no bound so far
        self._masses: FloatArray = np.zeros(0)

    def chance(self, information: float, spent: float) -> float:
        """The one-sided level of this look at which the chance of a first mistake here is ``spent``."""
        if not len(self._places):
            bound = -float(scipy.special.ndtri(spent))
            places = np.linspace(LOWEST, bound, STEPS)
            density = _normal(places)
        else:
            share = self._information / information
            root, rest = math.sqrt(share), math.sqrt(1 - share)
            bound = self._bound(root, rest, spent)
            places = np.linspace(LOWEST, bound, STEPS)
            density = _normal((places[:, None] - root * self._places) / rest) @ self._masses / rest
        step = places[1] - places[0]
        masses = density * step
        masses[[0, -1]] /= 2
        self._information, self._places, self._masses = information, places, masses
        return float(scipy.special.ndtr(-bound))

    def _bound(self, root: float, rest: float, spent: float) -> float:
        """By bisection: the bound that is crossed now, and was not before, with the chance ``spent``."""
        low, high = LOWEST, HIGHEST
        for _ in range(50):
            middle = (low + high) / 2
            crossed = scipy.special.ndtr((root * self._places - middle) / rest) @ self._masses
            low, high = (middle, high) if crossed > spent else (low, middle)
        return high


def _normal(x: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi))
