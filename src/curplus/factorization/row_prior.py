r"""What rows look like: the mean of the fitted rows, the directions in which they differ, noise and an offset."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._arrays import (
    array_namespace,
    device,
    float64,
    is_numpy_array,
    largest,
    power_of_two,
    rounding_unit,
    to_device,
    to_numpy,
)
from .._typing import FloatArray, Matrix, Vector
from .fitted_model import centred_root

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["RowPrior", "Spread", "row_prior"]

LEAST_SHARE = 1e-3  # of the variance of a value: at least as much of it is not shared with others


class RowPrior(NamedTuple):
    """What rows look like, before anything is known of them."""

    mean: Vector  # (m,)
    directions: Matrix  # (m, r + 1), each as long as rows deviate along it, the last one for the offset; in some unit
    noise: float  # standard deviation, in the same unit
    offset: float  # standard deviation of a row's own offset, in the same unit
    unit: float  # of directions, noise and offset
    is_exact: bool  # whether the noise is no more than rounding


def row_prior(approximation: Factorization) -> RowPrior:
    """Mean and directions of the fitted rows, and the noise around them."""
    n, m = approximation.shape
    left, right = float64(approximation.left.vectors), float64(approximation.right.vectors)
    Z, model = to_numpy(float64(approximation.core.Z)), approximation.provenance.model
    xp, unit = array_namespace(left), power_of_two(largest(Z), Z)
    size, s, Qt = _centred_directions(left, Z / unit)
    rounding = rounding_unit(approximation.core.Z) * size
    s, Qt = (x[s > max(n, m) * rounding] for x in (s, Qt))
    directions = right @ to_device(Qt.T * (s / math.sqrt(n)), right)
    least = Z.shape[1] * rounding / math.sqrt(n * m) or 1.0  # without any, an offset costs as much as a residual
    noise = (_residual_at_samples(approximation) if model is None else model.noise) / unit
    is_exact, noise = noise <= least, max(noise, least)
    spread = Spread(s**2 / n, float(xp.sum(xp.mean(directions, axis=0) ** 2)), m)
    offset = noise if is_exact else math.sqrt(spread.offset_variance(noise**2))
    constant = xp.full((m, 1), offset, dtype=right.dtype, device=device(right))
    mean = _mean_row(approximation) if model is None else model.mean_row
    mean = to_device(mean, right) if is_numpy_array(mean) else mean
    return RowPrior(mean, xp.concat([directions, constant], axis=1), noise, offset, unit, is_exact)


class Spread(NamedTuple):
    """How far rows lie from their mean: along their directions, and by an offset."""

    variances: FloatArray  # (r,), along the directions
    of_means: float  # variance of the means of the rows
    m: int  # number of values in a row

    def offset_variance(self, noise: float) -> float:
        r"""Variance of a new row's own offset, beyond what the directions say, for noise of a given variance.

        Notes
        -----
        It has two parts. Noise stands for what is not known of the covariance, which is shrunk by it towards one with
        equal variances :math:`v` and equal covariances :math:`c` of all values; these covariances are an offset of
        variance :math:`c` for every :math:`v - c` of noise. And a row may be unlike all others: its offset then costs
        as much as what cannot be known of a value from the values before it. The variances of the values of a row, each
        given those before it, have the same product as the eigenvalues of the covariance, so their geometric mean is
        taken; it hardly depends on a few directions in which nothing varies.
        """
        v = float(np.sum(self.variances)) / self.m
        c = max((self.m * self.of_means - v) / max(self.m - 1, 1), 0.0)
        return self._unknown(noise) + (noise * c / max(v - c, LEAST_SHARE * v) if c else 0.0)

    def _unknown(self, noise: float) -> float:
        """What cannot be known of a value from those before it, a variance."""
        n_others = self.m - len(self.variances)
        if noise == 0 and n_others:
            return 0.0
        logs = float(np.sum(np.log(self.variances + noise))) + (n_others * math.log(noise) if n_others else 0.0)
        return math.exp(logs / self.m)


def _mean_row(approximation: Factorization) -> Vector:
    left = float64(approximation.left.vectors)
    means = array_namespace(left).mean(left, axis=0) @ float64(approximation.core.Z)
    return float64(approximation.right.vectors) @ means


def _centred_directions(left: Matrix, Z: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Largest singular value of ``left @ Z``; singular values and right vectors without the mean of its rows."""
    if not Z.size:
        return 0.0, np.empty(0), np.empty((0, Z.shape[1]))
    _, s, Qt = np.linalg.svd(centred_root(left) @ Z, full_matrices=False)
    return float(np.linalg.norm(Z, 2)), s, Qt


def _residual_at_samples(approximation: Factorization) -> float:
    """Root mean square of the residual on the sampled rows and columns; 0 where the approximation keeps none."""
    norm, count = 0.0, 0
    for side in (approximation, approximation.T):
        if side.right.sample is not None and math.prod(side.right.sample.shape):
            residual = float64(side.right.sample.T) - float64(side.rows(side.row_index))
            unit = power_of_two(largest(residual), residual)
            norm = math.hypot(norm, unit * math.sqrt(float(array_namespace(residual).sum((residual / unit) ** 2))))
            count += math.prod(residual.shape)
    return norm / math.sqrt(max(count, 1))
