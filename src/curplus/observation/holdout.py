"""Setting entries aside, to check a fit that does not use them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._typing import IndexVector
from .observation import Observation

__all__ = ["evidence_outside", "split_entries"]


def split_entries(
    observation: Observation, share: float, rng: np.random.Generator, *, at_most: int | None = None
) -> tuple[IndexVector, IndexVector]:
    """Records outside the sampled rows and columns, in two parts: to fit, and a random share to check.

    Records of one position stay together, and the share is one of positions, rounded down, ``at_most`` so many. Those
    that took part in choosing what was read are fitted; of the others, at most half are set aside for them too.
    """
    outside = np.flatnonzero(observation.outside)
    place = observation.entries.flat_index[outside]
    steering = observation.steering[outside]
    places = _distinct(place[~steering])
    most = max(len(places) // 2, int(share * len(places)))
    count = min(int(share * (len(places) + len(_distinct(place[steering])))), most)
    chosen = np.sort(rng.permutation(len(places))[: count if at_most is None else min(at_most, count)])
    aside = _among(place, places[chosen])
    return outside[~aside], outside[aside]


def evidence_outside(observation: Observation) -> IndexVector:
    """Records outside the sampled rows and columns that took no part in choosing what was read."""
    return np.flatnonzero(observation.outside & ~observation.steering)


def _distinct(x: IndexVector) -> IndexVector:
    """Each number once, ascending."""
    ordered = np.sort(x)
    return ordered[np.diff(ordered, prepend=-1) > 0]


def _among(x: IndexVector, few: IndexVector) -> NDArray[np.bool_]:
    """Whether each of ``x`` is one of the ascending ``few``."""
    bounded = np.append(few, np.iinfo(np.int64).max)
    found: NDArray[np.bool_] = bounded[np.searchsorted(few, x)] == x
    return found
