r"""Reading until the error is small enough: crosses through the places that are explained worst.

Each look draws fresh entries, judges by them the answer made from everything read before, and if that is not good
enough adds a quarter more rows and columns: rows through entries drawn by their squared errors, and columns where these
rows, once read, are explained worst. Entries that a look has judged by help to choose, and judge no more.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._arrays import float64, take, to_numpy
from .._sets import NO_INDEX, union
from .._typing import FloatArray, IndexVector, Shape
from ..evaluation.certificate import HELD_OUT
from ..evaluation.effective_sample import effective_sample_size, tail_of
from ..evaluation.estimate import Estimate
from ..evaluation.residual import zero_at_gaps
from ..factorization import Factorization
from ..methods import approximate
from ..observation import Observation, SamplePlan, SamplingDesign
from ..observation.plan import distinct_others
from .budget import check_budget
from .candidates import scaled
from .costs import Prices, spent
from .greedy import ResidualColumns
from .scores import weighted_draw

__all__ = ["Allowance", "read_to_tolerance"]

LEVEL = 0.95  # over all looks together
GROWTH = 0.25  # more rows and columns after each look
FEWEST, MOST = 100, 50_000  # entries of a look; errors near a diagonal are met by many only
ADAPTIVE = SamplingDesign("adaptive", "adaptive", "uniform")


class Allowance(NamedTuple):
    """A budget for reading to a tolerance; without one, everything may be read."""

    money: float
    prices: Prices
    symmetric: bool

    @classmethod
    def of(cls, budget: Any, costs: Any, shape: Shape, symmetric: bool) -> Allowance:
        """What a budget means; None is one without an end."""
        money, prices = check_budget(1.0 if budget is None else budget, costs, shape)
        return cls(math.inf if budget is None else money, prices, symmetric)

    def left(self, seen: Observation) -> float:
        """What is left of it."""
        return self.money - spent(seen, self.prices, symmetric=self.symmetric).total

    def entries(self, seen: Observation) -> int:
        """How many more entries can be paid for."""
        return int(min(self.left(seen) / float(np.max(self.prices.entry)), seen.shape[0] * seen.shape[1]))

    def crosses(self, seen: Observation) -> int:
        """How many more rows and columns of each kind can be paid for, with a look at them."""
        dearest = float(np.max(self.prices.columns)) + (0.0 if self.symmetric else float(np.max(self.prices.rows)))
        for_a_look = FEWEST * float(np.max(self.prices.entry))
        return int(min(max(self.left(seen) - for_a_look, 0.0) / dearest, *seen.shape))


def read_to_tolerance(
    carry_out: Callable[[SamplePlan, Observation], Observation],
    seen: Observation,
    tol: float,
    allowance: Allowance,
    *,
    seed: int,
) -> Observation:
    """Looks, and crosses where the last look found the largest errors, until one look is good enough.

    ``carry_out`` reads what a plan names, and returns all that is then known.
    """
    for number in itertools.count(1):
        rng = np.random.default_rng([seed, number, *seen.counts])
        seen = carry_out(fresh_entries(seen, allowance.entries(seen), rng), seen)
        found = look(seen, number)
        about = (
            f"on entries it had not seen, the relative error is about {found.error:.2g}, and below {found.bound:.2g} "
            f"with {LEVEL:.0%} confidence over all looks, if errors not met are like those met"
        )
        if found.bound <= tol:
            return seen.noted(f"stopped at the tolerance {tol:g}: {about}")
        most = allowance.crosses(seen)
        if most < 1 or min(seen.shape[0] - seen.n_rows, seen.shape[1] - seen.n_columns) < 1:
            why = "the budget is spent" if most < 1 else "everything is read"
            return seen.noted(f"stopped above the tolerance {tol:g}, as {why}: {about}")
        seen = _more_crosses(carry_out, found, most, allowance.symmetric, rng)
    raise AssertionError("unreachable")  # pragma: no cover


def _more_crosses(
    carry_out: Callable[[SamplePlan, Observation], Observation],
    found: Look,
    most: int,
    symmetric: bool,
    rng: np.random.Generator,
) -> Observation:
    """Rows through large errors, then columns where these rows have them; of a symmetric matrix only columns."""
    rows = more_rows(found, most, rng)
    if symmetric:
        return carry_out(_lines_plan(found.steering, columns=rows), found.steering)
    seen = carry_out(_lines_plan(found.steering, rows=rows), found.steering)
    return carry_out(_lines_plan(seen, columns=more_columns(found, seen, rows, most)), seen)


def _lines_plan(seen: Observation, *, rows: IndexVector = NO_INDEX, columns: IndexVector = NO_INDEX) -> SamplePlan:
    what = f"{len(rows)} rows" if len(rows) else f"{len(columns)} columns"
    reason = f"{what} through the largest errors of the last look"
    return SamplePlan(seen.shape, columns, rows, NO_INDEX, NO_INDEX, design=ADAPTIVE, reasons=(reason,))


class Look(NamedTuple):
    """What fresh entries say of an answer."""

    answer: Factorization | None  # made from everything read before; None if nothing was
    error: float  # relative, estimated
    bound: float  # upper confidence bound of it
    steering: Observation  # all that is known, with no entry left as evidence


def fresh_entries(seen: Observation, most: int, rng: np.random.Generator) -> SamplePlan:
    """Entries for the next look, about a twentieth of what the rows and columns have, within limits."""
    n, m = seen.shape
    excluded = union(seen.entries.flat_index, seen.gap_index())
    wanted = min(int(np.clip((n + m) * (seen.n_rows + seen.n_columns) / 20, FEWEST, MOST)), most)
    flat = distinct_others(rng, n * m, min(wanted, n * m - len(excluded)), excluded)
    reason = f"{len(flat)} entries drawn uniformly, to judge"
    design = SamplingDesign("uniform", "uniform", "uniform")
    return SamplePlan(seen.shape, NO_INDEX, NO_INDEX, flat // m, flat % m, design=design, reasons=(reason,))


def look(seen: Observation, number: int) -> Look:
    """Judge what was read before the fresh entries, at a level that leaves something for all later looks."""
    before = seen.subset(entries=np.flatnonzero(seen.steering), design=seen.design)
    answer = approximate(before) if before.n_columns and before.n_rows else None
    errors, values = errors_of(answer, seen, np.arange(seen.n_entries)), to_numpy(float64(seen.values))
    size = float(np.max(np.abs(values), initial=0.0)) or 1.0
    level = 1 - (1 - LEVEL) / (number * (number + 1))
    _, error, highest = _mean_square(errors[~seen.steering] / size, level)
    lowest, of_matrix, _ = _mean_square(values / size, level)
    steering = seen._replaced(evidence=np.zeros(seen.n_entries, dtype=bool))
    if not of_matrix:
        return Look(answer, 0.0, 0.0, steering)
    return Look(answer, math.sqrt(error / of_matrix), math.sqrt(highest / lowest) if lowest else math.inf, steering)


def _mean_square(x: FloatArray, level: float) -> tuple[float, float, float]:
    """A mean square and its limits, by the rule of certificates: wider where few squares decide or tails are long."""
    squares = x**2
    mean = float(np.mean(squares)) if len(squares) else 0.0
    if mean == 0:
        return 0.0, 0.0, 0.0 if len(squares) else math.inf
    size = effective_sample_size(squares)
    spread = float(np.std(squares)) / mean / math.sqrt(len(squares))
    estimate = Estimate(HELD_OUT, rest=mean, effective_size=size, spread=spread, stretch=tail_of(squares).stretch)
    low, high = estimate.limits(level)
    return low, mean, high


def errors_of(answer: Factorization | None, seen: Observation, records: IndexVector) -> FloatArray:
    """Values less predictions at some entries; without an answer, the values."""
    values: FloatArray = to_numpy(float64(take(seen.values, records, axis=0)))
    if answer is None:
        return values
    return np.asarray(values - to_numpy(float64(answer.entries(seen.i[records], seen.j[records]))))


def more_rows(found: Look, most: int, rng: np.random.Generator) -> IndexVector:
    """Rows through entries that are explained badly; entries on rows and columns that are known say nothing."""
    seen = found.steering
    count = min(max(1, math.ceil(GROWTH * seen.n_rows), 2 - seen.n_rows), most, seen.shape[0] - seen.n_rows)
    outside = np.flatnonzero(seen.outside)
    errors = errors_of(found.answer, seen, outside)
    squares = (errors / (np.max(np.abs(errors), initial=0.0) or 1.0)) ** 2
    named = seen.i[outside[weighted_draw(squares, len(outside), rng)]]
    _, first = np.unique(named, return_index=True)
    rows = named[np.sort(first)][:count]
    others = distinct_others(rng, seen.shape[0], count - len(rows), np.union1d(seen.row_index, rows))
    return np.concatenate([rows, others]).astype(np.int64)


def more_columns(found: Look, seen: Observation, new_rows: IndexVector, most: int) -> IndexVector:
    """Columns where the new rows, once they are read, are explained worst."""
    where = np.flatnonzero(np.isin(seen.row_index, new_rows))
    errors = float64(take(seen.rows, where, axis=0))
    if found.answer is not None:
        errors = errors - float64(found.answer.rows(seen.row_index[where]))
    errors = errors if seen.known_rows is None else zero_at_gaps(errors, take(seen.known_rows, where, axis=0))
    residual = ResidualColumns(scaled(errors), excluded=seen.column_index)
    return np.asarray(residual.pick(min(len(new_rows), most), residual.norms), dtype=np.int64)
