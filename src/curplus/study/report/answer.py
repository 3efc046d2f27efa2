"""What the answer says, as plain data: its spectrum, rows and columns that explain it, means, held-out cells."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._arrays import to_numpy
from ..._typing import FloatArray, IndexVector
from ...evaluation import estimate_means
from ...evaluation.cross_fit import cross_fit
from ...factorization import Factorization
from ...factorization.importance import Merits, merits
from ...observation import Observation
from ..answers import n_measured_of
from ..names import Axis

__all__ = ["HeldOut", "Means", "held_out_of", "means_of", "merits_of", "spectrum_of"]


def spectrum_of(approximation: Factorization) -> FloatArray:
    """Singular values of the approximation, descending, without those that are rounding."""
    s: FloatArray = np.asarray(to_numpy(approximation.svd().s), dtype=float)
    kept: FloatArray = s[s > 1e-12 * s.max(initial=0.0)]
    return kept


def merits_of(approximation: Factorization, observation: Observation, axes: tuple[Axis, Axis]) -> tuple[Merits, Merits]:
    """How much of the approximation each sampled row, and each sampled column, explains; gaps hold predictions.

    The approximation need not be made of them, so all of them together may explain less than the whole.
    """
    U, s, Vt = (to_numpy(x) for x in approximation.svd())
    rows = _filled(observation.rows, lambda: approximation.rows(observation.row_index))
    columns = _filled(observation.columns, lambda: approximation.columns(observation.column_index))
    return (
        _merits(rows.T, Vt.T * s, observation.row_index, axes[0]),
        _merits(columns, U * s, observation.column_index, axes[1]),
    )


def _merits(sample: FloatArray, directions: FloatArray, index: IndexVector, axis: Axis) -> Merits:
    if not len(index):
        return Merits(index, np.empty(0, dtype=object), np.empty(0), np.empty(0))
    return merits(sample, directions, index, np.asarray(axis.labels(index), dtype=object))


def _filled(values: Any, predicted: Any) -> FloatArray:
    known: FloatArray = np.asarray(to_numpy(values), dtype=float)
    gaps = np.isnan(known)
    return np.where(gaps, to_numpy(predicted()), known) if gaps.any() else known


class Means(NamedTuple):
    """Means of all rows or columns, the best first."""

    what: str  # "row" or "column"
    names: list[Any]
    mean: FloatArray
    low: FloatArray  # nan where there is no interval
    high: FloatArray
    n_measured: IndexVector
    may_be_best: Any  # truth values
    n_wanted: int  # the best so many are looked for
    largest: bool
    level: float
    reason: str  # why there are no intervals; empty where there are

    @property
    def verdict(self) -> str:
        """The best set in a sentence."""
        n, many = len(self.names), int(np.count_nonzero(self.may_be_best))
        wanted = f"the {self.n_wanted} {self.what}s with the {'largest' if self.largest else 'smallest'} means"
        if self.reason:
            return (
                f"Which of the {n:,} {self.what}s are {wanted} cannot be said yet: no intervals, since {self.reason}."
            )
        if many == n:
            return f"Any of the {n:,} {self.what}s may still be among {wanted}: measure more to rule some out."
        return (
            f"Of {n:,} {self.what}s, {many:,} may be among {wanted}. The other {n - many:,} are not, with "
            f"{self.level:.0%} confidence for all of them at once."
        )


def means_of(
    approximation: Factorization,
    observation: Observation,
    axes: tuple[Axis, Axis],
    axis: int,
    n_best: int,
    largest: bool,
) -> Means:
    """Means with their intervals (:func:`curplus.estimate_means`), and which may be among the best."""
    found, side = estimate_means(approximation, observation, axis=axis), axes[1 - axis]
    n_best = min(n_best, side.size)
    order = np.argsort(-found.estimate if largest else found.estimate, kind="stable")
    best = np.isin(np.arange(side.size), found.best(n_best, largest=largest))
    return Means(
        what=side.what,
        names=side.labels(order),
        mean=found.estimate[order],
        low=found.low[order],
        high=found.high[order],
        n_measured=n_measured_of(observation, axis)[order],
        may_be_best=best[order],
        n_wanted=n_best,
        largest=largest,
        level=found.level,
        reason=found.reason,
    )


class HeldOut(NamedTuple):
    """Cells, and what fits without them say."""

    predicted: FloatArray  # (h,)
    measured: FloatArray  # (h,)

    @property
    def error(self) -> float:
        """Root of the mean squared error."""
        return math.sqrt(float(np.mean((self.measured - self.predicted) ** 2)))

    @property
    def has_groups(self) -> bool:
        """Whether there are enough of them for means of ten groups."""
        return len(self.measured) >= 50

    @property
    def is_coarse(self) -> bool:
        """Whether so few different values were measured that points would lie on each other."""
        return len(np.unique(self.measured)) < 12

    @property
    def spread(self) -> float:
        """The same if their mean were predicted everywhere."""
        return float(np.std(self.measured))


def held_out_of(approximation: Factorization, observation: Observation) -> HeldOut:
    """Predictions beside what was measured; where the fit used all of it, those of fits without a fifth in turn."""
    held = approximation.held_out
    measured = np.asarray(to_numpy(observation.values)[held], dtype=float)
    if len(held):
        predicted = to_numpy(approximation.entries(observation.i[held], observation.j[held]))
        return HeldOut(np.asarray(predicted, dtype=float), measured)
    fits = cross_fit(approximation, observation)
    measured = np.asarray(to_numpy(fits.sample.values)[fits.counted], dtype=float)
    return HeldOut(measured - fits.residuals, measured)
