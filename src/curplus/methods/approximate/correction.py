r"""What scattered entries say of the prediction: a small core for its error.

The prediction rests on rows and columns alone. Its error at the scattered entries is fitted, as in CUR+, by
:math:`\hat U \Delta \hat V^\top` in the leading subspaces of the sampled columns and rows, held back by a ridge.
Entries set aside decide which ridge, and whether to correct at all.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from ..._arrays import array_namespace, float64, largest, take, to_device, to_numpy
from ..._typing import IndexVector, Matrix, Vector
from ...factorization import leading_basis
from ...observation import Entries, Observation
from ...solvers.equations import entry_equations
from .cross import Cross
from .evidence import FEWEST, KEPT_OF_SEVERAL, Gain, best_gain
from .offsets import Offsets
from .prediction import Prediction

__all__ = ["Errors", "corrected", "errors_at", "on_host"]

WIDEST = 20  # most directions on each side: 400 unknowns
ROUNDING = 1e-12  # a prediction this good is left alone
CORRECTION_RIDGES = (0.01, 0.1, 1.0)


class Errors(NamedTuple):
    """The error of a prediction at some entries."""

    fit: Entries  # that changes are fitted to
    aside: Entries  # and that decide

    def minus(self, offsets: Offsets, like: Matrix) -> Errors:
        """What is left after some offsets of rows and columns."""
        return Errors(*(x.with_values(x.values - to_device(offsets.at(x.i, x.j), like)) for x in self))


def errors_at(observation: Observation, prediction: Prediction, use: IndexVector, check: IndexVector) -> Errors:
    """The errors of a prediction, at entries to fit and at others."""
    at = observation.entries.take(np.concatenate([use, check]))
    at = at.with_values(float64(at.values) - prediction.at(at.i, at.j))
    places = np.arange(len(at))
    return Errors(at.take(places[: len(use)]), at.take(places[len(use) :]))


def on_host(error: Entries) -> Entries:
    """The same with values in NumPy, and the weights that a fit gives them."""
    return Entries(error.shape, error.i, error.j, to_numpy(error.values), weights=error.fit_weights)


def corrected(
    observation: Observation,
    prediction: Prediction,
    errors: Errors,
    cross: Cross | None = None,
    gain: Gain | None = None,
) -> tuple[Prediction, Gain]:
    """A better prediction, if the entries set aside agree that it is one.

    Parameters
    ----------
    observation : Observation
        Columns, rows and entries.
    prediction : Prediction
        Its first features are the sampled columns.
    errors : Errors
        Its errors, at entries to fit and at others.
    cross : Cross, optional
        The small matrices of the sample, where they are known.
    gain : Gain, optional
        Which ridge is best and what it brings, where that was found before.

    Returns
    -------
    Prediction
        The corrected one, or ``prediction`` itself.
    Gain
        By how many standard errors the entries set aside are predicted better; nan if there are too few to try.
    """
    error, aside = errors
    width = min(WIDEST, observation.n_columns, observation.n_rows, math.isqrt(len(error) // 8))
    if width == 0 or len(error) < FEWEST:
        return prediction, Gain(0, math.nan)
    grams = (None, None) if cross is None else (cross.whole_column_gram, cross.T.whole_column_gram)
    left, right = (
        leading_basis(float64(x), width, gram=None if gram is None else to_device(gram, x))
        for x, gram in zip((observation.columns, observation.rows.T), grams, strict=True)
    )
    if left.rank == 0 or right.rank == 0:
        return prediction, Gain(0, math.nan)
    if largest(error.values) <= ROUNDING * observation.magnitude:
        return prediction, Gain(0, 0.0)

    cores_for = cache(lambda some: ridge_cores(left.vectors, right.vectors, some))

    def predicted(fit: Entries, at: Entries) -> list[Vector]:
        return [_core_at(left.vectors, Z, right.vectors, at) for Z in cores_for(fit)]

    gain = gain or best_gain(error, aside, predicted)
    if not gain.standard_errors > KEPT_OF_SEVERAL:
        return prediction, gain
    core = cores_for(error)[gain.which]
    mixing = np.zeros((prediction.features.shape[1], right.rank))
    mixing[: observation.n_columns] = to_numpy(float64(left.coefficients)) @ to_numpy(float64(core))
    return prediction.plus(prediction.features[:, :0], mixing, float64(right.vectors)), gain


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
