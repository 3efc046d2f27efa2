"""Putting together what was read and what was predicted, and keeping its leading part.

The assembled matrix has the sampled rows and columns as they were read and the prediction everywhere else. It is never
formed: its left factor is made of the unit vectors of the sampled rows and of the features of the prediction without
those rows, and a singular value decomposition needs only the right factor, of about d1 + d2 columns.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import (
    array_namespace,
    float64,
    index_table,
    rounding_unit,
    scatter_rows,
    small_svd,
    to_device,
    to_numpy,
)
from ..._typing import Matrix
from ...factorization import Basis, Core, Factorization, leading_basis
from ...observation import Observation
from .prediction import Prediction
from .rank import exact_rank

__all__ = ["assemble", "leading_part", "mean_of"]


def assemble(observation: Observation, prediction: Prediction, rank: int | None = None) -> Factorization:
    """Best approximation of rank ``rank`` of the assembled matrix.

    Parameters
    ----------
    observation : Observation
        Sampled columns C (n, d1) and rows R (d2, m).
    prediction : Prediction
        For what was not read; its first features are the sampled columns.
    rank : int, optional
        How many directions to keep; all if left out.

    Returns
    -------
    Factorization
        Its bases are not made of sampled columns and rows, so it has no C U R form.
    """
    n, m = observation.shape
    d1, d2 = observation.n_columns, observation.n_rows
    xp, features = array_namespace(observation.columns), prediction.features
    is_sampled_row = to_device(index_table(observation.row_index, n) >= 0, features)
    is_sampled_column = to_device(index_table(observation.column_index, m) >= 0, features)
    outside = xp.where(is_sampled_row[:, None], xp.zeros_like(features), features)
    least = rounding_unit(observation.values)
    sizes = xp.linalg.vector_norm(outside, axis=0)
    left = leading_basis(outside / xp.where(sizes > 0, sizes, xp.ones_like(sizes)), least=least).vectors
    coordinates = float64(left.T @ outside)  # of the features
    predicted = (coordinates @ to_device(prediction.mixing, coordinates)) @ prediction.right.T
    read = scatter_rows(coordinates[:, :d1].T, observation.column_index, m).T
    below = xp.where(is_sampled_column[None, :], read, predicted)
    right = xp.concat([float64(observation.rows), below]).T  # (m, d2 + width of left)
    V = leading_basis(right, rank, least=least).vectors
    P, s, Qt = small_svd(right.T @ V)
    kept = exact_rank(to_numpy(s), least)
    P, s, Qt = P[:, :kept], s[:kept], Qt[:kept, :]
    U = float64(left) @ P[d2:, :] + scatter_rows(P[:d2, :], observation.row_index, n)
    return Factorization(Basis(U), Core(_diagonal(s), "approximate"), Basis(V @ Qt.T))


def leading_part(left: Matrix, right: Matrix, rank: int) -> Factorization:
    """Best approximation of rank ``rank`` of ``left @ right.T``, for factors of shape (n, k) and (m, k)."""
    xp = array_namespace(left)
    Ql, Rl = xp.linalg.qr(left)
    Qr, Rr = xp.linalg.qr(right)
    P, s, Qt = small_svd(Rl @ Rr.T)
    rank = min(rank, s.shape[0])
    core = Core(_diagonal(s[:rank]), "approximate")
    return Factorization(Basis(Ql @ P[:, :rank]), core, Basis(Qr @ Qt[:rank, :].T))


def mean_of(first: Factorization, second: Factorization) -> Factorization:
    """The mean of two approximations whose cores are diagonal."""
    xp = array_namespace(first.core.Z)
    left, right = (
        xp.concat([float64(getattr(x, side).vectors) for x in (first, second)], axis=1) for side in ("left", "right")
    )
    sizes = np.concatenate([to_numpy(x.core.Z).diagonal() / 2 for x in (first, second)])
    return leading_part(left * to_device(sizes, left), right, len(sizes))


def _diagonal(s: Matrix) -> Matrix:
    return s[:, None] * to_device(np.eye(s.shape[0], dtype=np.float64), s)
