r"""Noise: two readings of one place may differ, and their differences tell by how much.

A noise is None (readings are exact), a standard deviation, one for each record, or ``"unknown"``. Where sampled rows,
sampled columns and entries meet, their readings are averaged; the squares of what they differ by are kept, since the
average no longer shows them.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .._arrays import double, index_table, segment_sum, take, to_numpy
from .._typing import FloatArray, IndexVector, Vector
from .._validation import UNKNOWN, check_one_noise
from ..exceptions import InvalidArgumentError
from .checks import check_positive
from .entries import Entries

if TYPE_CHECKING:
    from .observation import Observation

__all__ = [
    "Noise",
    "PlaceMeans",
    "Repeats",
    "check_noise",
    "joined_noise",
    "n_different",
    "noise_of_records",
    "place_means",
    "relative_weights",
    "repeats_between",
    "repeats_covered",
    "repeats_within",
    "scaled_noise",
]

Noise: TypeAlias = float | str | Vector | None


class Repeats(NamedTuple):
    """What repeated readings say of the noise."""

    squares: float = 0.0  # weighted sum of squared deviations from the means of their places
    freedom: int = 0  # degrees of freedom: readings less places

    def join(self, *others: Repeats) -> Repeats:
        """The same of all of them together."""
        return Repeats(*(sum(part) for part in zip(self, *others, strict=True)))

    def without(self, other: Repeats) -> Repeats:
        """What is left when what the other says is taken out."""
        return Repeats(max(self.squares - other.squares, 0.0), max(self.freedom - other.freedom, 0))

    @property
    def standard_deviation(self) -> float:
        """Pooled standard deviation of a reading; nan where nothing was read twice."""
        return math.sqrt(self.squares / self.freedom) if self.freedom else math.nan


def check_noise(noise: Any, size: int) -> Noise:
    """One noise for all readings, or one for each record."""
    if noise is None or isinstance(noise, (str, Real)):
        return check_one_noise(noise)
    return check_positive(noise, size, name="noise")


def noise_of_records(noise: Noise, which: IndexVector) -> Noise:
    """The noise of some of the records."""
    return noise[which] if isinstance(noise, np.ndarray) else noise


def scaled_noise(noise: Noise, unit: float) -> Noise:
    """The same noise in other units."""
    return noise if noise is None or isinstance(noise, str) else noise / unit


def joined_noise(first: Observation, second: Observation) -> Noise:
    """The noise of two samples taken together: of two numbers the larger, and unknown where one is unknown."""
    a, b = first.noise, second.noise
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return _side_by_side(first, second)
    if a is None or b is None:
        return b if a is None else a
    return UNKNOWN if isinstance(a, str) or isinstance(b, str) else max(a, b)


def _side_by_side(first: Observation, second: Observation) -> Vector:
    """The noise of each record; a number stands for all of a sample's records."""
    parts = []
    for o in (first, second):
        if o.n_entries and (o.noise is None or isinstance(o.noise, str)):
            raise InvalidArgumentError(
                "one of the two observations has a noise for each of its entries, and the other has "
                f"noise={o.noise!r}. Give a noise for each entry of both, or one number to both."
            )
        parts.append(o.noise if isinstance(o.noise, np.ndarray) else np.full(o.n_entries, o.noise or 1.0))
    return np.concatenate(parts)


def relative_weights(entries: Entries) -> FloatArray:
    """How much each record counts in an average, where a reading in a row or column counts 1."""
    weights = entries.weights
    return np.ones(len(entries)) if weights is None or not len(entries) else weights / np.mean(weights)


def repeats_within(observation: Observation) -> Repeats:
    """What the records of one place say, outside the sampled rows and columns."""
    e = observation.entries
    if not e.has_repeats:
        return Repeats()
    some = np.flatnonzero(observation.outside)
    means = place_means(e, some)
    return Repeats(_squares(e, some, means), len(some) - len(means.flat))


def repeats_covered(first: Observation, second: Observation) -> Repeats:
    """What the records of one place say that lies on a row or column of the second sample, but on none of the first.

    Once the samples are joined, these records are averaged with the row or column. Equal ones count as one.
    """
    o, (n, m) = first, first.shape
    if not o.entries.has_repeats:
        return Repeats()
    covered = (index_table(second.row_index, n)[o.i] >= 0) | (index_table(second.column_index, m)[o.j] >= 0)
    some = np.flatnonzero(o.outside & covered)
    means, place = place_means(o.entries, some), o.entries.flat_index[some]
    freedom = n_different(place, to_numpy(take(o.values, some, axis=0))) - len(means.flat)
    return Repeats(_squares(o.entries, some, means), freedom)


def n_different(place: IndexVector, value: FloatArray) -> int:
    """Number of different readings, of which each has a place and a value."""
    order = np.lexsort((value, place))
    same = (np.diff(place[order]) == 0) & (np.diff(value[order]) == 0)
    return len(place) - int(np.count_nonzero(same))


def repeats_between(first: Observation, second: Observation) -> Repeats:
    """What records say that two samples have of one place; equal ones are copies, as reading makes them."""
    a, b = (place_means(o.entries, np.flatnonzero(o.outside)) for o in (first, second))
    _, s, t = np.intersect1d(a.flat, b.flat, assume_unique=True, return_indices=True)
    apart = (a.mean[s] - b.mean[t]) ** 2
    weight = a.weight[s] * b.weight[t] / (a.weight[s] + b.weight[t])
    return Repeats(float(np.sum(weight * apart)), int(np.count_nonzero(apart)))


class PlaceMeans(NamedTuple):
    """Means of the records of each place."""

    flat: IndexVector  # (k,), ascending
    mean: FloatArray  # (k,)
    weight: FloatArray  # (k,)


def place_means(entries: Entries, some: IndexVector) -> PlaceMeans:
    """Means of some of the records."""
    flat, first, place = np.unique(entries.flat_index[some], return_index=True, return_inverse=True)
    values, weights = to_numpy(double(take(entries.values, some, axis=0))), relative_weights(entries)[some]
    weight: FloatArray = np.bincount(place, weights, len(flat)).astype(np.float64)
    away = segment_sum((weights * (values - values[first][place]))[:, None], place, len(flat))[:, 0]
    return PlaceMeans(flat, values[first] + away / weight, weight)


def _squares(entries: Entries, some: IndexVector, means: PlaceMeans) -> float:
    """Weighted sum of squared deviations of some records from the means of their places."""
    place = np.searchsorted(means.flat, entries.flat_index[some])
    deviations = to_numpy(take(entries.values, some, axis=0)).astype(np.float64) - means.mean[place]
    return float(np.sum(relative_weights(entries)[some] * deviations**2))
