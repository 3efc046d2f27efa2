r"""Approximations of matrices that equal their adjoint, and of PSD ones.

The symmetric part of an approximation is no worse: M is as far from :math:`\hat M^\top` as from :math:`\hat M`, so
their mean is no farther; and a PSD matrix is no farther from the PSD part of an approximation than from the
approximation.
"""

from __future__ import annotations

import numpy as np

from .._arrays import adjoint, array_namespace, double, rounding_unit, to_device, to_numpy
from ..factorization import Basis, Factorization
from ..factorization.symmetric import symmetric_core
from ..observation.symmetry import PSD

__all__ = ["symmetric_part"]


def symmetric_part(answer: Factorization, rank: int | None, symmetry: str) -> Factorization:
    """The symmetric matrix nearest to an answer, or the nearest PSD one, and its leading ``rank`` eigenvalues."""
    xp, U, V = array_namespace(answer.core.Z), double(answer.left.vectors), double(answer.right.vectors)
    Q, _ = xp.linalg.qr(xp.concat([U, V], axis=1))
    core = to_numpy(((adjoint(Q) @ U) @ double(answer.core.Z)) @ (adjoint(V) @ Q))
    values, P = np.linalg.eigh((core + adjoint(core)) / 2)
    order = np.argsort(-np.abs(values), kind="stable")
    least = rounding_unit(values) * np.abs(values).max(initial=0.0)
    kept = order[(values[order] > least) if symmetry == PSD else (np.abs(values[order]) > least)][:rank]
    basis = Basis(Q @ to_device(np.ascontiguousarray(P[:, kept]), Q))
    return Factorization(basis, symmetric_core(values[kept], Q), basis)
