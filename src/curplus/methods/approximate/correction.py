r"""What scattered entries say of the prediction: a small core for its error.

The prediction C B rests on rows and columns alone. Its error at the scattered entries is fitted, as in CUR+, by
:math:`\hat U \Delta \hat V^\top` in the leading subspaces of the sampled columns and rows, held back by a ridge.
Entries set aside decide which ridge, and whether to correct at all.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._arrays import blocks
from ..._typing import IndexVector
from ...factorization.basis import leading_basis
from ...observation.observation import Observation
from ...solvers.equations import entry_equations

__all__ = ["corrected"]

FloatArray = NDArray[np.floating[Any]]

WIDEST = 20  # most directions on each side: 400 unknowns
ROUNDING = 1e-12  # a prediction this good is left alone
RIDGES = (0.01, 0.1, 1.0)
CACHE = 2**16  # numbers that stay near the processor


def corrected(
    observation: Observation, B: FloatArray, use: IndexVector, check: IndexVector
) -> tuple[FloatArray, float]:
    """Coefficients of a better prediction, if the entries ``check`` agree that it is one.

    Parameters
    ----------
    observation : Observation
        Columns C, rows and entries.
    B : array of shape (d1, m)
        The prediction ``C @ B``.
    use, check : arrays
        Which entries to fit, and which decide.

    Returns
    -------
    array of shape (d1, m)
        Corrected coefficients, or ``B`` itself.
    float
        By how many standard errors the entries ``check`` are predicted better; nan if there are too few entries to try.
    """
    width = min(WIDEST, observation.n_columns, observation.n_rows, math.isqrt(len(use) // 8))
    if width == 0 or len(check) < 2:
        return B, math.nan
    left, right = leading_basis(observation.columns, width), leading_basis(observation.rows.T, width)
    if left.rank == 0 or right.rank == 0:
        return B, math.nan
    assert left.coefficients is not None
    error = _error_of(observation, B, use)
    before = _error_of(observation, B, check)
    if np.linalg.norm(before.values) <= ROUNDING * np.linalg.norm(observation.values[check]):
        return B, 0.0
    weights = observation.fit_weights[check]
    candidates = ridge_cores(left.vectors, right.vectors, error)
    i, j = observation.i[check], observation.j[check]
    after = [before.values - np.sum((left.vectors[i] @ Z) * right.vectors[j], axis=1) for Z in candidates]
    best = int(np.argmin([np.mean(weights * rest**2) for rest in after]))
    gain = weights * (before.values**2 - after[best] ** 2)
    spread = float(np.std(gain)) / math.sqrt(len(check))
    better = float(np.mean(gain)) / spread if spread > 0 else 0.0
    if better <= 2:
        return B, better
    return B + left.coefficients @ candidates[best] @ right.vectors.T, better


def ridge_cores(left: FloatArray, right: FloatArray, error: Observation) -> list[FloatArray]:
    """The core of each ridge: few unknowns, so one Gram matrix and its eigenvectors serve them all."""
    equations = entry_equations(left, right, error)
    values, vectors = np.linalg.eigh(equations.gram())
    slope = vectors.T @ equations.adjoint(equations.target).reshape(-1)
    scaled = [vectors @ (slope / (values.clip(min=0) + ridge)) for ridge in RIDGES]
    return [(equations.unit * z.reshape(equations.shape)).astype(left.dtype) for z in scaled]


def _error_of(observation: Observation, B: FloatArray, which: IndexVector) -> Observation:
    """The error of the prediction at some entries, as an observation of its own."""
    i, j = observation.i[which], observation.j[which]
    # np.take copies an array that is not stored row by row, and would do so for every part
    C, Bt = np.ascontiguousarray(observation.columns), np.ascontiguousarray(B.T)
    guess = np.empty(len(i), dtype=np.result_type(C, Bt))
    for part in blocks(len(i), len(B), most=CACHE):
        guess[part] = np.vecdot(np.take(C, i[part], axis=0), np.take(Bt, j[part], axis=0))
    weights = None if observation.weights is None else observation.weights[which]
    chances = None if observation.probabilities is None else observation.probabilities[which]
    values = observation.values[which] - guess
    return Observation(shape=observation.shape, i=i, j=j, values=values, weights=weights, probabilities=chances)
