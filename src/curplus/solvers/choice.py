"""Which solver a name stands for."""

from __future__ import annotations

from dataclasses import dataclass

from .._typing import Matrix
from ..exceptions import InvalidArgumentError
from ..factorization.core import Core
from ..observation.observation import Observation
from .direct import LeastSquares, MinimumNorm, NormalEquations
from .iterative import LSMR, AcceleratedGradient, ConjugateGradient
from .solver import CoreSolver

__all__ = ["SOLVERS", "FirstConverged", "choose_solver"]


@dataclass(frozen=True)
class FirstConverged:
    """Try solvers in turn and keep the first answer that converged, or else the last one."""

    solvers: tuple[CoreSolver, ...]

    def solve(self, left: Matrix, right: Matrix, observation: Observation) -> Core:
        """Core for the bases ``left`` (n, r1) and ``right`` (m, r2)."""
        for solver in self.solvers:
            core = solver.solve(left, right, observation)
            if core.converged:
                break
        return core


SOLVERS: dict[str, CoreSolver] = {
    "least_squares": LeastSquares(),
    "minimum_norm": MinimumNorm(),
    "normal_equations": NormalEquations(),
    "conjugate_gradient": ConjugateGradient(),
    "lsmr": LSMR(),
    "accelerated_gradient": AcceleratedGradient(),
}


def choose_solver(solver: str | CoreSolver, *, unknowns: int, entries: int) -> CoreSolver:
    """The solver that a name stands for; an object is returned as it is.

    ``"auto"`` goes by the first line that fits:

    ==========  =====================  ==============================================================
    unknowns    entries                solver
    ==========  =====================  ==============================================================
    up to 400   10^9 / unknowns^2      LeastSquares
    up to 4900  8 x unknowns or more   NormalEquations
    up to 4900  fewer                  ConjugateGradient, or NormalEquations if it has not converged
    more        any                    ConjugateGradient
    ==========  =====================  ==============================================================
    """
    if not isinstance(solver, str):
        if isinstance(solver, type) or not callable(getattr(solver, "solve", None)):
            raise InvalidArgumentError(f"solver={solver!r} has no method solve(left, right, observation).")
        return solver
    if solver == "auto":
        return _automatic(unknowns, entries)
    if solver not in SOLVERS:
        raise InvalidArgumentError(f"solver={solver!r} is unknown. Use 'auto' or one of {', '.join(SOLVERS)}.")
    return SOLVERS[solver]


def _automatic(unknowns: int, entries: int) -> CoreSolver:
    if unknowns <= 400 and entries * unknowns**2 <= 10**9:
        return LeastSquares()
    if unknowns <= 4900 and entries >= 8 * unknowns:
        return NormalEquations()
    if unknowns <= 4900:
        return FirstConverged((ConjugateGradient(max_iter=300), NormalEquations()))
    return ConjugateGradient()
