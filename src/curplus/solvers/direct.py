"""Cores by factorization: all at once, with the rank and the condition of the equations as a by-product."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import scipy.linalg

from .._arrays import adjoint, array_namespace, device, is_numpy_array, rounding_unit
from .._typing import Matrix, Vector
from .equations import EntryEquations
from .solver import Found, Solver, check_not_negative

__all__ = ["LeastSquares", "MinimumNorm", "NormalEquations"]


@dataclass(frozen=True)
class LeastSquares(Solver):
    r"""Dense least squares: QR of the equations, a block at a time, then the SVD of the triangle.

    The most careful solver: it never squares the condition, and finds the rank and condition of the equations. It costs
    :math:`O(|\Omega| p^2)` for :math:`p = r_1 r_2` unknowns, so it is for small cores.

    Parameters
    ----------
    ridge : float, default 0
        Weight of the penalty on the norm of Z.
    tol : float, default 1e-13
        Relative gradient below which the core counts as converged.
    rcond : float, optional
        Singular values below this fraction of the largest count as zero; by default ``max(|Omega|, p) * eps``.
    """

    rcond: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rcond is not None:
            check_not_negative(self.rcond, name="rcond")

    def _solve(self, equations: EntryEquations, goal: float) -> Found:
        xp = array_namespace(equations.left)
        triangle = None
        for rows, target in equations.blocks():
            block = xp.concat([rows, target[:, None]], axis=1)
            triangle = _triangle(block if triangle is None else xp.concat([triangle, block]))
        if triangle is None:
            return Found(equations.zero(), rank=0, condition=1.0)
        R, c = triangle[:, :-1], triangle[:, -1]
        U, s, Wh = xp.linalg.svd(R, full_matrices=False)
        size = max(equations.target.shape[0], R.shape[1])
        rcond = size * rounding_unit(s) if self.rcond is None else self.rcond
        rank = int(xp.count_nonzero(s > rcond * s[0]))
        s = s[:rank]
        z = adjoint(Wh[:rank, :]) @ (s / (s**2 + self.ridge) * (adjoint(U[:, :rank]) @ c))
        condition = float(s[0] / s[-1]) if rank else 1.0
        return Found(xp.reshape(z, equations.shape), rank=rank, condition=condition)


@dataclass(frozen=True)
class MinimumNorm(LeastSquares):
    """Dense least squares that accepts fewer entries than unknowns, and then returns the solution of least norm."""

    underdetermined: ClassVar[bool] = True


@dataclass(frozen=True)
class NormalEquations(Solver):
    r"""The p x p normal equations, with :math:`p = r_1 r_2`: Cholesky, then two steps of refinement.

    For cores up to a few thousand unknowns with many entries. The Gram matrix is summed by row (or column) first, so
    :math:`|\Omega|` enters only through :math:`O(|\Omega| r^2)`. It cannot resolve singular values of the equations
    below about 3e-7 of the largest: if there are any, they count as zero and an eigendecomposition takes over.

    Parameters
    ----------
    ridge : float, default 0
        Weight of the penalty on the norm of Z.
    tol : float, default 1e-13
        Relative gradient below which the core counts as converged.
    refinements : int, default 2
        Number of refinement steps.
    """

    refinements: int = 2

    def _solve(self, equations: EntryEquations, goal: float) -> Found:
        xp = array_namespace(equations.left)
        inverse, rank, condition = _gram_inverse(equations.gram(), self.ridge)
        z = equations.zero()
        for _ in range(1 + self.refinements):
            slope = equations.adjoint(equations.target - equations.apply(z)) - self.ridge * z
            z = z + xp.reshape(inverse(xp.reshape(slope, (-1,))), equations.shape)
        return Found(z, rank=rank, condition=condition)


def _triangle(x: Matrix) -> Matrix:
    """The triangle of a QR factorization; NumPy can leave out the rest."""
    return np.linalg.qr(x, mode="r") if is_numpy_array(x) else array_namespace(x).linalg.qr(x)[1]


def _gram_inverse(G: Matrix, ridge: float) -> tuple[Callable[[Vector], Vector], int, float]:
    """The (pseudo-)inverse of a Gram matrix plus ridge as a function, its rank, and the condition of the equations."""
    xp = array_namespace(G)
    size = G.shape[0]
    G = G + ridge * xp.eye(size, dtype=G.dtype, device=device(G))
    if is_numpy_array(G):
        factorize = scipy.linalg.get_lapack_funcs("potrf", (G,))
        factor, info = factorize(G, lower=True)
        if info == 0:
            largest, inverse = _top_eigenvalue(G.dot, size), partial(scipy.linalg.cho_solve, (factor, True))
            condition = largest * _top_eigenvalue(inverse, size)
            if condition < 1e10:
                return inverse, size, math.sqrt(condition)
    values, vectors = xp.linalg.eigh(G)
    kept = values > size * rounding_unit(values) * values[-1]
    rank = int(xp.count_nonzero(kept))
    values, vectors = values[size - rank :], vectors[:, size - rank :]
    condition = math.sqrt(float(values[-1] / values[0])) if rank else 1.0
    return (lambda x: vectors @ ((adjoint(vectors) @ x) / values)), rank, condition


def _top_eigenvalue(apply: Callable[[Vector], Vector], size: int, steps: int = 20) -> float:
    """Largest eigenvalue of a positive matrix, by power iteration: an estimate from below, within a few per cent."""
    x = np.random.default_rng(0).standard_normal(size)
    value = 0.0
    for _ in range(steps):
        x = apply(x / np.linalg.norm(x))
        value = float(np.linalg.norm(x))
    return value
