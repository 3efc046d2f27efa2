"""Other forms of the approximation: with real columns and rows, or with singular values."""

from __future__ import annotations

from typing import NamedTuple

from .._typing import IndexVector, Matrix, Vector

__all__ = ["SVD", "CURForm"]


class SVD(NamedTuple):
    """Singular value decomposition ``U @ diag(s) @ Vt``, largest first."""

    U: Matrix  # (n, k)
    s: Vector  # (k,)
    Vt: Matrix  # (k, m)


class CURForm(NamedTuple):
    """The same matrix as ``C @ U @ R``, with real columns and rows of the matrix."""

    C: Matrix  # (n, d1), the sampled columns
    U: Matrix  # (d1, d2)
    R: Matrix  # (d2, m), the sampled rows
    column_index: IndexVector  # (d1,)
    row_index: IndexVector  # (d2,)
