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
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from ..._arrays import abs_squared, is_complex
from ..._typing import FloatArray, IndexVector
from ...evaluation.effective_sample import effective_sample_size
from .prediction import Prediction

__all__ = ["Held", "blend_weights", "blended"]

MOST_REWEIGHTINGS, STEADY_WEIGHTS = 20, 1e-3  # until no weight changes by more than this
MOST_SHARE = 0.1  # of the squares of all other groups: no single row decides the weights
GAUSSIAN = 3.0  # their kurtosis: the effective sample size of Gaussian squares is their number divided by it


class Held(NamedTuple):
    """Values that were left out, and what each model predicts for them."""

    predicted: FloatArray  # (h, k)
    values: FloatArray  # (h,)
    weights: FloatArray  # (h,)
    group: IndexVector  # (h,), values with correlated errors

    def take(self, which: IndexVector) -> Held:
        """Some of the values."""
        return Held(self.predicted[which], self.values[which], self.weights[which], self.group[which])


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
    heavy = 1e4 * (float(np.linalg.norm(R)) + root)
    system = np.zeros((len(R) + k + 1, k + 1))
    system[: len(R), :k], system[len(R) : -1, :k], system[-1] = R, root * np.eye(k), heavy
    return np.asarray(nnls(system, np.concatenate([b, np.zeros(k), [heavy]]))[0][:k])
