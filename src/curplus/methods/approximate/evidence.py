"""What entries set aside say of a change: by how many standard errors it predicts them better."""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import to_numpy
from ..._typing import Vector
from ...factorization import Factorization
from ...observation import Entries

__all__ = ["KEPT", "squared_errors", "standard_errors"]

KEPT = 2.0  # standard errors by which a change must predict better to be kept


def squared_errors(approximation: Factorization | None, entries: Entries) -> Vector:
    """Squared errors at some entries, on the host; None is the zero matrix."""
    values = to_numpy(entries.values)
    return (values - (0.0 if approximation is None else to_numpy(approximation.entries(entries.i, entries.j)))) ** 2


def standard_errors(before: Vector, after: Vector, weights: Vector) -> float:
    """The mean by which weighted squares fall, divided by its standard error; 0 where nothing changes."""
    gain = weights * (before - after)
    spread = float(np.std(gain)) / math.sqrt(max(len(gain), 1))
    return float(np.mean(gain)) / spread if spread > 0 else 0.0
