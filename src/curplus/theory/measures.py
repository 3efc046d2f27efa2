"""How evenly a matrix is spread, how many of its directions count, and how far apart two subspaces are."""

from math import sqrt

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray

from .._arrays import abs_squared, adjoint, double, number_array
from .._typing import FloatArray, Shape
from ..exceptions import InvalidArgumentError
from ._checks import area, at_least

__all__ = ["generalized_incoherence", "incoherence", "numerical_rank", "sin_theta"]


def incoherence(left: ArrayLike, right: ArrayLike) -> float:
    r"""How unevenly two subspaces are spread over the coordinates, eqs. (4) and (5).

    .. math:: \mu(r) = \max\Bigl(\max_i \tfrac{n}{r} |U_{i,*}|^2,\; \max_j \tfrac{m}{r'} |V_{j,*}|^2\Bigr)

    Parameters
    ----------
    left, right : arrays of shape (n, r) and (m, r')
        Orthonormal columns: singular vectors give :math:`\mu`, bases made of samples :math:`\hat\mu`.

    Returns
    -------
    float
        At least 1, at most ``max(n / r, m / r')``; a property of the subspaces, whatever their bases.

    Examples
    --------
    >>> even, spiked = np.full((4, 1), 0.5), np.eye(4)[:, :1]
    >>> incoherence(even, even), incoherence(even, spiked)
    (1.0, 4.0)
    """
    bases = _orthonormal(left, "left"), _orthonormal(right, "right")
    return float(max(Q.shape[0] / Q.shape[1] * abs_squared(Q).sum(axis=1).max() for Q in bases))


def numerical_rank(singular_values: ArrayLike, shape: Shape, *, eta: float) -> float:
    r"""Number of singular values above a noise floor, counted smoothly (Section 3.2).

    .. math:: r(M, \eta) = \sum_i \frac{\sigma_i^2}{\sigma_i^2 + n m \eta}

    Parameters
    ----------
    singular_values : array of shape (k,)
        The :math:`\sigma_i`, in any order. Zeros count for nothing and may be left out.
    shape : (int, int)
        Size :math:`(n, m)` of the matrix.
    eta : float
        Noise floor, as a mean square per entry. Larger means fewer directions count.

    Returns
    -------
    float
        Between 0 and ``k``; tends to the rank as ``eta`` tends to 0, and equals it there.

    Examples
    --------
    >>> round(numerical_rank([10.0, 10.0, 0.01], shape=(20, 20), eta=1e-3), 2)
    1.99
    """
    return float(_weights(singular_values, shape, eta).sum())


def generalized_incoherence(left: ArrayLike, singular_values: ArrayLike, right: ArrayLike, *, eta: float) -> float:
    r"""Incoherence of a matrix of full rank, directions counted as :func:`numerical_rank` does, eq. (6).

    .. math:: \mu(\eta) = \frac{1}{r(M,\eta)} \max\Bigl(\max_i n \sum_k w_k U_{ik}^2,\; \max_j m \sum_k w_k V_{jk}^2
              \Bigr), \qquad w_k = \frac{\sigma_k^2}{\sigma_k^2 + n m \eta}

    The paper prints :math:`\Sigma` where :math:`\mathrm{diag}(\sqrt{w})` is meant; only then is it at least 1.

    Parameters
    ----------
    left, singular_values, right : arrays of shape (n, k), (k,), (m, k)
        Singular value decomposition; directions with :math:`\sigma_k = 0` may be left out, no others.
    eta : float
        Noise floor, as a mean square per entry. The theorems take :math:`\sigma_r^2 / (n m)`.

    Returns
    -------
    float
        At least 1; at ``eta=0`` it is the :func:`incoherence` of the whole column and row space.

    Examples
    --------
    >>> [round(generalized_incoherence(np.eye(2), [1.0, 0.1], np.eye(2), eta=eta), 2) for eta in (0.0, 0.25)]
    [1.0, 1.96]
    """
    U, V = _orthonormal(left, "left"), _orthonormal(right, "right")
    w = _weights(singular_values, (len(U), len(V)), eta)
    if not U.shape[1] == w.size == V.shape[1]:
        raise InvalidArgumentError(
            f"left has {U.shape[1]} columns, right {V.shape[1]}, and there are {w.size} singular values, but each "
            "direction needs one of each. Pass the three parts of one thin SVD."
        )
    if not w.any():
        raise InvalidArgumentError("all singular values are 0, and a zero matrix has no directions. Pass another.")
    return float(max(len(Q) / w.sum() * (abs_squared(Q) @ w).max() for Q in (U, V)))


def sin_theta(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    r"""Sines of the principal angles :math:`\Theta` between two subspaces.

    Parameters
    ----------
    first, second : arrays of shape (n, p) and (n, q)
        Columns that span the subspaces; they need not be orthonormal, nor independent.

    Returns
    -------
    array of shape (min(p, q),)
        Descending, one per dimension of the smaller span; the first is :math:`\|\sin\Theta\|_2`. Tiny angles keep
        their digits, which :math:`\sqrt{1 - \cos^2}` would lose below 1e-8.

    Examples
    --------
    >>> sin_theta([[1.0], [0.0]], [[1.0], [1e-10]])
    array([1.e-10])
    """
    X, Y = _matrix(first, "first"), _matrix(second, "second")
    if len(X) != len(Y):
        raise InvalidArgumentError(
            f"first has {len(X)} rows and second {len(Y)}, so they lie in different spaces and have no angle. "
            "Pass two matrices with the same number of rows."
        )
    if not (X.any() and Y.any()):
        raise InvalidArgumentError("a matrix of zeros spans nothing and has no angles. Pass nonzero columns.")
    sines: NDArray[np.float64] = np.sin(scipy.linalg.subspace_angles(X, Y))
    return sines


def _weights(singular_values: ArrayLike, shape: Shape, eta: float) -> NDArray[np.float64]:
    """Return s^2 / (s^2 + n m eta) in a form where no square overflows and 0 is never divided by 0."""
    s = np.asarray(singular_values, dtype=np.float64)
    if s.ndim != 1 or not (np.isfinite(s) & (s >= 0)).all():
        raise InvalidArgumentError(
            f"singular_values={s} must be one list of finite numbers, none negative. Pass those of an SVD."
        )
    length = np.hypot(s, sqrt(at_least(0, eta=eta)) * sqrt(area(shape)))
    return np.square(np.divide(s, length, out=np.zeros_like(s), where=length > 0))


def _matrix(x: ArrayLike, name: str) -> FloatArray:
    Q: FloatArray = double(number_array(np.asarray(x), name=name))
    if Q.ndim != 2 or Q.size == 0 or not np.isfinite(Q).all():
        raise InvalidArgumentError(
            f"{name} has shape {Q.shape} and {(~np.isfinite(Q)).sum()} values that are not finite, so its columns "
            "span no subspace. Pass a finite matrix with at least one row and one column."
        )
    return Q


def _orthonormal(x: ArrayLike, name: str) -> FloatArray:
    Q = _matrix(x, name)
    error = np.abs(adjoint(Q) @ Q - np.eye(Q.shape[1])).max()
    if error > 1e-4:  # leaves room for single precision
        raise InvalidArgumentError(
            f"{name}.conj().T @ {name} differs from the identity by {error:.3g}, but incoherence is defined for "
            f"orthonormal columns. Pass numpy.linalg.qr({name}).Q instead."
        )
    return Q
