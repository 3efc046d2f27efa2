"""Setting entries aside, to check a fit that does not use them."""

from __future__ import annotations

import numpy as np

from .._support.sets import different, is_in
from .._typing import IndexVector
from ..observation import Observation

__all__ = ["split_entries"]


def split_entries(
    observation: Observation, share: float, rng: np.random.Generator, *, at_most: int | None = None
) -> tuple[IndexVector, IndexVector]:
    """Records outside the sampled rows and columns, in two parts: to fit, and a random share to check.

    Records of one position stay together, and the share is one of positions, rounded down, ``at_most`` so many. Records
    that helped to choose rows and columns are all fitted, and at most half of the others are set aside.
    """
    outside = np.flatnonzero(observation.outside)
    place = observation.entries.flat_index[outside]
    steering = observation.steering[outside]
    places = different(place[~steering])
    most = max(len(places) // 2, int(share * len(places)))
    count = min(int(share * (len(places) + len(different(place[steering])))), most)
    chosen = np.sort(rng.permutation(len(places))[: count if at_most is None else min(at_most, count)])
    aside = is_in(place, places[chosen])
    return outside[~aside], outside[aside]
