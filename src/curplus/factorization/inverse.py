r"""Solving with an approximation: systems with a shift, their determinants, preconditioners, and least squares.

With orthonormal vectors P and Q of one span that holds the rows and columns of a square approximation,

.. math:: \hat M + s I = P \Sigma Q^\top + s (I - P P^\top), \qquad
          (\hat M + s I)^{-1} b = Q \Sigma^{-1} P^\top b + \frac{1}{s} (I - P P^\top) b

where :math:`\Sigma` holds the singular values of :math:`\hat M + s I` on that span; for a symmetric approximation
:math:`V \Lambda V^\top`, they are its eigenvalues plus the shift, and P = Q = V. In exact arithmetic this is the
formula of Sherman, Morrison and Woodbury. That one takes what lies in the span from :math:`b / s` again, and loses as
many digits as the shift is small; here both parts are orthogonal, and each is as accurate as its own size. The
projector is applied twice, so that rounding of P is not divided by s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Complex
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import adjoint, array_namespace, conjugate, double, host_kind, to_device, to_numpy
from .._typing import Matrix, Shape, Vector
from ..exceptions import InvalidArgumentError
from .algebra import as_complex, beside, joint_basis

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["ShiftedInverse", "least_squares", "shifted_inverse"]


@dataclass(frozen=True, eq=False)
class ShiftedInverse:
    """The inverse of an approximation plus a multiple of the identity, for products: a preconditioner.

    Returned by :meth:`curplus.Factorization.as_preconditioner`; SciPy's iterative solvers take it as their ``M``. A
    product with a vector costs O(n r), and stays on the device of the factors.
    """

    left: Matrix  # (n, k), orthonormal
    values: Vector  # (k,), not zero
    right: Matrix  # (n, k), orthonormal vectors of the same span; the left ones, if the matrix is symmetric
    shift: complex  # a float, if it is real

    def __repr__(self) -> str:
        n, rank = self.shape[0], int(self.left.shape[1])
        return f"<ShiftedInverse of a {n} x {n} matrix of rank {rank}, shift {self.shift:g}>"

    @property
    def shape(self) -> Shape:
        """Size of the matrix."""
        n = int(self.left.shape[0])
        return n, n

    @property
    def dtype(self) -> Any:
        """Type of its entries."""
        return array_namespace(self.left, self.values).result_type(self.left, self.values)

    @property
    def H(self) -> ShiftedInverse:
        """The inverse of the adjoint."""
        values = conjugate(self.values)
        return ShiftedInverse(self.right, values, self.left, self.shift.conjugate())

    def matmat(self, X: Matrix) -> Matrix:
        """Product with ``X``, shape (n,) or (n, k)."""
        projection = adjoint(self.left)
        inside = projection @ X
        outside = X - self.left @ inside
        again = projection @ outside
        inside, outside = inside + again, outside - self.left @ again
        values = self.values if len(X.shape) == 1 else self.values[:, None]
        return self.right @ (inside / values) + outside / self.shift

    def rmatmat(self, X: Matrix) -> Matrix:
        """Product of the adjoint with ``X``, shape (n,) or (n, k)."""
        return self.H.matmat(X)

    matvec, rmatvec = matmat, rmatmat
    __matmul__ = matmat

    @property
    def logdet(self) -> float:
        """Logarithm of the determinant of the inverted matrix, if that is symmetric, or Hermitian, and positive."""
        is_symmetric = self.left is self.right and not isinstance(self.shift, complex)
        values = to_numpy(self.values).astype(float) if is_symmetric else np.zeros(1)
        lowest = min(self.shift.real, float(np.min(values, initial=math.inf)))
        if lowest <= 0:
            what = f"has an eigenvalue of {lowest:.3g}" if is_symmetric else "is not symmetric or Hermitian"
            raise InvalidArgumentError(
                f"the matrix with the shift {self.shift:g} {what}, so the logarithm of its determinant may not be a "
                "number. Approximate a PSD matrix (psd=True) and use a positive shift, larger than minus the least "
                "eigenvalue."
            )
        return math.fsum(np.log(values)) + (self.shape[0] - len(values)) * math.log(self.shift.real)


def shifted_inverse(approximation: Factorization, shift: Any) -> ShiftedInverse:
    """The inverse of a square approximation plus ``shift`` times the identity."""
    shift = _checked(approximation, shift)
    a = as_complex(approximation) if isinstance(shift, complex) else approximation
    if a.is_symmetric:
        left = right = a.left.vectors
        found = np.diagonal(to_numpy(double(a.core.Z))).real
        values, is_safe = found + shift, shift.real > 0 and np.min(found, initial=0.0) >= 0
    else:
        Q, L, R = joint_basis(a.left.vectors, a.right.vectors)
        P, values, Gh = np.linalg.svd(L @ to_numpy(double(a.core.Z)) @ adjoint(R) + shift * np.eye(len(L)))
        left, right, is_safe = Q @ beside(P, Q), Q @ beside(adjoint(Gh), Q), False
    sizes = np.abs(values)
    if not is_safe and np.min(sizes, initial=math.inf) <= np.finfo(float).eps * np.max(sizes, initial=abs(shift)):
        raise InvalidArgumentError(
            f"the matrix with the shift {shift:g} is singular to rounding: minus the shift is one of its eigenvalues. "
            "Use another shift."
        )
    kind = host_kind(left)
    values = values.astype(kind if np.iscomplexobj(values) else np.finfo(kind).dtype)
    return ShiftedInverse(left, to_device(values, left), right, shift)


def _checked(approximation: Factorization, shift: Any) -> complex:
    n, m = approximation.shape
    if n != m:
        if shift is None:
            raise InvalidArgumentError(
                f"only a square matrix has an inverse or a determinant: this is one of {n} x {m}."
            )
        raise InvalidArgumentError(
            f"shift={shift!r} needs a square matrix, and this is one of {n} x {m}. Leave it out."
        )
    if not isinstance(shift, Complex) or not np.isfinite(complex(shift)) or shift == 0:
        raise InvalidArgumentError(
            f"shift={shift!r} is not a number other than zero, and an approximation of low rank has no inverse without "
            "one. Give the noise variance or the ridge; solve(b) alone gives the least squares solution."
        )
    number = complex(shift)
    return number if number.imag else number.real


def least_squares(approximation: Factorization, b: Matrix) -> Matrix:
    """The x of least norm for which ``approximation @ x`` is closest to b."""
    a = approximation
    y = to_numpy(adjoint(a.left.vectors) @ b)
    found = np.linalg.lstsq(to_numpy(a.core.Z), y, rcond=None)[0]
    return a.right.vectors @ to_device(found, a.right.vectors)
