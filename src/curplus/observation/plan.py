"""What will be read: positions only, no values.

The paper samples columns, rows and scattered entries uniformly at random (Section 3.1). A plan is made before anything
is read, and nothing outside it is ever read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._support.sets import NO_INDEX
from .._typing import IndexVector, RandomState, Shape, Vector
from .._validation import check_count, check_shape, random_generator
from ..exceptions import InvalidArgumentError
from .forbidden import Region

__all__ = [
    "ALL_UNIFORM",
    "CHOSEN_ROWS_AND_COLUMNS",
    "SampleCounts",
    "SamplePlan",
    "SamplingDesign",
    "check_counts",
    "default_counts",
    "distinct",
    "distinct_others",
    "uniform_plan",
]

DESIGNS = ("uniform", "given", "adaptive")  # of two samples that are joined, the later word holds


class SamplingDesign(NamedTuple):
    """How columns, rows and entries were drawn: error estimates depend on it.

    Each is ``"uniform"``, from all that is not ``Observation.forbidden``; ``"given"`` by the user in an unknown
    way; or ``"adaptive"``: chosen by what was read before. Entries that took part in choosing
    (``Observation.evidence``) do not count: the word is for the others.
    """

    columns: str = "given"
    rows: str = "given"
    entries: str = "given"

    @property
    def T(self) -> SamplingDesign:
        """The same for the transposed matrix."""
        return SamplingDesign(self.rows, self.columns, self.entries)

    def of(self, sizes: SampleCounts) -> SamplingDesign:
        """The design of a sample of these sizes; a part that is not of the size that was drawn is only given."""
        drawn = getattr(self, "sizes", sizes)
        words = ("given" if a != b else word for word, a, b in zip(self, sizes, drawn, strict=True))
        design = _DesignOfSizes(*words)
        design.sizes = sizes
        return design

    def join(self, other: SamplingDesign, sizes: SampleCounts, other_sizes: SampleCounts) -> SamplingDesign:
        """The design of two samples taken together; a part that one of them lacks is as it is in the other."""
        return SamplingDesign(
            *(
                a if not new else b if not old else max(a, b, key=DESIGNS.index)
                for a, b, old, new in zip(self, other, sizes, other_sizes, strict=True)
            )
        )


class _DesignOfSizes(SamplingDesign):
    """A design with the sizes of its sample: a part that has been cut since has another design."""

    sizes: SampleCounts

    def __repr__(self) -> str:
        return repr(SamplingDesign(*self))


DEFAULT_RANK = 10  # if the user names none
ALL_UNIFORM = SamplingDesign("uniform", "uniform", "uniform")
CHOSEN_ROWS_AND_COLUMNS = SamplingDesign("adaptive", "adaptive", "uniform")  # rows and columns are no sample


class SampleCounts(NamedTuple):
    """How many columns, rows and entries to read."""

    n_columns: int
    n_rows: int
    n_entries: int


class SamplePlan(NamedTuple):
    """Which columns, rows and entries of a matrix of size ``shape`` to read."""

    shape: Shape
    column_index: IndexVector  # (d1,)
    row_index: IndexVector  # (d2,)
    i: IndexVector  # (|Omega|,), entries in row-major order
    j: IndexVector  # (|Omega|,)
    probabilities: Vector | None = None  # (|Omega|,), chance of each position in one draw; None if all were alike
    design: SamplingDesign = SamplingDesign()
    reasons: tuple[str, ...] | None = None  # why these are read
    evidence: bool = True  # whether the entries will take no part in choosing what is read later
    forbidden: Region = Region()  # where no entry could be drawn
    drawn_columns: IndexVector = NO_INDEX  # drawn uniformly, in this order, to compare rows by their entries there
    drawn_rows: IndexVector = NO_INDEX  # the same, to compare columns


def uniform_plan(shape: Shape, *, n_columns: int, n_rows: int, n_entries: int, rng: RandomState = None) -> SamplePlan:
    """Draw columns, rows and entries uniformly at random, each without replacement.

    The entries are drawn from all ``n * m`` positions, those in sampled rows and columns included.
    """
    n, m = shape = check_shape(shape)
    d1, d2, size = check_counts(shape, n_columns, n_rows, n_entries)
    rng = random_generator(rng)
    columns, rows, entries = distinct(rng, m, d1), distinct(rng, n, d2), distinct(rng, n * m, size)
    return SamplePlan(shape, columns, rows, entries // m, entries % m, design=ALL_UNIFORM)


def check_counts(shape: Shape, n_columns: int, n_rows: int, n_entries: int) -> SampleCounts:
    """Counts that a matrix of size ``shape`` has."""
    n, m = shape
    if n * m > np.iinfo(np.int64).max:
        raise InvalidArgumentError(f"a matrix of shape {shape} has more than 2**63 entries, too many to number.")
    return SampleCounts(
        check_count(n_columns, name="n_columns", at_most=m, of="columns"),
        check_count(n_rows, name="n_rows", at_most=n, of="rows"),
        check_count(n_entries, name="n_entries", at_most=n * m, of="entries"),
    )


def default_counts(shape: Shape, rank: int | None = None) -> SampleCounts:
    """Default counts: ``5 * rank`` columns and rows, ``20 * rank**2`` entries, or all there are.

    The paper's experiments go up to ``5 * rank`` columns; entries beyond ``4 * rank**2`` keep noise from being
    amplified, and twenty per unknown cost far less than the rows and columns do.
    """
    n, m = shape
    rank = min(DEFAULT_RANK, n, m) if rank is None else rank
    return SampleCounts(min(m, 5 * rank), min(n, 5 * rank), min(n * m, 20 * rank**2))


def distinct(rng: np.random.Generator, population: int, size: int) -> IndexVector:
    """``size`` distinct numbers of ``range(population)``, ascending, in memory proportional to ``size``.

    Keeping the first ``size`` different values of a sequence of independent draws is sampling without replacement.
    """
    if size > population // 4:
        return np.sort(rng.permutation(population)[:size])
    seen: IndexVector = NO_INDEX
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


def distinct_others(rng: np.random.Generator, size: int, count: int, taken: IndexVector) -> IndexVector:
    """``count`` distinct numbers of ``range(size)`` that are not ``taken``, ascending, uniformly at random."""
    gaps = np.sort(taken) - np.arange(len(taken))  # how many others come before each of those taken
    others = distinct(rng, size - len(taken), count)
    return others + np.searchsorted(gaps, others, side="right")
