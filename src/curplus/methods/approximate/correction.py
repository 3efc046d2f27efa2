r"""What scattered entries say of the prediction: a small core for its error.

The prediction rests on rows and columns alone. Its error at the scattered entries is fitted, as in CUR+, by
:math:`\hat U \Delta \hat V^\top` in the leading subspaces of the sampled columns and rows, held back by a ridge.
Entries set aside decide which ridge, and whether to correct at all.
"""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import array_namespace, float64, largest, take, to_device, to_numpy
from ..._typing import IndexVector, Matrix, Vector
from ...factorization import leading_basis
from ...observation import Entries, Observation
from ...solvers.equations import entry_equations
from .evidence import FEWEST, KEPT_OF_SEVERAL, best_gain
from .factors import Factors
from .prediction import Prediction

__all__ = ["corrected", "error_at"]

WIDEST = 20  # most directions on each side: 400 unknowns
ROUNDING = 1e-12  # a prediction this good is left alone
CORRECTION_RIDGES = (0.01, 0.1, 1.0)


def corrected(
    observation: Observation, prediction: Prediction, use: IndexVector, check: IndexVector
) -> tuple[Prediction, float]:
    """A better prediction, if the entries ``check`` agree that it is one.

    Parameters
    ----------
    observation : Observation
        Columns, rows and entries.
    prediction : Prediction
        Its first features are the sampled columns.
    use, check : arrays
        Which entries to fit, and which decide.

    Returns
    -------
    Prediction
        The corrected one, or ``prediction`` itself.
    float
        By how many standard errors the entries ``check`` are predicted better; nan if there are too few entries to try.
    """
    width = min(WIDEST, observation.n_columns, observation.n_rows, math.isqrt(len(use) // 8))
    if width == 0 or len(use) < FEWEST:
        return prediction, math.nan
    left, right = leading_basis(observation.columns, width), leading_basis(observation.rows.T, width)
    if left.rank == 0 or right.rank == 0:
        return prediction, math.nan
    factors = prediction.factors
    error, aside = (error_at(observation, factors, which) for which in (use, check))
    if largest(error.values) <= ROUNDING * observation.magnitude:
        return prediction, 0.0

    def predicted(fit: Entries, at: Entries) -> list[Vector]:
        cores = ridge_cores(left.vectors, right.vectors, fit)
        return [_core_at(left.vectors, Z, right.vectors, at) for Z in cores]

    gain = best_gain(error, aside, predicted)
    if not gain.standard_errors > KEPT_OF_SEVERAL:
        return prediction, gain.standard_errors
    core = ridge_cores(left.vectors, right.vectors, error)[gain.which]
    mixing = np.zeros((prediction.features.shape[1], right.rank))
    mixing[: observation.n_columns] = to_numpy(float64(left.coefficients)) @ to_numpy(float64(core))
    return prediction.plus(prediction.features[:, :0], mixing, float64(right.vectors)), gain.standard_errors


def error_at(observation: Observation, factors: Factors, which: IndexVector) -> Entries:
    """The error of a prediction at some entries."""
    at = observation.entries.take(which)
    return at.with_values(float64(at.values) - factors.at(at.i, at.j))


def ridge_cores(left: Matrix, right: Matrix, error: Entries) -> list[Matrix]:
    """The core of each ridge: few unknowns, so one Gram matrix and its eigenvectors serve them all."""
    equations = entry_equations(left, right, error)
    values, vectors = np.linalg.eigh(to_numpy(equations.gram()))
    slope = vectors.T @ to_numpy(equations.adjoint(equations.target)).reshape(-1)
    cores = [vectors @ (slope / (values.clip(min=0) + ridge)) for ridge in CORRECTION_RIDGES]
    xp = array_namespace(left)
    return [xp.astype(to_device(equations.unit * z.reshape(equations.shape), left), left.dtype) for z in cores]


def _core_at(left: Matrix, Z: Matrix, right: Matrix, at: Entries) -> Vector:
    """The matrix ``left @ Z @ right.T`` at some entries, on the host."""
    xp = array_namespace(left)
    return to_numpy(xp.sum((take(left, at.i, axis=0) @ Z) * take(right, at.j, axis=0), axis=1))
