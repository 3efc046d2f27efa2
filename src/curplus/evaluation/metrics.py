r"""How good an approximation is, when the whole matrix is at hand.

The paper measures :math:`\ell_s = \|M - \hat M\|_2 / \|M - M_r\|_2` and
:math:`\ell_F = \|M - \hat M\|_F / \|M - M_r\|_F`, where :math:`M_r` is the best rank-r approximation (Section 4.2).
Neither needs :math:`M - \hat M` as a matrix. A :class:`ReferenceMatrix` keeps what depends on M alone, so that the
spectrum of M is computed once for many approximations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, aslinearoperator, eigsh

from .._arrays import adjoint, blocks, conjugate, double, largest, number_array, power_of_two, to_numpy
from .._typing import FloatArray, Shape
from .._validation import check_count, check_two_dimensional
from ..exceptions import InvalidArgumentError
from ..factorization import Factorization

__all__ = [
    "LeadingError",
    "ReferenceMatrix",
    "frobenius_error",
    "leading_error",
    "relative_frobenius_error",
    "relative_spectral_error",
    "spectral_error",
]


@dataclass(frozen=True, eq=False)
class Spectrum:
    r"""Singular values of a matrix M, and the errors of its best approximations :math:`M_r`.

    Parameters
    ----------
    values : array of shape (k,)
        All singular values, descending. If only the first are given, those left out count as zero.

    Examples
    --------
    >>> import numpy as np
    >>> spectrum = Spectrum(np.array([4.0, 3.0, 0.0]))
    >>> spectrum.best_spectral_error(1), spectrum.best_frobenius_error(0)
    (3.0, 5.0)
    """

    values: FloatArray

    def best_spectral_error(self, rank: int) -> float:
        r""":math:`\|M - M_r\|_2`, the first singular value left out; with rank 0, the norm of M."""
        return float(self.values[rank]) if rank < len(self.values) else 0.0

    def best_frobenius_error(self, rank: int) -> float:
        r""":math:`\|M - M_r\|_F`, the norm of the singular values left out; with rank 0, the norm of M."""
        unit = power_of_two(largest(self.values), self.values)
        return float(np.linalg.norm(self.values[rank:] / unit)) * unit


def gram_singular_values(matrix: Any) -> FloatArray:
    """All singular values of a sparse matrix, descending, from the eigenvalues of its smaller Gram matrix.

    Those below about 1e-8 of the largest are rounding error. The matrix is made dense a few columns at a time.
    """
    tall = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    n, m = tall.shape
    columns = scipy.sparse.csc_array(tall)
    gram, turned = np.empty((m, m), dtype=tall.dtype), tall.conj(copy=False).T
    for part in blocks(m, n):
        gram[:, part] = turned @ columns[:, part].toarray()
    squares = np.linalg.eigvalsh(gram)
    return np.asarray(np.sqrt(squares[::-1].clip(min=0.0)))


MOST_DENSE = 4_000_000  # cost: entries of a dense matrix of which all singular values are computed: seconds


class ReferenceMatrix:
    """A matrix known as a whole, with its norm and singular values computed once, when first needed.

    Parameters
    ----------
    matrix : array or scipy.sparse matrix of shape (n, m)
        The matrix :math:`M`.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> M = np.diag([3.0, 2.0, 1.0])
    >>> target = curplus.metrics.ReferenceMatrix(M)
    >>> target.best_spectral_error(2), round(target.best_frobenius_error(1), 4)
    (1.0, 2.2361)
    """

    def __init__(self, matrix: Any) -> None:
        if scipy.sparse.issparse(matrix):
            kind = number_array(np.empty(0, dtype=matrix.dtype), name="the matrix").dtype
            self.matrix = scipy.sparse.csr_array(matrix.astype(kind, copy=False))
            values = self.matrix.data
        else:
            self.matrix = values = to_numpy(number_array(matrix, name="the matrix"))
        check_two_dimensional(self.matrix.shape)
        magnitude = largest(values)
        if not math.isfinite(magnitude):
            raise InvalidArgumentError("the matrix contains NaN or inf, so errors against it mean nothing.")
        self._unit = power_of_two(magnitude, values)
        self._spectrum: FloatArray = np.empty(0)

    @property
    def shape(self) -> Shape:
        """Size of the matrix."""
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether the matrix is held in sparse form."""
        return bool(scipy.sparse.issparse(self.matrix))

    @cached_property
    def frobenius_norm(self) -> float:
        """Root of the sum of squares."""
        values = self.matrix.data[:, None] if self.is_sparse else self.matrix
        norms = (np.linalg.norm(double(values[part]) / self._unit) for part in blocks(*values.shape))
        return math.hypot(*map(float, norms)) * self._unit

    def singular_values(self, count: int) -> FloatArray:
        """The ``count`` largest singular values, descending; computed once for the largest ``count`` asked for.

        Those of a large sparse matrix that lie below about 1e-8 of the largest are rounding error.
        """
        count = min(count, *self.shape)
        if len(self._spectrum) < count:
            self._spectrum = self._all_singular_values() if self._is_small(count) else self._leading(count)
        return self._spectrum[:count]

    def best_spectral_error(self, rank: int) -> float:
        r""":math:`\|M - M_r\|_2`, the first singular value left out."""
        return Spectrum(self.singular_values(rank + 1)).best_spectral_error(rank)

    def best_frobenius_error(self, rank: int) -> float:
        r""":math:`\|M - M_r\|_F`; if only leading singular values are known, to about 1e-8 of the norm."""
        values = self.singular_values(rank + 1) / self._unit
        if len(self._spectrum) == min(self.shape):
            return Spectrum(self._spectrum).best_frobenius_error(rank)
        rest = (self.frobenius_norm / self._unit) ** 2 - float(np.sum(values[:rank] ** 2))
        return math.sqrt(max(rest, 0.0)) * self._unit

    @property
    def rounding(self) -> float:
        """The size of a zero after rounding: ``max(n, m) * eps * norm``."""
        return max(self.shape) * float(np.finfo(self.matrix.dtype).eps) * float(self.singular_values(1)[0])

    def _is_small(self, count: int) -> bool:
        return math.prod(self.shape) <= MOST_DENSE or count > min(self.shape) // 3

    def _all_singular_values(self) -> FloatArray:
        if self.is_sparse and math.prod(self.shape) > MOST_DENSE:
            kind = np.result_type(self.matrix.dtype, np.float64)
            return gram_singular_values(self.matrix.astype(kind) / self._unit) * self._unit
        dense = self.matrix.toarray() if self.is_sparse else self.matrix
        return np.asarray(scipy.linalg.svdvals(dense / self._unit)) * self._unit

    def _leading(self, count: int) -> FloatArray:
        return _leading_singular_pairs(aslinearoperator(self.matrix), count, tol=0.0, unit=self._unit)[0]


def spectral_error(matrix: Any, approximation: Factorization, *, tol: float = 1e-8) -> float:
    r"""Spectral norm of the error, :math:`\|M - \hat M\|_2`, by Lanczos iteration.

    Parameters
    ----------
    matrix : array, sparse matrix or ReferenceMatrix of shape (n, m)
        The matrix :math:`M`.
    approximation : Factorization
        The approximation :math:`\hat M`.
    tol : float, default 1e-8
        Relative accuracy of the norm. Errors below about 1e-14 of :math:`\|M\|` are rounding and not resolved.

    Returns
    -------
    float
    """
    return leading_error(matrix, approximation, tol=tol).norm


class LeadingError(NamedTuple):
    """The direction in which the error of an approximation is largest, and its size there."""

    norm: float  # of the error, as an operator
    vector: FloatArray  # (min(n, m),), of unit length: the leading singular vector on the shorter side


def leading_error(
    matrix: Any, approximation: Factorization, *, tol: float = 1e-8, start: FloatArray | None = None
) -> LeadingError:
    r"""Leading singular vector of the error :math:`M - \hat M`, with its singular value, by Lanczos iteration.

    Parameters
    ----------
    matrix : array, sparse matrix or ReferenceMatrix of shape (n, m)
        The matrix :math:`M`.
    approximation : Factorization
        The approximation :math:`\hat M`.
    tol : float, default 1e-8
        Relative accuracy of the norm.
    start : array of shape (min(n, m),), optional
        Where to begin. The vector of a similar approximation saves most of the steps.

    Returns
    -------
    LeadingError
    """
    target, answer = _pair(matrix, approximation)
    error = aslinearoperator(target.matrix) - aslinearoperator(answer)
    values, vectors = _leading_singular_pairs(error, 1, tol=tol, unit=target._unit, start=start)
    return LeadingError(float(values[0]), vectors[:, 0])


def frobenius_error(matrix: Any, approximation: Factorization) -> float:
    r"""Frobenius norm of the error, :math:`\|M - \hat M\|_F`.

    Parameters
    ----------
    matrix : array, sparse matrix or ReferenceMatrix of shape (n, m)
        The matrix :math:`M`.
    approximation : Factorization
        The approximation :math:`\hat M`.

    Returns
    -------
    float

    Notes
    -----
    A dense matrix is compared a block of rows at a time, to rounding. A sparse one goes through
    :math:`\|M\|_F^2 - 2 \langle P, Z \rangle + \|\hat M\|_F^2` with :math:`P = \hat U^* M \hat V`, which costs
    O(nnz r) and loses what lies below about 3e-8 of :math:`\|M\|_F`.
    """
    target, answer = _pair(matrix, approximation)
    return (_by_projection if target.is_sparse else _by_blocks)(target, answer) * target._unit


def relative_spectral_error(matrix: Any, approximation: Factorization, rank: int, *, tol: float = 1e-8) -> float:
    r""":math:`\ell_s = \|M - \hat M\|_2 / \|M - M_r\|_2`, the paper's measure.

    If M has rank at most r, the denominator is taken as rounding, ``max(n, m) * eps * norm``: an approximation that
    is exact to rounding has a value of about 1 or less, and any other a large but finite one.

    Parameters
    ----------
    matrix : array, sparse matrix or ReferenceMatrix of shape (n, m)
        The matrix; give a :class:`ReferenceMatrix` to compute its spectrum only once.
    approximation : Factorization
        The approximation.
    rank : int
        The rank r of the best approximation to compare with.
    tol : float, default 1e-8
        Relative accuracy of the numerator.

    Returns
    -------
    float
    """
    target = _target(matrix)
    best = target.best_spectral_error(check_count(rank, name="rank", at_least=0))
    return _ratio(spectral_error(target, approximation, tol=tol), max(best, target.rounding))


def relative_frobenius_error(matrix: Any, approximation: Factorization, rank: int) -> float:
    r""":math:`\ell_F = \|M - \hat M\|_F / \|M - M_r\|_F`; see :func:`relative_spectral_error`.

    For a sparse matrix, or a dense one so large that only its leading singular values are computed, neither norm is
    resolved below about 3e-8 of :math:`\|M\|_F`, and the denominator is taken as at least that.

    Parameters
    ----------
    matrix : array, sparse matrix or ReferenceMatrix of shape (n, m)
        The matrix; give a :class:`ReferenceMatrix` to compute its spectrum only once.
    approximation : Factorization
        The approximation.
    rank : int
        The rank r of the best approximation to compare with.

    Returns
    -------
    float
    """
    target = _target(matrix)
    best = target.best_frobenius_error(check_count(rank, name="rank", at_least=0))
    by_subtraction = target.is_sparse or len(target._spectrum) < min(target.shape)
    floor = 3e-8 * target.frobenius_norm if by_subtraction else target.rounding  # rounding: of a difference
    return _ratio(frobenius_error(target, approximation), max(best, floor))


def _target(matrix: Any) -> ReferenceMatrix:
    return matrix if isinstance(matrix, ReferenceMatrix) else ReferenceMatrix(matrix)


def _pair(matrix: Any, approximation: Factorization) -> tuple[ReferenceMatrix, Factorization]:
    """Both sides on the host, of one shape."""
    target = _target(matrix)
    if target.shape != approximation.shape:
        raise InvalidArgumentError(
            f"the matrix has shape {target.shape} and the approximation {approximation.shape}. Compare like with like."
        )
    left, core, right = approximation.left, approximation.core, approximation.right
    return target, Factorization(
        left._replace(vectors=to_numpy(left.vectors)),
        core._replace(Z=to_numpy(core.Z)),
        right._replace(vectors=to_numpy(right.vectors)),
    )


def _ratio(error: float, best: float) -> float:
    return error / best if best else math.inf if error else 0.0


def _by_blocks(target: ReferenceMatrix, answer: Factorization) -> float:
    total = 0.0
    for part in blocks(*target.shape):
        rows = np.arange(part.start, part.stop)
        total = math.hypot(total, float(np.linalg.norm((target.matrix[rows] - answer.rows(rows)) / target._unit)))
    return total


def _by_projection(target: ReferenceMatrix, answer: Factorization) -> float:
    unit = target._unit
    U, Z, V = map(double, (answer.left.vectors, answer.core.Z, answer.right.vectors))
    Z = Z / unit
    P = (adjoint(U) @ (target.matrix @ V)) / unit
    size = (target.frobenius_norm / unit) ** 2
    products = (2 * P - (adjoint(U) @ U) @ Z @ (adjoint(V) @ V)) * conjugate(Z)
    return math.sqrt(max(size - float(np.sum(products).real), 0.0))


def _leading_singular_pairs(
    operator: Any, count: int, *, tol: float, unit: float, start: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """The ``count`` largest singular values, and the vectors of the shorter side, by Lanczos on the Gram operator."""
    n, m = operator.shape
    if n < m:
        return _leading_singular_pairs(operator.H, count, tol=tol, unit=unit, start=start)
    if m <= max(32, 3 * count):  # cost: a dense decomposition is faster
        _, s, Vh = scipy.linalg.svd(operator.matmat(np.eye(m)) / unit, full_matrices=False)
        return s[:count] * unit, adjoint(Vh[:count])
    kind = np.result_type(operator.dtype, np.float64)
    gram = LinearOperator((m, m), matvec=lambda x: operator.rmatvec(operator.matvec(x) / unit) / unit, dtype=kind)
    x = np.random.default_rng(0).standard_normal(m).astype(kind)
    x /= np.linalg.norm(x)
    if start is not None:  # with some noise: from a vector that is exactly singular, Lanczos finds no other
        x = start + x / 10  # steps: where they begin
    if not np.any(gram.matvec(x)):
        return np.zeros(count), np.eye(m, count)
    try:
        squares, vectors = eigsh(gram, count, tol=tol, v0=x)
    except ArpackNoConvergence as error:  # the operator is rounding error: what was found is as good as any
        squares, vectors = error.eigenvalues, error.eigenvectors
        if len(squares) < count:
            squares, vectors = np.full(count, _rayleigh(gram, x)), np.repeat(x[:, None] / np.linalg.norm(x), count, 1)
    order = np.argsort(squares)[::-1]
    return np.sqrt(squares[order].clip(min=0.0)) * unit, vectors[:, order]


def _rayleigh(gram: Any, x: FloatArray) -> float:
    return float(np.vdot(x, gram.matvec(x)).real / np.vdot(x, x).real)
