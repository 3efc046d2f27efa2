"""The core between the two bases and how it was found; and the other forms of the same product."""

from __future__ import annotations

import math
from typing import NamedTuple

from .._typing import IndexVector, Matrix, Vector

__all__ = ["SVD", "CURForm", "Core"]


class Core(NamedTuple):
    """The core, how it was found, and how far to trust it."""

    Z: Matrix  # (r1, r2)
    solver: str  # name of the solver
    residual_norm: float = math.nan  # || values - entries of the approximation ||, by the weights of the entries
    iterations: int = 0  # 0 for a direct solver
    converged: bool = True  # whether the gradient is as small as was asked for
    rank: int | None = None  # of the equations, if cheap; below r1 * r2, Z is the solution of least norm
    condition: float | None = None  # of the equations, if cheap: an estimate, for iterative solvers
    notes: tuple[str, ...] = ()  # warnings for the user


class SVD(NamedTuple):
    """Singular value decomposition ``U @ diag(s) @ Vh``, largest first."""

    U: Matrix  # (n, k)
    s: Vector  # (k,), real
    Vh: Matrix  # (k, m), the adjoint of the right singular vectors


class CURForm(NamedTuple):
    """The same matrix as ``C @ U @ R``, with real columns and rows of the matrix."""

    C: Matrix  # (n, d1), the sampled columns
    U: Matrix  # (d1, d2)
    R: Matrix  # (d2, m), the sampled rows
    column_index: IndexVector  # (d1,)
    row_index: IndexVector  # (d2,)
