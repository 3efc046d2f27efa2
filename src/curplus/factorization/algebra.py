r"""Sums and multiples of approximations, which are approximations again.

With orthonormal bases :math:`Q_L, Q_R` of the columns of both left and of both right bases,

.. math:: \hat U_1 Z_1 \hat V_1^\top \pm \hat U_2 Z_2 \hat V_2^\top
          = Q_L \left( L_1 Z_1 R_1^\top \pm L_2 Z_2 R_2^\top \right) Q_R^\top, \qquad \hat U_k = Q_L L_k

so that a difference is computed before anything is squared: if two approximations nearly cancel, it is accurate to
the rounding of their entries. Directions that are rounding are left out. Of symmetric approximations there is one
basis, and the sum is symmetric to the last bit.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Complex
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import (
    adjoint,
    array_namespace,
    concatenate,
    double,
    host_kind,
    is_complex,
    keep,
    keep_tall,
    rounding_unit,
    to_device,
    to_numpy,
)
from .._typing import FloatArray, Matrix
from ..exceptions import InvalidArgumentError
from .basis import Basis
from .core import Core
from .provenance import Provenance
from .symmetric import symmetric_core

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["as_complex", "beside", "joint_basis", "plus", "times"]

ARITHMETIC = "arithmetic"  # the solver of such a core
ROUNDED_PRODUCT = 8  # machine epsilons of both norms: singular values below this were made by rounding


def times(approximation: Factorization, number: Any) -> Factorization:
    """A multiple of an approximation; its samples are not columns and rows of it, and do not come with it."""
    if not isinstance(number, Complex) or not np.isfinite(complex(number)):
        raise InvalidArgumentError(
            f"an approximation cannot be multiplied by {number!r}, entry by entry. Use a finite number, or @ for a "
            "product with a matrix or a vector."
        )
    c = complex(number)
    a = as_complex(approximation) if c.imag else approximation
    factor, model = c if c.imag else c.real, a.provenance.model
    left = Basis(a.left.vectors)
    right = left if a.right is a.left else Basis(a.right.vectors)
    provenance = Provenance(model=None if model is None else model.scale(c.real))
    return replace(a, left=left, core=Core(a.core.Z * factor, ARITHMETIC), right=right, provenance=provenance)


def as_complex(approximation: Factorization) -> Factorization:
    """The same matrix in complex numbers; itself if it is complex."""
    a, Z = approximation, approximation.core.Z
    if is_complex(Z):
        return a
    xp = array_namespace(Z)
    kind = xp.complex64 if rounding_unit(Z) > 1e-10 else xp.complex128
    left = Basis(xp.astype(a.left.vectors, kind))
    right = left if a.right is a.left else Basis(xp.astype(a.right.vectors, kind))
    return replace(a, left=left, core=a.core._replace(Z=xp.astype(Z, kind)), right=right, provenance=Provenance())


def plus(first: Factorization, second: Any, sign: float = 1.0) -> Factorization:
    """The sum of two approximations of one shape, or their difference, without directions that are rounding."""
    _check_terms(first, second)
    if is_complex(first.core.Z) or is_complex(second.core.Z):
        first, second = as_complex(first), as_complex(second)
    terms = (first, second)
    Z1, Z2 = (to_numpy(double(term.core.Z)) for term in terms)
    least = ROUNDED_PRODUCT * max(rounding_unit(term.core.Z) for term in terms)
    least *= sum(float(np.linalg.norm(Z, 2)) if Z.size else 0.0 for Z in (Z1, Z2))
    Q, L1, L2 = joint_basis(first.left.vectors, second.left.vectors)
    if all(term.is_symmetric for term in terms):
        S = (L1 * np.diagonal(Z1)) @ adjoint(L1) + sign * (L2 * np.diagonal(Z2)) @ adjoint(L2)
        values, P = np.linalg.eigh((S + adjoint(S)) / 2)
        is_psd = sign > 0 and min(np.min(Z.real, initial=0.0) for Z in (Z1, Z2)) >= 0
        kept = np.argsort(-np.abs(values), kind="stable")
        kept = kept[(values if is_psd else np.abs(values))[kept] > least]
        left = right = Basis(Q @ beside(P[:, kept], Q))
        core = symmetric_core(values[kept].astype(host_kind(Q)), Q, ARITHMETIC)
    else:
        other, R1, R2 = joint_basis(first.right.vectors, second.right.vectors)
        P, s, Gh = np.linalg.svd(L1 @ Z1 @ adjoint(R1) + sign * (L2 @ Z2 @ adjoint(R2)), full_matrices=False)
        kept = np.flatnonzero(s > least)
        left, right = Basis(Q @ beside(P[:, kept], Q)), Basis(other @ beside(adjoint(Gh[kept]), other))
        core = Core(beside(np.diag(s[kept]), Q), ARITHMETIC)
    names = (first.row_names, second.row_names), (first.column_names, second.column_names)
    rows, columns = (one if other is None else other for one, other in names)
    return replace(
        first, left=left, core=core, right=right, row_names=rows, column_names=columns, provenance=Provenance()
    )


def joint_basis(first: Matrix, second: Matrix) -> tuple[Matrix, FloatArray, FloatArray]:
    """An orthonormal basis of the columns of two matrices, and both in terms of it, on the host."""
    both = keep_tall(concatenate(first, second, axis=1), axis=0)
    Q, R = keep(*array_namespace(both).linalg.qr(both))
    R = to_numpy(double(R))
    return Q, *np.split(R, [first.shape[1]], axis=1)


def beside(small: FloatArray, tall: Matrix) -> Matrix:
    """A small matrix in the library, on the device and of the type of a tall one."""
    return to_device(np.ascontiguousarray(small, dtype=host_kind(tall)), tall)


def _check_terms(first: Factorization, second: Any) -> None:
    if not isinstance(second, type(first)):
        raise InvalidArgumentError(
            f"a {type(second).__name__} cannot be added to an approximation. Add another approximation of the same "
            "shape, or use scipy.sparse.linalg.aslinearoperator for sums of operators."
        )
    if first.shape != second.shape:
        raise InvalidArgumentError(
            f"approximations of shapes {first.shape} and {second.shape} cannot be added. Give two of one shape."
        )
    for axis in ("row_names", "column_names"):
        one, other = getattr(first, axis), getattr(second, axis)
        if one is not None and other is not None and not np.array_equal(one, other):
            raise InvalidArgumentError(
                f"the {axis} of two approximations differ, so their sum would mix rows or columns. Give approximations "
                "of matrices with the same names in the same order, or of arrays without names."
            )
