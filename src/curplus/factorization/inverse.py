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
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import to_device, to_numpy
from .._typing import Matrix, Shape, Vector
from ..exceptions import InvalidArgumentError
from .algebra import beside, joint_basis

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
    right: Matrix  # (n, k), orthonormal vectors of the same span; the left ones, where the matrix is symmetric
    shift: float

    @property
    def shape(self) -> Shape:
        """Size of the matrix."""
        n = int(self.left.shape[0])
        return n, n

    @property
    def dtype(self) -> Any:
        """Type of its entries."""
        return self.values.dtype

    @property
    def T(self) -> ShiftedInverse:
        """The inverse of the transposed matrix."""
        return ShiftedInverse(self.right, self.values, self.left, self.shift)

    def matmat(self, X: Matrix) -> Matrix:
        """Product with ``X``, shape (n,) or (n, k)."""
        inside = self.left.T @ X
        outside = X - self.left @ inside
        again = self.left.T @ outside
        inside, outside = inside + again, outside - self.left @ again
        values = self.values if len(X.shape) == 1 else self.values[:, None]
        return self.right @ (inside / values) + outside / self.shift

    def rmatmat(self, X: Matrix) -> Matrix:
        """Product of the transpose with ``X``, shape (n,) or (n, k)."""
        return self.T.matmat(X)

    matvec, rmatvec = matmat, rmatmat
    __matmul__ = matmat

    @property
    def logdet(self) -> float:
        """Logarithm of the determinant of what this inverts, if that is symmetric and positive definite."""
        values = to_numpy(self.values).astype(float)
        lowest = min(self.shift, float(np.min(values, initial=math.inf)))
        if self.left is not self.right or lowest <= 0:
            what = "is not symmetric" if self.left is not self.right else f"has an eigenvalue of {lowest:.3g}"
            raise InvalidArgumentError(
                f"the matrix with the shift {self.shift:g} {what}, so the logarithm of its determinant may not be a "
                "number. Approximate a PSD matrix (psd=True) and use a positive shift, larger than minus the least "
                "eigenvalue."
            )
        return math.fsum(np.log(values)) + (self.shape[0] - len(values)) * math.log(self.shift)


def shifted_inverse(approximation: Factorization, shift: Any) -> ShiftedInverse:
    """The inverse of a square approximation plus ``shift`` times the identity."""
    a, shift = approximation, _checked(approximation, shift)
    if a.is_symmetric:
        left = right = a.left.vectors
        eigenvalues = np.diagonal(to_numpy(a.core.Z)).astype(np.float64)
        values, is_safe = eigenvalues + shift, shift > 0 and np.min(eigenvalues, initial=0.0) >= 0
    else:
        Q, L, R = joint_basis(a.left.vectors, a.right.vectors)
        P, values, Gt = np.linalg.svd(L @ to_numpy(a.core.Z).astype(np.float64) @ R.T + shift * np.eye(len(L)))
        left, right, is_safe = Q @ beside(P, Q), Q @ beside(Gt.T, Q), False
    sizes = np.abs(values)
    if not is_safe and np.min(sizes, initial=math.inf) <= np.finfo(float).eps * np.max(sizes, initial=abs(shift)):
        raise InvalidArgumentError(
            f"the matrix with the shift {shift:g} is singular to rounding: minus the shift is one of its eigenvalues. "
            "Use another shift."
        )
    return ShiftedInverse(left, beside(values, left), right, shift)


def _checked(approximation: Factorization, shift: Any) -> float:
    n, m = approximation.shape
    if n != m:
        raise InvalidArgumentError(
            f"shift={shift!r} needs a square matrix, and this is one of {n} x {m}. Leave it out."
        )
    if not isinstance(shift, Real) or not math.isfinite(shift) or shift == 0:
        raise InvalidArgumentError(
            f"shift={shift!r} is not a number other than zero, and an approximation of low rank has no inverse without "
            "one. Give the noise variance or the ridge; solve(b) alone gives the least squares solution."
        )
    return float(shift)


def least_squares(approximation: Factorization, b: Matrix) -> Matrix:
    """The x of least norm for which ``approximation @ x`` is closest to b."""
    a = approximation
    y = to_numpy(a.left.vectors.T @ b)
    found = np.linalg.lstsq(to_numpy(a.core.Z), y, rcond=None)[0]
    return a.right.vectors @ to_device(found, a.right.vectors)
