"""What was seen: the numbers read from a matrix, and where they stood.

An observation holds d1 complete columns A, d2 complete rows B and scattered entries (Section 3.1 of the paper). It is
drawn from a source by :func:`observe`, the only function that reads one, or built directly from measurements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import array_namespace, device, real_array
from .._files import SavedFile, check_kind, damage_reported, read_file, write_file
from .._typing import Array, IndexVector, Matrix, Names, Shape, Vector
from .._validation import check_index, check_names, check_shape
from ..exceptions import InvalidArgumentError
from .checks import check_agreement, check_design, check_no_repeats, check_positive, check_shapes, check_values
from .plan import SamplingDesign

__all__ = ["Observation"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Observation:
    r"""Columns, rows and entries of a matrix that were measured.

    Whatever was not measured may be left out. Arrays are kept as they are, not copied: leave them unchanged afterwards.
    A position may occur more than once in ``(i, j)``: each record is one
    equation for the core, and one summand in CUR-E.

    Parameters
    ----------
    shape : (int, int)
        Size :math:`(n, m)` of the matrix.
    column_index : array of shape (d1,)
        Positions of the sampled columns, counted from 0, each at most once.
    columns : array of shape (n, d1)
        The sampled columns :math:`A`.
    row_index : array of shape (d2,)
        Positions of the sampled rows, each at most once.
    rows : array of shape (d2, m)
        The sampled rows, as rows: :math:`B^\top`.
    i, j : arrays of shape (n_entries,)
        Positions :math:`\Omega` of the scattered entries.
    values : array of shape (n_entries,)
        The entries themselves.
    probabilities : array of shape (n_entries,), optional
        For entries drawn with unequal chances: the chance of each record's position in one draw, so that they would
        add up to 1 over all positions. Left out, every position had the same chance.
    weights : array of shape (n_entries,), optional
        How much each record counts, for measurements of unequal noise: in proportion to 1 / variance.
    row_names, column_names : sequence, optional
        One name for each row and column of the matrix.
    drawn : SamplingDesign
        How columns, rows and entries were chosen; what the user gives counts as ``"given"``.

    Raises
    ------
    InvalidArgumentError
        If shapes do not fit, an index is out of range or repeated, or a value is not a finite real number.
    InconsistentObservationError
        If two readings of one place differ by more than 1e-6, relative to the larger of the two. Differences below
        8 machine epsilons of the largest value seen are rounding and do not count.

    Examples
    --------
    >>> import curplus
    >>> curplus.Observation(shape=(2, 3), column_index=[0], columns=[[1.0], [4.0]], i=[1, 0], j=[2, 1], values=[6, 2])
    <Observation of a 2 x 3 matrix: 1 column, 0 rows, 2 entries, float64>
    """

    shape: Shape
    column_index: IndexVector = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    columns: Matrix = None
    row_index: IndexVector = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    rows: Matrix = None
    i: IndexVector = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    j: IndexVector = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    values: Vector = None
    probabilities: Vector | None = None
    weights: Vector | None = None
    row_names: Names | None = None
    column_names: Names | None = None
    design: SamplingDesign = SamplingDesign()

    def __post_init__(self) -> None:
        n, m = shape = check_shape(self.shape)
        columns, rows, values = _one_type(
            {"columns": (self.columns, (n, 0)), "rows": (self.rows, (0, m)), "values": (self.values, (0,))}
        )
        i, j = check_index(self.i, n, name="i"), check_index(self.j, m, name="j")
        checked = {
            "shape": shape,
            "column_index": check_index(self.column_index, m, name="column_index"),
            "columns": columns,
            "row_index": check_index(self.row_index, n, name="row_index"),
            "rows": rows,
            "i": i,
            "j": j,
            "values": values,
            "probabilities": check_positive(self.probabilities, len(i), name="probabilities", at_most=1.0),
            "weights": check_positive(self.weights, len(i), name="weights"),
            "row_names": check_names(self.row_names, n, name="row_names"),
            "column_names": check_names(self.column_names, m, name="column_names"),
            "design": check_design(self.design),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, _read_only(value))
        check_shapes(self)
        check_no_repeats(self.column_index, "column_index")
        check_no_repeats(self.row_index, "row_index")
        check_agreement(self, check_values(self))

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
    def outside(self) -> NDArray[np.bool_]:
        """Which records stand outside the sampled rows and columns, shape (n_entries,)."""
        n, m = self.shape
        rows, columns = np.zeros(n, dtype=bool), np.zeros(m, dtype=bool)
        rows[self.row_index] = columns[self.column_index] = True
        outside: NDArray[np.bool_] = ~(rows[self.i] | columns[self.j])
        return outside

    @property
    def n_values_read(self) -> int:
        """Number of different places of the matrix that were read."""
        n, m = self.shape
        outside = self.outside
        scattered = len(np.unique(self.i[outside] * m + self.j[outside]))
        return n * self.n_columns + m * self.n_rows - self.n_columns * self.n_rows + scattered

    @property
    def importance_weights(self) -> Vector:
        """For how many entries each record stands, relative to a uniform draw: 1 there, 1 on average elsewhere."""
        if self.probabilities is None:
            return np.ones(self.n_entries)
        return 1 / (self.probabilities * math.prod(self.shape))

    @property
    def fit_weights(self) -> Vector:
        """Weight of each record's squared error in a fit: its inverse chance times its noise weight."""
        if self.weights is None:
            return self.importance_weights
        return self.importance_weights * (self.weights / np.mean(self.weights))

    @property
    def dtype(self) -> Any:
        """Common type of columns, rows and values."""
        return self.values.dtype

    @property
    def T(self) -> Observation:
        """The same observation of the transposed matrix."""
        return Observation(
            shape=(self.shape[1], self.shape[0]),
            column_index=self.row_index,
            columns=self.rows.T,
            row_index=self.column_index,
            rows=self.columns.T,
            i=self.j,
            j=self.i,
            values=self.values,
            probabilities=self.probabilities,
            weights=self.weights,
            row_names=self.column_names,
            column_names=self.row_names,
            design=SamplingDesign(self.design.rows, self.design.columns, self.design.entries),
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write to ``path`` (npz, no pickle); an older file there stays whole until the new one is complete."""
        arrays = {name: getattr(self, name) for name in ("columns", "rows", "values")}
        arrays |= {name: getattr(self, name) for name in ("column_index", "row_index", "i", "j")}
        names = {name: getattr(self, name) for name in ("row_names", "column_names", "probabilities", "weights")}
        write_file(path, "observation", arrays | names, {"shape": self.shape, "design": self.design})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Observation:
        """Read what :meth:`save` wrote."""
        saved = check_kind(read_file(path), "observation", path)
        with damage_reported(path):
            return cls._from_saved(saved)

    @classmethod
    def _from_saved(cls, saved: SavedFile) -> Observation:
        """The observation that a file holds."""
        return cls(**saved.arrays, **saved.fields)

    def __repr__(self) -> str:
        parts = [_counted(self.n_columns, "column"), _counted(self.n_rows, "row"), _counted(self.n_entries, "entry")]
        kind = str(self.dtype).rpartition(".")[2]
        return f"<Observation of a {self.shape[0]} x {self.shape[1]} matrix: {', '.join(parts)}, {kind}>"


def _counted(count: int, noun: str) -> str:
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count} {noun if count == 1 else plural}"


def _one_type(parts: dict[str, tuple[Any, tuple[int, ...]]]) -> list[Array]:
    """The given parts as real arrays of one library and dtype; those left out as empty ones."""
    given = {name: real_array(part, name=name) for name, (part, _) in parts.items() if part is not None}
    if not given:
        return [np.empty(shape) for _, shape in parts.values()]
    try:
        xp = array_namespace(*given.values())
    except TypeError:
        kinds = ", ".join(f"{name} is a {type(part).__module__} array" for name, part in given.items())
        raise InvalidArgumentError(f"arrays of different libraries were mixed: {kinds}. Convert them to one.") from None
    dtype = xp.result_type(*given.values())
    return [
        xp.astype(given[name], dtype, copy=False)
        if name in given
        else xp.zeros(shape, dtype=dtype, device=device(next(iter(given.values()))))
        for name, (_, shape) in parts.items()
    ]


def _read_only(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    view = value.view()
    view.flags.writeable = False
    return view
