"""Two readings of one place must agree: to rounding where readings are exact, and within their noise elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .._arrays import array_namespace, gather, index_table, rounding_unit, take, to_device, to_numpy
from .._typing import Array, IndexVector
from ..exceptions import InconsistentObservationError

if TYPE_CHECKING:
    from .observation import Observation

__all__ = ["check_agreement", "check_records", "check_repeated"]

AGREEMENT = 1e-6  # two exact readings of one position may differ by this much, relative to the larger
MOST_DEVIATIONS = 8  # standard deviations that noisy ones may differ by; more happens once in 65 million pairs


class Spread(NamedTuple):
    """Standard deviations of readings; inf where two of one place may differ by any amount."""

    line: float  # of a reading in a row or column
    records: Any  # of an entry: one number, or one for each record

    def of(self, which: IndexVector) -> Any:
        """The standard deviations of some of the records."""
        return self.records if isinstance(self.records, float) else self.records[which]


def spread_of(observation: Observation) -> Spread:
    """Standard deviations that follow from the noise of an observation."""
    noise = observation.noise
    if noise is None or isinstance(noise, str):
        return Spread(*(0.0 if noise is None else math.inf,) * 2)
    if isinstance(noise, float):
        return Spread(noise, noise)
    return Spread(float(np.mean(noise**-2.0) ** -0.5) if len(noise) else 0.0, noise)


def _tolerated(a: Any, b: Any) -> Any:
    """By how much two readings with these standard deviations may differ."""
    return MOST_DEVIATIONS * np.sqrt((a**2 + b**2) / 2)


def check_agreement(first: Observation, second: Observation, magnitude: float) -> None:
    """Positions that the rows or entries of one and the rows or columns of the other share were read alike."""
    rounding = 8 * rounding_unit(first.values) * magnitude
    ours_spread, theirs_spread = spread_of(first), spread_of(second)
    if math.inf in (ours_spread.line, theirs_spread.line):
        return
    if first.n_rows and second.n_columns:
        ours = take(first.rows, second.column_index, axis=1)
        theirs = take(second.columns, first.row_index, axis=0)
        place = _crossing(first.row_index, second.column_index)
        allowed = Allowed(rounding, _tolerated(ours_spread.line, theirs_spread.line))
        _compare("rows", ours, "columns", theirs, place, allowed)
    if not first.n_entries:
        return
    on_row = index_table(second.row_index, second.shape[0])
    on_column = index_table(second.column_index, second.shape[1])
    t = np.flatnonzero(on_row[first.i] >= 0)
    i, j, ours = first.i[t], first.j[t], take(first.values, t, axis=0)
    allowed = Allowed(rounding, _tolerated(ours_spread.of(t), theirs_spread.line))
    _compare("entries", ours, "rows", gather(second.rows, on_row[i], j), _pair(i, j), allowed)
    t = np.flatnonzero(on_column[first.j] >= 0)
    i, j, ours = first.i[t], first.j[t], take(first.values, t, axis=0)
    allowed = Allowed(rounding, _tolerated(ours_spread.of(t), theirs_spread.line))
    _compare("entries", ours, "columns", gather(second.columns, i, on_column[j]), _pair(i, j), allowed)


def check_records(observation: Observation, magnitude: float) -> None:
    """Records of one place differ by no more than their noise, where that is known."""
    o, spread = observation, spread_of(observation)
    if not 0 < spread.line < math.inf or not o.entries.has_repeats:
        return
    _, first, place = np.unique(o.entries.flat_index, return_index=True, return_inverse=True)
    t = np.flatnonzero(first[place] != np.arange(o.n_entries))
    ours, theirs = take(o.values, t, axis=0), take(o.values, first[place[t]], axis=0)
    allowed = Allowed(8 * rounding_unit(o.values) * magnitude, _tolerated(spread.of(t), spread.of(first[place[t]])))
    _compare("entries", ours, "entries before", theirs, _pair(o.i[t], o.j[t]), allowed)


def check_repeated(first: Observation, second: Observation, magnitude: float) -> None:
    """Columns that both have were read alike, and rows."""
    spread = _tolerated(spread_of(first).line, spread_of(second).line)
    allowed = Allowed(8 * rounding_unit(first.values) * magnitude, spread)
    if math.isinf(spread):
        return
    for what, a, b in (("columns", first, second), ("rows", first.H, second.H)):
        where = index_table(a.column_index, a.shape[1])[b.column_index]
        both = np.flatnonzero(where >= 0)
        if len(both):
            ours, theirs = take(a.columns, where[both], axis=1), take(b.columns, both, axis=1)
            place = _crossing(np.arange(a.shape[0]), b.column_index[both])
            if what == "rows":
                place = _turned(place)
            _compare(f"first {what}", ours, f"{what} of the second", theirs, place, allowed)


Place: TypeAlias = Callable[[int], tuple[int, int]]  # row and column of the t-th number of an array


def _pair(i: IndexVector, j: IndexVector) -> Place:
    return lambda t: (int(i[t]), int(j[t]))


def _crossing(i: IndexVector, j: IndexVector) -> Place:
    return lambda t: (int(i[t // len(j)]), int(j[t % len(j)]))


def _turned(place: Place) -> Place:
    return lambda t: place(t)[::-1]


class Allowed(NamedTuple):
    """By how much two readings of one place may differ, besides one in a million of the larger."""

    rounding: float
    noise: Any  # one number, or one for each pair of readings


def _compare(first: str, ours: Array, second: str, theirs: Array, place: Place, allowed: Allowed) -> None:
    """Two readings of the same places, compared where they are: whole columns can be among them."""
    if not math.prod(ours.shape):
        return
    xp = array_namespace(ours, theirs)
    a, b = xp.reshape(ours, (-1,)), xp.reshape(theirs, (-1,))
    with np.errstate(over="ignore"):  # an infinite difference is a difference
        gap = xp.abs(a - b)
    bad = (gap > allowed.rounding) & (gap > AGREEMENT * xp.abs(a)) & (gap > AGREEMENT * xp.abs(b))
    if noisy := bool(np.any(allowed.noise)):
        limit = allowed.noise
        bad = bad & (gap > (float(limit) if np.ndim(limit) == 0 else xp.astype(to_device(limit, gap), gap.dtype)))
    if bool(xp.any(bad)):
        t = int(xp.argmax(xp.astype(bad, xp.uint8)))
        i, j = place(t)
        rule = (
            f"One place has one value (to {AGREEMENT:g} relative): check which reading is right, or average them "
            "first. If readings are noisy, say so (noise=, see Observation)."
        )
        if noisy:
            most = np.broadcast_to(allowed.noise, gap.shape)[t]
            rule = f"With this noise they may differ by {most:.4g}: check which is right, or give a larger noise."
        raise InconsistentObservationError(
            f"row {i}, column {j} was read as {to_numpy(a[t])} among the {first} and as {to_numpy(b[t])} among the "
            f"{second}. {rule}"
        )
