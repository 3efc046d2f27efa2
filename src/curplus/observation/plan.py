"""What will be looked at: positions only, no values.

The paper samples columns, rows and scattered entries uniformly at random (Section 3.1). A plan is made before anything
is read, and nothing outside it is ever read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import IndexVector, RandomState, Shape, Vector
from .._validation import check_count, check_shape
from ..exceptions import InvalidArgumentError

__all__ = ["SampleCounts", "SamplePlan", "SamplingDesign", "default_counts", "uniform_plan"]


class SamplingDesign(NamedTuple):
    """How each part was drawn: ``"uniform"``, ``"given"`` by the user, or ``"adaptive"``; error estimates need it."""

    columns: str = "given"
    rows: str = "given"
    entries: str = "given"


class SampleCounts(NamedTuple):
    """How many columns, rows and entries to read."""

    n_columns: int
    n_rows: int
    n_entries: int


class SamplePlan(NamedTuple):
    """Which columns, rows and entries of a matrix of size ``shape`` to read."""

    shape: Shape
    column_index: IndexVector  # (d1,), ascending
    row_index: IndexVector  # (d2,), ascending
    i: IndexVector  # (|Omega|,), entries in row-major order
    j: IndexVector  # (|Omega|,)
    probabilities: Vector | None = None  # (|Omega|,), the chance of each position in one draw; None: all alike
    design: SamplingDesign = SamplingDesign()
    reasons: tuple[str, ...] | None = None  # why these were chosen, in words


def uniform_plan(shape: Shape, *, n_columns: int, n_rows: int, n_entries: int, rng: RandomState = None) -> SamplePlan:
    """Draw columns, rows and entries uniformly at random, each without replacement.

    The entries are drawn from all ``n * m`` positions, those in sampled rows and columns included.
    """
    n, m = shape = check_shape(shape)
    if n * m > np.iinfo(np.int64).max:
        raise InvalidArgumentError(f"a matrix of shape {shape} has more than 2**63 entries, too many to number.")
    d1 = check_count(n_columns, name="n_columns", at_most=m, of="columns")
    d2 = check_count(n_rows, name="n_rows", at_most=n, of="rows")
    size = check_count(n_entries, name="n_entries", at_most=n * m, of="entries")
    rng = np.random.default_rng(rng)
    columns, rows, entries = distinct(rng, m, d1), distinct(rng, n, d2), distinct(rng, n * m, size)
    return SamplePlan(
        shape, columns, rows, entries // m, entries % m, design=SamplingDesign("uniform", "uniform", "uniform")
    )


def default_counts(shape: Shape, rank: int) -> SampleCounts:
    """SampleCounts for those who do not say: ``5 * rank`` columns and rows, ``20 * rank**2`` entries, or all there are.

    The paper's experiments go up to ``5 * rank`` columns; entries beyond ``4 * rank**2`` keep noise from being
    amplified, and twenty per unknown cost far less than the rows and columns do.
    """
    n, m = shape
    return SampleCounts(min(m, 5 * rank), min(n, 5 * rank), min(n * m, 20 * rank**2))


def distinct(rng: np.random.Generator, population: int, size: int) -> IndexVector:
    """``size`` distinct numbers of ``range(population)``, ascending, in memory proportional to ``size``.

    Keeping the first ``size`` different values of a sequence of independent draws is sampling without replacement.
    """
    if size > population // 4:
        return np.sort(rng.permutation(population)[:size])
    seen: IndexVector = np.empty(0, dtype=np.int64)
    while len(seen) < size:
        missing = size - len(seen)
        draws = rng.integers(population, size=missing + 16)
        # The first draws cannot be too many, in whatever order they came; of the last sixteen, the earlier ones count.
        seen = _with_new(seen, draws[:missing])
        late = np.array(list(dict.fromkeys(draws[missing:].tolist())))  # each once, in order of appearance
        seen = _with_new(seen, late[_is_new(late, seen)][: size - len(seen)])
    return seen


def _with_new(seen: IndexVector, draws: IndexVector) -> IndexVector:
    """What is in ``seen``, which ascends, or in ``draws``: each number once, ascending; only the draws are sorted."""
    draws = np.sort(draws)
    draws = draws[np.diff(draws, prepend=-1) > 0]
    new = draws[_is_new(draws, seen)]
    return np.insert(seen, np.searchsorted(seen, new), new)


def _is_new(numbers: IndexVector, seen: IndexVector) -> NDArray[np.bool_]:
    """Which of the numbers are not in ``seen``, which ascends."""
    if len(seen) == 0:
        return np.ones(len(numbers), dtype=bool)
    place = np.minimum(np.searchsorted(seen, numbers), len(seen) - 1)
    return np.not_equal(seen[place], numbers)
