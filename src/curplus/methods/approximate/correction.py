r"""What scattered entries say of the prediction: a small core for its error.

The prediction C G rests on rows and columns alone. Its error at the scattered entries is fitted, as in CUR+, by
:math:`\hat U \Delta \hat V^\top` in the leading subspaces of the sampled columns and rows, held back by a ridge.
Entries set aside decide which ridge, and whether to correct at all.
"""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import array_namespace, blocks, float64, is_numpy_array, take, to_device, to_numpy
from ..._typing import IndexVector, Matrix, Vector
from ...factorization import leading_basis
from ...observation import Entries, Observation
from ...solvers.equations import entry_equations
from .evidence import KEPT, standard_errors

__all__ = ["corrected"]

WIDEST = 20  # most directions on each side: 400 unknowns
ROUNDING = 1e-12  # a prediction this good is left alone
CORRECTION_RIDGES = (0.01, 0.1, 1.0)
PART = 2**16  # numbers that stay near the processor


def corrected(observation: Observation, G: Matrix, use: IndexVector, check: IndexVector) -> tuple[Matrix, float]:
    """Coefficients of a better prediction, if the entries ``check`` agree that it is one.

    Parameters
    ----------
    observation : Observation
        Columns C, rows and entries.
    G : array of shape (d1, m)
        The prediction ``C @ G``.
    use, check : arrays
        Which entries to fit, and which decide.

    Returns
    -------
    array of shape (d1, m)
        Corrected coefficients, or ``G`` itself.
    float
        By how many standard errors the entries ``check`` are predicted better; nan if there are too few entries to try.
    """
    width = min(WIDEST, observation.n_columns, observation.n_rows, math.isqrt(len(use) // 8))
    if width == 0 or len(check) < 2:
        return G, math.nan
    left, right = leading_basis(observation.columns, width), leading_basis(observation.rows.T, width)
    if left.rank == 0 or right.rank == 0:
        return G, math.nan
    before = to_numpy(_error_of(observation, G, check).values)
    if np.linalg.norm(before) <= ROUNDING * np.linalg.norm(to_numpy(take(observation.values, check, axis=0))):
        return G, 0.0
    cores = ridge_cores(left.vectors, right.vectors, _error_of(observation, G, use))
    at = observation.entries.take(check)
    weights = observation.entries.fit_weights[check]
    after = [(before - _core_at(left.vectors, Z, right.vectors, at)) ** 2 for Z in cores]
    best = int(np.argmin([np.mean(weights * squares) for squares in after]))
    better = standard_errors(before**2, after[best], weights)
    if better <= KEPT:
        return G, better
    change = left.coefficients @ cores[best] @ right.vectors.T
    return G + float64(change), better


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


def _error_of(observation: Observation, G: Matrix, which: IndexVector) -> Entries:
    """The error of the prediction at some entries."""
    at = observation.entries.take(which)
    xp = array_namespace(G)
    C, Gt = float64(observation.columns), G.T
    if is_numpy_array(C):  # np.take copies an array that is not stored row by row, and would do so for every part
        C, Gt = np.ascontiguousarray(observation.columns), np.ascontiguousarray(Gt)
    most = PART if is_numpy_array(C) else 2**24
    parts = [
        xp.vecdot(take(C, at.i[part], axis=0), take(Gt, at.j[part], axis=0))
        for part in blocks(len(at), G.shape[0], most=most)
    ]
    return at.with_values(float64(at.values) - xp.concat(parts))
