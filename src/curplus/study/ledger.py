"""From readings to an observation: what counts, and what it is evidence of.

Rows and columns that were asked for whole, and of which at least half was measured, become sampled rows and columns;
what could not be measured is a gap. Cells that were drawn uniformly become entries, and so does everything else, but
only the former are a sample that represents the rest. The result is what :func:`curplus.acquire` would have read.

Cells drawn for a list are handed out in random order. Those that came back are such a sample if they are all, or a
beginning of that order: of a list that came back sorted, or that left out what is difficult, they are none. What was
asked for in another way and did not come back had no chance of being drawn since then, and counts as forbidden.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import index_table
from .._support.sets import NO_INDEX, different, is_in, union, without
from .._typing import FloatArray, IndexVector, Matrix, Shape
from .._validation import UNKNOWN_NOISE
from ..exceptions import InconsistentObservationError, InvalidArgumentError
from ..observation import Bounds, Observation, Repeats, SamplingDesign
from ..observation.forbidden import Region
from ..observation.scale import LOG
from .names import Axis
from .storage import Kind, Line, Role, Snapshot, positions_of

__all__ = ["COUNTED", "Out", "Places", "check_counted", "observation_of", "on_lines", "places_of"]

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
    bounded: IndexVector  # cells without a value that have a bound, ascending
    bounds: Bounds  # of these
    repeats: Repeats


def check_counted(records: Any) -> str:
    """Which readings of a cell count."""
    if not isinstance(records, str) or records not in COUNTED:
        raise InvalidArgumentError(
            f"records={records!r} does not say which readings of a cell count. Use 'all' (their mean), 'latest', or "
            "'error' (a cell that was measured twice with different values is an error)."
        )
    return records


def places_of(snapshot: Snapshot, records: str | None = None) -> Places:
    """The value of each cell, from its readings in the order in which they came; logarithms if these are fitted.

    Those that count are as the study was created, unless ``records`` says otherwise.
    """
    settings, shape = snapshot.settings, snapshot.settings.shape
    records = settings.records if records is None else records
    readings = np.log(snapshot.values) if settings.scale == LOG else snapshot.values
    is_bound = snapshot.sides != 0
    known = ~np.isnan(readings) & ~is_bound
    flat, values = snapshot.cells[known], readings[known]
    cells, first, place = np.unique(flat, return_index=True, return_inverse=True)
    counts = np.bincount(place, minlength=len(cells)).astype(np.int64)
    away = values - values[first][place]
    means: FloatArray = values[first] + np.bincount(place, away, len(cells)) / np.maximum(counts, 1)
    squares = float(np.sum((values - means[place]) ** 2)) if len(flat) > len(cells) else 0.0
    if records == "error" and np.any(away):
        i, j = divmod(int(flat[np.argmax(away != 0)]), shape[1])
        raise InconsistentObservationError(
            f"row {i}, column {j} was measured more than once, with different values, and records='error' allows one. "
            "Correct the wrong record, or use records='all' or 'latest'."
        )
    if records == "latest":
        last = np.empty(len(cells), dtype=np.int64)
        last[place] = np.arange(len(flat))  # of equal places, the last one stays
        means, counts = values[last], np.ones_like(counts)
    bounded = snapshot.cells[is_bound]
    i, j = np.divmod(bounded, shape[1])
    found = Bounds(i, j, readings[is_bound], snapshot.sides[is_bound])
    bounds = Bounds().union(found, shape).without(cells, shape)
    bounded = without(different(bounded), cells)
    failed = without(different(snapshot.cells[~known]), union(cells, bounded))
    return Places(cells, means, counts, failed, bounded, bounds, Repeats(squares, len(flat) - len(cells)))


def observation_of(snapshot: Snapshot, records: str | None = None, out: Out | None = None) -> Observation:
    """What is known at the moment of a snapshot; what is ``out``, if given, as gaps."""
    settings, shape = snapshot.settings, snapshot.settings.shape
    n, m = shape
    places = places_of(snapshot, records)
    lines = snapshot.lines if len(places.cells) < n * m else tuple(Line(0, i, "given", "") for i in range(n))
    out = Out() if out is None else out
    asked = (*lines, *out.lines)
    waiting = {line[:2] for line in out.lines}
    rows = _measured_lines(asked, 0, np.bincount(places.cells // m, minlength=n), m, waiting)
    columns = _measured_lines(asked, 1, np.bincount(places.cells % m, minlength=m), n, waiting)
    on_line = on_lines(places.cells, (*rows, *columns), shape)
    entries = np.flatnonzero(~on_line | is_in(places.cells, snapshot.asked.of_role(Role.DRAWN, Role.STEERING)))
    failed = union(places.failed, out.cells)
    failed = failed[~on_lines(failed, (*rows, *columns), shape)]
    sample = _sample(snapshot, asked, union(places.cells, places.failed, places.bounded), shape)
    on_missing = on_lines(places.cells, asked, shape) & ~on_line
    sampled_rows = _filled(positions_of(rows, 0), places, places.cells // m, places.cells % m, (n, m))
    sampled_columns = _filled(positions_of(columns, 1), places, places.cells % m, places.cells // m, (m, n)).T
    evidence = (is_in(places.cells, sample.cells) & ~on_missing)[entries]
    is_whole = len(rows) + len(columns) == len({line[:2] for line in asked}) and not sample.forbidden.any
    return Observation(
        shape=shape,
        row_index=positions_of(rows, 0),
        rows=sampled_rows,
        column_index=positions_of(columns, 1),
        columns=sampled_columns,
        i=places.cells[entries] // m,
        j=places.cells[entries] % m,
        values=places.values[entries],
        weights=places.counts[entries].astype(np.float64) if np.any(places.counts[entries] > 1) else None,
        row_names=_names(settings.rows),
        column_names=_names(settings.columns),
        gaps=bool(len(failed) or np.isnan(sampled_rows).any() or np.isnan(sampled_columns).any()),
        unmeasured_i=failed // m,
        unmeasured_j=failed % m,
        noise=UNKNOWN_NOISE if settings.noise is None and places.repeats.squares > 0 else settings.noise,
        repeats=places.repeats,
        bounds=places.bounds,
        **_design(rows, columns, evidence, is_whole=is_whole),
        forbidden=sample.forbidden,
        withheld=sample.withheld,
        drawn_columns=_in_turn(snapshot.asked.cells[snapshot.asked.roles == Role.ON_DRAWN_COLUMN] % m),
        drawn_rows=_in_turn(snapshot.asked.cells[snapshot.asked.roles == Role.ON_DRAWN_ROW] // m),
    )


def _in_turn(positions: IndexVector) -> IndexVector:
    """Each position once, in the order in which they appear."""
    first: IndexVector = np.sort(np.unique(positions, return_index=True)[1])
    return positions[first]


class _Sample(NamedTuple):
    """Cells that were drawn at random, and what they are no sample of."""

    cells: IndexVector  # ascending: each of the cells that are not forbidden was as likely to be among them
    forbidden: Region
    withheld: str  # why cells that were drawn are not among them


def _sample(snapshot: Snapshot, lines: tuple[Line, ...], known: IndexVector, shape: Shape) -> _Sample:
    """Cells that were drawn and are a uniform sample, where these are ``known``, and these lines were asked for."""
    asked, promised = snapshot.asked, snapshot.promised
    told, is_drawn = is_in(asked.cells, known), asked.roles == Role.DRAWN
    in_turn = np.flatnonzero(is_drawn & asked.is_new & ~is_in(asked.cells, promised))
    lists, came = asked.lists[in_turn], told[in_turn]
    out_of_turn = different(lists[1:][came[1:] & ~came[:-1] & (lists[1:] == lists[:-1])])
    is_drawn &= ~is_in(asked.lists, out_of_turn)
    is_open = is_drawn & asked.is_new & ~on_lines(asked.cells, lines, shape)
    pending = without(asked.cells[~told & ~is_open], different(asked.cells[is_open]))
    drawn_from = is_in(snapshot.forbidden[:, 0], different(asked.lists[is_drawn & told]))
    kinds, positions = snapshot.forbidden[drawn_from, 1:].T
    rows, columns, cells = (positions[kinds == kind] for kind in Kind)
    closed = np.divmod(union(cells, pending), shape[1])
    sample = without(union(asked.cells[is_drawn & told], promised), asked.of_role(Role.STEERING))
    return _Sample(sample, Region().union(Region(rows, columns, closed), shape), _why(out_of_turn))


def _why(lists: IndexVector) -> str:
    """Why cells of some lists are no evidence."""
    if not len(lists):
        return ""
    named = f"list {lists[0]}" if len(lists) == 1 else f"lists {', '.join(map(str, lists))}"
    return (
        f"{named} came back in part, and not from the beginning on, so that what came back may differ from what is out "
        "and is no evidence until all of it is told (if chance alone chose what came back, tell it with "
        "design='uniform')"
    )


def _measured_lines(
    lines: Iterable[Line], axis: int, n_measured: IndexVector, length: int, waiting: set[Any]
) -> list[Line]:
    """Rows, or columns, of which enough is known or that are out, each once, in the order of asking."""
    asked = {line.position: line for line in reversed([line for line in lines if line.axis == axis])}
    in_order = reversed(asked.values())
    enough = max(1, ENOUGH_OF_A_LINE * length)
    return [line for line in in_order if n_measured[line.position] >= enough or line[:2] in waiting]


def on_lines(cells: IndexVector, lines: Iterable[Line], shape: Shape) -> Mask:
    """Which cells are on some rows and columns."""
    lines = tuple(lines)
    rows, columns = (positions_of(lines, axis) for axis in (0, 1))
    return Region(rows, columns).cover(cells // shape[1], cells % shape[1], shape)


def _filled(
    lines: IndexVector, places: Places, which: IndexVector, where: IndexVector, sizes: tuple[int, int]
) -> Matrix:
    """Values of rows (or of columns, as rows), NaN where there is none."""
    values = np.full((len(lines), sizes[1]), np.nan)
    place = index_table(lines, sizes[0])[which]
    known = place >= 0
    values[place[known], where[known]] = places.values[known]
    return values


def _names(axis: Axis) -> Any:
    return None if axis.names is None else np.asarray(axis.names)


def _design(rows: list[Line], columns: list[Line], evidence: Mask, *, is_whole: bool) -> dict[str, Any]:
    """How each part was chosen; entries that nobody drew are no evidence, or make all of them given.

    Rows and columns are a sample only if ``is_whole``: none is missing of those drawn, and nothing was forbidden.
    """
    drawn = "uniform" if is_whole else "given"
    column_word, row_word = (
        "adaptive" if any(line.design != "uniform" for line in lines) else drawn if lines else "uniform"
        for lines in (columns, rows)
    )
    entries = "uniform" if evidence.any() or not len(evidence) else "given"
    marked = {"evidence": evidence} if evidence.any() else {}
    return {"design": SamplingDesign(column_word, row_word, entries), **marked}
