"""The numbers that were read of a matrix, and their positions: what is fitted.

:class:`Observation` adds how they were chosen, and what rows and columns are called.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._arrays import (
    array_namespace,
    conjugate,
    gather,
    index_table,
    is_among,
    is_complex,
    keep_tall,
    one_type,
    read_only,
    take,
    to_numpy,
)
from .._support.sets import NO_INDEX, different, is_in
from .._typing import FloatArray, IndexVector, Matrix, Shape, Vector
from .._validation import check_gaps, check_index, check_shape
from ..exceptions import InvalidArgumentError
from .bounds import Bounds, check_bounds
from .checks import (
    check_chances,
    check_complex,
    check_evidence,
    check_no_repeats,
    check_noise,
    check_pairs,
    check_part,
    check_positive,
    check_symmetry,
    check_values,
    positions,
)
from .entries import Entries
from .plan import SampleCounts

__all__ = ["PSD", "SYMMETRIC", "SYMMETRIES", "Noise", "R", "Readings"]

SYMMETRIC, PSD = "symmetric", "psd"
SYMMETRIES = (None, SYMMETRIC, PSD)  # of two about one matrix, the later word holds

Noise: TypeAlias = float | str | Vector | None
R = TypeVar("R", bound="Readings")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Readings:
    """Sampled rows and columns, and records of single entries: see :class:`Observation`."""

    shape: Shape
    column_index: IndexVector = field(default_factory=NO_INDEX.copy)  # (d1,)
    columns: Matrix = None  # (n, d1)
    row_index: IndexVector = field(default_factory=NO_INDEX.copy)  # (d2,)
    rows: Matrix = None  # (d2, m)
    i: IndexVector = field(default_factory=NO_INDEX.copy)  # (k,)
    j: IndexVector = field(default_factory=NO_INDEX.copy)  # (k,)
    values: Vector = None  # (k,)
    probabilities: Vector | None = None  # (k,)
    weights: Vector | None = None  # (k,)
    evidence: NDArray[np.bool_] | None = None  # (k,)
    gaps: bool = False
    unmeasured_i: IndexVector = field(default_factory=NO_INDEX.copy)  # (u,)
    unmeasured_j: IndexVector = field(default_factory=NO_INDEX.copy)  # (u,)
    bounds: Bounds = field(default_factory=Bounds)
    noise: Noise = None
    symmetry: str | None = None

    def __post_init__(self) -> None:
        n, m = shape = check_shape(self.shape)
        columns, rows, values = one_type(
            {"columns": (self.columns, (n, 0)), "rows": (self.rows, (0, m)), "values": (self.values, (0,))}
        )
        i, j = check_index(self.i, n, name="i"), check_index(self.j, m, name="j")
        noise, bounds = check_noise(self.noise, len(i)), check_bounds(self.bounds, shape)
        weights = noise**-2.0 if isinstance(noise, np.ndarray) and self.weights is None else self.weights
        self._set(
            shape=shape,
            column_index=check_index(self.column_index, m, name="column_index"),
            columns=keep_tall(columns, axis=0),
            row_index=check_index(self.row_index, n, name="row_index"),
            rows=keep_tall(rows, axis=1),
            i=i,
            j=j,
            values=values,
            probabilities=check_positive(self.probabilities, len(i), name="probabilities", at_most=1.0),
            weights=check_positive(weights, len(i), name="weights"),
            evidence=check_evidence(self.evidence, len(i)),
            gaps=check_gaps(self.gaps) or len(bounds) > 0,
            unmeasured_i=np.append(check_index(self.unmeasured_i, n, name="unmeasured_i"), bounds.i),
            unmeasured_j=np.append(check_index(self.unmeasured_j, m, name="unmeasured_j"), bounds.j),
            bounds=bounds,
            noise=noise,
            symmetry=check_symmetry(self.symmetry, SYMMETRIES, shape),
        )
        check_part("columns", self.columns, "column_index", self.column_index, (n, self.n_columns), shape)
        check_part("rows", self.rows, "row_index", self.row_index, (self.n_rows, m), shape)
        check_part("values", self.values, "i", self.i, (self.n_entries,), shape)
        check_part("j", self.j, "i", self.i, (self.n_entries,), shape)
        check_complex(self.values, gaps=self.gaps, noise=self.noise)
        check_pairs(self.unmeasured_i, self.unmeasured_j, gaps=self.gaps)
        check_chances(self.probabilities, shape)
        check_no_repeats(self.column_index, "column_index")
        check_no_repeats(self.row_index, "row_index")

    # -- its size -------------------------------------------------------------------------------------------------

    @property
    def n_columns(self) -> int:
        """Number of sampled columns."""
        return len(self.column_index)

    @property
    def n_rows(self) -> int:
        """Number of sampled rows."""
        return len(self.row_index)

    @property
    def n_entries(self) -> int:
        """Number of records in ``(i, j)``."""
        return len(self.i)

    @property
    def counts(self) -> SampleCounts:
        """Numbers of columns, rows and records."""
        return SampleCounts(self.n_columns, self.n_rows, self.n_entries)

    @property
    def n_values_read(self) -> int:
        """Number of different positions of the matrix that were read."""
        n, m = self.shape
        outside = self.entries.flat_index[self.outside]
        scattered = len(different(outside)) if self.entries.has_repeats else len(outside)
        on_lines = n * self.n_columns + m * self.n_rows - self.n_columns * self.n_rows
        return on_lines - self.n_line_gaps + scattered

    @property
    def dtype(self) -> Any:
        """Common type of columns, rows and values."""
        return self.values.dtype

    @cached_property
    def magnitude(self) -> float:
        """Largest magnitude of all values."""
        return check_values(
            {
                "columns": (self.columns, lambda i, k: f"row {i}, column {self.column_index[k]}"),
                "rows": (self.rows, lambda k, j: f"row {self.row_index[k]}, column {j}"),
                "values": (self.values, lambda t: f"row {self.i[t]}, column {self.j[t]}"),
            },
            gaps=self.gaps,
        )

    # -- its entries ----------------------------------------------------------------------------------------------

    @cached_property
    def entries(self) -> Entries:
        """The scattered entries, as a value of their own."""
        noise = self.noise if isinstance(self.noise, np.ndarray) else None
        return Entries(self.shape, self.i, self.j, self.values, self.probabilities, self.weights, noise, self.evidence)

    @cached_property
    def outside(self) -> NDArray[np.bool_]:
        """Which records stand outside the sampled rows and columns, shape (n_entries,)."""
        n, m = self.shape
        on_row, on_column = is_among(self.row_index, n), is_among(self.column_index, m)
        outside: NDArray[np.bool_] = ~(on_row[self.i] | on_column[self.j])
        return outside

    # -- its gaps -------------------------------------------------------------------------------------------------

    @cached_property
    def known_columns(self) -> Matrix | None:
        """Where the sampled columns have no gap, shape (n, d1), in their library; None if they have none at all."""
        return _known(self.columns) if self.gaps else None

    @cached_property
    def known_rows(self) -> Matrix | None:
        """Where the sampled rows have no gap, shape (d2, m), in their library; None if they have none at all."""
        return _known(self.rows) if self.gaps else None

    @property
    def has_gaps(self) -> bool:
        """Whether a sampled row or column has a gap."""
        return self.known_columns is not None or self.known_rows is not None

    @property
    def n_line_gaps(self) -> int:
        """Number of different gaps on the sampled rows and columns."""
        rows, columns = self.known_rows, self.known_columns
        on_both = 0 if columns is None else _n_false(take(columns, self.row_index, axis=0))
        return _n_false(rows) + _n_false(columns) - on_both

    @property
    def n_gaps(self) -> int:
        """Number of different positions that are known to be gaps."""
        return self.n_line_gaps + len(self.unmeasured_i)

    def is_known(self, i: IndexVector, j: IndexVector) -> NDArray[np.bool_]:
        """Whether there is a value at some positions."""
        known = is_in(i * self.shape[1] + j, different(self.entries.flat_index))
        for lines, index, size, at, other in (
            (self.rows, self.row_index, self.shape[0], i, j),
            (self.columns.T, self.column_index, self.shape[1], j, i),
        ):
            place = index_table(index, size)[at]
            t = np.flatnonzero(place >= 0)
            known[t] |= ~np.isnan(to_numpy(gather(lines, place[t], other[t])))
        return known

    def gap_index(self) -> IndexVector:
        """All positions known to be gaps, as single numbers ``i * m + j``, ascending: they are not read again."""
        if not self.gaps:
            return NO_INDEX
        m, (k, j), (i, c) = self.shape[1], _false_at(self.known_rows), _false_at(self.known_columns)
        alone = self.unmeasured_i * m + self.unmeasured_j
        return different(np.concatenate([alone, self.row_index[k] * m + j, i * m + self.column_index[c]]))

    # -- its diagonal ---------------------------------------------------------------------------------------------

    def diagonal(self) -> FloatArray:
        """The diagonal of a Hermitian matrix, float64 on the host, shape (n,); NaN if it is not known."""
        diagonal = np.full(self.shape[0], np.nan)
        on_diagonal = np.flatnonzero(self.i == self.j)
        diagonal[self.i[on_diagonal]] = to_numpy(take(self.values, on_diagonal, axis=0)).real
        for lines, index in ((self.rows.T, self.row_index), (self.columns, self.column_index)):
            if len(index):
                own = to_numpy(gather(lines, index, np.arange(len(index)))).real.astype(np.float64)
                diagonal[index] = np.where(np.isnan(own), diagonal[index], own)
        return diagonal

    # -- the same in another form ---------------------------------------------------------------------------------

    @property
    def T(self) -> Self:
        """The same of the transposed matrix; of a complex Hermitian one, use ``H``."""
        if self.symmetry is not None and is_complex(self.values):
            raise InvalidArgumentError(
                "the transpose of a complex Hermitian matrix is its complex conjugate, another matrix. Use .H, the "
                "adjoint."
            )
        return self._turned()

    @property
    def H(self) -> Self:
        """The same of the adjoint: the transposed matrix, and conjugated if it is complex."""
        turned = self._turned()
        return turned._replaced(**{name: conjugate(getattr(turned, name)) for name in ("columns", "rows", "values")})

    def _turned(self) -> Self:
        """The same of the transposed matrix, with its symmetry."""
        return self._replaced(
            shape=(self.shape[1], self.shape[0]),
            column_index=self.row_index,
            columns=self.rows.T,
            row_index=self.column_index,
            rows=self.columns.T,
            i=self.j,
            j=self.i,
            unmeasured_i=self.unmeasured_j,
            unmeasured_j=self.unmeasured_i,
            bounds=self.bounds.T,
        )

    def divide(self, unit: float) -> Self:
        """The same in other units."""
        scaled: dict[str, Any] = {name: getattr(self, name) / unit for name in ("columns", "rows", "values")}
        scaled["bounds"] = self.bounds.divide(unit)
        if self.noise is not None and not isinstance(self.noise, str):
            scaled["noise"] = self.noise / unit
        if self.symmetry == PSD and unit < 0:
            scaled["symmetry"] = SYMMETRIC
        return self._replaced(**scaled)

    def _part(self, columns: Any, rows: Any, entries: Any) -> Self:
        """Some columns, rows and records, by position or truth value; all of those that are None."""
        changes: dict[str, Any] = {}
        if columns is not None:
            keep = positions(columns, self.n_columns, "columns")
            changes |= {"column_index": self.column_index[keep], "columns": take(self.columns, keep, axis=1)}
        if rows is not None:
            keep = positions(rows, self.n_rows, "rows")
            changes |= {"row_index": self.row_index[keep], "rows": take(self.rows, keep, axis=0)}
        part = self._replaced(**changes)
        if len(self.bounds) and changes:
            was, still = (self.bounds.on_lines(x.row_index, x.column_index, x.shape) for x in (self, part))
            part._set(bounds=self.bounds.take(still | ~was))
        if entries is None:
            return part
        return part._with_entries(self.entries.take(positions(entries, self.n_entries, "entries", repeats=True)))

    def _with_entries(self, entries: Entries) -> Self:
        """The same rows and columns with other records."""
        changes = entries.parts() | {"evidence": check_evidence(entries.evidence, len(entries))}
        if entries.noise is None:
            del changes["noise"]
        return self._replaced(**changes)

    def _besides(self, _more: Self) -> dict[str, Any]:
        """Fields of this sample and another taken together that are not readings."""
        return {}

    def _replaced(self, **changes: Any) -> Self:
        """The same with some fields changed, which are not checked."""
        copy = object.__new__(type(self))
        copy._set(**{f.name: getattr(self, f.name) for f in fields(self)} | changes)
        return copy

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, read_only(value))


def _known(x: Matrix) -> Matrix | None:
    """Where an array is not NaN, in its library; None if that is everywhere."""
    xp = array_namespace(x)
    gap = xp.isnan(x)
    return ~gap if bool(xp.any(gap)) else None


def _n_false(mask: Matrix | None) -> int:
    return 0 if mask is None else int(array_namespace(mask).count_nonzero(~mask))


def _false_at(mask: Matrix | None) -> tuple[IndexVector, IndexVector]:
    """Positions where a mask is false; only they go to the host."""
    if mask is None:
        return NO_INDEX, NO_INDEX
    i, j = array_namespace(mask).nonzero(~mask)
    return to_numpy(i).astype(np.int64), to_numpy(j).astype(np.int64)
