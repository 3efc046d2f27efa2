"""The next round of entries for means: scattered uniformly, until the intervals are narrow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from .._support.sets import NO_INDEX
from .._support.spelling import counted
from .._validation import check_axis, check_index, check_level
from ..evaluation import MeanEstimates, estimate_means
from ..exceptions import InvalidArgumentError
from ..methods import approximate
from ..observation import Observation, SamplePlan
from ..observation.plan import ALL_UNIFORM
from .open_grid import OpenGrid
from .prices import ROUNDED_UP, Prices, affordable

__all__ = ["NarrowMeans", "mean_round"]

FIRST_ENTRIES = 20  # entries of each row in the first round
LEAST_MORE, MOST_MORE = 1.2, 2.0  # times the entries of before, in each further round


@dataclass(frozen=True)
class NarrowMeans:
    """A goal: to know means with intervals that are at most so wide, each by itself.

    ``goal="means", width=0.02`` is ``goal=NarrowMeans(0.02)``.

    Parameters
    ----------
    width : float
        From the lower end to the upper one.
    axis : {1, 0}, default 1
        1 for the means of rows, 0 for those of columns.
    level : float, default 0.95
        Confidence of each interval.
    among : sequence of positions, optional
        Whose intervals must be narrow; left out, those of all.
    """

    width: float
    axis: int = 1
    level: float = 0.95
    among: Any = None

    def __post_init__(self) -> None:
        width: Any = self.width
        if isinstance(width, (bool, np.bool_)) or not isinstance(width, Real) or not 0 < float(width) < math.inf:
            raise InvalidArgumentError(f"width={width!r} is no width of an interval. Give a number above 0.")
        check_axis(self.axis)
        object.__setattr__(self, "level", check_level(self.level))
        if self.among is not None:
            object.__setattr__(self, "among", tuple(self.among))

    def widest(self, means: MeanEstimates) -> float:
        """The widest interval that counts; infinite if intervals are refused."""
        some = slice(None) if self.among is None else check_index(self.among, len(means), name="among")
        widths = (means.high - means.low)[some][means.is_open[some]]
        return math.inf if np.isnan(widths).any() else float(np.max(widths, initial=0.0))

    def reached(self, observation: Observation) -> float:
        """The widest interval by what was read; infinite without entries."""
        if not observation.n_entries:
            return math.inf
        return self.widest(estimate_means(approximate(observation), observation, axis=self.axis, level=self.level))


def mean_round(
    observation: Observation, goal: NarrowMeans, money: float, prices: Prices, seed: int
) -> SamplePlan | None:
    """Entries of the next round; None if intervals are as narrow as they must be, or nothing can be bought."""
    (n, m), known = observation.shape, observation.n_entries
    count = FIRST_ENTRIES * (n if goal.axis else m)
    if known:
        widest = goal.reached(observation)
        if widest <= goal.width:
            return None
        count = math.ceil(known * min(max((widest / goal.width) ** 2, LEAST_MORE), MOST_MORE)) - known
    grid, rng = OpenGrid.of(observation), np.random.default_rng([seed, *observation.counts])
    count = math.floor(min(count, grid.n_left, money / prices.mean_entry * ROUNDED_UP))
    if count < 1:
        return None
    i, j = grid.draw(count, rng)
    order = rng.permutation(count)
    bought = np.sort(order[affordable(prices.entries(i, j)[order], money)])
    if not len(bought):
        return None
    reason = f"{counted(len(bought), 'entry')} drawn uniformly, for means"
    return SamplePlan(
        observation.shape,
        NO_INDEX,
        NO_INDEX,
        i[bought],
        j[bought],
        design=ALL_UNIFORM,
        reasons=(reason,),
        forbidden=observation.forbidden,
    )
