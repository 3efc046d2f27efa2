"""Rows that are compared at successive looks: some are chosen, some leave, and the others are read on.

All follows from the values and the order in which columns were drawn, so that it can be gone through again at any time.
At a look with k places to fill among p rows, a row leaves if at least k others are above it, and is chosen if it is
above p - k others. If one of the true k best leaves, or another one is chosen, a row that is not among the best was
taken to be above one that is. Only rows at the border run that risk by a single mistake, of one of the others: so the
chance of the look is shared by p comparisons, or by all k (p - k) of them if these are fewer. For k > 1 this neglects
that several mistakes coincide; benchmarks/best.py measures how often the best are ruled out in rows that are all alike.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.special

from .._typing import FloatArray, IndexVector
from ..observation import Observation
from .differences import Means, Paired, features_of, means_with_controls, values_at, whole_rows

__all__ = ["Boundary", "RoundOfColumns", "Standing", "eliminated", "look_sizes"]

FIRST_COLUMNS = 20  # tuned: columns: with fewer, Student's t is off for 0/1 answers (benchmarks/best.py, coverage)
GROWTH = 1.1  # cost: of the sizes of looks; with 1.2 it takes 2 to 4 % more answers (benchmarks/best.py)
LOWEST, HIGHEST, STEPS = -6.0, 12.0, 120  # steps: grid of the normal densities, and the largest bound


def look_sizes(n_columns: int) -> list[int]:
    """Numbers of columns at which rows are compared, ascending; the last is all of them."""
    sizes, size = list[int](), float(FIRST_COLUMNS)
    while size < n_columns:
        sizes.append(round(size))
        size *= GROWTH
    return [size for size in sizes if size < n_columns] + [n_columns]


class Boundary:
    r"""Bounds of one comparison at successive looks, each of which spends a chance of being wrong.

    The mean of :math:`d` of :math:`m` columns, drawn uniformly, less the mean of all, has the variance
    :math:`\sigma^2 (1/d - 1/m)`, and means at :math:`d < d'` have the covariance :math:`\sigma^2 (1/d' - 1/m)`. So the
    standardised means at successive looks are those of a Brownian motion with the information
    :math:`I = 1 / (1/d - 1/m)`, which is infinite once all columns are read. A look spends a part of the chance that
    one comparison is ever wrong, and its bound follows from the distribution of what has not crossed an earlier bound
    (Armitage, McPherson and Rowe 1969; Lan and DeMets 1983).
    """

    def __init__(self) -> None:
        self._information = 0.0
        self._places: FloatArray = np.zeros(0)  # standardised means that crossed no bound so far
        self._masses: FloatArray = np.zeros(0)

    def chance(self, information: float, spent: float) -> float:
        """The one-sided level of this look at which the chance of a first mistake here is ``spent``."""
        if not len(self._places):
            bound = -float(scipy.special.ndtri(spent))
            places = np.linspace(LOWEST, bound, STEPS)
            density = _normal(places)
        else:
            share = self._information / information
            root, rest = math.sqrt(share), math.sqrt(1 - share)
            bound = self._bound(root, rest, spent)
            places = np.linspace(LOWEST, bound, STEPS)
            density = _normal((places[:, None] - root * self._places) / rest) @ self._masses / rest
        step = places[1] - places[0]
        masses = density * step
        masses[[0, -1]] /= 2
        self._information, self._places, self._masses = information, places, masses
        return float(scipy.special.ndtr(-bound))

    def _bound(self, root: float, rest: float, spent: float) -> float:
        """By bisection: the bound that is crossed now, and was not before, with the chance ``spent``."""
        low, high = LOWEST, HIGHEST
        for _ in range(50):  # steps: down to rounding
            middle = (low + high) / 2
            crossed = scipy.special.ndtr((root * self._places - middle) / rest) @ self._masses
            low, high = (middle, high) if crossed > spent else (low, middle)
        return high


def _normal(x: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi))


SAME = 1e-12  # rounding: of the largest value: means of the same numbers in another order differ by less


class RoundOfColumns(NamedTuple):
    """What was known after rows were compared."""

    n_columns: int  # in which they were
    n_chosen: int  # rows among the best
    n_left: int  # rows that are open


class Standing(NamedTuple):
    """Where the comparison stands."""

    chosen: IndexVector  # positions of rows, the best estimate first
    left: IndexVector  # of rows that are open, the best estimate first
    tied: IndexVector
    is_decided: bool
    looks: tuple[RoundOfColumns, ...]
    error_spent: float
    n_more: float
    next_size: int  # columns at the next look; 0 if values forbid to compare

    @classmethod
    def of_nothing(cls, rows: IndexVector) -> Standing:
        """All rows are left, and cannot be compared."""
        return cls(rows[:0], rows, rows[:0], False, (), 0.0, math.nan, next_size=0)


class Features(NamedTuple):
    """What other rows, which are known whole, have at the columns."""

    drawn: FloatArray  # (d, r), of the columns that were drawn
    mean: FloatArray  # (r,), over all columns

    @classmethod
    def of(cls, observation: Observation, paired: Paired) -> Features:
        """Those of the rows that are not compared."""
        others = np.setdiff1d(whole_rows(observation), paired.rows)
        columns = observation.forbidden.open_rows_and_columns(observation.shape)[1]
        features = features_of(values_at(observation, others, columns))
        return cls(features[np.searchsorted(columns, paired.columns)], np.mean(features, axis=0))


def eliminated(observation: Observation, rows: IndexVector, k: int, sign: int, error: float) -> Standing:
    """Which of some rows have the k largest means (of ``sign`` times the values), with a chance of error."""
    paired, unit = Paired.of(observation, rows), sign / (observation.magnitude or 1.0)
    is_exact = observation.noise is None
    race = _Race(paired._replace(values=unit * paired.values), Features.of(observation, paired), k, error, is_exact)
    race.run()
    chosen, left = np.array(race.chosen, dtype=np.int64), race.left
    is_decided, tied = not len(left), left[:0]
    if not is_decided and is_exact and np.isin(rows[left], whole_rows(observation)).all():
        columns = observation.forbidden.open_rows_and_columns(observation.shape)[1]
        means = unit * values_at(observation, rows[left], columns).mean(axis=1)
        best, tied = _by_exact_means(means, k - len(chosen))
        chosen, tied, is_decided = np.append(chosen, left[best]), left[tied], True
        left = tied
    n_more = 0.0 if is_decided else race.forecast()
    positions = (rows[chosen], rows[left], rows[tied])
    return Standing(*positions, is_decided, tuple(race.looks), race.error_spent, n_more, race.next_size)


def _by_exact_means(means: FloatArray, k: int) -> tuple[IndexVector, IndexVector]:
    """The k largest, in order, and those that tie for the last places of them, which are then not among the former."""
    order = np.argsort(-means, kind="stable")
    away = means[order] - means[order[k - 1]]
    above, alike = order[away > SAME], order[np.abs(away) <= SAME]
    return (order[:k], order[:0]) if len(above) + len(alike) == k else (above, alike)


class _Race:
    """One run through all looks that the values allow."""

    def __init__(self, paired: Paired, features: Features, k: int, error: float, is_exact: bool) -> None:
        self.paired, self.features, self.error = paired, features, error
        self.m = float(paired.n_columns)
        self.population = self.m if is_exact else math.inf  # means without noise are those of ever more readings
        self.places = k  # to be filled
        self.chosen: list[int] = []
        self.left = np.arange(len(paired.rows))  # after a look in the order of their means
        self.looks: list[RoundOfColumns] = []
        self.error_spent = 0.0
        *self.sizes, last = look_sizes(paired.n_columns)
        self.next_size = self.sizes[0] if self.sizes else last
        self.last: tuple[Means, float] | None = None  # means of those left at the last look, and its chance

    def run(self) -> None:
        """Look after look, as far as values go."""
        if self.places >= len(self.left):
            self.chosen, self.left = self.left.tolist(), self.left[:0]
        boundary, whole = Boundary(), math.log(self.sizes[-1] * GROWTH / FIRST_COLUMNS) if self.sizes else 1.0
        for before, size, after in zip(
            [FIRST_COLUMNS / GROWTH, *self.sizes], self.sizes, [*self.sizes[1:], self.m], strict=False
        ):
            columns = self.paired.columns_of(self.left)
            if not len(self.left) or len(columns) < size:
                return
            spent, p = self.error * math.log(size / before) / whole, len(self.left)
            n_comparisons = min(p, self.places * (p - self.places))
            chance = boundary.chance(1 / (1 / size - 1 / self.population), spent / n_comparisons)
            self.error_spent += spent
            self._look(columns[:size], chance)
            self.next_size = int(after)

    def _look(self, columns: IndexVector, chance: float) -> None:
        everyone, p = np.arange(len(self.left)), len(self.left)
        values, features = self.paired.values[np.ix_(self.left, columns)], self.features.drawn[columns]
        means = means_with_controls(values, features, self.features.mean, self.population)
        above = means.is_above(everyone, everyone, chance)
        is_out, is_in = above.sum(axis=0) >= self.places, above.sum(axis=1) >= p - self.places
        if np.count_nonzero(is_out) == p - self.places:
            is_in = ~is_out
        is_open = ~is_in & ~is_out & (np.count_nonzero(is_in) < self.places)
        order = np.argsort(-means.mean, kind="stable")
        taken, kept = order[is_in[order]], order[is_open[order]]
        self.chosen += self.left[taken].tolist()
        self.places -= len(taken)
        self.left = self.left[kept]
        assert means.shared is not None
        self.last = Means(means.mean[kept], means.error[kept], means.freedom[kept], means.shared[kept]), chance
        self.looks.append(RoundOfColumns(len(columns), len(self.chosen), len(self.left)))

    def forecast(self) -> float:
        """How many values it takes until each row differs clearly from its rival at the border, as estimated now."""
        p = len(self.left)
        if self.last is None:
            return p * self.m
        means, chance = self.last
        assert means.shared is not None
        d = self.looks[-1].n_columns
        rival = np.where(np.arange(p) < self.places, self.places, self.places - 1)
        gap = means.mean - means.mean[rival]
        error = np.linalg.norm(means.shared - means.shared[rival], axis=1)
        reach = -scipy.special.stdtrit(means.freedom, chance) * error
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = 1 / (1 / self.m + (1 / d - 1 / self.m) * (gap / reach) ** 2)
        return float(np.sum(np.clip(np.where(np.isnan(needed), self.m, needed) - d, 0.0, None)))
