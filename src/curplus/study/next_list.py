"""What to put on the next list: whole rows and columns, and scattered cells, within a budget.

Without data the first list draws a few of each. Later ones choose rows and columns by what the known ones say of the
others, as :func:`curplus.acquire` does, and draw more cells. Rows, columns and cells that are out are not asked for
again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._arrays import index_table
from .._typing import FloatArray, IndexVector
from ..acquisition.candidates import candidate_rows
from ..acquisition.choice import STRATEGIES
from ..observation import Observation, SamplePlan, SamplingDesign
from ..observation.plan import distinct_others
from .cells import is_in, union
from .money import Prices

__all__ = ["Known", "next_plan"]

LINES = 0.8  # share of all that is spent which goes to whole rows and columns, half to each
AT_LEAST = 0.5  # of all cells: with fewer of them on the first rows and columns, cells alone say more


class Known(NamedTuple):
    """What a list need not ask for, or must not."""

    cells: IndexVector  # measured, failed or out, ascending
    drawn: IndexVector  # of these, drawn on earlier lists, ascending
    forbidden: IndexVector  # cells, ascending
    rows: IndexVector  # asked for whole, ascending
    columns: IndexVector
    forbidden_rows: IndexVector
    forbidden_columns: IndexVector


def next_plan(
    observation: Observation, budget: float, prices: Prices, known: Known, seed: int, *, whole: bool = True
) -> SamplePlan:
    """Rows, columns and cells to ask for, for at most ``budget``; those that are known cost nothing.

    Where rows and columns may not be ``whole``, cells alone.
    """
    rng = np.random.default_rng([seed, *observation.counts, len(known.cells)])
    total = budget + prices.entry * len(known.cells)
    taken_columns, taken_rows = (known.columns, known.forbidden_columns), (known.rows, known.forbidden_rows)
    columns, left = _lines(observation.T, prices.column, taken_columns, total, budget, rng)
    rows, left = _lines(observation, prices.row, taken_rows, total, left, rng)
    is_first = not observation.n_rows * observation.n_columns
    if not whole or (is_first and not _are_worth_it(len(rows), len(columns), observation.shape, total / prices.entry)):
        rows, columns, left = rows[:0], columns[:0], budget
    if prices.by_cell:
        met = np.add.outer(rows * observation.shape[1], columns)
        left += prices.entry * int(np.count_nonzero(~is_in(met, known.cells)))  # they were counted twice
    i, j = _cells(observation.shape, math.floor(left / prices.entry + 1e-9), known, rows, columns, rng)
    word = "uniform" if is_first else "adaptive"
    why = "drawn uniformly, as a start" if is_first else "chosen because it differs most from what is known"
    return SamplePlan(
        observation.shape, columns, rows, i, j, design=SamplingDesign(word, word, "uniform"), reasons=(why,)
    )


def _are_worth_it(n_rows: int, n_columns: int, shape: tuple[int, int], n_cells: float) -> bool:
    """Whether the first rows and columns are of both kinds, and enough of all that will be known."""
    n, m = shape
    return n_rows * n_columns > 0 and n_rows * m + n_columns * n >= AT_LEAST * n_cells


def _lines(
    observation: Observation,
    prices: FloatArray,
    asked_and_forbidden: tuple[IndexVector, IndexVector],
    total: float,
    left: float,
    rng: np.random.Generator,
) -> tuple[IndexVector, float]:
    """Rows to ask for whole, and what is left of the budget: for columns, give the transposed observation."""
    n, taken = observation.shape[0], union(*asked_and_forbidden)
    usual = float(np.median(prices))
    wanted = int(LINES / 2 * total / usual) - len(asked_and_forbidden[0])
    count = max(0, min(wanted, n - len(taken), int(left / usual)))
    if not count:
        return taken[:0], left
    if observation.n_columns and observation.n_rows:
        candidates = candidate_rows(observation, wanted_more=observation.shape[0] > observation.shape[1])
        out = np.setdiff1d(taken, observation.row_index)
        candidates = candidates._replace(excluded=out, prices=np.asarray(prices))
        chosen = STRATEGIES["auto"].choose(candidates, count, rng)
    else:
        chosen = rng.permutation(distinct_others(rng, n, count, taken))
    affordable = np.cumsum(prices[chosen]) <= left
    chosen = chosen[affordable]
    return chosen, left - float(np.sum(prices[chosen]))


def _cells(
    shape: tuple[int, int],
    count: int,
    known: Known,
    rows: IndexVector,
    columns: IndexVector,
    rng: np.random.Generator,
) -> tuple[IndexVector, IndexVector]:
    """Cells drawn uniformly until ``count`` of them are neither known nor on the rows and columns of the list."""
    n, m = shape
    excluded = union(known.drawn, known.forbidden)
    size = n * m - len(excluded)
    on_row, on_column = index_table(rows, n) >= 0, index_table(columns, m) >= 0
    drawn: IndexVector = excluded[:0]
    new_of_all = max(1 - len(known.cells) / (n * m), 1 / (n * m))
    n_new = 0
    while n_new < count and len(drawn) < size:
        at_once = min(math.ceil((count - n_new) / new_of_all), size - len(drawn))
        more = rng.permutation(distinct_others(rng, n * m, at_once, union(excluded, drawn)))
        is_new = ~(on_row[more // m] | on_column[more % m] | is_in(more, known.cells))
        enough = np.cumsum(is_new) <= count - n_new
        n_new += int(np.count_nonzero(is_new & enough))
        drawn = union(drawn, more[enough])
    return drawn // m, drawn % m
