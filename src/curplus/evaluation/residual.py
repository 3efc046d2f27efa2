"""The error of an approximation at the positions that were read, and the rest, where it is not known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._arrays import (
    abs_squared,
    adjoint,
    array_namespace,
    blocks,
    double,
    float64,
    is_among,
    is_complex,
    is_dask_array,
    is_numpy_array,
    power_of_two,
    take,
    to_device,
    to_numpy,
)
from .._support.sets import different, is_in
from .._typing import Array, FloatArray, IndexVector, Matrix, Vector
from ..factorization import Factorization
from ..observation import Observation
from .effective_sample import Squares

__all__ = ["Residual", "listed", "spectral_norm", "zero_at_gaps"]


@dataclass(frozen=True, eq=False)
class Residual:
    """The error ``E = M - approximation`` at the positions that were read. Squares are in units of ``unit**2``.

    Gaps of the sampled rows and columns belong to the rest: arrays of errors have zero there, and lists leave them out.
    """

    approximation: Factorization
    observation: Observation

    @property
    def unit(self) -> float:
        """About the largest magnitude that was read, so that squares stay in range."""
        return power_of_two(self.observation.magnitude, self.observation.values)

    @property
    def n_rest(self) -> int:
        """Number of positions outside the sampled rows and columns, and of gaps on them, without those forbidden."""
        o = self.observation
        return (o.shape[0] - o.n_rows) * (o.shape[1] - o.n_columns) + o.n_line_gaps - o.forbidden.size(o.shape)

    @property
    def size(self) -> int:
        """Number of positions that are not forbidden."""
        return math.prod(self.observation.shape) - self.observation.forbidden.size(self.observation.shape)

    @cached_property
    def row_errors(self) -> Matrix:
        """Errors on the sampled rows, shape (d2, m)."""
        o = self.observation
        errors = double(o.rows) - double(self.approximation.rows(o.row_index))
        errors /= self.unit
        return zero_at_gaps(errors, o.known_rows)

    @cached_property
    def column_errors(self) -> Matrix:
        """Errors on the sampled columns, shape (n, d1)."""
        o = self.observation
        errors = double(o.columns) - double(self.approximation.columns(o.column_index))
        errors /= self.unit
        return zero_at_gaps(errors, o.known_columns)

    @cached_property
    def row_squares(self) -> Squares:
        """Squared errors on the sampled rows."""
        if is_numpy_array(self.observation.rows) and self.observation.known_rows is None:
            return Squares.of(squares.reshape(-1) for squares in self._blocks_of_row_squares())
        return Squares.of([listed(abs_squared(self.row_errors), self.observation.known_rows)])

    @cached_property
    def column_squares(self) -> Squares:
        """Squared errors on the sampled columns."""
        if is_numpy_array(self.observation.columns) and self.observation.known_columns is None:
            return Squares.of(squares.reshape(-1) for _, squares in self._blocks_of_column_squares())
        return Squares.of([listed(abs_squared(self.column_errors), self.observation.known_columns)])

    @cached_property
    def unread_row(self) -> Vector:
        """Which rows were not read whole, shape (n,)."""
        o = self.observation
        return to_device(~is_among(o.row_index, o.shape[0]), o.columns)

    def unread(self, x: Matrix) -> Matrix:
        """Those of n rows that were not read whole."""
        if not is_dask_array(x):
            return x[self.unread_row]
        o = self.observation
        return take(x, np.flatnonzero(~is_among(o.row_index, o.shape[0])), axis=0)

    @cached_property
    def unread_row_squares(self) -> Vector:
        """Sums of squared errors of the sampled columns, for each row that was not read whole, as if without gaps."""
        o, xp = self.observation, array_namespace(self.column_errors)
        sums = xp.sum(abs_squared(self.column_errors), axis=1)
        if o.known_columns is None:
            return self.unread(sums)
        count = xp.sum(float64(o.known_columns), axis=1)
        some = self.unread_row & (count > 0)
        return sums[some] * (o.n_columns / count[some])

    @cached_property
    def known_error(self) -> float:
        """Sum of squared errors on the sampled rows and columns."""
        if is_numpy_array(self.observation.columns) and self.observation.known_columns is None:
            on_columns = sum(
                float(x.sum(axis=1) @ self.unread_row[part]) for part, x in self._blocks_of_column_squares()
            )
            return float(np.sum(abs_squared(self.row_errors))) + on_columns
        return float(self._cross_sum(abs_squared(self.row_errors), abs_squared(self.column_errors)))

    def _known_sum(self, of: Callable[[Array], Array]) -> Any:
        """Sum of a function of the values on the sampled rows and columns; it is zero at zero."""
        o = self.observation
        rows, columns = double(o.rows) / self.unit, double(o.columns) / self.unit
        return self._cross_sum(of(zero_at_gaps(rows, o.known_rows)), of(zero_at_gaps(columns, o.known_columns)))

    def _mean(self, of: Callable[[Array], Array]) -> Any:
        """Estimate of the mean of a function of all values: outside rows and columns, from the entries if any."""
        o, steering, size = self.observation, self.steering(), max(self.size, 1)
        where = np.flatnonzero(o.outside & ~o.steering)
        known = self._known_sum(of)
        if len(where):
            known += np.sum(of(self._values(steering))).item()
            mean = np.average(of(self._values(where)), weights=o.entries.importance_weights[where]).item()
            return (known + (self.n_rest - len(steering)) * mean) / size
        n_read = size - self.n_rest
        return known / n_read if n_read else math.nan

    @cached_property
    def _mean_square(self) -> float:
        return float(self._mean(abs_squared))

    def matrix_norm(self) -> float:
        """Estimate of the norm of the matrix, in units."""
        return math.sqrt(self._mean_square * self.size)

    def matrix_spread(self) -> float:
        """Estimate of the standard deviation of all values around their mean, in units."""
        return math.sqrt(max(self._mean_square - abs(self._mean(lambda x: x)) ** 2, 0.0))

    @cached_property
    def spectral_norm(self) -> float:
        """The larger spectral norm of the error on the sampled rows and on the columns; a bound from below."""
        o = self.observation
        rows, columns = (self.row_errors, o.known_rows), (self.column_errors, o.known_columns)
        return max(_spectral_bound(*rows), _spectral_bound(*columns)) * self.unit

    def squares_at(self, which: IndexVector) -> FloatArray:
        """Squared errors at some of the scattered entries, on the host."""
        o = self.observation
        return self.squares_of(which, to_numpy(self.approximation.entries(o.i[which], o.j[which])))

    def squares_of(self, which: IndexVector, guess: FloatArray) -> FloatArray:
        """Squared errors of some other prediction there."""
        squares: FloatArray = abs_squared(self._values(which) - guess / self.unit)
        return squares

    def held_out(self) -> IndexVector:
        """Records outside the rows and columns that the fit did not use; each position once if all were as likely.

        Those that took part in choosing what was read are not among them.
        """
        o, held = self.observation, self.approximation.held_out
        return self.counted(held[(o.outside & ~o.steering)[held]])

    def counted(self, which: IndexVector) -> IndexVector:
        """Some records, each position once if all were as likely."""
        return which if self.observation.probabilities is not None else self.once(which)

    def steering(self) -> IndexVector:
        """Records outside the rows and columns that took part in choosing what was read; each position once."""
        o = self.observation
        return self.once(np.flatnonzero(o.outside & o.steering))

    def fitted(self, held: IndexVector) -> IndexVector:
        """Records outside the rows and columns that are not held out; each position once, and none that is."""
        o = self.observation
        free = o.outside.copy()
        free[held] = False
        others = self.once(np.flatnonzero(free))
        if not o.entries.has_repeats:
            return others
        place = o.entries.flat_index
        return others[~is_in(place[others], different(place[held]))]

    def once(self, which: IndexVector) -> IndexVector:
        """Some records, each position once, and none that is forbidden."""
        o = self.observation
        which = which[~o.is_forbidden(o.i[which], o.j[which])] if o.forbidden.any else which
        return which[o.entries.take(which).unique()] if o.entries.has_repeats else which

    def _blocks_of_column_squares(self) -> Iterator[tuple[slice, Matrix]]:
        """Squared errors on the sampled columns in NumPy, a few rows at a time: columns may take most of the memory."""
        o, left = self.observation, self.approximation.left.vectors
        mixing = self.approximation.core.Z @ adjoint(self.approximation.right.vectors[o.column_index])
        for part in blocks(o.shape[0], max(o.n_columns, 1), most=2**16):  # cost: memory
            yield part, self._squares(o.columns[part], left[part] @ mixing)

    def _blocks_of_row_squares(self) -> Iterator[Matrix]:
        """The same of the sampled rows, a few columns at a time."""
        o, right = self.observation, self.approximation.right.vectors
        mixing = self.approximation.left.vectors[o.row_index] @ self.approximation.core.Z
        for part in blocks(o.shape[1], max(o.n_rows, 1), most=2**16):  # cost: memory
            yield self._squares(o.rows[:, part], mixing @ adjoint(right[part]))

    def _squares(self, read: FloatArray, errors: FloatArray) -> FloatArray:
        """Squared errors of a prediction, which is overwritten where it can be."""
        errors = double(errors)
        np.subtract(read, errors, out=errors)
        errors /= self.unit
        return abs_squared(errors) if is_complex(errors) else np.multiply(errors, errors, out=errors)

    def _values(self, which: IndexVector) -> FloatArray:
        values: FloatArray = double(self._host_values[which]) / self.unit
        return values

    @cached_property
    def _host_values(self) -> FloatArray:
        return to_numpy(self.observation.values)

    def _cross_sum(self, rows: Matrix, columns: Matrix) -> Any:
        """Sum over rows and columns; their intersection counts once."""
        xp = array_namespace(rows)
        by_row = xp.sum(columns, axis=1)
        number = complex if is_complex(rows) else float
        return number(xp.sum(rows)) + number(xp.sum(xp.where(self.unread_row, by_row, xp.zeros_like(by_row))))


def spectral_norm(x: Matrix) -> float:
    """Spectral norm of a matrix with one short side, from its small Gram matrix."""
    gram = to_numpy(x @ adjoint(x) if x.shape[0] <= x.shape[1] else adjoint(x) @ x)
    return math.sqrt(max(float(np.linalg.eigvalsh(gram)[-1]), 0.0)) if gram.size else 0.0


def zero_at_gaps(x: Matrix, known: Matrix | None) -> Matrix:
    """``x``, with zeros at gaps."""
    return x if known is None else array_namespace(x).where(known, x, array_namespace(x).zeros_like(x))


def listed(x: Matrix, known: Matrix | None) -> Vector:
    """The known numbers of ``x``, one after the other; of a Dask array, in the order in which it is cut."""
    if is_dask_array(x) and known is None and x.numblocks[1] > 1:
        x = x.T
    return array_namespace(x).reshape(x, (-1,)) if known is None else x[known]


def _spectral_bound(x: Matrix, known: Matrix | None) -> float:
    """A lower bound of the spectral norm of ``x``, whatever the values in its gaps.

    Zeros in place of gaps can make a spectral norm larger. Complete rows and complete columns are parts of the matrix,
    and the norm of the known part of a row or column is at most that of all of it.
    """
    if known is None:
        return spectral_norm(x)
    xp, bound = array_namespace(x), 0.0
    for axis in (0, 1):
        complete = np.flatnonzero(to_numpy(xp.all(known, axis=1 - axis)))
        longest = math.sqrt(float(xp.max(xp.sum(x**2, axis=axis))))
        bound = max(bound, spectral_norm(take(x, complete, axis=axis)), longest)
    return bound
