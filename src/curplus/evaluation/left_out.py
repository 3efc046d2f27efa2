"""Which values are left out, so that models can be compared on values that they were not fitted to.

Scattered entries represent the cells that were not read, so they are left out, each in one of a few folds. If they are
few, whole rows and columns are left out in turn as well: their cells outside the other rows and columns represent
unread cells too. A table with gaps has nothing but cells of its rows. If there are very many values, one fold of some
of them is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import double, gather, index_table, to_numpy
from .._typing import FloatArray, IndexVector
from ..factorization import Factorization
from ..observation import Cells, Observation

__all__ = ["FOLDS", "LeftOut", "dealt", "left_out", "made_again"]

FOLDS = 5  # usual: the number: refits have four fifths of the values, at five times the cost of a fit


def dealt(place: IndexVector, folds: int, rng: np.random.Generator) -> IndexVector:
    """The fold of each value, at random and of nearly equal size; values of one ``place`` are in one fold."""
    places, which = np.unique(place, return_inverse=True)
    fold: IndexVector = rng.permutation(len(places))[which] % folds
    return fold


def made_again(method: Any, observation: Observation, fold: IndexVector, folds: int) -> Iterator[Factorization]:
    """The method, fitted without the entries of each fold in turn; those of fold -1 are always there."""
    for k in range(folds):
        yield method.fit(observation.subset(entries=fold != k, design=observation.design))


MANY_CELLS = 20_000  # cost: cells; with more, the fit is repeated once and not five times
ENOUGH_ENTRIES = 100  # tuned: entries; with fewer, rows and columns are left out too
MOST_OF_MANY_CELLS = 5000  # cost: values that are left out if there are many
MOST_OF_A_ROW = 200  # cost: cells of a row that is left out; more of one row add little


class Fold(NamedTuple):
    """What is left out at a time."""

    cells: Cells  # the others
    i: IndexVector  # (h,)
    j: IndexVector  # (h,)
    values: FloatArray  # (h,)
    weights: FloatArray  # (h,)
    group: IndexVector  # (h,), the errors of one left-out row or column are correlated
    hides_sampled: bool  # whether rows or columns are left out


class LeftOut(NamedTuple):
    """The folds, and in which of them records, sampled rows and sampled columns are left out; -1: in none."""

    folds: tuple[Fold, ...]
    records: IndexVector  # (n_entries,)
    rows: IndexVector  # (d2,)
    columns: IndexVector  # (d1,)


def left_out(cells: Cells, sample: Observation, rng: np.random.Generator, *, uses_entries: bool) -> LeftOut:
    """Values left out in turn; all entries at once for models that do not use them."""
    is_evidence = sample.outside & ~sample.steering
    n_evidence, n_cells = int(np.count_nonzero(is_evidence)), cells.n_values
    with_sampled = n_evidence < ENOUGH_ENTRIES and not cells.is_table
    if not uses_entries and not with_sampled:
        records = np.where(sample.outside, 0, -1)
        return LeftOut((_fold(cells, sample, is_evidence),), records, *_never(cells))
    place = _place(sample)
    if n_cells > MANY_CELLS:
        share = max(MOST_OF_MANY_CELLS / max(n_evidence, 1), 1 / FOLDS if n_evidence < MOST_OF_MANY_CELLS else 0.0)
        records = np.where(is_evidence & (dealt(place, max(round(1 / share), 2), rng) == 0), 0, -1)
        n_folds = 1
    else:
        records, n_folds = np.where(sample.outside, dealt(place, FOLDS, rng), -1), FOLDS
    rows, columns = _dealt_sampled(cells, sample, n_folds, rng) if with_sampled else _never(cells)
    folds = []
    for k in range(n_folds):
        part = _without(cells, sample, records == k, rows == k, columns == k)
        fold = _fold(part, sample, (records == k) & is_evidence)
        folds.append(_with_sampled(fold, cells, rows == k, columns == k, rng))
    kept = [k for k, fold in enumerate(folds) if len(fold.i) and fold.cells.n_values]
    place = np.full(n_folds + 1, -1)  # of each fold among those that are kept; the last one is for -1
    place[kept] = np.arange(len(kept))
    return LeftOut(tuple(folds[k] for k in kept), place[records], place[rows], place[columns])


def _never(cells: Cells) -> tuple[IndexVector, IndexVector]:
    """Rows and columns of which none is left out."""
    return np.full(cells.n_rows, -1), np.full(cells.n_columns, -1)


def _dealt_sampled(
    cells: Cells, sample: Observation, n_folds: int, rng: np.random.Generator
) -> tuple[IndexVector, IndexVector]:
    """The fold of each sampled row and column; of a symmetric matrix, a row is left out with its mirrored column."""
    rows = rng.permutation(cells.n_rows) % FOLDS
    columns = (rng.permutation(cells.n_columns) + n_folds - 1) % FOLDS  # of one row and one column, one is kept
    if sample.symmetry is not None:
        columns = rows[index_table(cells.row_index, cells.shape[0])[cells.column_index]]
    return np.where(rows < n_folds, rows, -1), np.where(columns < n_folds, columns, -1)


def _place(sample: Observation) -> IndexVector:
    """What is left out together: records of one position, or of the two that have one value by symmetry.

    Independent draws may hit a position again, and a prediction may then use what is known of it from the other draws.
    """
    if sample.probabilities is not None:
        return np.arange(sample.n_entries)
    if sample.symmetry is None:
        return sample.entries.flat_index
    return np.minimum(sample.i, sample.j) * sample.shape[1] + np.maximum(sample.i, sample.j)


def _without(
    cells: Cells,
    sample: Observation,
    out: NDArray[np.bool_],
    rows: NDArray[np.bool_],
    columns: NDArray[np.bool_],
) -> Cells:
    """The cells without some records, rows and columns."""
    if cells.is_table:
        return cells.without(hidden=sample.entries.flat_index[out])
    part = cells.without(entries=out[cells.record])
    return part.without(rows=rows, columns=columns) if rows.any() or columns.any() else part


def _fold(part: Cells, sample: Observation, which: NDArray[np.bool_]) -> Fold:
    """Some records that were left out, each position once unless they are independent draws."""
    records = np.flatnonzero(which)
    if sample.probabilities is None and sample.entries.has_repeats:
        records = records[sample.entries.take(records).unique()]
    some = sample.entries.take(records)
    values = double(to_numpy(some.values))
    return Fold(part, some.i, some.j, values, np.asarray(some.fit_weights), np.arange(len(records)), False)


def _with_sampled(
    fold: Fold, cells: Cells, rows: NDArray[np.bool_], columns: NDArray[np.bool_], rng: np.random.Generator
) -> Fold:
    """With some cells of the rows and columns that are left out, of those that are not known otherwise."""
    if not (rows.any() or columns.any()):
        return fold
    part, group = fold.cells, len(fold.i)
    parts = [fold[1:6]]
    for sampled, index, out, known, turn in (
        (cells.rows, cells.row_index, rows, part.column_index, False),
        (cells.columns.T, cells.column_index, columns, part.row_index, True),
    ):
        free = np.setdiff1d(np.arange(sampled.shape[1]), known)
        for k in np.flatnonzero(out):
            places = rng.permutation(free)[:MOST_OF_A_ROW]
            values = double(to_numpy(gather(sampled, np.full(len(places), k), places)))
            places, values = places[~np.isnan(values)], values[~np.isnan(values)]
            same = np.full(len(places), index[k])
            i, j = (places, same) if turn else (same, places)
            parts.append((i, j, values, np.ones(len(places)), np.full(len(places), group)))
            group += 1
    i, j, values, weights, groups = (np.concatenate(x) for x in zip(*parts, strict=True))
    return Fold(part, i, j, values, weights, groups, True)
