"""What is known of the means of rows or columns: a value, and its report."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._support.extras import import_extra
from .._typing import FloatArray, IndexVector, Names, Shape
from .._validation import check_count, check_index
from ..factorization import Fact
from ..factorization.report import facts_as_html, facts_as_text
from ..observation import Observation
from ..observation.fill import limited
from ..observation.forbidden import OPEN_PLACES
from .best import LINES, Best, decide
from .differences import Difference, Means, largest_possible, paired_means, rank_limits

__all__ = ["MeanEstimates"]


@dataclass(frozen=True, eq=False)
class MeanEstimates:
    """Means of all rows (``axis`` 1) or columns (``axis`` 0) of a matrix of which a part was read.

    If no interval can be given, its ends are NaN and ``reason`` is why; rows that were read whole are exact.
    """

    estimate: FloatArray  # (n,)
    low: FloatArray  # (n,), an interval for each mean by itself, at ``level``
    high: FloatArray  # (n,)
    joint_low: FloatArray  # (n,), intervals that hold all at once, at ``level``
    joint_high: FloatArray  # (n,)
    total: float  # estimated sum of the whole matrix
    total_interval: tuple[float, float] | None  # at ``level``; None if it is refused
    n_entries: IndexVector  # (n,), entries of each row that are evidence; in rows that were read whole, 0
    is_exact: Any  # (n,), which rows were read whole
    compared: tuple[Means, ...]  # means by which rows are compared; if several, by all of them
    axis: int
    level: float
    reason: str = ""  # why there are no intervals; empty if there are
    names: Names | None = None  # (n,), of the rows or columns
    noise: float = 0.0  # standard deviation of a reading; nan if it is not known
    n_places: FloatArray | None = None  # (n,), places of each that may be read; None if all may
    paired: Observation | None = None  # with columns drawn to compare rows (those whose means these are)

    def __len__(self) -> int:
        return len(self.estimate)

    @property
    def what(self) -> str:
        """Whose means they are: "rows" or "columns"."""
        return LINES[self.axis]

    @property
    def is_open(self) -> Any:
        """Which of them have places that may be read, shape (n,); the others are predicted, without intervals."""
        return np.ones(len(self), dtype=bool) if self.n_places is None else self.n_places > 0

    def within(self, min_value: float | None, max_value: float | None, shape: Shape) -> MeanEstimates:
        """The same of values that are known to have these limits, in a matrix of this shape."""
        names = ("estimate", "low", "high", "joint_low", "joint_high")
        size = math.prod(shape) if self.n_places is None else max(float(np.sum(self.n_places)), 1.0)
        means: dict[str, Any] = {name: limited(getattr(self, name), min_value, max_value) for name in names}
        sums = np.array([self.total, *(self.total_interval or ())]) / size
        total, *ends = (float(x) for x in limited(sums, min_value, max_value) * size)
        return replace(self, **means, total=total, total_interval=(ends[0], ends[1]) if ends else None)

    def best(self, k: int, *, largest: bool = True) -> IndexVector:
        """Positions of those that may be among the ``k`` best, the best estimate first.

        The others are not, with the confidence ``level`` for all of them at once: at least k are above each of them, by
        intervals of differences. If intervals are refused, all may be.

        Parameters
        ----------
        k : int
            How many are looked for.
        largest : bool, default True
            Whether large means are good, or small ones.

        Returns
        -------
        array of positions
        """
        k = check_count(k, name="k", at_least=1, at_most=len(self), of=self.what)
        if self.paired is not None:
            return decide(self.paired, Best(k, largest=largest, level=self.level)).possible
        sign = 1 if largest else -1
        possible = np.flatnonzero(largest_possible([means.times(sign) for means in self.compared], k, self.level))
        best: IndexVector = possible[np.argsort(-sign * self.estimate[possible], kind="stable")]
        return best

    def n_possible(self, k: int, *, largest: bool = True) -> int:
        """How many of those with places that may be read may be among the ``k`` best."""
        return int(np.count_nonzero(self.is_open[self.best(k, largest=largest)]))

    def difference(self, a: int, b: int) -> Difference:
        """How much larger the mean at position ``a`` is than that at ``b``, with an interval at ``level``.

        If all rows were read in the same columns, drawn uniformly, what the columns have in common cancels. Otherwise
        the errors of two rows are independent. The interval holds for this one pair; ``best`` and ``rank_intervals``
        hold for all rows at once. Its ends are NaN if intervals are refused.

        Parameters
        ----------
        a, b : int
            Positions of two rows, or columns.

        Returns
        -------
        Difference
            ``estimate``, ``low``, ``high`` and ``is_clear``: whether the interval leaves zero out.
        """
        first, second = check_index([a, b], len(self), name="a and b").tolist()
        if self.paired is not None and first != second and not self.reason:
            return paired_means(self.paired, [first, second]).difference(0, 1, self.level)
        return self.compared[0].difference(first, second, self.level)

    def rank_intervals(self, *, largest: bool = True) -> tuple[IndexVector, IndexVector]:
        """Between which ranks each of them lies, with the confidence ``level`` for all at once.

        Parameters
        ----------
        largest : bool, default True
            Whether rank 1 is that of the largest mean, or of the smallest.

        Returns
        -------
        array of shape (n,), array of shape (n,)
            The best rank and the worst rank that each may have. All pairs are compared, in O(n^2) time.
        """
        return rank_limits([means.times(1 if largest else -1) for means in self.compared], self.level)

    def to_frame(self) -> Any:
        """A table (pandas) with one row for each row or column: estimate, intervals, entries."""
        pandas = import_extra("pandas", extra="pandas", purpose="tables with names need pandas")
        columns = ("estimate", "low", "high", "joint_low", "joint_high", "n_entries", "is_exact")
        index = None if self.names is None else pandas.Index(self.names, name=self.what[:-1])
        return pandas.DataFrame({name: getattr(self, name) for name in columns}, index=index)

    @property
    def verdict(self) -> str:
        """The estimates in one sentence."""
        if self.reason:
            return f"no intervals: {self.reason}"
        width = float(np.nanmedian(self.high - self.low))
        places = "" if self.n_places is None else f" over {OPEN_PLACES}"
        means = f"the means of {np.count_nonzero(self.is_open)} {self.what}{places}"
        return f"{means}, in the median known to {width / 2:.3g} up or down ({self.level:.0%})"

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The estimates as facts, ready to be shown."""
        first = int(np.argmax(np.where(self.is_open, self.estimate, -math.inf)))
        closed = int(np.count_nonzero(~self.is_open))
        rows, total = self.what, "total"
        if self.n_places is not None:
            rows, total = f"{rows}, of those with places that may be read", f"total of {OPEN_PLACES}"
        name = first if self.names is None else self.names[first]
        interval = "" if self.total_interval is None else "between {:.4g} and {:.4g}".format(*self.total_interval)
        exact = int(np.count_nonzero(self.is_exact))
        few = int(np.count_nonzero(~self.is_exact & (self.n_entries < 1) & self.is_open))
        noisy = "means are of the values as they were measured" if math.isnan(self.noise) else ""
        return (
            Fact("verdict", self.verdict),
            Fact("largest", f"{name}, {self.estimate[first]:.4g}", "largest estimate"),
            Fact("may_be_largest", None if self.reason else self.n_possible(1), "may be the largest", rows),
            Fact("total", self.total, total, reason=interval),
            Fact("exact", exact or None, "read whole", self.what),
            Fact("without_entries", few or None, "without entries", f"{self.what}, estimated from the others"),
            Fact("without_places", closed or None, "without places that may be read", f"{self.what}, only predicted"),
            Fact("noise", None if not self.noise else self.noise, reason=noisy),
        )

    def __str__(self) -> str:
        return facts_as_text(self.facts)

    def __repr__(self) -> str:
        return f"<MeanEstimates of {len(self)} {self.what}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return facts_as_html("Means", self.facts)
