r"""The certificate of a PSD matrix: the trace of the error, known from the diagonal, without statistics.

The error E of a Nystroem approximation, or of its leading part, is PSD itself. So its eigenvalues are not negative,
they add up to its trace, and the trace is at least every other norm of it:

.. math:: \sqrt{\sum_i E_{ii}^2} \le \|E\|_F \le \sum_i E_{ii} = \sum_i (M_{ii} - \hat M_{ii})
"""

from __future__ import annotations

import math

import numpy as np

from .._arrays import rounding_unit
from ..factorization import Factorization
from ..factorization.nystroem import NYSTROEM, ROUNDED_DIAGONAL
from ..factorization.symmetric import diagonal_of
from ..observation import Observation
from ..observation.symmetry import PSD, mirrored, negative_beyond
from .certificate import DIAGONAL, Certificate
from .residual import Residual

__all__ = ["certify_by_trace"]


def certify_by_trace(approximation: Factorization, observation: Observation) -> Certificate | None:
    """The certificate from the diagonal; None if there is none.

    It needs a PSD matrix, all of its diagonal, exact readings, and an approximation whose error is PSD too.
    """
    o = observation
    if o.symmetry != PSD or o.noise is not None or o.has_gaps or approximation.core.solver != NYSTROEM:
        return None
    diagonal = o.diagonal()
    largest = float(np.max(np.abs(diagonal), initial=0.0))
    if math.isnan(largest) or not approximation.is_symmetric:
        return None
    left = diagonal - diagonal_of(approximation)
    if np.min(left) < -negative_beyond(o) * largest:
        return None  # the matrix is not PSD, or this is not its approximation
    residual = Residual(approximation, mirrored(o))
    trace, whole = math.fsum(left), math.fsum(diagonal)
    rounding = ROUNDED_DIAGONAL * rounding_unit(o.values) * whole
    at_entries = residual.squares_at(residual.once(np.flatnonzero(residual.observation.outside)))
    lower = math.sqrt(residual.known_error + float(np.sum(at_entries))) * residual.unit
    upper = max(trace, lower) + rounding
    return Certificate(
        error=upper,
        relative_error=max(trace, 0.0) / whole if whole else math.nan,
        interval=(lower, upper),
        level=1.0,
        reason="",
        evidence=DIAGONAL,
        lower_bound=lower,
        spectral_lower_bound=residual.spectral_norm,
        spectral_estimate=math.nan,
        entries_to_halve=None,
        errors=np.maximum(left, 0.0),
        detection_limit=0.0,
        trace=trace,
    )
