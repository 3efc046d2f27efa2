"""From readings to an observation: what counts, and what it is evidence of.

Rows and columns that were asked for whole, and of which at least half was measured, become sampled rows and columns;
what could not be measured is a gap. Cells that were drawn uniformly become entries, and so does everything else, but
only the former are a sample that represents the rest. The result is what :func:`curplus.acquire` would have read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import index_table
from .._sets import NO_INDEX, different, is_in, union, without
from .._typing import FloatArray, IndexVector, Matrix
from .._validation import UNKNOWN
from ..exceptions import InconsistentObservationError, InvalidArgumentError
from ..observation import Observation, SamplingDesign
from ..observation.noise import Repeats
from .storage import Line, Settings, Snapshot

__all__ = ["COUNTED", "Out", "Places", "check_counted", "observation_of", "places_of"]

COUNTED = ("all", "latest", "error")
ENOUGH_OF_A_LINE = 0.5  # of its cells: with fewer, a row or column counts as single entries

Mask = NDArray[np.bool_]


class Out(NamedTuple):
    """What is being measured."""

    cells: IndexVector = NO_INDEX  # ascending
    lines: tuple[Line, ...] = ()


class Places(NamedTuple):
    """One value for each cell that was measured."""

    cells: IndexVector  # (k,), ascending
    values: FloatArray  # (k,)
    counts: IndexVector  # (k,), readings behind each
    failed: IndexVector  # cells that were only tried in vain, ascending
    repeats: Repeats


def check_counted(records: Any) -> str:
    """Which readings of a cell count."""
    if not isinstance(records, str) or records not in COUNTED:
        raise InvalidArgumentError(
            f"records={records!r} does not say which readings of a cell count. Use 'all' (their mean), 'latest', or "
            "'error' (a cell that was measured twice with different values is an error)."
        )
    return records


def places_of(snapshot: Snapshot, settings: Settings, records: str) -> Places:
    """The value of each cell, from its readings in the order in which they came."""
    known = ~np.isnan(snapshot.values)
    flat, values = snapshot.cells[known], snapshot.values[known]
    cells, first, place = np.unique(flat, return_index=True, return_inverse=True)
    counts = np.bincount(place, minlength=len(cells)).astype(np.int64)
    away = values - values[first][place]
    means: FloatArray = values[first] + np.bincount(place, away, len(cells)) / np.maximum(counts, 1)
    squares = float(np.sum((values - means[place]) ** 2)) if len(flat) > len(cells) else 0.0
    if records == "error" and np.any(away):
        _raise_differing(int(flat[np.argmax(away != 0)]), settings)
    if records == "latest":
        last = np.empty(len(cells), dtype=np.int64)
        last[place] = np.arange(len(flat))  # of equal places, the last one stays
        means, counts = values[last], np.ones_like(counts)
    failed = without(different(snapshot.cells[~known]), cells)
    return Places(cells, means, counts, failed, Repeats(squares, len(flat) - len(cells)))


def _raise_differing(cell: int, settings: Settings) -> None:
    i, j = divmod(cell, settings.shape[1])
    raise InconsistentObservationError(
        f"row {i}, column {j} was measured more than once, with different values, and records='error' allows one. "
        "Correct the wrong record, or use records='all' or 'latest'."
    )


def observation_of(snapshot: Snapshot, settings: Settings, records: str, out: Out | None = None) -> Observation:
    """What is known at the moment of a snapshot; what is ``out``, if given, as gaps."""
    n, m = settings.shape
    places = places_of(snapshot, settings, records)
    lines = snapshot.lines if len(places.cells) < n * m else tuple(Line(0, i, "given", "") for i in range(n))
    out = Out() if out is None else out
    lines = (*lines, *out.lines)
    waiting = {line[:2] for line in out.lines}
    rows = _measured_lines(lines, 0, np.bincount(places.cells // m, minlength=n), m, waiting)
    columns = _measured_lines(lines, 1, np.bincount(places.cells % m, minlength=m), n, waiting)
    on_line = _on_lines(places.cells, rows, columns, settings.shape)
    is_drawn, is_steering = (is_in(places.cells, drawn) for drawn in (snapshot.drawn, snapshot.steering))
    is_entry = ~on_line | is_drawn | is_steering
    entries = np.flatnonzero(is_entry)
    failed = union(places.failed, out.cells)
    failed = failed[~_on_lines(failed, rows, columns, settings.shape)]
    sampled_rows = _filled(rows, places, places.cells // m, places.cells % m, (n, m))
    sampled_columns = _filled(columns, places, places.cells % m, places.cells // m, (m, n)).T
    evidence = (is_drawn & ~is_steering)[entries]
    return Observation(
        shape=settings.shape,
        row_index=_index(rows),
        rows=sampled_rows,
        column_index=_index(columns),
        columns=sampled_columns,
        i=places.cells[entries] // m,
        j=places.cells[entries] % m,
        values=places.values[entries],
        weights=_weights(places.counts[entries]),
        row_names=_names(settings.row_names),
        column_names=_names(settings.column_names),
        gaps=bool(len(failed) or np.isnan(sampled_rows).any() or np.isnan(sampled_columns).any()),
        unmeasured_i=failed // m,
        unmeasured_j=failed % m,
        noise=UNKNOWN if settings.noise is None and places.repeats.squares > 0 else settings.noise,
        repeats=places.repeats if places.repeats.freedom else None,
        **_design(rows, columns, evidence),
    )


def _measured_lines(
    lines: Iterable[Line], axis: int, n_measured: IndexVector, length: int, waiting: set[Any]
) -> list[Line]:
    """Rows, or columns, of which enough is known or that are out, each once, in the order of asking."""
    asked = {line.position: line for line in reversed([line for line in lines if line.axis == axis])}
    in_order = reversed(asked.values())
    enough = max(1, ENOUGH_OF_A_LINE * length)
    return [line for line in in_order if n_measured[line.position] >= enough or line[:2] in waiting]


def _index(lines: list[Line]) -> IndexVector:
    return np.asarray([line.position for line in lines], dtype=np.int64)


def _on_lines(cells: IndexVector, rows: list[Line], columns: list[Line], shape: tuple[int, int]) -> Mask:
    n, m = shape
    on_row, on_column = index_table(_index(rows), n) >= 0, index_table(_index(columns), m) >= 0
    on_line: Mask = on_row[cells // m] | on_column[cells % m]
    return on_line


def _filled(
    lines: list[Line], places: Places, which: IndexVector, where: IndexVector, sizes: tuple[int, int]
) -> Matrix:
    """Values of rows (or of columns, as rows), NaN where there is none."""
    values = np.full((len(lines), sizes[1]), np.nan)
    place = index_table(_index(lines), sizes[0])[which]
    known = place >= 0
    values[place[known], where[known]] = places.values[known]
    return values


def _weights(counts: IndexVector) -> FloatArray | None:
    return counts.astype(np.float64) if np.any(counts > 1) else None


def _names(names: tuple[Any, ...] | None) -> Any:
    return None if names is None else np.asarray(names)


def _design(rows: list[Line], columns: list[Line], evidence: Mask) -> dict[str, Any]:
    """How each part was chosen; entries that nobody drew are no evidence, or make all of them given."""
    column_word, row_word = (
        "adaptive" if any(line.design != "uniform" for line in lines) else "uniform" for lines in (columns, rows)
    )
    can_mark = any(field.name == "evidence" for field in fields(Observation))
    all_drawn = bool(evidence.all())
    entries = "uniform" if all_drawn or (can_mark and evidence.any()) else "given"
    marked = {} if all_drawn or not can_mark or not evidence.any() else {"evidence": evidence}
    return {"design": SamplingDesign(column_word, row_word, entries), **marked}
