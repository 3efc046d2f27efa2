r"""What scattered entries say of the prediction: a small core for its error.

The prediction rests on rows and columns alone. Its error at the scattered entries is fitted, as in CUR+, by
:math:`\hat U \Delta \hat V^\top` in the leading subspaces of the sampled columns and rows, held back by a ridge.
Entries set aside decide which ridge, and whether to correct at all.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache, reduce
from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..._arrays import float64, hit_rows, keep, largest, row_dots, take, to_device, to_numpy
from ..._typing import FloatArray, IndexVector, Matrix, Vector
from ...factorization.basis import leading_coefficients
from ...observation import Entries, Observation
from ...solvers.equations import entry_equations
from .cross import Cross
from .evidence import FEWEST, KEPT_OF_SEVERAL, MANY, Gain, best_gain, left_out_in_turn
from .offsets import Offsets
from .prediction import Prediction

__all__ = ["Errors", "NormalSums", "corrected", "errors_at", "normal_sums", "on_host"]

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
    cross: Cross,
    gain: Gain | None = None,
) -> tuple[Prediction, Gain]:
    """A better prediction, if the entries set aside agree that it is one.

    Parameters
    ----------
    observation : Observation
        Columns, rows and entries.
    prediction : Prediction
        Its first vectors are the sampled columns and rows.
    errors : Errors
        Its errors, at entries to fit and at others.
    cross : Cross
        The small matrices of the sample.
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
    columns, rows = float64(observation.columns), float64(observation.rows).T
    mixing = leading_coefficients(columns, width, cross.whole_column_gram)
    other = leading_coefficients(rows, width, cross.whole_row_gram)
    if 0 in (mixing.shape[1], other.shape[1]):
        return prediction, Gain(0, math.nan)
    if largest(error.values) <= ROUNDING * observation.magnitude:
        return prediction, Gain(0, 0.0)
    error, aside, left, right = _compact(errors, columns, mixing, rows, other)
    folds = left_out_in_turn(error)
    part = cache(lambda fold: normal_sums(left, right, error.take(folds[fold])))

    @cache
    def whole() -> NormalSums:
        if len(error) >= MANY:  # hardly any fold will be asked for
            return normal_sums(left, right, error)
        return reduce(NormalSums.plus, map(part, range(len(folds))))

    cores = cache(lambda: whole().cores())

    def predicted(fold: int | None, at: Entries) -> list[Vector]:
        return _cores_at(left, right, cores() if fold is None else whole().minus(part(fold)).cores(), at)

    gain = gain or best_gain(error, aside, predicted)
    if not gain.standard_errors > KEPT_OF_SEVERAL:
        return prediction, gain
    mixed = mixing @ cores()[gain.which]
    return prediction.plus(
        columns[:, :0],
        np.pad(mixed, ((0, prediction.left.shape[1] - len(mixed)), (0, 0))),
        np.pad(other.T, ((0, 0), (0, prediction.right.shape[1] - len(other)))),
        rows[:, :0],
    ), gain


def _compact(
    errors: Errors, columns: Matrix, mixing: FloatArray, rows: Matrix, other: FloatArray
) -> tuple[Entries, Entries, Matrix, Matrix]:
    """The errors at positions of two matrices: ``columns @ mixing`` and ``rows @ other`` where errors are known."""
    left, i = _mixed_rows(columns, mixing, np.concatenate([x.i for x in errors]))
    right, j = _mixed_rows(rows, other, np.concatenate([x.j for x in errors]))
    k = len(errors.fit)
    return replace(errors.fit, i=i[:k], j=j[:k]), replace(errors.aside, i=i[k:], j=j[k:]), left, right


def _mixed_rows(sample: Matrix, mixing: FloatArray, index: IndexVector) -> tuple[Matrix, IndexVector]:
    """The rows of ``sample @ mixing`` at ``index``, or all if they are most, and the position of each there."""
    rows, place = hit_rows(sample, index)
    return keep(rows @ to_device(mixing, rows)), place


class NormalSums(NamedTuple):
    """The sums over entries that make the normal equations of a core: those of two parts of the entries add up."""

    gram: FloatArray  # (r1, r2, r1, r2)
    slope: FloatArray  # (r1, r2)
    weight: float  # of the entries, relative to the number of all positions; about the mean of the eigenvalues

    def plus(self, other: NormalSums) -> NormalSums:
        """Those of both."""
        return NormalSums(self.gram + other.gram, self.slope + other.slope, self.weight + other.weight)

    def minus(self, other: NormalSums) -> NormalSums:
        """Those of the entries that are not among the others."""
        return NormalSums(self.gram - other.gram, self.slope - other.slope, self.weight - other.weight)

    def cores(self) -> list[FloatArray]:
        """The core of each ridge, (r1, r2); rounding cannot make the equations singular."""
        size = self.slope.size
        gram, slope = self.gram.reshape(size, size), self.slope.reshape(size)
        rounding = size * np.finfo(float).eps * float(np.trace(gram))
        found = []
        for ridge in CORRECTION_RIDGES:
            held = gram.copy()
            held.flat[:: size + 1] += ridge * self.weight + rounding
            found.append(scipy.linalg.lapack.dposv(held.T, slope, overwrite_a=True)[1])
        return [z.reshape(self.slope.shape) for z in found]


def normal_sums(left: Matrix, right: Matrix, error: Entries) -> NormalSums:
    """The sums over some entries, on the host."""
    equations = entry_equations(left, right, error)
    r1, r2 = equations.shape
    weight = len(error) / math.prod(error.shape) * (1.0 if error.weights is None else float(np.mean(error.weights)))
    gram = weight * to_numpy(equations.gram()).reshape(r1, r2, r1, r2)
    return NormalSums(gram, weight * equations.unit * to_numpy(equations.adjoint(equations.target)), weight)


def _cores_at(left: Matrix, right: Matrix, cores: list[FloatArray], at: Entries) -> list[Vector]:
    """The matrix ``left @ Z @ right.T`` of each core at some entries, on the host."""
    left, right = take(left, at.i, axis=0), take(right, at.j, axis=0)
    return [to_numpy(row_dots(left @ to_device(Z, left), right)) for Z in cores]
