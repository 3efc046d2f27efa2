"""Contribution of the positions that were not read to the error, and how far to trust it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.special

from .._typing import FloatArray
from .certificate import NO_EVIDENCE

__all__ = ["Estimate", "no_evidence"]

FARTHEST = 300.0  # of the logarithm of a sum of squares: beyond, an interval means nothing


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
