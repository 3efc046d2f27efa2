"""Reading a source: :func:`read` is the only function that does, and it reads the positions of a plan.

Functions that need the whole matrix (:func:`curplus.cur_full`, :func:`curplus.select_columns`, the metrics) are
documented so.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .._arrays import concatenate, gather, index_table, is_among, take, to_numpy
from .._support.budget import counts_for_budget
from .._support.sets import different, is_in
from .._typing import IndexVector, Matrix, RandomState, Shape, Vector
from .._validation import check_amount, check_gaps, check_index, check_one_noise, check_shape
from ..exceptions import InvalidArgumentError
from ..sources import KnownParts, Source, as_source
from .bounds import Bounds
from .entries import Repeats
from .observation import Observation
from .places import entries_asked_for
from .plan import SamplePlan, uniform_plan

__all__ = ["observe", "read"]


def observe(
    source: Any,
    *,
    n_columns: int | None = None,
    n_rows: int | None = None,
    n_entries: int | None = None,
    budget: float | None = None,
    gaps: bool = False,
    noise: float | str | None = None,
    rng: RandomState = None,
) -> Observation:
    r"""Read columns, rows and entries of a matrix, chosen uniformly at random.

    Parameters
    ----------
    source : array, sparse matrix, DataFrame or source of shape (n, m)
        The matrix :math:`M`. Nothing but the chosen parts is read.
    n_columns, n_rows, n_entries : int
        How many to read: :math:`d_1`, :math:`d_2` and :math:`|\Omega|`. Each is drawn without replacement; 0 is
        allowed. The entries are drawn from all :math:`nm` positions, so some may fall on sampled rows and columns.
    budget : float, optional
        Instead of the three: at most how much to read, below 1 a share of the matrix, from 1 on a number of values.
    gaps : bool, default False
        Whether NaN means that something could not be measured; otherwise it is an error.
    noise : float or "unknown", optional
        Standard deviation of a reading, if readings are not exact: see :class:`Observation`.
    rng : None, int or numpy.random.Generator
        Passed to :func:`numpy.random.default_rng`. The same seed gives the same bits.

    Returns
    -------
    Observation

    Raises
    ------
    InvalidArgumentError
        If more is asked for than the matrix has, or if something that was read is not finite.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> M = np.arange(600.0).reshape(20, 30)
    >>> curplus.observe(M, n_columns=3, n_rows=4, n_entries=12, rng=0)
    <Observation of a 20 x 30 matrix: 3 columns, 4 rows, 12 entries, float64>
    """
    source = as_source(source)
    counts = _counts(source.shape, budget, {"n_columns": n_columns, "n_rows": n_rows, "n_entries": n_entries})
    return read(source, uniform_plan(source.shape, **counts, rng=rng), gaps=gaps, noise=noise)


def _counts(shape: Shape, budget: Any, given: dict[str, Any]) -> dict[str, Any]:
    """How many columns, rows and entries to read."""
    missing = [name for name, count in given.items() if count is None]
    if budget is None:
        if missing:
            raise InvalidArgumentError(
                f"{', '.join(missing)} missing. Give all of n_columns, n_rows and n_entries, 0 for none, or a budget; "
                "for all of a table with gaps, use Observation.from_table(table), or CURImputer to fill it."
            )
        return given
    if len(missing) < len(given):
        raise InvalidArgumentError("budget= decides all three of n_columns, n_rows and n_entries. Leave them out.")
    n, m = check_shape(shape)
    n_values = min(check_amount(budget, (n, m)), n * m)
    return counts_for_budget((n, m), n_values)


def read(
    source: Any,
    plan: SamplePlan,
    *,
    known: Observation | None = None,
    gaps: bool = False,
    noise: float | str | None = None,
) -> Observation:
    """Carry out a plan: read exactly the positions it names.

    Parameters
    ----------
    source : array, sparse matrix, DataFrame or source
        The matrix. If it has a method ``read(plan)``, which returns the columns, rows and values of a plan, that is
        called once, so that a source can serve a plan in one pass.
    plan : SamplePlan
        What to read of it.
    known : Observation, optional
        What has been read before. An entry that it has, or that is a gap there, is not read again, and no entry is read
        twice. A function is not called for anything that is known, rows and columns included.
    gaps : bool, default False
        Whether NaN means that something could not be measured; otherwise it is an error. There may be gaps too if
        ``known`` or the source has gaps.
    noise : float or "unknown", optional
        Standard deviation of a reading, if readings are not exact: see :class:`Observation`. Left out, it is that of
        the source or of ``known``.

    Returns
    -------
    Observation
        What the plan names and nothing else: ``known.extend`` joins it to what was known.
    """
    source, plan = as_source(source), _checked(plan)
    if tuple(source.shape) != tuple(plan.shape):
        raise InvalidArgumentError(
            f"the plan is for a matrix of shape {tuple(plan.shape)} and the source has shape {tuple(source.shape)}. "
            "Make a plan for this source."
        )
    if known is None:
        columns, rows, values = _fetch(source, plan)
    else:
        columns, rows, values = _fetch_unknown(source, plan, known)
    seen = Observation(
        shape=plan.shape,
        column_index=plan.column_index,
        columns=columns,
        row_index=plan.row_index,
        rows=rows,
        i=plan.i,
        j=plan.j,
        values=values,
        probabilities=plan.probabilities,
        row_names=getattr(source, "row_names", None),
        column_names=getattr(source, "column_names", None),
        design=plan.design,
        history=plan.reasons or (),
        gaps=check_gaps(gaps) or getattr(source, "gaps", False) is True or (known is not None and known.gaps),
        noise=_noise(check_one_noise(noise), source, known),
        evidence=None if plan.evidence else np.zeros(len(plan.i), dtype=bool),
        forbidden=plan.forbidden,
        bounds=_bounds_met(source, plan),
        drawn_columns=plan.drawn_columns,
        drawn_rows=plan.drawn_rows,
    )
    return seen if known is None else _without_copies(seen)


def _bounds_met(source: Source, plan: SamplePlan) -> Bounds:
    """The bounds that a source has where a plan reads it."""
    if (bounds := getattr(source, "bounds", None)) is None:
        return Bounds()
    found, (_, m) = Bounds(*bounds), plan.shape
    on_entry = is_in(found.i * m + found.j, different(plan.i * m + plan.j))
    return found.take(on_entry | found.on_lines(plan.row_index, plan.column_index, plan.shape))


def _noise(noise: float | str | None, source: Source, known: Observation | None) -> float | str | None:
    """The noise that is given, or that of the source, or that of what is known."""
    for other in (getattr(source, "noise", None), None if known is None else known.noise):
        if noise is None and isinstance(other, (str, float)):
            noise = check_one_noise(other)
    return noise


def _without_copies(seen: Observation) -> Observation:
    """The same observation; entries of one place were read once, and do not estimate the noise."""
    if seen.noise is not None and seen.entries.has_repeats:
        outside = seen.entries.flat_index[seen.outside]
        seen._set(repeats=seen.repeats.join(Repeats(0.0, len(different(outside)) - len(outside))))
    return seen


def _checked(plan: Any) -> SamplePlan:
    """A plan whose positions are within its shape."""
    if not isinstance(plan, SamplePlan):
        raise InvalidArgumentError(f"plan is a {type(plan).__name__}. Give a SamplePlan, as propose makes one.")
    n, m = check_shape(plan.shape)
    if not isinstance(plan.evidence, bool):
        raise InvalidArgumentError(f"the plan has evidence={plan.evidence!r}. Give True or False, for all its entries.")
    return plan._replace(
        shape=(n, m),
        column_index=check_index(plan.column_index, m, name="column_index"),
        row_index=check_index(plan.row_index, n, name="row_index"),
        i=check_index(plan.i, n, name="i"),
        j=check_index(plan.j, m, name="j"),
    )


class Fetched(NamedTuple):
    """What a source has at the positions of a plan; None for a part of which the plan names nothing."""

    columns: Matrix | None  # (n, d1)
    rows: Matrix | None  # (d2, m)
    values: Vector | None  # (n_entries,)


def _fetch(source: Source, plan: SamplePlan, known: Observation | None = None) -> Fetched:
    """Everything that a plan names; a source is not called for nothing."""
    if not any(map(len, (plan.column_index, plan.row_index, plan.i))):
        return Fetched(None, None, _nothing(source))
    in_one_pass = getattr(source, "read", None)
    if callable(in_one_pass):
        if known is not None and getattr(source, "skips_known", False) is True:
            return Fetched(*in_one_pass(plan, _known_parts(known)))
        return Fetched(*in_one_pass(plan))
    return Fetched(
        source.columns(plan.column_index) if len(plan.column_index) else None,
        source.rows(plan.row_index) if len(plan.row_index) else None,
        source.entries(plan.i, plan.j) if len(plan.i) else None,
    )


def _known_parts(known: Observation) -> KnownParts:
    """The known values on the host, for a function that is called position by position."""
    entries = entries_asked_for(known)
    return KnownParts(
        known.row_index,
        to_numpy(known.rows),
        known.column_index,
        to_numpy(known.columns),
        entries.flat_index,
        to_numpy(entries.values),
    )


def _nothing(source: Source) -> Vector | None:
    """An empty array of the type of the source, if that is a NumPy type."""
    try:
        return np.empty(0, dtype=np.dtype(source.dtype))
    except TypeError:
        return None


def _fetch_unknown(source: Source, plan: SamplePlan, known: Observation) -> Fetched:
    """What a plan names; entries on rows and columns, and those that are known, are taken from there."""
    n, m = plan.shape
    flat, inverse = np.unique(plan.i * m + plan.j, return_inverse=True)
    i, j = flat // m, flat % m
    asked = is_in(flat, different(entries_asked_for(known).flat_index))
    on_known = is_among(known.row_index, n)[i] | is_among(known.column_index, m)[j] | asked
    on_plan = ~on_known & (is_among(plan.row_index, n)[i] | is_among(plan.column_index, m)[j])
    new = np.flatnonzero(~on_known & ~on_plan)
    reading = _fetch(source, plan._replace(i=i[new], j=j[new], probabilities=None), known)
    if len(new) == len(flat) == len(inverse) and not np.any(np.diff(inverse) < 0):
        return reading
    order, values = [new], [] if reading.values is None else [reading.values]
    for which, sample in ((on_known, known), (on_plan, reading)):
        for t, found in _looked_up(sample, plan, np.flatnonzero(which), i, j):
            order.append(t)
            values.append(found)
    joint = functools.reduce(concatenate, values)
    return reading._replace(values=take(joint, np.argsort(np.concatenate(order))[inverse], axis=0))


def _looked_up(
    sample: Observation | Fetched, plan: SamplePlan, which: IndexVector, i: IndexVector, j: IndexVector
) -> Iterator[tuple[IndexVector, Vector]]:
    """Positions ``which``, each with its value from a row, a column or an entry of the sample, in this order."""
    n, m = plan.shape
    holder = sample if isinstance(sample, Observation) else plan
    row, column = index_table(holder.row_index, n)[i[which]], index_table(holder.column_index, m)[j[which]]
    on_row, on_column = row >= 0, (row < 0) & (column >= 0)
    if on_row.any():
        t = which[on_row]
        yield t, gather(sample.rows, row[on_row], j[t])
    if on_column.any():
        t = which[on_column]
        yield t, gather(sample.columns, i[t], column[on_column])
    t = which[~on_row & ~on_column]
    if len(t) and isinstance(sample, Observation):
        entries = entries_asked_for(sample)
        first = entries.unique()
        where = np.searchsorted(entries.flat_index[first], i[t] * m + j[t])
        yield t, take(entries.values, first[where], axis=0)
