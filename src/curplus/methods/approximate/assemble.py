"""Putting together what was read and what was predicted.

The assembled matrix has the sampled rows and columns as they were read and the prediction everywhere else. It is never
formed: its left factor is made of the unit vectors of the sampled rows and of the features of the prediction without
those rows, and a singular value decomposition needs only the right factor, of about d1 + d2 columns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._arrays import (
    adjoint,
    array_namespace,
    double,
    host_kind,
    index_table,
    is_among,
    keep_tall,
    numerical_rank,
    put_rows,
    small_svd,
    take,
    to_device,
    to_numpy,
)
from ..._typing import FloatArray, Matrix, Vector
from ...factorization import Basis, Core, Factorization, leading_basis
from ...observation import Cells
from .prediction import Prediction

__all__ = ["exact_rank", "orthogonal", "put_back"]


def put_back(cells: Cells, prediction: Prediction) -> Factorization:
    """Rows and columns as they were read, the prediction elsewhere and in their gaps.

    Without rows and columns, and of a table with gaps, that is the prediction alone.
    """
    if cells.is_table or not (cells.n_rows or cells.n_columns):
        return orthogonal(*prediction.factors)
    has_guesses = cells.has_gaps or len(cells.hidden)
    cells = _with_guesses(cells, prediction) if has_guesses else cells
    if has_guesses or not prediction.is_of_samples:
        d1, d2, kind = cells.n_columns, cells.n_rows, host_kind(cells.columns)
        nothing = Prediction(cells.columns, np.zeros((d1, 0), kind), np.zeros((0, d2), kind), cells.turned_rows)
        prediction = nothing.plus(Prediction.of(*prediction.factors))
    return _assemble(cells, prediction)


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


def _assemble(cells: Cells, prediction: Prediction) -> Factorization:
    """The sampled rows and columns, and the prediction elsewhere, whose first features are the sampled columns.

    Its bases are not made of sampled columns and rows, so it has no C U R form.
    """
    d1, d2, least = cells.n_columns, cells.n_rows, cells.rounding
    xp, features = array_namespace(prediction.left), prediction.left
    is_sampled = to_device(is_among(cells.row_index, cells.shape[0]), features)
    outside = xp.where(is_sampled[:, None], xp.zeros_like(features), features)
    sizes = xp.linalg.vector_norm(outside, axis=0)
    left = double(leading_basis(outside / xp.where(sizes > 0, sizes, xp.ones_like(sizes)), least=least).vectors)
    coordinates = adjoint(left) @ outside
    predicted = prediction.combined(coordinates) @ adjoint(prediction.right)
    predicted = put_rows(predicted.T, cells.column_index, coordinates[:, :d1].T).T
    right = keep_tall(adjoint(xp.concat([double(cells.rows), predicted])), axis=0)
    V = leading_basis(right, least=least).vectors
    P, s, Qh = small_svd(adjoint(right) @ V)
    kept = exact_rank(to_numpy(s), least)
    P, s, Qh = P[:, :kept], s[:kept], Qh[:kept, :]
    U = put_rows(left @ P[d2:, :], cells.row_index, P[:d2, :])
    return Factorization(Basis(U), Core(_diagonal(s, U), "approximate"), Basis(V @ adjoint(Qh)))


def exact_rank(s: FloatArray, rounding: float) -> int:
    """How many singular values of a matrix whose entries have this relative rounding are not made by it."""
    return numerical_rank(s, (), 32 * rounding)  # rounding: of a few sums


def orthogonal(left: Matrix, right: Matrix) -> Factorization:
    """The product ``left @ right.H`` of factors of shape (n, k) and (m, k), by its singular vectors."""
    xp = array_namespace(left)
    Ql, Rl = xp.linalg.qr(left)
    Qr, Rr = xp.linalg.qr(right)
    P, s, Qh = small_svd(Rl @ adjoint(Rr))
    return Factorization(Basis(Ql @ P), Core(_diagonal(s, P), "approximate"), Basis(Qr @ adjoint(Qh)))


def _diagonal(s: Vector, like: Matrix) -> Matrix:
    """The diagonal matrix of real numbers, in the type of ``like``."""
    return s[:, None] * to_device(np.eye(s.shape[0], dtype=host_kind(like)), s)
