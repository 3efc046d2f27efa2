"""Contribution of the positions that were not read to the error, and how far to trust it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.special

from .._arrays import abs_squared, to_numpy
from .._support.sets import is_in
from .._typing import FloatArray, IndexVector
from ..factorization.provenance import Refits
from ..observation import Observation
from .certificate import NO_EVIDENCE
from .residual import Residual

__all__ = ["EXCESS_ERROR", "Estimate", "excess_of", "no_evidence"]

FARTHEST = 300.0  # rounding: of the logarithm of a sum of squares: beyond, an interval means nothing


class Estimate(NamedTuple):
    """Contribution of the positions that are not known, and how far to trust it; squares are in units."""

    evidence: str
    rest: float = math.nan  # sum of squared errors there
    n_rest: float = 0  # number of these positions
    effective_size: float = math.nan  # of the average that it rests on
    spread: float = math.nan  # relative standard error
    stretch: float = 1.0  # of the upper end of an interval
    reason: str = ""  # why there is no interval; empty if there is one
    squares: FloatArray = np.empty(0)
    fitted: float = 0.0  # sum of squared errors at entries that count as known
    read: float = 0.0  # and at all entries outside the sampled rows and columns
    spectral_estimate: float = math.nan
    entries_to_halve: int | None = None
    means: float = math.nan  # mean squared error of row and column means at positions that are not known

    def limits(self, level: float) -> tuple[float, float]:
        """The interval of the rest with that confidence: an interval for its logarithm."""
        freedom = max(self.effective_size / 4, 1.0)
        reach = self.spread * float(scipy.special.stdtrit(freedom, (1 + level) / 2))
        return self.rest * math.exp(-reach), self.rest * math.exp(min(reach * self.stretch, FARTHEST))


def no_evidence(reason: str) -> Estimate:
    """No estimate, and why."""
    return Estimate(NO_EVIDENCE, reason=reason)


PLACES_COMPARED = 5000  # cost: at which refits are compared with the approximation
MOST_EXCESS = 0.5  # usual: of the mean squared error: no more is subtracted
EXCESS_ERROR = 0.5  # tuned: relative standard error of the excess, which was off by 10 to 40 %


def excess_of(residual: Residual, refits: Refits, mean_square: float) -> float:
    r"""The share by which the mean squared error of refits, in units, is too large: they have fewer values.

    If a fit is the posterior mean given its values, then fits to more and more values are a martingale:
    :math:`E (f - p_k)^2 = E (f - p)^2 + E (p - p_k)^2` for the fit p to all values and the fit :math:`p_k` without a
    fold. The last term is known wherever neither fit had a value.
    """
    i, j = _unread_places(residual.observation)
    if not len(i):
        return 0.0
    own = to_numpy(residual.approximation.entries(i, j))
    counted = np.concatenate([refits.fold, refits.rows, refits.columns])
    number = np.bincount(counted[counted >= 0], minlength=len(refits.fits))
    apart = sum(
        weight * float(np.mean(abs_squared((to_numpy(fit.entries(i, j)) - own) / residual.unit)))
        for weight, fit in zip(number / max(int(np.sum(number)), 1), refits.fits, strict=True)
    )
    return min(float(apart) / max(mean_square, np.finfo(float).tiny), MOST_EXCESS)


def _unread_places(observation: Observation) -> tuple[IndexVector, IndexVector]:
    """Places outside the sampled rows and columns, if possible without an entry; empty if all were read."""
    o, rng = observation, np.random.default_rng(0)
    rows, columns = (
        np.setdiff1d(np.arange(size), index) for size, index in zip(o.shape, (o.row_index, o.column_index), strict=True)
    )
    if not (len(rows) and len(columns)):
        return rows[:0], columns[:0]
    i, j = rng.choice(rows, PLACES_COMPARED), rng.choice(columns, PLACES_COMPARED)
    free = ~(is_in(i * o.shape[1] + j, np.sort(o.entries.flat_index)) | o.is_forbidden(i, j))
    return (i[free], j[free]) if free.any() else (i, j)
