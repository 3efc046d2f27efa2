r"""The Nystroem approximation of a PSD matrix, from some of its columns.

With the columns :math:`C = M_{:, S}` and their intersection :math:`W = M_{S, S}`,

.. math:: \hat M = C W^+ C^\top = F F^\top, \qquad F = C_{:, \pi} L^{-\top}, \qquad W_{\pi, \pi} = L L^\top

where the pivots :math:`\pi` of the Cholesky factorization are taken largest first, and none that is rounding. The error
:math:`M - \hat M` is PSD too, so that its diagonal, :math:`M_{ii} - \|f_i\|^2`, is not negative, and its sum bounds the
error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._arrays import abs_squared, adjoint, array_namespace, conjugate, double, rounding_unit, take, to_device, to_numpy
from .._typing import FloatArray, IndexVector, Matrix
from ..exceptions import InconsistentObservationError
from ..observation import Observation
from ..observation.symmetry import mirrored, negative_beyond

__all__ = ["NYSTROEM", "Nystroem", "nystroem_of"]

NYSTROEM = "Nystroem"  # the solver of such a core: the error of the approximation is PSD
ROUNDED_DIAGONAL = 32  # machine epsilons of the largest diagonal value: a residual below this is rounding


class Nystroem(NamedTuple):
    """The approximation ``factor @ factor.H`` of a PSD matrix, from some of its columns."""

    factor: Matrix  # (n, k), in double precision; k is at most the number of columns
    coefficients: FloatArray  # (d, k), on the host: factor == columns @ coefficients
    columns: Matrix  # (n, d), all that are known, as rows or as columns
    column_index: IndexVector  # (d,)
    diagonal: FloatArray  # (n,), of the matrix, on the host; NaN if not known
    residual: FloatArray  # (n,), of the error; NaN if not known
    rounding: float  # a residual below this is rounding

    @property
    def is_exact(self) -> bool:
        """Whether nothing but rounding is left of the diagonal, so that the approximation is the matrix."""
        return bool(np.all(self.residual <= self.rounding))


def nystroem_of(observation: Observation, *, least: float = 0.0) -> Nystroem:
    """The approximation from all columns that are known, and the residual of the diagonal.

    Parameters
    ----------
    observation : Observation
        Columns or rows of a PSD matrix, without gaps; its diagonal, as far as it is known.
    least : float, default 0.0
        Share of the largest diagonal value that a pivot must exceed, if that is more than rounding.

    Raises
    ------
    InconsistentObservationError
        If the residual of the diagonal is clearly negative somewhere, so that the matrix is not PSD.
    """
    lines = observation if not observation.n_rows else mirrored(observation)
    columns, index = double(lines.columns), lines.column_index
    diagonal = observation.diagonal()
    largest = float(np.max(np.abs(diagonal), initial=0.0, where=~np.isnan(diagonal)))
    noise = observation.noise
    rounding = max(
        ROUNDED_DIAGONAL * rounding_unit(observation.values) * largest, 8 * noise if isinstance(noise, float) else 0
    )
    W = to_numpy(take(columns, index, axis=0)) if len(index) else np.zeros((0, 0))
    coefficients, pivots = _coefficients((W + adjoint(W)) / 2, max(rounding, least * largest))
    factor = columns @ to_device(coefficients, columns)
    kept = _above_rounding(factor, diagonal, pivots)
    factor, coefficients = factor[:, :kept], coefficients[:, :kept]
    residual = _left(factor, diagonal)
    if noise is None:
        _check_psd(residual, negative_beyond(observation) * largest)
    residual[index] = np.where(np.abs(residual[index]) <= rounding, 0.0, residual[index])
    floor = max(rounding, -2 * _lowest(residual))
    return Nystroem(factor, coefficients, lines.columns, index, diagonal, residual, floor)


def _left(factor: Matrix, diagonal: FloatArray) -> FloatArray:
    """The residual of the diagonal."""
    left: FloatArray = diagonal - to_numpy(array_namespace(factor).sum(abs_squared(factor), axis=1))
    return left


def _lowest(residual: FloatArray) -> float:
    return float(np.min(residual, initial=0.0, where=~np.isnan(residual)))


def _above_rounding(factor: Matrix, diagonal: FloatArray, pivots: FloatArray) -> int:
    """Number of pivots that are larger than the negative residuals of the others, which come from rounding."""
    kept = len(pivots)
    while kept and pivots[kept - 1] <= -2 * _lowest(_left(factor[:, : kept - 1], diagonal)):
        kept -= 1
    return kept


def _coefficients(W: FloatArray, rounding: float) -> tuple[FloatArray, FloatArray]:
    """A matrix (d, k) with ``W @ coefficients`` a Cholesky factor of W, whose pivots (k,) come largest first."""
    d = len(W)
    L, rest = np.zeros((d, d), dtype=W.dtype), np.diagonal(W.real).copy()
    pivots, sizes = np.zeros(0, dtype=np.int64), np.zeros(d)
    for k in range(d):
        p = int(np.argmax(rest))
        if rest[p] <= max(rounding, -2 * rest.min()):  # if numbers below zero are as large, all are rounding
            break
        sizes[k] = rest[p]
        L[:, k] = (W[:, p] - L[:, :k] @ conjugate(L[p, :k])) / np.sqrt(rest[p])
        rest -= abs_squared(L[:, k])
        pivots = np.append(pivots, p)
        rest[pivots] = 0.0
    coefficients = np.zeros((d, len(pivots)), dtype=W.dtype)
    coefficients[pivots] = adjoint(np.linalg.inv(L[pivots, : len(pivots)]))
    return coefficients, sizes[: len(pivots)]


def _check_psd(residual: FloatArray, most: float) -> None:
    lowest = _lowest(residual)
    if lowest < -most:
        i = int(np.nanargmin(residual))
        raise InconsistentObservationError(
            f"the matrix is not PSD: beside the columns that were read, row {i}, column {i} must be larger by at least "
            f'{-lowest:.6g}. If it is symmetric, use symmetric=True (symmetry="symmetric"); if its values are '
            "rounded or noisy, give noise=."
        )
