"""What was read: numbers of a matrix, and where they stood.

An observation holds d1 complete columns A, d2 complete rows B and scattered entries (Section 3.1 of the paper). It is
read from a source by :func:`curplus.read`, or built directly from measurements, and it grows:
:meth:`Observation.extend` joins two of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import conjugate, index_table, keep_tall, one_type, read_only
from .._files import write_file
from .._html import html_table
from .._sets import NO_INDEX, different, is_in
from .._typing import IndexVector, Matrix, Names, Shape, Vector
from .._validation import check_gaps, check_index, check_names, check_shape
from .checks import (
    check_chances,
    check_complex,
    check_design,
    check_evidence,
    check_no_repeats,
    check_positive,
    check_shapes,
    check_values,
)
from .entries import Entries
from .fill import Fillable
from .fingerprint import Fingerprint, fingerprint
from .forbidden import Region, check_region
from .gaps import check_unmeasured, gap_index, known_mask, n_line_gaps
from .join import check_joinable, joined, joined_names
from .noise import Noise, Repeats, check_noise, joined_noise, repeats_within
from .part import part_fields, parts_to_save, scaled_fields, turned_fields
from .plan import SampleCounts, SamplingDesign
from .settle import settled
from .symmetry import check_symmetry, check_transposable, joined_symmetry
from .table import FromTable

__all__ = ["Observation", "counted"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Observation(FromTable, Fillable):
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
    design : SamplingDesign
        How columns, rows and entries were chosen; what the user gives counts as ``"given"``. A part that is replaced by
        one of another size counts as given too: whether it was chosen by looking at values is not known.
    gaps : bool, default False
        Whether NaN means that something could not be measured: a gap. Rows and columns keep NaN there, unless the place
        is known from elsewhere; records that are NaN are left out, and their positions are remembered in
        ``unmeasured_i`` and ``unmeasured_j``. Without it NaN is an error.
    unmeasured_i, unmeasured_j : arrays of shape (k,)
        Positions, outside the sampled rows and columns, of entries that could not be measured.
    noise : float, "unknown" or array of shape (n_entries,), optional
        Standard deviation of a reading, of all or of each entry. Readings of one place may then differ: by up to eight
        times the noise, or by any amount if it is ``"unknown"``. Where sampled rows, sampled columns and entries meet,
        their readings are averaged by weight, so that all have the same value. A reading in a row or column counts
        1, and an entry as much as its weight, relative to the mean weight. Noise for each entry gives ``weights`` too,
        if there are none. Left out, readings are exact.
    repeats : Repeats, optional
        What repeated readings said of the noise before they were averaged; see :attr:`noise_estimate`.
    evidence : array of shape (n_entries,), optional
        Which records took no part in choosing what to read, as truth values; left out, all of them. Entries that steer
        a choice are a biased sample of the rest: they are fitted like the others, but never held out, and error
        estimates count them as positions that are known. ``design.entries`` is the design of the others.
    forbidden : dict, optional
        ``rows``, ``columns`` and ``cells`` (two arrays, i and j) where no entry could be drawn. Whatever is said of the
        matrix, such as an error, a mean or an interval, is said of the other places only.
    withheld : str, optional
        Why entries that were drawn at random are no evidence all the same: said where intervals are refused.
    history : tuple of str
        What was read, in which order and why, where :func:`curplus.acquire` or a plan said so.
    symmetry : {None, "symmetric", "psd"}, default None
        A promise about the matrix: that :math:`M = M^\top`, or that it is positive semidefinite as well, such as a
        kernel or a covariance matrix. A value then stands for two places, and approximations follow the promise.

    Raises
    ------
    InvalidArgumentError
        If shapes do not fit, an index is out of range or repeated, or a value is not a finite real number.
    InconsistentObservationError
        If two readings of one place differ by more than 1e-6, relative to the larger of the two, and by more than the
        noise allows. Differences below 8 machine epsilons of the largest value are rounding and do not count. Two
        places that have one value by ``symmetry`` are compared alike.

    Examples
    --------
    >>> import curplus
    >>> curplus.Observation(shape=(2, 3), column_index=[0], columns=[[1.0], [4.0]], i=[1, 0], j=[2, 1], values=[6, 2])
    <Observation of a 2 x 3 matrix: 1 column, 0 rows, 2 entries, float64>

    The second place of the row could not be measured, nor the last entry:

    >>> nan = float("nan")
    >>> seen = curplus.Observation(
    ...     shape=(2, 3), row_index=[0], rows=[[1.0, nan, 3.0]], i=[1, 1], j=[1, 2], values=[5.0, nan], gaps=True
    ... )
    >>> seen
    <Observation of a 2 x 3 matrix: 0 columns, 1 row, 1 entry, 2 gaps, float64>
    >>> seen.known_rows
    array([[ True, False,  True]])
    """

    shape: Shape
    column_index: IndexVector = field(default_factory=NO_INDEX.copy)
    columns: Matrix = None
    row_index: IndexVector = field(default_factory=NO_INDEX.copy)
    rows: Matrix = None
    i: IndexVector = field(default_factory=NO_INDEX.copy)
    j: IndexVector = field(default_factory=NO_INDEX.copy)
    values: Vector = None
    probabilities: Vector | None = None
    weights: Vector | None = None
    row_names: Names | None = None
    column_names: Names | None = None
    design: SamplingDesign = SamplingDesign()
    gaps: bool = False
    unmeasured_i: IndexVector = field(default_factory=NO_INDEX.copy)
    unmeasured_j: IndexVector = field(default_factory=NO_INDEX.copy)
    noise: Noise = None
    repeats: Repeats | None = None
    evidence: NDArray[np.bool_] | None = None
    forbidden: Region = Region()
    withheld: str = ""
    history: tuple[str, ...] = ()
    symmetry: str | None = None

    def __post_init__(self) -> None:
        n, m = shape = check_shape(self.shape)
        columns, rows, values = one_type(
            {"columns": (self.columns, (n, 0)), "rows": (self.rows, (0, m)), "values": (self.values, (0,))}
        )
        i, j = check_index(self.i, n, name="i"), check_index(self.j, m, name="j")
        noise = check_noise(self.noise, len(i))
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
            row_names=check_names(self.row_names, n, name="row_names"),
            column_names=check_names(self.column_names, m, name="column_names"),
            design=check_design(self.design),
            gaps=check_gaps(self.gaps),
            unmeasured_i=check_index(self.unmeasured_i, n, name="unmeasured_i"),
            unmeasured_j=check_index(self.unmeasured_j, m, name="unmeasured_j"),
            noise=noise,
            repeats=None if self.repeats is None else Repeats(*self.repeats),
            evidence=check_evidence(self.evidence, len(i)),
            forbidden=Region().union(check_region(self.forbidden, shape, name="forbidden"), shape),
            history=tuple(map(str, self.history)),
            symmetry=check_symmetry(self.symmetry, shape),
        )
        check_shapes(self)
        check_complex(self)
        check_unmeasured(self)
        check_chances(self.probabilities, shape)
        check_no_repeats(self.column_index, "column_index")
        check_no_repeats(self.row_index, "row_index")
        self._set(**vars(settled(self._replaced())))

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
        return on_lines - n_line_gaps(self) + scattered

    @property
    def n_gaps(self) -> int:
        """Number of different positions that are known to be gaps."""
        return n_line_gaps(self) + len(self.unmeasured_i)

    @property
    def has_gaps(self) -> bool:
        """Whether a sampled row or column has a gap."""
        return self.known_columns is not None or self.known_rows is not None

    @property
    def dtype(self) -> Any:
        """Common type of columns, rows and values."""
        return self.values.dtype

    @cached_property
    def magnitude(self) -> float:
        """Largest magnitude of all values."""
        return check_values(self)

    # -- its parts ------------------------------------------------------------------------------------------------

    @cached_property
    def entries(self) -> Entries:
        """The scattered entries, as a value of their own."""
        return Entries(self.shape, self.i, self.j, self.values, self.probabilities, self.weights)

    @property
    def importance_weights(self) -> Vector:
        """For how many entries each record stands: see ``Entries.importance_weights``."""
        return self.entries.importance_weights

    @property
    def fit_weights(self) -> Vector:
        """Weight of each record's squared error in a fit: see ``Entries.fit_weights``."""
        return self.entries.fit_weights

    @cached_property
    def outside(self) -> NDArray[np.bool_]:
        """Which records stand outside the sampled rows and columns, shape (n_entries,)."""
        n, m = self.shape
        on_row, on_column = index_table(self.row_index, n) >= 0, index_table(self.column_index, m) >= 0
        outside: NDArray[np.bool_] = ~(on_row[self.i] | on_column[self.j])
        return outside

    @cached_property
    def steering(self) -> NDArray[np.bool_]:
        """Which records took part in choosing what to read, or another of their position, or are forbidden, (k,)."""
        steering = self.is_forbidden(self.i, self.j)
        if self.evidence is None:
            return steering
        place = self.entries.flat_index
        return steering | is_in(place, different(place[~self.evidence]))

    def is_forbidden(self, i: IndexVector, j: IndexVector) -> NDArray[np.bool_]:
        """Which positions are forbidden; i and j may be broadcast."""
        if not self.forbidden.any:
            return np.zeros(np.broadcast(i, j).shape, dtype=bool)
        return self.forbidden.cover(i, j, self.shape)

    @cached_property
    def known_columns(self) -> Matrix | None:
        """Where the sampled columns have no gap, shape (n, d1), in their library; None where they have none at all."""
        return known_mask(self.columns) if self.gaps else None

    @cached_property
    def known_rows(self) -> Matrix | None:
        """Where the sampled rows have no gap, shape (d2, m), in their library; None where they have none at all."""
        return known_mask(self.rows) if self.gaps else None

    @property
    def noise_estimate(self) -> float:
        """Standard deviation of a reading, pooled from places that were read more than once; nan if there are none.

        Where sampled rows, sampled columns and entries meet, readings that are exactly equal count as one: reading
        copies what is known instead of asking for it again.
        """
        return (repeats_within(self) if self.repeats is None else self.repeats).standard_deviation

    def gap_index(self) -> IndexVector:
        """All positions known to be gaps, as single numbers ``i * m + j``, ascending: to ask for them is in vain."""
        return gap_index(self) if self.gaps else NO_INDEX

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """What tells this sample from others: its positions and some of its values."""
        return fingerprint(self)

    @property
    def T(self) -> Observation:
        """The same observation of the transposed matrix; of a complex Hermitian one, use ``H``."""
        check_transposable(self)
        return self._replaced(**turned_fields(self))

    @property
    def H(self) -> Observation:
        """The same observation of the adjoint: the transposed matrix, and conjugated if it is complex."""
        fields = turned_fields(self) | {"values": self.values}
        return self._replaced(**fields | {name: conjugate(fields[name]) for name in ("columns", "rows", "values")})

    def noted(self, note: str) -> Observation:
        """The same observation, with one more line of history."""
        return self._replaced(history=(*self.history, note))

    def with_lines(self, columns: Matrix, rows: Matrix) -> Observation:
        """The same observation with other values in its columns and rows, all of them known."""
        return self._replaced(columns=columns, rows=rows, gaps=False)

    def with_design(
        self, *, columns: str | None = None, rows: str | None = None, entries: str | None = None
    ) -> Observation:
        """The same observation, of which you say how a part was chosen: it cannot be seen from what was read.

        Parameters
        ----------
        columns, rows, entries : {"uniform", "given", "adaptive"}, optional
            How each part was chosen; left out, as it was.

        Examples
        --------
        >>> import numpy as np, curplus
        >>> seen = curplus.Observation(shape=(9, 9), i=[0, 5, 8], j=[3, 3, 7], values=[1.0, 2.0, 3.0])
        >>> seen.design.entries, seen.with_design(entries="uniform").design.entries
        ('given', 'uniform')
        """
        said = {"columns": columns, "rows": rows, "entries": entries}
        words = (getattr(self.design, name) if word is None else word for name, word in said.items())
        return self._replaced(design=check_design(tuple(words)).of(self.counts))

    def divide(self, unit: float) -> Observation:
        """The same observation in other units."""
        if unit == 1:
            return self
        return self._replaced(**scaled_fields(self, unit))

    def subset(
        self,
        *,
        columns: NDArray[Any] | None = None,
        rows: NDArray[Any] | None = None,
        entries: NDArray[Any] | None = None,
        design: SamplingDesign | None = None,
    ) -> Observation:
        """Some of the sampled columns, of the sampled rows and of the records; all of those left out.

        Parameters
        ----------
        columns, rows, entries : arrays of positions or truth values, optional
            Which to keep, as positions in ``column_index``, ``row_index`` and ``i``.
        design : SamplingDesign, optional
            How what is kept was chosen. Left out, a part of which some is dropped counts as ``"given"``: pass
            ``observation.design`` if it was chosen at random, without looking at values.
        """
        kept = self._replaced(**part_fields(self, columns, rows, entries))
        how = self.design if design is None else SamplingDesign(*check_design(design))
        kept._set(design=how.of(kept.counts))
        return kept

    # -- growing --------------------------------------------------------------------------------------------------

    def extend(self, more: Observation) -> Observation:
        """Join another observation of the same matrix to this one.

        Columns and rows that both have are kept once; records of entries are put one after the other. Only what is new
        is checked: each value once, when it was read, and the positions that both have read. A gap of one is filled
        where the other has a value. Noisy readings of one place are averaged as in one observation; a column or row
        that both have counts once in each.

        Parameters
        ----------
        more : Observation
            What else was read.

        Returns
        -------
        Observation
            Its ``design`` says how the joint sample was drawn: uniform if both were. What one of them promises about
            the matrix (``symmetry``) holds for the joint sample.

        Raises
        ------
        InvalidArgumentError
            If the shapes or the array libraries differ, or only one of the two has weights for its entries.
        InconsistentObservationError
            If a row or column of one and anything of the other have different values at one position. Records of
            entries may differ: they are separate measurements.

        Examples
        --------
        >>> import numpy as np, curplus
        >>> M = np.arange(12.0).reshape(3, 4)
        >>> first = curplus.observe(M, n_columns=1, n_rows=0, n_entries=2, rng=0)
        >>> first.extend(curplus.observe(M, n_columns=0, n_rows=2, n_entries=0, rng=1))
        <Observation of a 3 x 4 matrix: 1 column, 2 rows, 2 entries, float64>
        """
        check_joinable(self, more)
        if not any(more.counts) and not len(more.unmeasured_i):
            gaps, noise = self.gaps or more.gaps, joined_noise(self, more)
            symmetry = joined_symmetry(self, more)
            forbidden = self.forbidden.union(more.forbidden, self.shape)
            changes = {"gaps": gaps, "noise": noise, "symmetry": symmetry, "forbidden": forbidden}
            return self._replaced(**joined_names(self, more), **changes)
        return joined(self, more)

    # -- keeping and showing --------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write to ``path`` (npz, no pickle) for :func:`curplus.load`; an older file stays whole until that is done."""
        arrays, header = parts_to_save({f.name: getattr(self, f.name) for f in fields(self)})
        write_file(path, "observation", arrays, header)

    def __repr__(self) -> str:
        parts = [counted(self.n_columns, "column"), counted(self.n_rows, "row"), counted(self.n_entries, "entry")]
        if n_gaps := self.n_gaps:
            parts.append(counted(n_gaps, "gap"))
        kind = str(self.dtype).rpartition(".")[2]
        what = "matrix" if self.symmetry is None else f"{self.symmetry} matrix"
        return f"<Observation of a {self.shape[0]} x {self.shape[1]} {what}: {', '.join(parts)}, {kind}>"

    def _repr_html_(self) -> str:
        shown = {"shape": f"{self.shape[0]:,} x {self.shape[1]:,}", "values read": f"{self.n_values_read:,}"}
        shown |= {name: f"{getattr(self, f'n_{name}'):,}" for name in ("columns", "rows", "entries", "gaps")}
        for what, names in (("rows", self.row_names), ("columns", self.column_names)):
            if names is not None:
                shown[f"names of {what}"] = ", ".join(map(str, names[:5])) + (", ..." if len(names) > 5 else "")
        return html_table("Observation", shown.items())

    def _replaced(self, **changes: Any) -> Observation:
        """The same observation with some fields changed, which are not checked."""
        copy = object.__new__(Observation)
        copy._set(**{f.name: getattr(self, f.name) for f in fields(self)} | changes)
        return copy

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, read_only(value))


def counted(count: int, noun: str) -> str:
    """A number with its noun: ``1 entry``, ``2 entries``."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count} {noun if count == 1 else plural}"
