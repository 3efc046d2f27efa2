"""An approximation as a linear operator: products, sums, multiples, norms and solves.

It follows SciPy's operator protocol without inheriting from it, so that its arrays may come from any array-API library:
``scipy.sparse.linalg.aslinearoperator(approximation)`` and every iterative solver take it.
"""

from __future__ import annotations

from numbers import Complex
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from .._arrays import (
    adjoint,
    array_namespace,
    conjugate,
    double,
    is_array_api_obj,
    is_numpy_array,
    largest,
    power_of_two,
    to_device,
    to_numpy,
)
from .._typing import Matrix, Shape
from ..exceptions import InvalidArgumentError
from .algebra import plus, times
from .basis import Basis
from .core import Core
from .inverse import ShiftedInverse, least_squares, shifted_inverse

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["Operator"]


class Operator:
    """The product ``left @ Z @ right.H`` of two orthonormal bases and a core as a linear operator."""

    __array_ufunc__ = None  # so that array @ approximation is left to the approximation

    left: Basis
    core: Core
    right: Basis

    @property
    def shape(self) -> Shape:
        """Size of the matrix."""
        return int(self.left.vectors.shape[0]), int(self.right.vectors.shape[0])

    @property
    def dtype(self) -> Any:
        """Type of its entries."""
        return self.core.Z.dtype

    # -- products -------------------------------------------------------------------------------------------------

    def matmat(self, X: Matrix) -> Matrix:
        """Product with ``X``, shape (m,) or (m, k)."""
        return self.left.vectors @ (self.core.Z @ (adjoint(self.right.vectors) @ X))

    def rmatmat(self: Any, X: Matrix) -> Matrix:
        """Product of the adjoint with ``X``, shape (n,) or (n, k)."""
        return self.H.matmat(X)

    matvec, rmatvec = matmat, rmatmat

    def __matmul__(self, X: Any) -> Any:
        X = self._factor(X)
        if not X.shape or X.shape[0] != self.shape[1]:
            raise InvalidArgumentError(f"a {self.shape} matrix cannot multiply an array of shape {tuple(X.shape)}.")
        return self.matmat(X)

    def __rmatmul__(self: Any, X: Any) -> Any:
        X = self._factor(X)
        return _adjoint(self.H @ _adjoint(X))

    def _factor(self, X: Any) -> Any:
        """The other factor of a product, as an array in the library of the approximation.

        It also gets the type of the approximation if that is not a NumPy array: not all libraries mix types.
        """
        Z = self.core.Z
        if hasattr(X, "shape") and hasattr(X, "tocsr"):
            return X
        if not is_array_api_obj(X):
            X = np.asarray(X, dtype=complex if np.iscomplexobj(X) else float)
        if is_numpy_array(Z):
            return X
        return array_namespace(Z).astype(to_device(X, Z) if is_numpy_array(X) else X, Z.dtype, copy=False)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        n, m = self.shape
        raise InvalidArgumentError(
            f"a factorization is not an array: it would have {n} x {m} numbers. Use .to_array() to form them all, or "
            ".entries(i, j), .rows(i) and .columns(j) for some."
        )

    # -- sums and multiples ---------------------------------------------------------------------------------------

    def __mul__(self: Any, number: Any) -> Factorization:
        return times(self, number)

    __rmul__ = __mul__

    def __truediv__(self: Any, number: Any) -> Factorization:
        if not isinstance(number, Complex) or number == 0:
            raise InvalidArgumentError(f"an approximation cannot be divided by {number!r}. Use a number other than 0.")
        return times(self, 1 / number)

    def __neg__(self: Any) -> Factorization:
        return times(self, -1.0)

    def __add__(self: Any, other: Any) -> Factorization:
        return plus(self, other)

    def __radd__(self: Any, other: Any) -> Factorization:
        return self if isinstance(other, Complex) and other == 0 else plus(self, other)  # sum starts with 0

    def __sub__(self: Any, other: Any) -> Factorization:
        return plus(self, other, -1.0)

    def norm(self, ord: Literal["fro", "nuc", 2] = "fro") -> float:
        """Norm of the whole matrix, from its core alone: Frobenius, nuclear or spectral (2)."""
        if ord not in ("fro", "nuc", 2):
            raise InvalidArgumentError(f'ord={ord!r} is not a norm that can be computed. Use "fro", "nuc" or 2.')
        Z = to_numpy(double(self.core.Z))
        unit = power_of_two(largest(Z), Z)
        return float(np.linalg.norm(Z / unit, ord)) * unit if Z.size else 0.0

    # -- solves ---------------------------------------------------------------------------------------------------

    def solve(self: Any, b: Any, *, shift: complex | None = None) -> Matrix:
        r"""The solution of :math:`(\hat M + s I) x = b`; without a shift, the least squares solution of least norm.

        Parameters
        ----------
        b : array of shape (n,) or (n, k)
            One or several right-hand sides.
        shift : float or complex, optional
            The s, such as the noise variance of a Gaussian process or the ridge of a kernel ridge regression. The
            matrix must be square. Without it, x minimises :math:`\|\hat M x - b\|`, for any matrix.

        Returns
        -------
        array of shape (m,) or (m, k)
            In the library and on the device of the factors.

        Notes
        -----
        Solved by the formula of Sherman, Morrison and Woodbury, in a form whose backward error stays at rounding
        however small the shift is. Cost is O(n r) for each right-hand side, and O(n r^2) once if the approximation is
        not symmetric.

        Examples
        --------
        >>> import numpy as np, curplus
        >>> x = np.linspace(0, 1, 200)
        >>> K = np.exp(-((x[:, None] - x) ** 2) / 0.02)
        >>> approx = curplus.approximate(curplus.acquire(K, n_columns=25, psd=True, rng=0))
        >>> alpha = approx.solve(np.sin(6 * x), shift=1e-6)
        >>> bool(np.allclose(approx @ alpha + 1e-6 * alpha, np.sin(6 * x)))
        True
        """
        b = self._factor(b.toarray() if hasattr(b, "tocsr") else b)
        if not b.shape or b.shape[0] != self.shape[0]:
            raise InvalidArgumentError(f"b has shape {tuple(b.shape)} and the matrix {self.shape}. Give n numbers.")
        return least_squares(self, b) if shift is None else shifted_inverse(self, shift).matmat(b)

    def logdet(self: Any, *, shift: float | None = None) -> float:
        r"""The logarithm of the determinant of :math:`\hat M + s I`, which is symmetric, or Hermitian, and positive."""
        return shifted_inverse(self, shift).logdet

    def as_preconditioner(self: Any, *, shift: complex | None = None) -> ShiftedInverse:
        r"""The inverse of :math:`\hat M + s I` as an operator, for SciPy's ``cg(K, b, M=...)`` and others."""
        return shifted_inverse(self, shift)


def _adjoint(X: Any) -> Any:
    """The adjoint of a matrix, of a sparse one too; a vector is conjugated."""
    X = X.conj() if hasattr(X, "tocsr") else conjugate(X)
    return X if len(X.shape) < 2 else X.T
