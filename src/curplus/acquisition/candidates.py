"""What is known of the rows or columns that could be read next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import (
    abs_squared,
    adjoint,
    array_namespace,
    double,
    float64,
    harmless_unit,
    largest,
    power_of_two,
    row_products,
    small_svd,
    take,
    to_device,
    to_numpy,
)
from .._support.sets import NO_INDEX
from .._typing import FloatArray, IndexVector, Matrix
from ..methods.approximate import without_gaps
from ..observation import Cells, Observation

__all__ = ["Candidates", "candidate_columns", "candidate_rows", "samples_without_gaps", "scaled"]

RIDGE = 0.01  # of the mean squared singular value of the intersection, where entries are predicted
ENOUGH_KNOWN = 0.5  # of its places: a row or column with fewer known values does not represent its rest


class Candidates(NamedTuple):
    """The columns that could be read next, or the rows, turned into columns; and what is known of them."""

    sample: Matrix  # (d, size), in double precision, of harmless size: all candidates, in the d rows (or columns) known
    taken: IndexVector  # (t,): those already read, or asked for, whole
    wanted_more: bool  # whether clearly more of these are wanted than of the other kind
    whole: Matrix | None = None  # (length, t'): the first of those taken, whole; others have too few known values
    entry_index: IndexVector = NO_INDEX  # (k,): candidates in which entries were read, for choosing, one by one
    entry_squares: FloatArray = np.empty(0)  # (k,): squared residuals of those entries, in units of the sample
    excluded: IndexVector = NO_INDEX  # those that must not be read, or are too expensive
    prices: FloatArray | None = None  # (size,): squares are divided by them

    @property
    def is_available(self) -> NDArray[np.bool_]:
        """Which of them are neither read yet nor excluded, shape (size,)."""
        available = np.ones(self.sample.shape[1], dtype=bool)
        available[self.taken] = available[self.excluded] = False
        return available

    @property
    def available(self) -> IndexVector:
        """Those neither read yet nor excluded."""
        return np.flatnonzero(self.is_available)

    def available_except(self, chosen: IndexVector | list[int]) -> IndexVector:
        """Those of them that are not chosen now."""
        available = self.is_available
        available[np.asarray(chosen, dtype=np.int64)] = False
        return np.flatnonzero(available)

    def worth(self, squares: FloatArray) -> FloatArray:
        """Squares, (size,), divided by the prices of the candidates."""
        return squares if self.prices is None else squares / self.prices


def candidate_columns(observation: Observation, wanted_more: bool) -> Candidates:
    """The columns that could be read next."""
    seen = _known_well(observation)
    sample, whole = samples_without_gaps(seen)
    unit = harmless_unit(max(largest(sample), largest(whole)), sample, power=4)
    if unit != 1:
        sample, whole = sample / unit, whole / unit
    steering = np.flatnonzero(observation.outside & observation.steering)
    squares = _left_over(sample, whole, seen, steering, unit)
    others = observation.column_index[~np.isin(observation.column_index, seen.column_index)]
    taken = np.concatenate([seen.column_index, others])
    return Candidates(sample, taken, wanted_more, whole, observation.j[steering], squares)


def samples_without_gaps(observation: Observation) -> tuple[Matrix, Matrix]:
    """The sampled rows, and columns, in double precision, means in place of gaps: for choosing, not for fitting."""
    if not observation.has_gaps:
        return double(observation.rows), double(observation.columns)
    cells = without_gaps(Cells.of(observation.subset(entries=NO_INDEX)))
    return double(cells.rows), double(cells.columns)


def _known_well(observation: Observation) -> Observation:
    """Without rows and columns with less than half of their values known: they may still be being measured."""
    rows, columns = (
        None if known is None else to_numpy(array_namespace(known).mean(float64(known), axis=axis)) >= ENOUGH_KNOWN
        for known, axis in ((observation.known_rows, 1), (observation.known_columns, 0))
    )
    is_whole = all(which is None or which.all() for which in (rows, columns))
    return observation if is_whole else observation.subset(rows=rows, columns=columns)


def candidate_rows(observation: Observation, wanted_more: bool) -> Candidates:
    """The rows that could be read next, turned into columns."""
    return candidate_columns(observation.H, wanted_more)


def _left_over(
    rows: Matrix, columns: Matrix, observation: Observation, records: IndexVector, unit: float
) -> FloatArray:
    """Squared residuals of some entries, given the rows and columns read so far.

    The prediction is the cross C W⁺ R with a small ridge. If it is worse than zero, it is not used.
    """
    values = double(take(observation.values, records, axis=0)) / unit
    if not len(records) or not observation.n_rows or not observation.n_columns:
        return to_numpy(abs_squared(values))
    P, s, Qh = (to_numpy(x) for x in small_svd(take(columns, observation.row_index, axis=0)))
    inverse = s / (s**2 + RIDGE * np.mean(s**2) + np.finfo(float).tiny)
    left = columns @ to_device(adjoint(Qh) * inverse, columns)
    right = adjoint(rows) @ to_device(P, rows)
    predicted = row_products(left, right, observation.i[records], observation.j[records])
    return to_numpy(array_namespace(values).minimum(abs_squared(values - predicted), abs_squared(values)))


def scaled(known: Matrix) -> Matrix:
    """A copy in double precision whose squares neither overflow nor vanish."""
    return double(known) / power_of_two(largest(known), known)
