"""Two readings of one place must agree: to rounding if readings are exact, and within their noise otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._arrays import array_namespace, gather, index_table, is_complex, rounding_unit, take, to_device, to_numpy
from .._typing import Array, FloatArray, IndexVector
from ..exceptions import InconsistentObservationError
from .readings import PSD, Readings

__all__ = ["check_agreement", "check_records", "check_repeated", "check_symmetric", "negative_beyond", "promise"]

AGREEMENT = 1e-6  # two exact readings of one position may differ by this much, relative to the larger
MOST_DEVIATIONS = 8  # standard deviations that noisy ones may differ by; more happens once in 65 million pairs
NEGATIVE = 1e-6  # share of the largest diagonal value that a number may be below zero by the rounding of its readings


class Spread(NamedTuple):
    """Standard deviations of readings; inf if two of one place may differ by any amount."""

    line: float  # of a reading in a sampled row or column
    records: Any  # of an entry: one number, or one for each record

    def of(self, which: IndexVector) -> Any:
        """The standard deviations of some of the records."""
        return self.records if isinstance(self.records, float) else self.records[which]


def spread_of(readings: Readings) -> Spread:
    """Standard deviations that follow from the noise."""
    noise = readings.noise
    if noise is None or isinstance(noise, str):
        return Spread(*(0.0 if noise is None else math.inf,) * 2)
    if isinstance(noise, float):
        return Spread(noise, noise)
    return Spread(float(np.mean(noise**-2.0) ** -0.5) if len(noise) else 0.0, noise)


Place: TypeAlias = Callable[[int], tuple[int, int]]  # row and column of the t-th number of an array


class ComparedReadings(NamedTuple):
    """Two readings of the same places."""

    first: str  # what the first readings are of
    ours: Array
    second: str
    theirs: Array
    place: Place


def check_agreement(first: Readings, second: Readings, magnitude: float) -> None:
    """Positions that the rows or entries of one and the rows or columns of the other share were read alike."""
    rounding = 8 * rounding_unit(first.values) * magnitude
    spread, line = spread_of(first), spread_of(second).line
    if math.inf in (spread.line, line):
        return
    if first.n_rows and second.n_columns:
        ours = take(first.rows, second.column_index, axis=1)
        theirs = take(second.columns, first.row_index, axis=0)
        place = _crossing(first.row_index, second.column_index)
        _compare(ComparedReadings("rows", ours, "columns", theirs, place), rounding, _tolerated(spread.line, line))
    if not first.n_entries:
        return
    for what, a, b in (("rows", first.H, second.H), ("columns", first, second)):
        on = index_table(b.column_index, b.shape[1])[a.j]
        t = np.flatnonzero(on >= 0)
        ours, theirs = take(a.values, t, axis=0), gather(b.columns, a.i[t], on[t])
        pair = ComparedReadings("entries", ours, what, theirs, _pair(first.i[t], first.j[t]))
        _compare(pair, rounding, _tolerated(spread.of(t), line))


def check_records(readings: Readings, magnitude: float) -> None:
    """Records of one place differ by no more than their noise, if that is known."""
    r, spread = readings, spread_of(readings)
    if not 0 < spread.line < math.inf or not r.entries.has_repeats:
        return
    _, first, place = np.unique(r.entries.flat_index, return_index=True, return_inverse=True)
    t = np.flatnonzero(first[place] != np.arange(r.n_entries))
    ours, theirs = take(r.values, t, axis=0), take(r.values, first[place[t]], axis=0)
    pair = ComparedReadings("entries", ours, "entries before", theirs, _pair(r.i[t], r.j[t]))
    noise = _tolerated(spread.of(t), spread.of(first[place[t]]))
    _compare(pair, 8 * rounding_unit(r.values) * magnitude, noise)


def check_repeated(first: Readings, second: Readings, magnitude: float) -> None:
    """Columns that both have were read alike, and rows."""
    noise = _tolerated(spread_of(first).line, spread_of(second).line)
    if math.isinf(noise):
        return
    for what, a, b in (("columns", first, second), ("rows", first.H, second.H)):
        where = index_table(a.column_index, a.shape[1])[b.column_index]
        both = np.flatnonzero(where >= 0)
        if not len(both):
            continue
        ours, theirs = take(a.columns, where[both], axis=1), take(b.columns, both, axis=1)
        place = _crossing(np.arange(a.shape[0]), b.column_index[both])
        place = _turned(place) if what == "rows" else place
        pair = ComparedReadings(f"first {what}", ours, f"{what} of the second", theirs, place)
        _compare(pair, 8 * rounding_unit(first.values) * magnitude, noise)


def check_symmetric(readings: Readings, magnitude: float) -> None:
    """Values that stand for each other were read alike, and no diagonal value of a PSD matrix is negative."""
    r = readings
    if r.symmetry is None:
        return
    turned = r.H
    try:
        check_agreement(r, turned, magnitude)
        check_agreement(turned, r, magnitude)
    except InconsistentObservationError as error:
        raise InconsistentObservationError(
            f"symmetry={r.symmetry!r} states {promise(r)}, so a value stands for two places, but {error} "
            "If the matrix is not symmetric, leave symmetry out."
        ) from error
    if r.symmetry == PSD and r.noise is None:
        _check_diagonal(r.diagonal(), negative_beyond(r))


def promise(readings: Readings) -> str:
    """What a symmetric matrix of such numbers equals."""
    return "M = M.H, its conjugate transpose" if is_complex(readings.values) else "M = M.T"


def negative_beyond(readings: Readings) -> float:
    """Share of the largest diagonal value below which a negative number is more than rounding."""
    return max(NEGATIVE, float(np.sqrt(rounding_unit(readings.values))))


def _check_diagonal(diagonal: FloatArray, share: float) -> None:
    known = np.flatnonzero(~np.isnan(diagonal))
    if len(known) and np.min(diagonal[known]) < -share * np.max(np.abs(diagonal[known])):
        i = known[np.argmin(diagonal[known])]
        raise InconsistentObservationError(
            f'symmetry="psd" states that no diagonal value is negative, but row {i}, column {i} was read as '
            f'{diagonal[i]:.6g}. If the matrix is symmetric and not PSD, use "symmetric".'
        )


def _tolerated(a: Any, b: Any) -> Any:
    """By how much two readings with these standard deviations may differ."""
    return MOST_DEVIATIONS * np.sqrt((a**2 + b**2) / 2)


def _pair(i: IndexVector, j: IndexVector) -> Place:
    return lambda t: (int(i[t]), int(j[t]))


def _crossing(i: IndexVector, j: IndexVector) -> Place:
    return lambda t: (int(i[t // len(j)]), int(j[t % len(j)]))


def _turned(place: Place) -> Place:
    return lambda t: place(t)[::-1]


def _compare(pair: ComparedReadings, rounding: float, noise: Any) -> None:
    """Readings are compared where they are, as whole columns can be among them; ``noise`` is what it allows."""
    if not math.prod(pair.ours.shape):
        return
    xp = array_namespace(pair.ours, pair.theirs)
    a, b = xp.reshape(pair.ours, (-1,)), xp.reshape(pair.theirs, (-1,))
    with np.errstate(over="ignore"):  # an infinite difference is a difference
        apart = xp.abs(a - b)
    bad = (apart > rounding) & (apart > AGREEMENT * xp.abs(a)) & (apart > AGREEMENT * xp.abs(b))
    if noisy := bool(np.any(noise)):
        limit = float(noise) if np.ndim(noise) == 0 else xp.astype(to_device(noise, apart), apart.dtype)
        bad = bad & (apart > limit)
    if not bool(xp.any(bad)):
        return
    t = int(xp.argmax(xp.astype(bad, xp.uint8)))
    i, j = pair.place(t)
    rule = (
        f"One place has one value (to {AGREEMENT:g} relative): check which reading is right, or average them "
        "first. If readings are noisy, give noise= (see Observation)."
    )
    if noisy:
        most = np.broadcast_to(noise, apart.shape)[t]
        rule = f"With this noise they may differ by {most:.4g}: check which is right, or give a larger noise."
    raise InconsistentObservationError(
        f"row {i}, column {j} was read as {to_numpy(a[t])} among the {pair.first} and as {to_numpy(b[t])} among the "
        f"{pair.second}. {rule}"
    )
