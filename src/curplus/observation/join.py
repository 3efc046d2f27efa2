"""Two samples of one matrix, taken together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._arrays import array_namespace, concatenate, float64, index_table, keep, one_type, take
from .._typing import Array, IndexVector, Vector
from .._validation import UNKNOWN_NOISE
from ..exceptions import InvalidArgumentError
from .agreement import check_agreement, check_records, check_repeated, check_symmetric
from .checks import check_range
from .entries import Repeats
from .places import following_lines, one_value_each
from .readings import SYMMETRIES, Noise, R, Readings

__all__ = ["check_joinable", "joined", "joined_noise", "stronger"]


def check_joinable(first: Readings, second: Any) -> None:
    """That both are samples of one matrix, in one library, and both or neither with weights."""
    if not isinstance(second, type(first)):
        raise InvalidArgumentError(f"an observation can be extended by another one, not by a {type(second).__name__}.")
    if first.shape != second.shape:
        raise InvalidArgumentError(
            f"observations of matrices of shape {first.shape} and {second.shape} cannot be joined. "
            "Give two of the same matrix."
        )
    kinds = {type(x.values).__module__ for x in (first, second) if any(x.counts)}
    if len(kinds) > 1:
        raise InvalidArgumentError(
            f"the observations hold arrays of different libraries ({', '.join(sorted(kinds))}). Convert one of them."
        )
    if first.n_entries and second.n_entries and (first.weights is None) != (second.weights is None):
        raise InvalidArgumentError(
            "only one of the two observations has weights for its entries, so those of the other are missing. "
            "Give weights to both, or to none."
        )


def joined(first: R, second: R) -> tuple[R, Repeats]:
    """Both samples as one, and the noise estimated from averaged readings.

    What is new is checked, and each place has one value.
    """
    magnitude = max(first.magnitude, second.magnitude)
    check_range(magnitude, first.shape, first.values)
    check_repeated(first, second, magnitude)
    noise = joined_noise(first, second)
    kept, again, repeats = _with_repeated_lines(first, second, average=noise is not None)
    new = again._part(
        ~np.isin(second.column_index, first.column_index), ~np.isin(second.row_index, first.row_index), None
    )
    check_agreement(kept, new, magnitude)
    check_agreement(new, kept, magnitude)
    symmetry = stronger(first.symmetry, second.symmetry)
    fields = _side_by_side(kept, new) | first._besides(second)
    joint, more = one_value_each(kept._replaced(**fields, noise=noise, symmetry=symmetry))
    if noise is not None:
        check_records(joint, magnitude)
        magnitude = joint.magnitude
    check_symmetric(joint, magnitude)
    columns, rows, values = keep(joint.columns, joint.rows, joint.values)
    joint._set(magnitude=magnitude, columns=columns, rows=rows, values=values)
    return joint, repeats.join(more)


def joined_noise(first: Readings, second: Readings) -> Noise:
    """The noise of two samples taken together: of two numbers the larger, and unknown if one is unknown."""
    a, b = first.noise, second.noise
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.concatenate([_noise_of_each(first), _noise_of_each(second)])
    if a is None or b is None:
        return b if a is None else a
    return UNKNOWN_NOISE if isinstance(a, str) or isinstance(b, str) else max(a, b)


def _noise_of_each(r: Readings) -> Vector:
    """The noise of each record; a number stands for all of them."""
    if r.n_entries and (r.noise is None or isinstance(r.noise, str)):
        raise InvalidArgumentError(
            "one of the two observations has a noise for each of its entries, and the other has "
            f"noise={r.noise!r}. Give a noise for each entry of both, or one number to both."
        )
    return r.noise if isinstance(r.noise, np.ndarray) else np.full(r.n_entries, r.noise or 1.0)


def stronger(first: str | None, second: str | None) -> str | None:
    """Of two symmetries of one matrix, the stronger one."""
    return max(first, second, key=SYMMETRIES.index)


class _Merged(NamedTuple):
    """Columns that two samples have, with one value for each place."""

    first: Array  # (n, d1), all columns of the first sample
    second: Array  # (n, d1'), all columns of the second
    in_first: IndexVector  # which of them both have
    in_second: IndexVector
    repeats: Repeats


def _with_repeated_lines(first: R, second: R, *, average: bool) -> tuple[R, R, Repeats]:
    """Both samples, with the same values in columns and rows that both have: one's for another's gaps, or the means."""
    if not (first.has_gaps or average):
        return first, second, Repeats()
    columns, rows = _merged_columns(first, second, average), _merged_columns(first.T, second.T, average)
    kept = first._replaced(columns=columns.first, rows=rows.first.T)
    if not average:
        return kept, second, Repeats()
    again = second._replaced(columns=columns.second, rows=rows.second.T)
    kept = following_lines(kept, columns.in_first, rows.in_first)
    return kept, following_lines(again, columns.in_second, rows.in_second), columns.repeats.join(rows.repeats)


def _merged_columns(first: Readings, second: Readings, average: bool) -> _Merged:
    where = index_table(first.column_index, first.shape[1])[second.column_index]
    both = np.flatnonzero(where >= 0)
    if not len(both):
        return _Merged(first.columns, second.columns, both, both, Repeats())
    ours, theirs = take(first.columns, where[both], axis=1), take(second.columns, both, axis=1)
    xp = array_namespace(ours, theirs)
    merged, repeats = xp.where(xp.isnan(ours), theirs, ours), Repeats()
    if average:
        apart = theirs - ours
        apart = xp.where(xp.isnan(apart), xp.zeros_like(apart), apart)
        merged = merged + apart / 2
        repeats = Repeats(float(xp.sum(float64(apart) ** 2)) / 2, int(xp.count_nonzero(apart)))
    return _Merged(
        _with_columns(first.columns, where[both], merged),
        _with_columns(second.columns, both, merged),
        where[both],
        both,
        repeats,
    )


def _with_columns(x: Array, index: IndexVector, columns: Array) -> Array:
    """A copy of ``x`` with other columns at ``index``."""
    source = np.arange(x.shape[1])
    source[index] = x.shape[1] + np.arange(len(index))
    return take(concatenate(x, columns, axis=1), source, axis=1)


def _side_by_side(first: Readings, second: Readings) -> dict[str, Any]:
    """The fields of both samples together; they share no column and no row."""
    n, m = first.shape
    entries = first.entries.join(second.entries)
    columns, rows, values = one_type(
        {
            "columns": (_joined(first.columns, second.columns, axis=1), (n, 0)),
            "rows": (_joined(first.rows, second.rows, axis=0), (0, m)),
            "values": (_joined(first.values, second.values, axis=0), (0,)),
        }
    )
    index = {
        name: np.concatenate([getattr(first, name), getattr(second, name)])
        for name in ("column_index", "row_index", "i", "j", "unmeasured_i", "unmeasured_j")
    }
    of_records = {name: getattr(entries, name) for name in ("probabilities", "weights", "evidence")}
    more = {"gaps": first.gaps or second.gaps, "bounds": first.bounds.union(second.bounds, first.shape)}
    return index | of_records | {"columns": columns, "rows": rows, "values": values} | more


def _joined(first: Array, second: Array, *, axis: int) -> Array | None:
    """Both arrays; None if both are empty, so that the library of the other parts decides."""
    return concatenate(first, second, axis=axis) if first.shape[axis] or second.shape[axis] else None
