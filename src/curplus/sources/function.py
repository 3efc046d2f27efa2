"""A matrix given by a function of the position: a simulation, a database query, a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np

from .._arrays import is_complex, number_array
from .._support.sets import NO_INDEX
from .._typing import IndexVector, Matrix, Names, Shape, Vector
from .._validation import check_count, check_gaps, check_names, check_one_noise, check_shape
from ..exceptions import InvalidArgumentError, SourceError
from .chunks import Wanted
from .once import KnownParts, PlanTask

__all__ = ["CallableSource"]

NOTHING: tuple[IndexVector, Vector] = (NO_INDEX, np.empty(0))


class CallableSource:
    """The matrix with entries ``function(i, j)``.

    :func:`curplus.observe` and :func:`curplus.acquire` ask for no position twice.

    Parameters
    ----------
    function : callable
        Takes two equal-length one-dimensional int64 arrays and returns as many numbers.
    shape : (int, int)
        Numbers of rows and columns.
    dtype : dtype, default float64
        Type of the values that are kept: float32, float64, complex64 or complex128.
    block_size : int, default 2**18
        Most positions to ask for in one call.
    row_names, column_names : sequence, optional
        One name per row and per column.
    gaps : bool, default False
        Whether the function may return NaN for what cannot be measured. What is read of it then has gaps.
    noise : float or "unknown", optional
        Standard deviation of what the function returns, if it returns something else each time. What is read of it then
        has this noise: see :class:`~curplus.Observation`.

    Examples
    --------
    >>> import curplus
    >>> source = curplus.CallableSource(lambda i, j: 1.0 / (1.0 + i + j), shape=(10**6, 10**5))
    >>> source.entries([0, 1], [0, 2])
    array([1.  , 0.25])
    """

    skips_known: ClassVar[bool] = True  # its ``read`` takes what is known

    def __init__(
        self,
        function: Callable[[IndexVector, IndexVector], Any],
        shape: Shape,
        *,
        dtype: Any = np.float64,
        block_size: int = 2**18,
        row_names: Iterable[Any] | None = None,
        column_names: Iterable[Any] | None = None,
        gaps: bool = False,
        noise: float | str | None = None,
    ) -> None:
        if not callable(function):
            raise InvalidArgumentError(f"function={function!r} cannot be called. Give a function of (i, j).")
        self._function = function
        self._shape = check_shape(shape)
        self._block_size = check_count(block_size, name="block_size", at_least=1)
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
            raise InvalidArgumentError(
                f"dtype={self.dtype} is not supported. Use float32, float64, complex64 or complex128."
            )
        self.row_names: Names | None = check_names(row_names, self._shape[0], name="row_names")
        self.column_names: Names | None = check_names(column_names, self._shape[1], name="column_names")
        self.gaps = check_gaps(gaps)
        self._kept = NOTHING  # positions and values of a plan that was interrupted
        self.noise = check_one_noise(noise)

    @property
    def shape(self) -> Shape:
        return self._shape

    def rows(self, index: IndexVector) -> Matrix:
        return self.read(Wanted(NO_INDEX, np.asarray(index), NO_INDEX, NO_INDEX))[1]

    def columns(self, index: IndexVector) -> Matrix:
        return self.read(Wanted(np.asarray(index), NO_INDEX, NO_INDEX, NO_INDEX))[0]

    def entries(self, i: IndexVector, j: IndexVector) -> Vector:
        return self.read(Wanted(NO_INDEX, NO_INDEX, np.asarray(i), np.asarray(j)))[2]

    def read(self, plan: Any, known: KnownParts | None = None) -> tuple[Matrix, Matrix, Vector]:
        """Columns, rows and entries of a :class:`~curplus.SamplePlan`; no position is asked for twice.

        Columns are asked for whole, rows outside these columns, and entries elsewhere; what is ``known`` is not asked
        for. A position that the plan repeats among the entries is asked for as often. If the function fails, what it
        has returned is kept for the next call.
        """
        task = PlanTask(plan, self._shape, self.dtype, known, self._kept)
        try:
            task.carry_out(self._call, self._block_size)
        except BaseException:
            self._kept = task.answered()
            raise
        self._kept = NOTHING
        return task.columns, task.rows, task.values

    def _call(self, i: IndexVector, j: IndexVector) -> Vector:
        asked = (
            f"a block of {len(i)} positions, rows {i.min()} to {i.max()} and columns {j.min()} to {j.max()}, "
            f"from ({i[0]}, {j[0]}) to ({i[-1]}, {j[-1]})"
        )
        try:
            values = self._function(i.copy(), j.copy())  # the function may change its copies
        except Exception as error:
            raise SourceError(
                f"the function raised {type(error).__name__}: {error}, when asked for {asked}."
            ) from error
        try:
            values = number_array(np.asanyarray(values), name="what the function returned")
            if is_complex(values) and self.dtype.kind != "c":
                raise TypeError(f"it is complex, and dtype={self.dtype} keeps real numbers. Give dtype=complex.")
            with np.errstate(over="ignore"):
                values = values.astype(self.dtype, copy=False)
        except (ValueError, TypeError) as error:
            raise SourceError(
                f"what the function returned cannot be read: {error} It was asked for {asked}."
            ) from error
        if values.shape != i.shape:
            raise SourceError(
                f"the function returned an array of shape {values.shape} when asked for {asked}. "
                f"It must return shape {i.shape}, one number for each position."
            )
        bad = np.isinf(values) if self.gaps else ~np.isfinite(values)
        if bad.any():
            t = int(np.argmax(bad))
            allowed = " If it means that this could not be measured, use gaps=True." if np.isnan(values[t]) else ""
            raise SourceError(
                f"the function returned {values[t]} at row {i[t]}, column {j[t]}, when asked for {asked}. "
                f"Every value must be finite.{allowed}"
            )
        return values
