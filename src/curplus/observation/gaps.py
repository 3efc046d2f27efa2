"""Gaps: places of sampled rows and columns, and single entries, that could not be measured.

A gap is NaN in ``rows`` or ``columns``. An entry that is NaN is no record; its position is remembered, so that it is
not asked for again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import array_namespace, concatenate, index_table, take, to_device, to_numpy
from .._sets import different, is_in
from .._typing import IndexVector, Matrix
from ..exceptions import InvalidArgumentError
from .entries import Entries
from .noise import noise_of_records
from .part import evidence_of_records

if TYPE_CHECKING:
    from .observation import Observation

__all__ = [
    "check_unmeasured",
    "entries_asked_for",
    "gap_index",
    "known_mask",
    "n_line_gaps",
    "still_unmeasured",
    "without_gap_records",
]


def check_unmeasured(observation: Observation) -> None:
    """Pairs of positions, where there may be gaps."""
    i, j = len(observation.unmeasured_i), len(observation.unmeasured_j)
    if i != j:
        raise InvalidArgumentError(f"unmeasured_i has {i} positions and unmeasured_j has {j}. Give pairs.")
    if i and not observation.gaps:
        raise InvalidArgumentError(f"{i} entries could not be measured, so there are gaps. Say gaps=True.")


def known_mask(x: Matrix) -> Matrix | None:
    """Where an array is not NaN, in its library; None if that is everywhere."""
    xp = array_namespace(x)
    gap = xp.isnan(x)
    return ~gap if bool(xp.any(gap)) else None


def without_gap_records(observation: Observation) -> dict[str, Any]:
    """The records that have a value, and the positions of those that have none."""
    o = observation
    known = ~np.isnan(to_numpy(o.values))
    if known.all():
        return {}
    keep = np.flatnonzero(known)
    some = o.entries.take(keep)
    fields = {name: getattr(some, name) for name in ("i", "j", "values", "probabilities", "weights")}
    unmeasured_i = np.concatenate([o.unmeasured_i, o.i[~known]])
    unmeasured_j = np.concatenate([o.unmeasured_j, o.j[~known]])
    of_records = {"noise": noise_of_records(o.noise, keep), "evidence": evidence_of_records(o, keep)}
    return fields | of_records | {"unmeasured_i": unmeasured_i, "unmeasured_j": unmeasured_j}


def still_unmeasured(observation: Observation) -> dict[str, IndexVector]:
    """Positions of entries that were not measured, each once; those of sampled rows and columns are left to these."""
    o = observation
    if not len(o.unmeasured_i):
        return {}
    (n, m), flat = o.shape, different(o.unmeasured_i * o.shape[1] + o.unmeasured_j)
    on_line = (index_table(o.row_index, n)[flat // m] >= 0) | (index_table(o.column_index, m)[flat % m] >= 0)
    flat = flat[~on_line & ~is_in(flat, different(o.entries.flat_index))]
    return {"unmeasured_i": flat // m, "unmeasured_j": flat % m}


def entries_asked_for(observation: Observation) -> Entries:
    """The entries, and NaN where an entry could not be measured."""
    o = observation
    if not len(o.unmeasured_i):
        return o.entries
    none = to_device(np.full(len(o.unmeasured_i), np.nan), o.values)
    values = concatenate(o.values, array_namespace(o.values).astype(none, o.values.dtype))
    return Entries(o.shape, np.append(o.i, o.unmeasured_i), np.append(o.j, o.unmeasured_j), values)


def n_line_gaps(observation: Observation) -> int:
    """Number of different gaps on the sampled rows and columns."""
    o = observation
    total = 0
    if o.known_rows is not None:
        total += _n_false(o.known_rows)
    if o.known_columns is not None:
        total += _n_false(o.known_columns) - _n_false(take(o.known_columns, o.row_index, axis=0))
    return total


def _n_false(mask: Matrix) -> int:
    return int(array_namespace(mask).count_nonzero(~mask))


def gap_index(observation: Observation) -> IndexVector:
    """All places known to be gaps, as single numbers, row by row, ascending."""
    o, m = observation, observation.shape[1]
    parts = [o.unmeasured_i * m + o.unmeasured_j]
    if o.known_rows is not None:
        k, j = _false_at(o.known_rows)
        parts.append(o.row_index[k] * m + j)
    if o.known_columns is not None:
        i, k = _false_at(o.known_columns)
        parts.append(i * m + o.column_index[k])
    return different(np.concatenate(parts))


def _false_at(mask: Matrix) -> tuple[IndexVector, IndexVector]:
    """Positions where a mask is false; only they go to the host."""
    i, j = array_namespace(mask).nonzero(~mask)
    return to_numpy(i).astype(np.int64), to_numpy(j).astype(np.int64)
