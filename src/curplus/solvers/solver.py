"""What every solver shares: the core it returns, the equations it solves, and when they count as solved."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from .._arrays import array_namespace, is_dask_array, rounding_unit, to_device
from .._typing import Matrix
from ..exceptions import InvalidArgumentError, TooFewEntriesError
from ..factorization import Core
from ..observation import Entries
from .equations import EntryEquations, entry_equations

__all__ = ["CoreSolver", "Found", "Solver", "check_not_negative", "gradient_goal", "norm"]


class CoreSolver(Protocol):
    """Whatever finds a core; any object with this method is one."""

    def solve(self, left: Matrix, right: Matrix, entries: Entries) -> Core:
        """Core for the bases ``left`` (n, r1) and ``right`` (m, r2)."""


class Found(NamedTuple):
    """A solution of the scaled equations, with its diagnostics."""

    Z: Matrix
    iterations: int = 0
    rank: int | None = None
    condition: float | None = None


@dataclass(frozen=True)
class Solver:
    """What all solvers share: set up the equations, check their number, measure the approximation."""

    ridge: float = 0.0
    tol: float = 1e-13
    underdetermined: ClassVar[bool] = False  # whether fewer equations than unknowns are accepted

    def __post_init__(self) -> None:
        for name in ("ridge", "tol"):
            check_not_negative(getattr(self, name), name=name)

    def solve(self, left: Matrix, right: Matrix, entries: Entries) -> Core:
        """Core for the bases ``left`` (n, r1) and ``right`` (m, r2)."""
        equations = entry_equations(left, right, entries)
        name = type(self).__name__
        if 0 in equations.shape:
            residual = norm(equations.target) * _unscale(equations, entries)
            return Core(_beside(equations.zero(), left), name, residual, rank=0)
        if not (self.underdetermined or self.ridge):
            _check_enough(equations.shape, len(entries.i))
        size = equations.norm()
        goal = gradient_goal(equations, size, self.tol)
        found = self._solve(equations, goal)
        residual = equations.target - equations.apply(found.Z)
        slope = norm(equations.adjoint(residual) - self.ridge * found.Z)
        return Core(
            Z=_beside(found.Z * equations.unit, left),
            solver=name,
            residual_norm=norm(residual) * _unscale(equations, entries),
            iterations=found.iterations,
            converged=slope <= 2 * max(goal, _rounding(size, found.Z)),
            rank=found.rank,
            condition=found.condition,
        )

    def _solve(self, equations: EntryEquations, goal: float) -> Found:
        """Solve until the gradient is no longer than ``goal``."""
        raise AssertionError("each solver has its own")


def _beside(Z: Matrix, left: Matrix) -> Matrix:
    """A core in the type of the bases, and in their library, if it was found on the host for Dask."""
    Z = to_device(Z, left) if is_dask_array(left) else Z
    return array_namespace(left).astype(Z, left.dtype)


def check_not_negative(value: Any, *, name: str) -> None:
    """That an option of a solver is a number that it can use."""
    if not (isinstance(value, Real) and math.isfinite(value) and float(value) >= 0):
        raise InvalidArgumentError(f"{name}={value!r} must be a finite number, 0 or more.")


def _check_enough(shape: tuple[int, int], n_entries: int) -> None:
    needed = math.prod(shape)
    if n_entries < needed:
        lower = math.isqrt(n_entries)
        instead = f"lower rank to {lower}, " if lower else ""
        raise TooFewEntriesError(
            f"the core has {needed} unknowns ({shape[0]} x {shape[1]}) but only {n_entries} entries were observed, so "
            f"Z is not unique. Observe at least {needed} entries, {instead}or ask for one solution with "
            "solver=MinimumNorm()."
        )


def gradient_goal(equations: EntryEquations, size: float, tol: float) -> float:
    """How small the gradient must become: ``tol`` times the first one, or its rounding error; 0 for 0."""
    first = norm(equations.adjoint(equations.target))
    rounding = rounding_unit(equations.target) * size * norm(equations.target)
    return max(tol * first, rounding) if tol else 0.0


def _rounding(size: float, Z: Matrix) -> float:
    """Rounding error of the gradient at a large solution of small equations, whose matrix has this norm."""
    return float(np.finfo(np.float64).eps) * size**2 * norm(Z)


def _unscale(equations: EntryEquations, entries: Entries) -> float:
    """Factor from a residual of the scaled equations to one of the values."""
    return equations.unit / math.sqrt(math.prod(entries.shape) / max(len(entries.i), 1))


def norm(x: Any) -> float:
    """Euclidean norm of all the numbers in ``x``."""
    return float(array_namespace(x).linalg.vector_norm(x))
