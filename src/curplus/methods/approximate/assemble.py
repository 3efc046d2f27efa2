"""Putting together what was read and what was predicted, and keeping its leading part.

The assembled matrix has the sampled rows and columns as they were read and the prediction everywhere else. It is never
formed: its left factor is made of the unit vectors of the sampled rows and of the features of the prediction without
those rows, and a singular value decomposition needs only the right factor, of about d1 + d2 columns. Of that, inner
products are known from those of the sampled rows and columns, so that it need not be formed either.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..._arrays import (
    abs_squared,
    adjoint,
    array_namespace,
    double,
    host_kind,
    index_table,
    keep,
    keep_tall,
    numerical_rank,
    put_rows,
    small_svd,
    take,
    to_device,
    to_numpy,
)
from ..._typing import FloatArray, IndexVector, Matrix, Vector
from ...factorization import Basis, Core, Factorization, leading_basis
from ...factorization.basis import ORTHONORMAL, vectors_from_gram
from ...observation import Cells
from .cross import Cross, cross_of
from .prediction import Prediction

__all__ = ["exact_rank", "leading_part", "put_back"]

MOST_INSIDE = 9.0  # squares of a feature on the sampled rows, relative to the others; beyond, digits are lost
LEAST_CONDITION = 1e-9  # reciprocal condition of inner products; below, directions are lost


class _Outside(NamedTuple):
    """Features outside the sampled rows, in an orthonormal basis ``vectors @ change`` of them, without those rows."""

    vectors: Matrix  # (n, p)
    change: Matrix  # (p, k)
    coordinates: Matrix  # (k, p), of the features


def put_back(cells: Cells, prediction: Prediction, rank: int | None = None) -> Factorization:
    """Rows and columns as they were read, the prediction elsewhere and in their gaps; its leading ``rank`` directions.

    Without rows and columns, and of a table with gaps, that is the prediction alone.
    """
    if cells.is_table or not (cells.n_rows or cells.n_columns):
        return leading_part(*prediction.factors, rank)
    has_guesses = cells.has_gaps or len(cells.hidden)
    cells = _with_guesses(cells, prediction) if has_guesses else cells
    if has_guesses or not prediction.is_of_samples:
        d1, d2, kind = cells.n_columns, cells.n_rows, host_kind(cells.columns)
        nothing = Prediction(cells.columns, np.zeros((d1, 0), kind), np.zeros((0, d2), kind), cells.turned_rows)
        prediction = nothing.plus(Prediction.of(*prediction.factors))
    return _assemble(cells, prediction, rank, cross_of(cells) if cells.is_cross else None)


def _with_guesses(cells: Cells, prediction: Prediction) -> Cells:
    """The cells with the prediction in the gaps of rows and columns, and where they are hidden."""
    n, m = cells.shape
    i, j = np.divmod(cells.hidden, m)
    columns, rows = np.array(to_numpy(cells.columns)), np.array(to_numpy(cells.rows))
    for lines, index, at, other in ((rows, cells.row_index, i, j), (columns.T, cells.column_index, j, i)):
        place = index_table(index, n if lines is rows else m)[at]
        lines[place[place >= 0], other[place >= 0]] = np.nan
    guess = to_numpy(prediction.combined(take(prediction.left, cells.row_index, axis=0)) @ adjoint(prediction.right))
    rows = np.where(np.isnan(rows), guess, rows)
    turned = prediction.H
    guess = to_numpy(turned.combined(take(turned.left, cells.column_index, axis=0)) @ adjoint(turned.right))
    columns = np.where(np.isnan(columns), adjoint(guess), columns)
    return replace(cells, columns=to_device(columns, cells.columns), rows=to_device(rows, cells.rows))


def _assemble(cells: Cells, prediction: Prediction, rank: int | None, cross: Cross | None) -> Factorization:
    """Best approximation of rank ``rank`` of the assembled matrix.

    Parameters
    ----------
    cells : Cells
        Sampled columns C (n, d1) and rows R (d2, m).
    prediction : Prediction
        For what was not read; its first features are the sampled columns.
    rank : int, optional
        How many directions to keep; all if left out.
    cross : Cross, optional
        The small matrices of the sample, if they are known: they spare a pass through the columns.

    Returns
    -------
    Factorization
        Its bases are not made of sampled columns and rows, so it has no C U R form.
    """
    d2, least = cells.n_rows, cells.rounding
    outside = _by_gram(cells, prediction.left, cross) or _by_basis(cells, prediction.left)
    right = _RightFactor.of(cells, prediction, outside.coordinates)
    V = None if cross is None or rank is None else right.leading_vectors(cross, rank)
    V = leading_basis(right.formed(), rank, least=least).vectors if V is None else V
    P, s, Qh = small_svd(right.adjoint_times(V))
    kept = exact_rank(to_numpy(s), least)
    P, s, Qh = P[:, :kept], s[:kept], Qh[:kept, :]
    U = put_rows(outside.vectors @ (outside.change @ P[d2:, :]), cells.row_index, P[:d2, :])
    return _orthonormal(U, s, V @ adjoint(Qh))


class _RightFactor(NamedTuple):
    """The right factor ``[R.H, B.H]``, shape (m, d2 + p): sampled rows R, and combinations B of rows outside them.

    B is ``coordinates`` in the sampled columns and ``left @ coefficients @ features.H`` in the others.
    """

    rows: Matrix  # (d2, m)
    coordinates: Matrix  # (p, d1)
    left: Matrix  # (p, k)
    coefficients: Matrix  # (k, q)
    features: Matrix  # (m, q), the sampled rows first
    inside: Matrix  # (d1, q), of the features, in the sampled columns
    column_index: IndexVector  # (d1,)

    @classmethod
    def of(cls, cells: Cells, prediction: Prediction, coordinates: Matrix) -> _RightFactor:
        """The right factor of an assembled matrix; ``coordinates`` are those of the features of the prediction."""
        mixing, coefficients = (to_device(x, coordinates) for x in (prediction.mixing, prediction.coefficients))
        return cls(
            double(cells.rows),
            coordinates[:, : cells.n_columns],
            coordinates @ mixing,
            coefficients,
            prediction.right,
            take(prediction.right, cells.column_index, axis=0),
            cells.column_index,
        )

    def formed(self) -> Matrix:
        """The whole of it."""
        xp = array_namespace(self.rows)
        predicted = (self.left @ self.coefficients) @ adjoint(self.features)
        predicted = put_rows(predicted.T, self.column_index, self.coordinates.T)
        return keep_tall(adjoint(xp.concat([self.rows, predicted.T])), axis=0)

    def times(self, x: Matrix) -> Matrix:
        """The product with ``x``, shape (m, c), for ``x`` of shape (d2 + p, c); the rows are among the features."""
        xp, d2 = array_namespace(self.rows), self.rows.shape[0]
        of_rows, of_others = x[:d2, :], x[d2:, :]
        mixed = adjoint(self.coefficients) @ (adjoint(self.left) @ of_others)
        product = self.features @ xp.concat([mixed[:d2, :] + of_rows, mixed[d2:, :]])
        inside = adjoint(self.coordinates) @ of_others + self.inside[:, :d2] @ of_rows
        return put_rows(product, self.column_index, inside)

    def adjoint_times(self, x: Matrix) -> Matrix:
        """The product of its adjoint with ``x``, shape (d2 + p, c), for ``x`` of shape (m, c)."""
        xp, some = array_namespace(self.rows), take(x, self.column_index, axis=0)
        others = put_rows(x + 0.0, self.column_index, xp.zeros_like(some))  # a copy is written to
        below = self.coordinates @ some + self.left @ (self.coefficients @ (adjoint(self.features) @ others))
        return xp.concat([self.rows @ x, below])

    def leading_vectors(self, cross: Cross, rank: int) -> Matrix | None:
        """Leading left singular vectors, from inner products; None if those have lost too many digits."""
        gram = self._gram(cross)
        if gram is None:
            return None
        return vectors_from_gram(gram, rank, lambda x: keep(self.times(to_device(x, self.rows))))

    def _gram(self, cross: Cross) -> FloatArray | None:
        """Its inner products, on the host; None if most of a feature is in the sampled columns."""
        coordinates, left, coefficients, inside = map(
            to_numpy, (self.coordinates, self.left, self.coefficients, self.inside)
        )
        d2 = len(cross.W)
        of_features = _gram_outside(self.features, inside, cross.H)
        if np.any(of_features.diagonal().real * MOST_INSIDE <= np.sum(abs_squared(inside), axis=0)):
            return None
        outside = of_features @ adjoint(coefficients)  # (q, k)
        gram = np.empty((d2 + len(left), d2 + len(left)), dtype=inside.dtype)
        gram[:d2, :d2] = cross.whole_row_gram
        gram[:d2, d2:] = cross.W @ adjoint(coordinates) + outside[:d2] @ adjoint(left)
        gram[d2:, :d2] = adjoint(gram[:d2, d2:])
        gram[d2:, d2:] = coordinates @ adjoint(coordinates) + left @ (coefficients @ outside) @ adjoint(left)
        return gram


def _by_basis(cells: Cells, features: Matrix) -> _Outside:
    """With an orthonormal basis, at any condition of the features."""
    xp = array_namespace(features)
    is_sampled_row = to_device(index_table(cells.row_index, cells.shape[0]) >= 0, features)
    outside = xp.where(is_sampled_row[:, None], xp.zeros_like(features), features)
    sizes = xp.linalg.vector_norm(outside, axis=0)
    scaled = outside / xp.where(sizes > 0, sizes, xp.ones_like(sizes))
    left = double(leading_basis(scaled, least=cells.rounding).vectors)
    same = to_device(np.eye(left.shape[1], dtype=host_kind(left)), left)
    return _Outside(left, same, adjoint(left) @ outside)


def _by_gram(cells: Cells, features: Matrix, cross: Cross | None) -> _Outside | None:
    """By the triangle of their inner products, which are known; None if that would lose digits."""
    if cross is None:
        return None
    inside = to_numpy(take(features, cells.row_index, axis=0))
    gram = _gram_outside(features, inside, cross)
    squares = gram.diagonal().real
    if np.any(squares * MOST_INSIDE <= np.sum(abs_squared(inside), axis=0)) or not np.all(squares > 0):
        return None
    sizes = np.sqrt(squares)
    scaled = gram / np.outer(sizes, sizes)
    potrf, pocon, trtri = scipy.linalg.get_lapack_funcs(("potrf", "pocon", "trtri"), (scaled,))
    triangle, failed = potrf(scaled, clean=True)  # upper: scaled == triangle.H @ triangle
    if failed or pocon(triangle, np.linalg.norm(scaled, 1))[0] < LEAST_CONDITION:
        return None
    change = trtri(triangle)[0] / sizes[:, None]
    return _Outside(features, to_device(change, features), to_device(triangle * sizes, features))


def _gram_outside(features: Matrix, inside: FloatArray, cross: Cross) -> FloatArray:
    """Inner products of the features without the rows ``inside``; those of the sampled columns are known."""
    d1 = cross.W.shape[1]
    gram = np.empty((inside.shape[1], inside.shape[1]), dtype=inside.dtype)
    gram[:d1, :d1] = cross.column_gram[:-1, :-1]
    if inside.shape[1] > d1:
        gram[:, d1:] = to_numpy(adjoint(features) @ features[:, d1:]) - adjoint(inside) @ inside[:, d1:]
        gram[d1:, :] = adjoint(gram[:, d1:])
    return gram


def _orthonormal(U: Matrix, s: Vector, V: Matrix) -> Factorization:
    """The product ``U @ diag(s) @ V.H`` of vectors that are orthonormal, those of U nearly."""
    gram = to_numpy(adjoint(U) @ U)
    if np.abs(gram - np.eye(len(gram))).max(initial=0.0) > ORTHONORMAL:
        root = adjoint(np.linalg.cholesky(gram))
        P, s, Qh = small_svd(to_device(root * to_numpy(s), U))
        U, V = U @ to_device(np.linalg.solve(root, to_numpy(P)), U), V @ adjoint(Qh)
    return Factorization(Basis(U), Core(_diagonal(s, U), "approximate"), Basis(V))


def exact_rank(s: FloatArray, rounding: float) -> int:
    """How many singular values of a matrix whose entries have this relative rounding are not made by it."""
    return numerical_rank(s, (), 32 * rounding)


def leading_part(left: Matrix, right: Matrix, rank: int | None = None) -> Factorization:
    """Best approximation of rank ``rank`` of ``left @ right.H``, for factors of shape (n, k) and (m, k)."""
    xp = array_namespace(left)
    Ql, Rl = xp.linalg.qr(left)
    Qr, Rr = xp.linalg.qr(right)
    P, s, Qh = small_svd(Rl @ adjoint(Rr))
    rank = s.shape[0] if rank is None else min(rank, s.shape[0])
    core = Core(_diagonal(s[:rank], P), "approximate")
    return Factorization(Basis(Ql @ P[:, :rank]), core, Basis(Qr @ adjoint(Qh[:rank, :])))


def _diagonal(s: Vector, like: Matrix) -> Matrix:
    """The diagonal matrix of real numbers, in the type of ``like``."""
    return s[:, None] * to_device(np.eye(s.shape[0], dtype=host_kind(like)), s)
