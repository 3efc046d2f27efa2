r"""Leading subspaces: orthonormal bases from sampled columns or rows.

:math:`\hat U` holds the first r eigenvectors of :math:`AA^\top` (Section 3.1), that is the leading left singular
vectors of the n x d sample A; :math:`\hat V` comes from the sampled rows in the same way. Of complex samples, the
transpose is the adjoint, here and everywhere else: the approximation is :math:`\hat U Z \hat V^*`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from .._arrays import (
    adjoint,
    array_namespace,
    blocks,
    conjugate,
    double,
    harmless_unit,
    host_kind,
    inner_products,
    is_dask_array,
    is_numpy_array,
    keep,
    keep_tall,
    largest,
    numerical_rank,
    rounding_unit,
    small_svd,
    to_device,
    to_numpy,
)
from .._dask import merged
from .._typing import FloatArray, IndexVector, Matrix, Vector

__all__ = ["Basis", "leading_basis"]

SHORTCUT = 100.0  # the Gram shortcut is taken while (s_1 / s_r)**2 is below this
LARGE_SAMPLE = 500  # inner products of so many samples are decomposed only as far as needed
ROUNDS, MORE_VECTORS = 2, 60  # of Lanczos iterations, with so many vectors more than are wanted, or as many
HUGE, KRYLOV_BLOCKS = 2000, 4  # from so many samples on, a block Krylov space, which reads them less often
CONVERGED = 1e-13  # residual of eigenvectors, relative to the largest eigenvalue
FOUND_DIRECTION = 1e-10  # accuracy of directions; the Gram shortcut is also taken as long as it reaches this
ORTHONORMAL = 2e-14  # vectors that are not orthonormal to this are made so in a second step
BLOCK_OF_QR = 2**18  # numbers that are factorized at once (1e5 x 54 and x 108: three times as fast, flat from 2**17)
FEWEST_BLOCKS = 4  # with fewer, all rows are factorized at once
CLEAR = 100.0  # inner products give squared singular values that are so many times their rounding error


class Basis(NamedTuple):
    """Orthonormal ``vectors`` spanning the leading part of ``sample``.

    A basis that is not made of sampled columns or rows has neither ``sample`` nor ``coefficients``.
    """

    vectors: Matrix  # (n, r)
    sample: Matrix | None = None  # (n, d)
    coefficients: Matrix | None = None  # (d, r), with vectors == sample @ coefficients
    sample_index: IndexVector | None = None  # (d,), which columns (or rows) the sample is

    @property
    def rank(self) -> int:
        """Number of vectors."""
        return int(self.vectors.shape[1])

    def leading(self, rank: int) -> Basis:
        """Its first ``rank`` vectors, or all if there are fewer."""
        rank = min(rank, self.rank)
        coefficients = None if self.coefficients is None else self.coefficients[:, :rank]
        return self._replace(vectors=self.vectors[:, :rank], coefficients=coefficients)

    def conj(self) -> Basis:
        """The complex conjugate, which spans the same part of the conjugate of the sample."""
        parts = {name: getattr(self, name) for name in ("vectors", "sample", "coefficients")}
        return self._replace(**{name: None if x is None else conjugate(x) for name, x in parts.items()})

    def rotate(self, rotation: Matrix) -> Basis:
        """The basis ``vectors @ rotation``, for a ``rotation`` of shape (r, k) with orthonormal columns."""
        coefficients = None if self.coefficients is None else self.coefficients @ rotation
        return self._replace(vectors=self.vectors @ rotation, coefficients=coefficients)


def leading_basis(
    sample: Matrix,
    rank: int | None = None,
    *,
    index: IndexVector | None = None,
    least: float | None = None,
) -> Basis:
    r"""Leading left singular vectors of a sample.

    .. math:: A = U \Sigma W^\top, \qquad \hat U = U_{:, :r} = A \, W_{:, :r} \Sigma_{:r}^{-1}

    Parameters
    ----------
    sample : array of shape (n, d)
        Sampled columns :math:`A`, or sampled rows as columns :math:`B`.
    rank : int, optional
        Most vectors to return; all that the sample spans if left out.
    index : array of shape (d,), optional
        Positions of the sample in the matrix, kept with the result.
    least : float, optional
        Directions below this fraction of the largest singular value do not count; by default ``max(n, d) * eps``.

    Returns
    -------
    Basis
        With ``min(rank, numerical rank of the sample)`` vectors, orthonormal to rounding at any condition.

    Notes
    -----
    The eigenvectors of the small matrix :math:`A^\top A` give the basis five times faster than a QR factorization of
    A, but lose :math:`(\sigma_1/\sigma_r)^2` in orthogonality and in the choice among the directions of A. They are
    used if that is at most 100, or leaves ten digits, and are made orthonormal if they are not; they lie in the span of
    A to rounding. If the others are so small that r of them span the leading directions to ten digits, they are taken,
    each in its place to six digits or more. If more of them than r hold those directions, these are found among them by
    one step of subspace iteration. Otherwise the sample is factorized by QR, then SVD of the triangle. Each
    costs :math:`O(n d^2)`. The inner products of a Dask array are added up block by block, in double precision; its
    QR factorization is a tree of those of its blocks.
    """
    n, d = sample.shape
    sample = keep_tall(sample, axis=0)
    rank = min(n, d) if rank is None else min(rank, n, d)
    scale = harmless_unit(largest(sample), sample, power=3)  # squares are summed up
    scaled = sample if scale == 1 else sample / scale
    basis = _by_gram(scaled, rank) if 0 < d <= n and rank > 0 else None
    vectors, coefficients = basis or _by_qr(scaled, rank, least)
    return Basis(keep(vectors), sample, coefficients / scale, index)


class _FromGram(NamedTuple):
    """The leading basis that inner products give."""

    coefficients: Matrix  # (d, r)
    condition: float  # of its directions, squared


def _from_gram(squares: Vector, W: Matrix, rounding: float) -> _FromGram | None:
    """Coefficients from eigenvectors of the inner products; None if they have lost too many digits."""
    first, last = float(squares[0]), float(squares[-1])
    if first == 0 or last * max(SHORTCUT, FOUND_DIRECTION / rounding) < first:
        return None
    return _FromGram(W / array_namespace(W).sqrt(squares), first / last)


def _by_gram(A: Matrix, r: int) -> tuple[Matrix, Matrix] | None:
    """Basis and coefficients from the eigenvectors of ``A.H @ A``; None if that would lose digits."""
    gram = inner_products(A)
    squares, W = _eigenvectors(gram, r)
    found = _from_gram(squares[:r], W[:, :r], rounding_unit(A))
    if found is None:
        d = gram.shape[0]
        squares, W = (squares, W) if squares.shape[0] == d else _eigenvectors(gram, d)
        return _by_iteration(A, squares, W, r)
    coefficients = _beside(found.coefficients, A)
    vectors = A @ coefficients
    if found.condition * rounding_unit(A) > ORTHONORMAL:
        return _orthonormal(vectors, coefficients)
    return vectors, coefficients


def _by_iteration(A: Matrix, squares: Vector, W: Matrix, r: int) -> tuple[Matrix, Matrix] | None:
    """The same from more eigenvectors than r, by a step of subspace iteration; None if that would lose digits.

    If the others are so small that r eigenvectors span the leading directions well enough, there is no step.
    """
    rounding, sizes = rounding_unit(A), to_numpy(squares)
    k = _enough_directions(sizes, r, rounding)
    if k is None:
        return None
    many = _beside(W[:, :k] / array_namespace(W).sqrt(squares[:k]), A)
    basis = _orthonormal(A @ many, many)
    if basis is None or (k == r and _mixed(sizes, r, rounding, steps=0)[0] <= _well_enough(rounding)):
        return basis
    _, s, Wh = small_svd(adjoint(basis[0]) @ A)
    coefficients = adjoint(Wh[:r, :]) / s[:r]
    return _orthonormal(A @ coefficients, coefficients)


def _enough_directions(squares: FloatArray, r: int, rounding: float) -> int | None:
    """How many eigenvectors of inner products hold the leading ``r`` well enough for one step; None if too many."""
    if np.count_nonzero(squares > CLEAR * rounding * squares[0]) < r:
        return None
    good = _mixed(squares, r, rounding, steps=1) <= _well_enough(rounding)
    return r + int(np.argmax(good)) if good.any() else None


def _mixed(squares: FloatArray, r: int, rounding: float, *, steps: int) -> FloatArray:
    """Error of the span of the leading ``r`` due to rounding, if r, r + 1, ... eigenvectors are taken.

    Rounding mixes eigenvectors of inner products. A product with the sample makes that smaller by the ratio of their
    singular values; one is made, and two more in each step.
    """
    unsure = rounding * squares[0]
    most = int(np.count_nonzero(squares > CLEAR * unsure))
    left_out = np.maximum(np.append(squares, 0)[r : most + 1], unsure) / squares[r - 1]
    mixed: FloatArray = unsure / squares[r - 1] * left_out ** (0.5 + steps)
    return mixed


def _well_enough(rounding: float) -> float:
    return max(FOUND_DIRECTION, SHORTCUT * rounding)


def _orthonormal(vectors: Matrix, coefficients: Matrix) -> tuple[Matrix, Matrix] | None:
    """Nearly orthonormal vectors made so, with their coefficients: once is enough. None if they are far from it."""
    products = to_numpy(double(inner_products(vectors)))
    factorize, invert = scipy.linalg.get_lapack_funcs(("potrf", "trtri"), (products,))
    triangle, failed = factorize(products, clean=True)  # upper: products == triangle.H @ triangle
    if failed:
        return None
    change = invert(triangle)[0]
    change = change.astype(host_kind(vectors))
    on_device = to_device(change, vectors)
    return vectors @ on_device, coefficients @ (change if is_numpy_array(coefficients) else on_device)


def _beside(small: Matrix, A: Matrix) -> Matrix:
    """A small matrix in the library of ``A``, if it was made on the host for Dask."""
    return to_device(small.astype(A.dtype), A) if is_dask_array(A) else small


def _eigenvectors(gram: Matrix, r: int) -> tuple[Vector, Matrix]:
    """The largest ``r`` eigenvalues, descending, and their vectors; more if leaving them out would save nothing."""
    xp, d = array_namespace(gram), gram.shape[0]
    squares, W = (
        _few_of_many(gram, r) if is_numpy_array(gram) and d >= LARGE_SAMPLE and r <= d // 4 else xp.linalg.eigh(gram)
    )
    return xp.flip(squares), xp.flip(W, axis=1)


def _few_of_many(gram: FloatArray, r: int) -> tuple[FloatArray, FloatArray]:
    """The same, ascending, in NumPy: very few by Lanczos iteration, unless they lie too close for it."""
    d = len(gram)
    if r <= d // 16 and d >= HUGE and (found := _by_blocks(gram, r)) is not None:
        return found
    if r <= d // 16:
        start = np.random.default_rng(0).standard_normal(d)
        try:
            squares, W = scipy.sparse.linalg.eigsh(gram, r, v0=start, ncv=max(2 * r, r + MORE_VECTORS), maxiter=ROUNDS)
            order = np.argsort(squares)
            return squares[order], W[:, order]
        except scipy.sparse.linalg.ArpackError:
            pass
    squares, W = scipy.linalg.eigh(gram, subset_by_index=[d - r, d - 1], check_finite=False)
    return squares, W


def _by_blocks(gram: FloatArray, r: int) -> tuple[FloatArray, FloatArray] | None:
    """The same by a few products with many vectors at a time; None if those do not find them."""
    space = [np.linalg.qr(np.random.default_rng(0).standard_normal((len(gram), r + 10)))[0]]
    for _ in range(KRYLOV_BLOCKS - 1):
        space.append(np.linalg.qr(gram @ space[-1])[0])
    Q = np.linalg.qr(np.hstack(space))[0]
    products = gram @ Q
    squares, P = np.linalg.eigh(adjoint(Q) @ products)
    squares, P = squares[-r:], P[:, -r:]
    W = Q @ P
    return (squares, W) if np.linalg.norm(products @ P - W * squares) <= CONVERGED * squares[-1] else None


def _by_qr(A: Matrix, r: int, least: float | None) -> tuple[Matrix, Matrix]:
    """Basis and coefficients from a QR factorization and the SVD of its triangle."""
    xp = array_namespace(A)
    if is_dask_array(A):
        Q, R = keep(*xp.linalg.qr(A if A.shape[0] >= A.shape[1] else merged(A, axis=0)))
    else:
        Q, R = _qr_by_blocks(A) if is_numpy_array(A) else xp.linalg.qr(A)
    U, s, Wh = small_svd(R)  # on the host, where it takes less time than on a device
    r = min(r, numerical_rank(s, A.shape, least))
    return Q @ U[:, :r], adjoint(Wh[:r, :]) / s[:r]


def _qr_by_blocks(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """QR of a tall matrix from those of blocks of its rows (Demmel et al. 2012), which stay near the processor."""
    n, d = A.shape
    parts = list(blocks(n, d, most=max(BLOCK_OF_QR, 2 * d**2)))
    if len(parts) < FEWEST_BLOCKS:
        Q, R = np.linalg.qr(A)
        return Q, R
    each = [np.linalg.qr(A[part]) for part in parts]
    P, R = np.linalg.qr(np.concatenate([triangle for _, triangle in each]))
    places = np.cumsum([0, *(len(triangle) for _, triangle in each)])
    Q = np.empty_like(A)
    for part, (q, _), start, end in zip(parts, each, places[:-1], places[1:], strict=True):
        Q[part] = q @ P[start:end]
    return Q, R
