r"""Approximations of symmetric matrices, :math:`\hat M = V \Lambda V^\top`: one basis, and a real diagonal core.

A complex matrix with this form is Hermitian, :math:`\hat M = V \Lambda V^*`. With the roots of the eigenvalues in both
factors, an entry is a sum of products of two numbers, and these do not depend on their order: entry (i, j) and entry
(j, i) have the same bits, and of complex numbers the imaginary parts differ in the sign alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import (
    abs_squared,
    adjoint,
    array_namespace,
    double,
    host_kind,
    is_complex,
    take,
    to_device,
    to_numpy,
)
from .._typing import FloatArray, IndexVector, Matrix, Vector
from .basis import Basis
from .core import Core

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["diagonal_of", "eigenvalues", "entries_of", "leading_eigenvalues", "symmetric_core", "whole_of"]


def eigenvalues(Z: Matrix) -> FloatArray | None:
    """The diagonal of a core, on the host; None for a core that is not real and diagonal."""
    core = to_numpy(Z)
    found: FloatArray = np.diagonal(core.real)
    return found if core.shape[0] == core.shape[1] and np.count_nonzero(core) == np.count_nonzero(found) else None


def symmetric_core(values: FloatArray, like: Matrix, solver: str = "approximate") -> Core:
    """The diagonal core of some eigenvalues, in the library of ``like``."""
    return Core(to_device(np.diag(values).astype(_kind(values, like)), like), solver)


def leading_eigenvalues(basis: Basis, values: FloatArray, rank: int) -> tuple[Basis, FloatArray, FloatArray]:
    """The basis of the ``rank`` eigenvalues of largest magnitude, these, and those left out."""
    order = np.argsort(-np.abs(values), kind="stable")
    kept = to_device(np.eye(len(values), dtype=_kind(values, basis.vectors))[:, order[:rank]], basis.vectors)
    return basis.rotate(kept), values[order[:rank]], values[order[rank:]]


def _kind(values: FloatArray, like: Matrix) -> Any:
    """The type of a small matrix of real numbers that goes with ``like``."""
    return host_kind(like) if is_complex(like) else values.dtype


def entries_of(approximation: Factorization, i: IndexVector, j: IndexVector) -> Vector:
    """Values at ``(i[t], j[t])``, to the last bit those at ``(j[t], i[t])``, conjugated."""
    V, (root, sign) = approximation.left.vectors, _roots(approximation)
    xp = array_namespace(V)
    left, right = (take(V, index, axis=0) * root for index in (i, j))
    if not is_complex(V):
        return xp.sum(left * right * sign, axis=1)
    a, b, c, d = xp.real(left), xp.imag(left), xp.real(right), xp.imag(right)
    return xp.sum((a * c + b * d) * sign, axis=1) + 1j * xp.sum((b * c - a * d) * sign, axis=1)


def whole_of(approximation: Factorization) -> Matrix:
    """The whole matrix, equal to its adjoint to the last bit."""
    root, sign = _roots(approximation)
    factor = approximation.left.vectors * root
    whole = (factor * sign) @ adjoint(factor)
    return (whole + adjoint(whole)) / 2


def diagonal_of(approximation: Factorization) -> FloatArray:
    """The diagonal of the approximation, in float64 on the host, shape (n,)."""
    root, sign = _roots(approximation)
    factor = double(approximation.left.vectors) * double(root)
    found: FloatArray = to_numpy(array_namespace(factor).sum(abs_squared(factor) * double(sign), axis=1))
    return found


def _roots(approximation: Factorization) -> tuple[Vector, Vector]:
    """Roots of the magnitudes of the eigenvalues, and their signs, in the library of the basis."""
    values, V = np.diagonal(to_numpy(approximation.core.Z).real), approximation.left.vectors
    return to_device(np.sqrt(np.abs(values)), V), to_device(np.sign(values), V)
