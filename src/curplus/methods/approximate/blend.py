r"""One blend: the weights with which models together predict left-out values best.

Stacking (Wolpert 1992; Breiman 1996; the super learner of van der Laan, Polley and Hubbard 2007): with P the
predictions (h, k) of k models for h values y that none of them was fitted to,

.. math:: \min_{a \ge 0, \; \sum a \le 1} \; \frac{s}{h \sigma^2} \, \|y - P a\|^2 + \|a\|^2

with :math:`\sigma^2` the mean squared error and s the effective sample size. Without left-out values the weights have a
standard deviation of one around zero, and the answer is zero. If a few large errors decide, s is small, and the weights
stay near zero: it is Kish's size of the squared errors, summed over groups of values with correlated errors (a left-out
row), times three, the kurtosis of Gaussian errors. No group has more than a tenth of the squares of the others. The
weight that is missing to a sum of one goes to the zero matrix. Weights are real; of complex values they are fitted to
the real and the imaginary parts.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from ..._arrays import abs_squared, is_complex, to_numpy
from ..._typing import FloatArray, IndexVector
from ...evaluation.effective_sample import effective_sample_size
from ...evaluation.left_out import Fold, LeftOut
from ...observation import Cells
from .models import Model
from .prediction import Prediction

__all__ = ["Held", "Trials", "blend_weights", "blended", "trials_of"]

MOST_REWEIGHTINGS, STEADY_WEIGHTS = 20, 1e-3  # steps: until no weight changes by more than this
# tuned: of the squares of all other groups, so that no single row decides the weights; flat from .05 to .2
# (benchmarks/accuracy.py)
MOST_SHARE = 0.1
FEW_LEFT_OUT = 0.02  # cost: of the values: if fewer are left out, a fit to all begins from that without them
# mathematics: their kurtosis: the effective sample size of Gaussian squares is their number divided by it
GAUSSIAN = 3.0


class Held(NamedTuple):
    """Values that were left out, and what each model predicts for them."""

    predicted: FloatArray  # (h, k)
    values: FloatArray  # (h,)
    weights: FloatArray  # (h,)
    group: IndexVector  # (h,), values with correlated errors

    def take(self, which: IndexVector) -> Held:
        """Some of the values."""
        return Held(self.predicted[which], self.values[which], self.weights[which], self.group[which])


@dataclass(frozen=True, eq=False)
class Trials:
    """Predictions by models for values that they were not fitted to."""

    models: tuple[Model, ...]  # with their settings
    left_out: LeftOut
    parts: tuple[tuple[Prediction, ...], ...]  # each model, fitted without each fold
    whole: tuple[Prediction, ...] = ()  # each model, fitted to everything; without weight, to a part
    given: tuple[FloatArray, ...] | None = None  # weights, of all and without each fold, if not found here
    deviation: float = 0.0  # standard deviation of values from the blend, by which bounded cells were fitted

    @cached_property
    def fold(self) -> IndexVector:
        """The fold in which each value was left out, shape (h,)."""
        return np.repeat(np.arange(len(self.parts)), [len(fold.i) for fold in self.left_out.folds])

    @cached_property
    def held(self) -> Held:
        """All values that were left out, with the predictions of the models."""
        found = [_held(fold, fits) for fold, fits in zip(self.left_out.folds, self.parts, strict=True)]
        if not found:
            return Held(np.zeros((0, len(self.models))), np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64))
        predicted, values, weights = (np.concatenate([x[part] for x in found]) for part in range(3))
        sizes = np.cumsum([0, *(int(x.group.max(initial=-1)) + 1 for x in found[:-1])])
        group = np.concatenate([x.group + size for x, size in zip(found, sizes, strict=True)])
        return Held(predicted, values, weights, group)

    @cached_property
    def weights(self) -> FloatArray:
        """The weights that predict left-out values best; a single model is the answer."""
        if self.given is not None:
            return self.given[0]
        return np.ones(1) if len(self.models) == 1 else blend_weights(self.held)

    def weights_without(self, fold: int) -> FloatArray:
        """The weights by the values of the other folds; by all if there is no other."""
        if self.given is not None:
            return self.given[fold + 1]
        if len(self.parts) == 1 or len(self.models) == 1:
            return self.weights
        return blend_weights(self.held.take(np.flatnonzero(self.fold != fold)))

    def of(self, name: str) -> FloatArray | None:
        """The prediction of a model for left-out values, shape (h,); None if it is not one of these."""
        names = [model.name for model in self.models]
        return self.held.predicted[:, names.index(name)] if name in names else None

    def without(self, fold: int) -> tuple[Cells, Prediction]:
        """The cells without a fold, and the blend that was made of them."""
        cells = self.left_out.folds[fold].cells
        return cells, blended(self.parts[fold], self.weights_without(fold))


def trials_of(
    models: Sequence[Model], cells: Cells, left_out: LeftOut, given: tuple[FloatArray, ...] | None = None
) -> Trials:
    """Each model fitted without each fold; then those with weight to everything.

    A model that does not use entries is fitted once, if only entries are left out.
    """
    settled = tuple(model.settled(cells) for model in models)
    fitted = {model.name: model.fit(cells) for model in settled if not model.uses_entries}

    def without(fold: Fold, model: Model) -> Prediction:
        if model.name in fitted and not fold.hides_sampled:
            return fitted[model.name]
        if model.applies(fold.cells):
            return model.fit(fold.cells)
        return Prediction.of(np.zeros((cells.shape[0], 0)), np.zeros((cells.shape[1], 0)))

    parts = tuple(tuple(without(fold, model) for model in settled) for fold in left_out.folds)
    trials = Trials(settled, left_out, parts, given=given)

    is_near = len(parts) == 1 and len(left_out.folds[0].i) < FEW_LEFT_OUT * cells.n_values

    def whole(k: int, model: Model) -> Prediction:
        if model.name in fitted:
            return fitted[model.name]
        if parts and trials.weights[k] == 0:
            return parts[0][k]
        refit = getattr(model, "refit", None) if is_near else None
        return refit(cells, parts[0][k]) if refit else model.fit(cells)

    return replace(trials, whole=tuple(whole(k, model) for k, model in enumerate(settled)))


def _held(fold: Fold, fits: tuple[Prediction, ...]) -> Held:
    predicted = np.column_stack([to_numpy(fit.at(fold.i, fold.j)) for fit in fits])
    return Held(predicted, fold.values, fold.weights, fold.group)


def blended(fits: Sequence[Prediction], weights: Sequence[float] | FloatArray) -> Prediction:
    """The sum of weighted predictions."""
    parts = [fit.times(float(weight)) for fit, weight in zip(fits, weights, strict=True)]
    return functools.reduce(Prediction.plus, [part for part in parts if part.coefficients.any()] or parts[:1])


def blend_weights(held: Held) -> FloatArray:
    """Weights of the models, shape (k,): not negative, with a sum of at most one."""
    k, unit = held.predicted.shape[1], _size(held)
    now: FloatArray = np.zeros(k)
    if unit == 0:
        return now
    group = np.unique(held.group, return_inverse=True)[1]
    sizes: FloatArray = np.bincount(group, held.weights * abs_squared(held.values / unit)).astype(np.float64)
    root = np.sqrt(held.weights * _bounded(sizes)[group]) / unit
    P, y = root[:, None] * held.predicted, root * held.values
    Q, R = np.linalg.qr(_parts(P))
    target = Q.T @ _parts(y)
    rounding = (np.finfo(float).eps * float(np.linalg.norm(y))) ** 2
    for _ in range(MOST_REWEIGHTINGS):
        squares = np.bincount(group, abs_squared(y - P @ now)) + rounding
        size = GAUSSIAN * effective_sample_size(squares)
        before, now = now, _least(R, target, float(np.sum(squares)) / size)
        if np.max(np.abs(now - before)) < STEADY_WEIGHTS:
            break
    return now


def _parts(x: FloatArray) -> FloatArray:
    """The real parts, and then the imaginary ones; real numbers as they are."""
    return np.concatenate([x.real, x.imag]) if is_complex(x) else x


def _bounded(squares: FloatArray) -> FloatArray:
    """Weights with which no group has more than a tenth of the squares of the others, if there are enough groups."""
    weights = np.ones(len(squares))
    if len(squares) > 2:
        most = max(MOST_SHARE, 2 / len(squares)) * (np.sum(squares) - squares)
        np.divide(most, squares, out=weights, where=squares > most)
    return weights


def _size(held: Held) -> float:
    """Root mean square of the values; zero if there are none."""
    return float(np.sqrt(np.average(abs_squared(held.values), weights=held.weights))) if len(held.values) else 0.0


def _least(R: FloatArray, b: FloatArray, noise: float) -> FloatArray:
    """The a that minimises ``|R @ a - b|**2 / noise + |a|**2``, not negative, with a sum of at most one.

    It is a problem of non-negative least squares with one more unknown, what is missing to one, and a row that is so
    heavy that the sum is one.
    """
    k, root = R.shape[1], np.sqrt(noise)
    heavy = 1e4 * (float(np.linalg.norm(R)) + root)  # steps: so that the sum is one to 1e-8
    system = np.zeros((len(R) + k + 1, k + 1))
    system[: len(R), :k], system[len(R) : -1, :k], system[-1] = R, root * np.eye(k), heavy
    return np.asarray(nnls(system, np.concatenate([b, np.zeros(k), [heavy]]))[0][:k])
