r"""Reading until the error is small enough: crosses through the places that are explained worst.

Each look draws fresh entries, judges by them the answer made from everything read before, and if that is not good
enough adds a quarter more rows and columns: rows through entries drawn by their squared errors, and columns where these
rows, once read, are explained worst. Entries that a look has judged by help to choose, and judge no more.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.special

from .._arrays import float64, to_numpy
from .._typing import FloatArray, IndexVector
from ..factorization import Factorization
from ..methods import approximate
from ..observation import Observation, SamplePlan, SamplingDesign
from ..observation.plan import distinct_others
from .greedy import ResidualColumns
from .scores import weighted_draw

__all__ = ["FEWEST", "Look", "fresh_entries", "look", "more_columns", "more_rows"]

LEVEL = 0.95  # over all looks together
GROWTH = 0.25  # more rows and columns after each look
FEWEST, MOST = 100, 1000  # entries of a look
NO_INDEX: IndexVector = np.empty(0, dtype=np.int64)
ADAPTIVE = SamplingDesign("adaptive", "adaptive", "uniform")


class Look(NamedTuple):
    """What fresh entries say of an answer."""

    answer: Factorization | None  # made from everything read before; None if nothing was
    error: float  # relative, estimated
    bound: float  # upper confidence bound of it
    steering: Observation  # all that is known, with no entry left as evidence


def fresh_entries(seen: Observation, most: int, rng: np.random.Generator) -> SamplePlan:
    """Entries for the next look, about a twentieth of what the rows and columns have, within limits."""
    n, m = seen.shape
    excluded = np.union1d(seen.entries.flat_index, seen.gap_index())
    wanted = min(int(np.clip((n + m) * (seen.n_rows + seen.n_columns) / 20, FEWEST, MOST)), most)
    flat = distinct_others(rng, n * m, min(wanted, n * m - len(excluded)), excluded)
    reason = f"{len(flat)} entries drawn uniformly, to judge"
    design = SamplingDesign("uniform", "uniform", "uniform")
    return SamplePlan(seen.shape, NO_INDEX, NO_INDEX, flat // m, flat % m, design=design, reasons=(reason,))


def look(seen: Observation, number: int) -> Look:
    """Judge what was read before the fresh entries, at a level that leaves something for all later looks."""
    fresh = np.flatnonzero(~seen.steering)
    before = seen.subset(entries=np.flatnonzero(seen.steering), design=seen.design)
    answer = approximate(before) if before.n_columns and before.n_rows else None
    values = to_numpy(float64(seen.values))
    errors = values if answer is None else values - to_numpy(float64(answer.entries(seen.i, seen.j)))
    size = float(np.max(np.abs(values), initial=0.0)) or 1.0
    errors, values = errors / size, values / size
    quantile = float(scipy.special.ndtri(1 - (1 - LEVEL) / (number * (number + 1)) / 2))
    mean, spread = _mean_and_error(errors[fresh] ** 2)
    of_matrix, its_spread = _mean_and_error(values**2)
    least = max(of_matrix - quantile * its_spread, of_matrix / 4)
    steering = seen._replaced(evidence=np.zeros(seen.n_entries, dtype=bool))
    bound = math.sqrt((mean + quantile * spread) / least) if least else 0.0
    return Look(answer, math.sqrt(mean / of_matrix) if of_matrix else 0.0, bound, steering)


def _mean_and_error(squares: FloatArray) -> tuple[float, float]:
    """Mean, and its standard error."""
    count = len(squares)
    if count < 2:
        return float(np.sum(squares)), math.inf
    return float(np.mean(squares)), float(np.std(squares, ddof=1)) / math.sqrt(count)


def more_rows(found: Look, most: int, rng: np.random.Generator) -> IndexVector:
    """Rows through entries that are explained badly; entries on rows and columns that are known say nothing."""
    seen = found.steering
    count = min(max(1, math.ceil(GROWTH * seen.n_rows), 2 - seen.n_rows), most, seen.shape[0] - seen.n_rows)
    outside = np.flatnonzero(seen.outside)
    squares = _squares(found, outside)
    named = seen.i[outside[weighted_draw(squares, len(outside), rng)]]
    _, first = np.unique(named, return_index=True)
    rows = named[np.sort(first)][:count]
    others = distinct_others(rng, seen.shape[0], count - len(rows), np.union1d(seen.row_index, rows))
    return np.concatenate([rows, others]).astype(np.int64)


def more_columns(found: Look, seen: Observation, new_rows: IndexVector, most: int) -> IndexVector:
    """Columns where the new rows, once they are read, are explained worst."""
    where = np.flatnonzero(np.isin(seen.row_index, new_rows))
    errors = to_numpy(float64(seen.rows))[where]
    if found.answer is not None:
        errors = errors - to_numpy(float64(found.answer.rows(seen.row_index[where])))
    errors = np.where(np.isnan(errors), 0.0, errors)
    size = float(np.max(np.abs(errors), initial=0.0)) or 1.0
    residual = ResidualColumns(errors / size, excluded=seen.column_index)
    return np.asarray(residual.pick(min(len(new_rows), most), residual.norms), dtype=np.int64)


def _squares(found: Look, records: IndexVector) -> FloatArray:
    seen = found.steering
    errors = to_numpy(float64(seen.values))[records]
    if found.answer is not None:
        errors = errors - to_numpy(float64(found.answer.entries(seen.i[records], seen.j[records])))
    size = float(np.max(np.abs(errors), initial=0.0)) or 1.0
    squares: FloatArray = (errors / size) ** 2
    return squares
