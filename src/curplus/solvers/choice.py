"""Which solver a name stands for."""

from __future__ import annotations

from dataclasses import dataclass

from .._registry import Registry
from .._typing import Matrix
from ..factorization import Core
from ..observation import Entries
from .direct import LeastSquares, MinimumNorm, NormalEquations
from .iterative import LSMR, AcceleratedGradient, ConjugateGradient
from .solver import CoreSolver

__all__ = ["SOLVERS", "Automatic", "FirstConverged"]


@dataclass(frozen=True)
class FirstConverged:
    """Try solvers in turn and keep the first answer that converged, or else the last one."""

    solvers: tuple[CoreSolver, ...]

    def solve(self, left: Matrix, right: Matrix, entries: Entries) -> Core:
        """Core for the bases ``left`` (n, r1) and ``right`` (m, r2)."""
        for solver in self.solvers:
            core = solver.solve(left, right, entries)
            if core.converged:
                break
        return core


@dataclass(frozen=True)
class Automatic:
    """The solver that suits the number of unknowns and entries, by the first line that fits:

    ==========  =====================  ==============================================================
    unknowns    entries                solver
    ==========  =====================  ==============================================================
    up to 400   10^9 / unknowns^2      LeastSquares
    up to 4900  8 x unknowns or more   NormalEquations
    up to 4900  fewer                  ConjugateGradient, or NormalEquations if it has not converged
    more        any                    ConjugateGradient
    ==========  =====================  ==============================================================
    """  # noqa: D400

    def choose(self, unknowns: int, n_entries: int) -> CoreSolver:
        """The solver for a problem of this size."""
        if unknowns <= 400 and n_entries * unknowns**2 <= 10**9:
            return LeastSquares()
        if unknowns <= 4900 and n_entries >= 8 * unknowns:
            return NormalEquations()
        if unknowns <= 4900:
            return FirstConverged((ConjugateGradient(max_iter=300), NormalEquations()))
        return ConjugateGradient()

    def solve(self, left: Matrix, right: Matrix, entries: Entries) -> Core:
        """Core for the bases ``left`` (n, r1) and ``right`` (m, r2)."""
        return self.choose(left.shape[1] * right.shape[1], len(entries.i)).solve(left, right, entries)


#: The solvers by name.
SOLVERS: Registry[CoreSolver] = Registry(
    "solver",
    "solve(left, right, entries)",
    {
        "auto": Automatic(),
        "least_squares": LeastSquares(),
        "minimum_norm": MinimumNorm(),
        "normal_equations": NormalEquations(),
        "conjugate_gradient": ConjugateGradient(),
        "lsmr": LSMR(),
        "accelerated_gradient": AcceleratedGradient(),
    },
)
