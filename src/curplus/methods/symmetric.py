r"""Approximations of matrices that equal their transpose, and of PSD ones.

Nothing is lost by following the promise: M is as far from :math:`\hat M^\top` as from :math:`\hat M`, so their mean is
no farther; and a PSD matrix is no farther from the PSD part of an approximation than from the approximation.
"""

from __future__ import annotations

import numpy as np

from .._arrays import array_namespace, float64, rounding_unit, to_device, to_numpy
from ..factorization import Basis, Factorization
from ..factorization.symmetric import symmetric_core
from ..observation.symmetry import PSD

__all__ = ["symmetric_part"]


def symmetric_part(answer: Factorization, rank: int | None, symmetry: str) -> Factorization:
    """The symmetric matrix nearest to an answer, or the nearest PSD one, and its leading ``rank`` eigenvalues."""
    xp, U, V = array_namespace(answer.core.Z), float64(answer.left.vectors), float64(answer.right.vectors)
    Q, _ = xp.linalg.qr(xp.concat([U, V], axis=1))
    core = to_numpy(((Q.T @ U) @ float64(answer.core.Z)) @ (V.T @ Q))
    values, P = np.linalg.eigh((core + core.T) / 2)
    order = np.argsort(-np.abs(values), kind="stable")
    least = rounding_unit(values) * np.abs(values).max(initial=0.0)
    kept = order[(values[order] > least) if symmetry == PSD else (np.abs(values[order]) > least)][:rank]
    basis = Basis(Q @ to_device(np.ascontiguousarray(P[:, kept]), Q))
    return Factorization(basis, symmetric_core(values[kept], Q), basis)
