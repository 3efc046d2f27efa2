"""The core: the small matrix between the two bases, and how it was found."""

from __future__ import annotations

import math
from typing import NamedTuple

from .._typing import Matrix

__all__ = ["Core"]


class Core(NamedTuple):
    """The core, how it was found, and how far to trust it."""

    Z: Matrix  # (r1, r2)
    solver: str  # who found it
    residual_norm: float = math.nan  # || values - entries of the approximation ||, by the weights of the entries
    iterations: int = 0  # 0 for a direct solver
    converged: bool = True  # whether the gradient is as small as was asked for
    rank: int | None = None  # of the equations, where cheap; below r1 * r2, Z is the solution of least norm
    condition: float | None = None  # of the equations, where cheap: an estimate, for iterative solvers
    notes: tuple[str, ...] = ()  # what a user should know, in words
