r"""Approximations of symmetric matrices, :math:`\hat M = V \Lambda V^\top`: one basis, and a diagonal core.

With the roots of the eigenvalues in both factors, an entry is a sum of products of two numbers, and these do not depend
on their order: entry (i, j) and entry (j, i) have the same bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._arrays import array_namespace, float64, take, to_device, to_numpy
from .._typing import FloatArray, IndexVector, Matrix, Vector
from .basis import Basis
from .core import Core

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["diagonal_of", "eigenvalues", "entries_of", "leading_eigenvalues", "symmetric_core", "whole_of"]


def eigenvalues(Z: Matrix) -> FloatArray | None:
    """The diagonal of a core, on the host; None for a core that is not diagonal."""
    core = to_numpy(Z)
    found: FloatArray = np.diagonal(core)
    return found if core.shape[0] == core.shape[1] and np.count_nonzero(core) == np.count_nonzero(found) else None


def symmetric_core(values: FloatArray, like: Matrix, solver: str = "approximate") -> Core:
    """The diagonal core of some eigenvalues, in the library of ``like``."""
    return Core(to_device(np.diag(values), like), solver)


def leading_eigenvalues(basis: Basis, values: FloatArray, rank: int) -> tuple[Basis, FloatArray, FloatArray]:
    """The basis of the ``rank`` eigenvalues of largest magnitude, these, and those left out."""
    order = np.argsort(-np.abs(values), kind="stable")
    kept = to_device(np.eye(len(values), dtype=values.dtype)[:, order[:rank]], basis.vectors)
    return basis.rotate(kept), values[order[:rank]], values[order[rank:]]


def entries_of(approximation: Factorization, i: IndexVector, j: IndexVector) -> Vector:
    """Values at ``(i[t], j[t])``, to the last bit those at ``(j[t], i[t])``."""
    V, (root, sign) = approximation.left.vectors, _roots(approximation)
    left, right = (take(V, index, axis=0) * root for index in (i, j))
    return array_namespace(V).sum(left * right * sign, axis=1)


def whole_of(approximation: Factorization) -> Matrix:
    """The whole matrix, equal to its transpose to the last bit."""
    root, sign = _roots(approximation)
    factor = approximation.left.vectors * root
    whole = (factor * sign) @ factor.T
    return (whole + whole.T) / 2


def diagonal_of(approximation: Factorization) -> FloatArray:
    """The diagonal of the approximation, in float64 on the host, shape (n,)."""
    root, sign = _roots(approximation)
    factor = float64(approximation.left.vectors) * float64(root)
    found: FloatArray = to_numpy(array_namespace(factor).sum(factor**2 * float64(sign), axis=1))
    return found


def _roots(approximation: Factorization) -> tuple[Vector, Vector]:
    """Roots of the magnitudes of the eigenvalues, and their signs, in the library of the basis."""
    values, V = np.diagonal(to_numpy(approximation.core.Z)), approximation.left.vectors
    return to_device(np.sqrt(np.abs(values)), V), to_device(np.sign(values), V)
