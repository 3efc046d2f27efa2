"""Two samples of one matrix, taken together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import array_namespace, concatenate, float64, index_table, keep, one_type, take
from .._typing import Array, IndexVector, Vector
from ..exceptions import InvalidArgumentError
from .agreement import check_agreement, check_records, check_repeated
from .checks import check_range
from .entries import Entries
from .noise import Repeats, joined_noise, repeats_between, repeats_covered, repeats_within
from .places import following_lines, one_value_each
from .plan import SampleCounts
from .symmetry import check_symmetric, joined_symmetry

if TYPE_CHECKING:
    from .observation import Observation

__all__ = ["check_joinable", "joined", "joined_names"]


def check_joinable(first: Observation, second: Any) -> None:
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
            "only one of the two observations has weights for its entries, and those of the other are not known. "
            "Give weights to both, or to none."
        )


def joined(first: Observation, second: Observation) -> Observation:
    """Both samples as one; what is new is checked, and each place has one value."""
    magnitude = max(first.magnitude, second.magnitude)
    check_range(magnitude, first.shape, first.values)
    check_repeated(first, second, magnitude)
    noise = joined_noise(first, second)
    kept, again, repeats = _with_repeated_lines(first, second, average=noise is not None)
    new = again.subset(
        columns=~np.isin(second.column_index, first.column_index),
        rows=~np.isin(second.row_index, first.row_index),
        design=second.design,
    )
    check_agreement(kept, new, magnitude)
    check_agreement(new, kept, magnitude)
    fields = _joined_fields(kept, new) | {"noise": noise, "symmetry": joined_symmetry(first, second)}
    joint, more = one_value_each(kept._replaced(**fields))
    if noise is not None:
        check_records(joint, magnitude)
        magnitude = joint.magnitude
        before = [_known_repeats(first, second), _known_repeats(second, first)]
        joint._set(repeats=repeats.join(more, repeats_between(first, second), *before))
    check_symmetric(joint, magnitude)
    design = first.design.join(new.design, _counts_of_evidence(first), _counts_of_evidence(new)).of(joint.counts)
    columns, rows, values = keep(joint.columns, joint.rows, joint.values)
    joint._set(design=design, magnitude=magnitude, columns=columns, rows=rows, values=values)
    return joint


def _counts_of_evidence(observation: Observation) -> SampleCounts:
    """Numbers of columns, rows and records that are evidence: how the others were chosen does not matter."""
    o = observation
    n_entries = o.n_entries if o.evidence is None else int(np.count_nonzero(o.evidence))
    return o.counts._replace(n_entries=n_entries)


def _known_repeats(first: Observation, second: Observation) -> Repeats:
    """What the first sample says of the noise, but for what is averaged only with rows and columns of the second."""
    known = repeats_within(first) if first.repeats is None else first.repeats
    return known.without(repeats_covered(first, second))


class _Merged(NamedTuple):
    """Columns that two samples have, with one value for each place."""

    first: Array  # (n, d1), all columns of the first sample
    second: Array  # (n, d1'), all columns of the second
    in_first: IndexVector  # which of them both have
    in_second: IndexVector
    repeats: Repeats


def _with_repeated_lines(
    first: Observation, second: Observation, *, average: bool
) -> tuple[Observation, Observation, Repeats]:
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


def _merged_columns(first: Observation, second: Observation, average: bool) -> _Merged:
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


def joined_names(first: Observation, second: Observation) -> dict[str, Any]:
    """Names of rows and columns, from whichever sample has them."""
    return {
        "row_names": second.row_names if first.row_names is None else first.row_names,
        "column_names": second.column_names if first.column_names is None else first.column_names,
    }


def _joined_fields(first: Observation, second: Observation) -> dict[str, Any]:
    """The fields of both samples together; they share no column and no row."""
    n, m = first.shape
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
    return index | {
        "columns": columns,
        "rows": rows,
        "values": values,
        "probabilities": _joined_probabilities(first.entries, second.entries),
        "weights": _joined_weights(first.entries, second.entries),
        "evidence": _joined_evidence(first, second),
        "history": first.history + second.history,
        "forbidden": first.forbidden.union(second.forbidden, first.shape),
        "withheld": first.withheld or second.withheld,
        "gaps": first.gaps or second.gaps,
        **joined_names(first, second),
    }


def _joined(first: Array, second: Array, *, axis: int) -> Array | None:
    """Both arrays; None where both hold nothing, so that the library of the other parts decides."""
    return concatenate(first, second, axis=axis) if first.shape[axis] or second.shape[axis] else None


def _joined_weights(first: Entries, second: Entries) -> Vector | None:
    weights = [x.weights for x in (first, second) if x.weights is not None]
    return np.concatenate(weights) if weights else None


def _joined_evidence(first: Observation, second: Observation) -> NDArray[np.bool_] | None:
    """Truth values side by side; where none are given, all records are evidence."""
    if first.evidence is None and second.evidence is None:
        return None
    parts = [np.ones(x.n_entries, dtype=bool) if x.evidence is None else x.evidence for x in (first, second)]
    return np.concatenate(parts)


def _joined_probabilities(first: Entries, second: Entries) -> Vector | None:
    """Chances side by side; records without one were drawn uniformly."""
    if first.probabilities is None and second.probabilities is None:
        return None
    alike = 1.0 / math.prod(first.shape)
    chances = [np.full(len(x), alike) if x.probabilities is None else x.probabilities for x in (first, second)]
    return np.concatenate(chances)
