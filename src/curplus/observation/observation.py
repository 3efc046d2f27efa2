"""What was read, how it was chosen, and what rows and columns are called.

An observation holds d1 complete columns A, d2 complete rows B and scattered entries (Section 3.1 of the paper). It is
read from a source by :func:`curplus.read`, or built directly from measurements, and it grows:
:meth:`Observation.extend` joins two of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._arrays import is_numpy_array
from .._files import write_file
from .._support.html import html_table
from .._support.sets import NO_INDEX, different, is_in
from .._support.spelling import counted
from .._typing import IndexVector, Names
from .._validation import check_index, check_names
from ..exceptions import InvalidArgumentError
from .agreement import check_agreement, check_records, check_symmetric
from .checks import check_design, check_no_repeats, check_range
from .entries import Repeats
from .fill import filled_array
from .fingerprint import Fingerprint, fingerprint
from .forbidden import Region, check_region
from .join import check_joinable, joined, joined_noise, stronger
from .places import one_value_each, without_gap_records
from .plan import SampleCounts, SamplingDesign
from .readings import Readings
from .table import parts_of_table

__all__ = ["Observation", "check_observation"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Observation(Readings):
    r"""Columns, rows and entries of a matrix that were measured.

    Whatever was not measured may be left out. Arrays are kept as they are, not copied: leave them unchanged afterwards.
    A position may occur more than once in ``(i, j)``: each record is one equation for the core.

    Parameters
    ----------
    shape : (int, int)
        Size :math:`(n, m)` of the matrix.
    column_index, row_index : arrays of shape (d1,) and (d2,)
        Positions of the sampled columns and rows, counted from 0, each at most once.
    columns, rows : arrays of shape (n, d1) and (d2, m)
        The sampled columns :math:`A`, and the sampled rows, as rows: :math:`B^\top`.
    i, j, values : arrays of shape (n_entries,)
        Positions :math:`\Omega` of the scattered entries, and the entries themselves.
    probabilities : array of shape (n_entries,), optional
        For entries drawn with unequal chances: the chance of each record's position in one draw, so that they would
        add up to 1 over all positions. Left out, every position had the same chance.
    weights : array of shape (n_entries,), optional
        How much each record counts, for measurements of unequal noise: in proportion to 1 / variance.
    evidence : array of shape (n_entries,), optional
        Which records took no part in choosing what to read, as truth values; left out, all of them. Entries that steer
        a choice are a biased sample of the rest: they are fitted, but never held out, and error estimates count them as
        positions that are known. ``design.entries`` is the design of the others.
    gaps : bool, default False
        Whether NaN means that something could not be measured: a gap. Rows and columns keep NaN there, unless the place
        is known from elsewhere; records that are NaN are left out, and their positions are remembered in
        ``unmeasured_i`` and ``unmeasured_j``. Without it NaN is an error.
    unmeasured_i, unmeasured_j : arrays of shape (k,)
        Positions, outside the sampled rows and columns, of entries that could not be measured.
    bounds : Bounds, optional
        Places whose value is known to be at least, or at most, a number, such as ``>10000``. In rows and columns they
        are gaps. They are no entries: :func:`curplus.approximate` fits them as what they are, nothing else uses them.
        A value at the same place takes the place of its bounds.
    noise : float, "unknown" or array of shape (n_entries,), optional
        Standard deviation of a reading, of all or of each entry; left out, readings are exact. Noisy readings of one
        place may differ by eight times the noise, or by any amount if it is ``"unknown"``. They are averaged if they
        are in a sampled row or column: readings there count 1, and an entry as much as its weight, relative to the
        mean weight. Noise for each entry gives ``weights`` too, if there are none.
    symmetry : {None, "symmetric", "psd"}, default None
        A statement about the matrix: that :math:`M = M^\top`, or that it is positive semidefinite as well, such as a
        kernel or a covariance matrix. A value then stands for two places, and approximations have the same symmetry.
    row_names, column_names : sequence, optional
        One name for each row and column of the matrix.
    design : SamplingDesign
        How columns, rows and entries were chosen; what the user gives counts as ``"given"``. A part that is replaced by
        one of another size counts as given too: whether it was chosen by looking at values is not known.
    repeats : Repeats, optional
        The noise estimated from averaged readings; see :attr:`noise_estimate`.
    forbidden : dict, optional
        ``rows``, ``columns`` and ``cells`` (two arrays, i and j) where no entry could be drawn. Errors, means and
        intervals hold for the other places only.
    withheld : str, optional
        Why entries that were drawn at random are no evidence all the same: the reason why intervals are refused.
    drawn_columns, drawn_rows : arrays of shape (c,) and (r,), optional
        Columns (rows) in the order in which they were drawn uniformly to compare some rows (columns) by their values
        there: see :class:`curplus.Best`. They may be known in these only.
    history : tuple of str
        What was read, in which order and why, if :func:`curplus.acquire` or a plan noted it.

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

    row_names: Names | None = None
    column_names: Names | None = None
    design: SamplingDesign = SamplingDesign()
    repeats: Repeats = Repeats()
    forbidden: Region = Region()
    withheld: str = ""
    drawn_columns: IndexVector = field(default_factory=NO_INDEX.copy)  # (c,)
    drawn_rows: IndexVector = field(default_factory=NO_INDEX.copy)  # (r,)
    history: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            row_names=check_names(self.row_names, self.shape[0], name="row_names"),
            column_names=check_names(self.column_names, self.shape[1], name="column_names"),
            design=check_design(self.design).of(self.counts),
            repeats=Repeats(*self.repeats),
            forbidden=Region().union(check_region(self.forbidden, self.shape, name="forbidden"), self.shape),
            drawn_columns=check_index(self.drawn_columns, self.shape[1], name="drawn_columns"),
            drawn_rows=check_index(self.drawn_rows, self.shape[0], name="drawn_rows"),
            history=tuple(map(str, self.history)),
        )
        check_no_repeats(self.drawn_columns, "drawn_columns")
        check_no_repeats(self.drawn_rows, "drawn_rows")
        self._set(**vars(self._replaced()._with_one_value_each()))

    def _with_one_value_each(self) -> Observation:
        """The same with values that are checked, gaps filled where they can be, and one value for each place."""
        known = without_gap_records(self) if self.gaps else self
        magnitude, is_exact = known.magnitude, self.noise is None
        check_range(magnitude, self.shape, self.values)
        if not is_exact:
            check_agreement(known, known, magnitude)
            check_records(known, magnitude)
        whole, found = one_value_each(known)
        if is_exact:
            check_agreement(whole, whole, magnitude)
        check_symmetric(whole, magnitude)
        design = SamplingDesign(*self.design).of(whole.counts)
        whole._set(design=design, repeats=self.repeats.join(found))
        whole._set(magnitude=magnitude if is_exact else whole.magnitude)
        return whole

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        missing: float | str = float("nan"),
        row_names: Iterable[Any] | None = None,
        column_names: Iterable[Any] | None = None,
        **options: Any,
    ) -> Self:
        """The known values of a table with holes.

        The table is kept as the sampled rows, all of them, with gaps where it has holes. A float array is not copied.

        Parameters
        ----------
        table : array, masked array, DataFrame, sparse matrix or source of shape (n, m)
            NaN, a masked value and a null are holes; ``>10`` and ``<0.5`` are ``bounds``. Names are kept. The values of
            a long table, ``open_source(path, long=True)``, become scattered entries, each row one record.
        missing : float or "unstored", default nan
            A number that stands for a hole too, such as -999. For a sparse matrix, state that what is not
            stored is a hole, and not zero: ``missing="unstored"``. What is stored becomes scattered entries.
        row_names, column_names : sequence, optional
            One name for each row and column, if the table has none.
        **options
            As for :class:`Observation`: for example ``design``, if it is known how the holes came about.

        Returns
        -------
        Observation
            A table without holes has no gaps.

        Examples
        --------
        >>> import numpy as np, curplus
        >>> seen = curplus.Observation.from_table(np.array([[1.0, np.nan], [3.0, 4.0], [np.nan, 6.0]]))
        >>> seen
        <Observation of a 3 x 2 matrix: 0 columns, 3 rows, 0 entries, 2 gaps, float64>
        >>> seen.n_values_read
        4
        """
        names = {"row_names": row_names, "column_names": column_names}
        return cls(**parts_of_table(table, missing, names) | {"gaps": True} | options)

    # -- its entries ----------------------------------------------------------------------------------------------

    @cached_property
    def steering(self) -> NDArray[np.bool_]:
        """Which records took part in choosing what to read, or another of their position, or are forbidden, (k,)."""
        steering = self.is_forbidden(self.i, self.j)
        if self.evidence is None:
            return steering
        if not self.entries.has_repeats:
            return steering | ~self.evidence
        place = self.entries.flat_index
        return steering | is_in(place, different(place[~self.evidence]))

    def is_forbidden(self, i: IndexVector, j: IndexVector) -> NDArray[np.bool_]:
        """Which positions are forbidden; i and j may be broadcast."""
        return self.forbidden.cover(i, j, self.shape)

    @property
    def noise_estimate(self) -> float:
        """Standard deviation of a reading, pooled from places that were read more than once; nan if there are none.

        In sampled rows, sampled columns and entries of one place, exactly equal readings count as one: reading
        copies what is known instead of reading it again.
        """
        found = self.repeats
        if self.entries.has_repeats:
            found = found.join(self.entries.means(np.flatnonzero(self.outside)).repeats)
        return found.standard_deviation

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """The identity of this sample: digests of its positions and of some of its values."""
        return fingerprint(self)

    # -- the same in another form ---------------------------------------------------------------------------------

    def _turned(self) -> Self:
        return (
            super()
            ._turned()
            ._replaced(
                row_names=self.column_names,
                column_names=self.row_names,
                design=self.design.T.of(SampleCounts(self.n_rows, self.n_columns, self.n_entries)),
                forbidden=self.forbidden.T,
                drawn_columns=self.drawn_rows,
                drawn_rows=self.drawn_columns,
            )
        )

    def divide(self, unit: float) -> Observation:
        """The same observation in other units."""
        repeats = self.repeats._replace(squares=self.repeats.squares / unit / unit)
        return self if unit == 1 else super().divide(unit)._replaced(repeats=repeats)

    def noted(self, note: str) -> Observation:
        """The same observation, with one more line of history."""
        return self._replaced(history=(*self.history, note))

    def with_design(
        self, *, columns: str | None = None, rows: str | None = None, entries: str | None = None
    ) -> Observation:
        """The same observation with another design: how a part was chosen does not follow from its values.

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
        kept = self._part(columns, rows, entries)
        how = self.design if design is None else SamplingDesign(*check_design(design))
        kept._set(design=how.of(kept.counts))
        return kept

    # -- growing and filling --------------------------------------------------------------------------------------

    def extend(self, more: Observation) -> Observation:
        """Join another observation of the same matrix to this one.

        Columns and rows that both have are kept once; records of entries are put one after the other. Only what is new
        is checked: each value once, when it was read, and the positions that both have read. A gap of one is filled
        where the other has a value. Noisy readings of one place are averaged as in one observation; a column or row
        that both have counts once in each.

        Parameters
        ----------
        more : Observation
            The other observation.

        Returns
        -------
        Observation
            Its ``design`` is that of the joint sample: uniform if both were. What one of them states about
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
        if not any(more.counts) and not len(more.unmeasured_i) and not len(more.bounds):
            noise, symmetry = joined_noise(self, more), stronger(self.symmetry, more.symmetry)
            return self._replaced(**self._besides(more), gaps=self.gaps or more.gaps, noise=noise, symmetry=symmetry)
        joint, found = joined(self, more)
        design = self.design.join(more.design, self._counts_of_evidence, more._counts_of_evidence)
        joint._set(design=design.of(joint.counts), repeats=self.repeats.join(more.repeats, found))
        return joint

    @property
    def _counts_of_evidence(self) -> SampleCounts:
        """Numbers of columns, rows and records that are evidence: how the others were chosen does not matter."""
        n_entries = self.n_entries if self.evidence is None else int(np.count_nonzero(self.evidence))
        return self.counts._replace(n_entries=n_entries)

    def _besides(self, more: Observation) -> dict[str, Any]:
        return {
            "row_names": more.row_names if self.row_names is None else self.row_names,
            "column_names": more.column_names if self.column_names is None else self.column_names,
            "forbidden": self.forbidden.union(more.forbidden, self.shape),
            "withheld": self.withheld or more.withheld,
            "drawn_columns": _in_turn(self.drawn_columns, more.drawn_columns),
            "drawn_rows": _in_turn(self.drawn_rows, more.drawn_rows),
            "history": self.history + more.history,
        }

    def fill(self, approximation: Any, *, min_value: float | None = None, max_value: float | None = None) -> Any:
        """The whole matrix: measured values are kept, and the rest is predicted.

        All n x m numbers are formed: mind the memory. ``approximation.entries``, ``.rows`` and ``.columns`` predict a
        part of them.

        Parameters
        ----------
        approximation : Factorization
            An approximation of the same matrix.
        min_value, max_value : float, optional
            Smallest and largest prediction, for values on a scale, such as ratings. Measured values stay as they are.

        Returns
        -------
        array or pandas.DataFrame of shape (n, m)
            A DataFrame if rows or columns have names; otherwise an array in the library of the observation. If
            there are several records of one place, it has their mean, by weight.

        Examples
        --------
        >>> import numpy as np, curplus
        >>> table = np.outer([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0])
        >>> cross = {"column_index": [0], "columns": table[:, :1], "row_index": [0], "rows": table[:1]}
        >>> seen = curplus.Observation(shape=table.shape, **cross)
        >>> seen.fill(curplus.approximate(seen, rank=1), max_value=9.0).round(6)
        array([[1., 2., 3.],
               [2., 4., 6.],
               [3., 6., 9.],
               [4., 8., 9.]])
        """
        filled = filled_array(self, approximation, min_value, max_value)
        has_names = self.row_names is not None or self.column_names is not None
        if not has_names or not is_numpy_array(filled) or find_spec("pandas") is None:
            return filled
        return import_module("pandas").DataFrame(filled, index=self.row_names, columns=self.column_names)

    # -- keeping and showing --------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write to ``path`` (npz, no pickle) for :func:`curplus.load`; an older file stays whole until that is done."""
        parts = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("forbidden", "bounds")}
        arrays = {name: part for name, part in parts.items() if part is None or hasattr(part, "dtype")}
        header = {name: part for name, part in parts.items() if name not in arrays}
        write_file(path, "observation", arrays | self.forbidden.parts() | self.bounds.parts(), header)

    def __repr__(self) -> str:
        parts = [counted(self.n_columns, "column"), counted(self.n_rows, "row"), counted(self.n_entries, "entry")]
        if n_gaps := self.n_gaps:
            parts.append(counted(n_gaps, "gap"))
        if n_bounds := len(self.bounds):
            parts.append(f"{counted(n_bounds, 'bound')} among them")
        kind = str(self.dtype).rpartition(".")[2]
        what = "matrix" if self.symmetry is None else f"{self.symmetry} matrix"
        return f"<Observation of a {self.shape[0]} x {self.shape[1]} {what}: {', '.join(parts)}, {kind}>"

    def _repr_html_(self) -> str:
        shown = {"shape": f"{self.shape[0]:,} x {self.shape[1]:,}", "values read": f"{self.n_values_read:,}"}
        shown |= {name: f"{getattr(self, f'n_{name}'):,}" for name in ("columns", "rows", "entries", "gaps")}
        shown |= {"bounds": f"{len(self.bounds):,}"} if len(self.bounds) else {}
        for what, names in (("rows", self.row_names), ("columns", self.column_names)):
            if names is not None:
                shown[f"names of {what}"] = ", ".join(map(str, names[:5])) + (", ..." if len(names) > 5 else "")
        return html_table("Observation", shown.items())


def _in_turn(first: IndexVector, second: IndexVector) -> IndexVector:
    """Both, one after the other, each number once."""
    return np.concatenate([first, second[~np.isin(second, first)]])


def check_observation(observation: Any, *, name: str = "observation") -> Observation:
    """What a method works on."""
    if not isinstance(observation, Observation):
        raise InvalidArgumentError(
            f"{name} is a {type(observation).__name__}. Give an Observation: Observation.from_table(table) makes one "
            "of a table with gaps, observe(source, ...) or acquire(source, ...) reads a part of a matrix. CURImputer "
            "fills a table at once."
        )
    return observation
