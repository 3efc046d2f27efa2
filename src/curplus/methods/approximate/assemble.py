"""Putting together what was read and what was predicted, and keeping its leading part.

The completed matrix has the sampled rows and columns as they were read and ``C @ B`` everywhere else. It is never
formed: its left factor is made of the unit vectors of the sampled rows and the columns with those rows left out, and a
singular value decomposition needs only the right factor, of d1 + d2 columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...factorization.basis import Basis, leading_basis
from ...factorization.core import Core
from ...factorization.factorization import Factorization
from ...observation.observation import Observation

__all__ = ["complete", "leading_part"]

FloatArray = NDArray[np.floating[Any]]


def complete(observation: Observation, B: FloatArray, rank: int) -> Factorization:
    """Best approximation of rank ``rank`` of the completed matrix.

    Parameters
    ----------
    observation : Observation
        Sampled columns C (n, d1) and rows R (d2, m).
    B : array of shape (d1, m)
        The prediction ``C @ B`` for what was not read; its sampled columns do not matter.
    rank : int
        How many directions to keep.

    Returns
    -------
    Factorization
        Its bases are not made of sampled columns and rows, so it has no C U R form.
    """
    d2 = observation.n_rows
    outside = np.array(observation.columns)
    outside[observation.row_index] = 0
    across = np.array(B)
    across[:, observation.column_index] = np.eye(observation.n_columns)
    left = leading_basis(outside).vectors
    right = np.concatenate([observation.rows, (left.T @ outside) @ across]).T  # (m, d2 + width of left)
    V = leading_basis(right, rank).vectors
    P, s, Qt = np.linalg.svd(right.T @ V, full_matrices=False)
    U = left @ P[d2:]
    U[observation.row_index] += P[:d2]
    return Factorization(Basis(U), Core(np.diag(s), "completion"), Basis(V @ Qt.T))


def leading_part(left: FloatArray, right: FloatArray, rank: int) -> Factorization:
    """Best approximation of rank ``rank`` of ``left @ right.T``, for factors of shape (n, k) and (m, k)."""
    Ql, Rl = np.linalg.qr(left)
    Qr, Rr = np.linalg.qr(right)
    P, s, Qt = np.linalg.svd(Rl @ Rr.T)
    rank = min(rank, len(s))
    return Factorization(Basis(Ql @ P[:, :rank]), Core(np.diag(s[:rank]), "completion"), Basis(Qr @ Qt[:rank].T))
