"""Putting together what was read and what was predicted, and keeping its leading part.

The assembled matrix has the sampled rows and columns as they were read and ``C @ G`` everywhere else. It is never
formed: its left factor is made of the unit vectors of the sampled rows and of the columns without those rows, and a
singular value decomposition needs only the right factor, of d1 + d2 columns.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import array_namespace, float64, index_table, scatter_rows, small_svd, to_device
from ..._typing import Matrix
from ...factorization import Basis, Core, Factorization, leading_basis
from ...observation import Observation

__all__ = ["assemble", "leading_part"]


def assemble(observation: Observation, G: Matrix, rank: int) -> Factorization:
    """Best approximation of rank ``rank`` of the assembled matrix.

    Parameters
    ----------
    observation : Observation
        Sampled columns C (n, d1) and rows R (d2, m).
    G : array of shape (d1, m)
        The prediction ``C @ G`` for what was not read; its sampled columns do not matter.
    rank : int
        How many directions to keep.

    Returns
    -------
    Factorization
        Its bases are not made of sampled columns and rows, so it has no C U R form.
    """
    n, m = observation.shape
    d1, d2 = observation.n_columns, observation.n_rows
    xp = array_namespace(observation.columns)
    is_sampled_row = to_device(index_table(observation.row_index, n) >= 0, observation.columns)
    is_sampled_column = to_device(index_table(observation.column_index, m) >= 0, observation.columns)
    outside = xp.where(is_sampled_row[:, None], xp.zeros_like(observation.columns), observation.columns)
    identity = to_device(np.eye(d1, dtype=np.float64), G)
    G = xp.where(is_sampled_column[None, :], scatter_rows(identity, observation.column_index, m).T, G)
    left = leading_basis(outside).vectors
    right = xp.concat([float64(observation.rows), float64(left.T @ outside) @ G]).T  # (m, d2 + width of left)
    V = leading_basis(right, rank).vectors
    P, s, Qt = small_svd(right.T @ V)
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


def _diagonal(s: Matrix) -> Matrix:
    return s[:, None] * to_device(np.eye(s.shape[0], dtype=np.float64), s)
