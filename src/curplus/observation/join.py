"""Two samples of one matrix, taken together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import array_namespace, concatenate, index_table, one_type, take
from .._typing import Array, Vector
from ..exceptions import InvalidArgumentError
from .checks import check_agreement, check_range, check_repeated
from .entries import Entries
from .places import one_value_each

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
    """Both samples as one; what is new is checked, and what one of them knows at a place, the other knows too."""
    magnitude = max(first.magnitude, second.magnitude)
    check_range(magnitude, first.shape, first.values)
    check_repeated(first, second, magnitude)
    first = _with_gaps_filled(first, second)
    new = second.subset(
        columns=~np.isin(second.column_index, first.column_index),
        rows=~np.isin(second.row_index, first.row_index),
        design=second.design,
    )
    check_agreement(first, new, magnitude)
    check_agreement(new, first, magnitude)
    joint = first._replaced(**_joined_fields(first, new))
    joint = one_value_each(joint)
    joint._set(design=first.design.join(new.design, first.counts, new.counts).of(joint.counts), magnitude=magnitude)
    return joint


def _with_gaps_filled(first: Observation, second: Observation) -> Observation:
    """The first sample, whose columns and rows are filled by those of the second where both have them."""
    if not first.has_gaps:
        return first
    columns = _filled_columns(first, second)
    rows = _filled_columns(first.T, second.T)
    return first._replaced(columns=columns, rows=rows.T)


def _filled_columns(first: Observation, second: Observation) -> Array:
    where = index_table(first.column_index, first.shape[1])[second.column_index]
    both = np.flatnonzero(where >= 0)
    if not len(both):
        return first.columns
    ours, theirs = take(first.columns, where[both], axis=1), take(second.columns, both, axis=1)
    xp = array_namespace(ours, theirs)
    merged = xp.where(xp.isnan(ours), theirs, ours)
    source = np.arange(first.n_columns)
    source[where[both]] = first.n_columns + np.arange(len(both))
    return take(concatenate(first.columns, merged, axis=1), source, axis=1)


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
        "gaps": first.gaps or second.gaps,
        **joined_names(first, second),
    }


def _joined(first: Array, second: Array, *, axis: int) -> Array | None:
    """Both arrays; None where both hold nothing, so that the library of the other parts decides."""
    return concatenate(first, second, axis=axis) if first.shape[axis] or second.shape[axis] else None


def _joined_weights(first: Entries, second: Entries) -> Vector | None:
    weights = [x.weights for x in (first, second) if x.weights is not None]
    return np.concatenate(weights) if weights else None


def _joined_probabilities(first: Entries, second: Entries) -> Vector | None:
    """Chances side by side; records without one were drawn uniformly."""
    if first.probabilities is None and second.probabilities is None:
        return None
    alike = 1.0 / math.prod(first.shape)
    chances = [np.full(len(x), alike) if x.probabilities is None else x.probabilities for x in (first, second)]
    return np.concatenate(chances)
