"""Which solver a name stands for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .._support.registry import Registry
from .._typing import Matrix
from ..factorization import Core
from ..observation import Entries
from .direct import LeastSquares, MinimumNorm, NormalEquations
from .iterative import LSMR, AcceleratedGradient, ConjugateGradient
from .solver import CoreSolver

__all__ = ["SOLVERS", "Automatic", "FirstConverged"]

MOST_UNKNOWNS = 4900  # of normal equations that are formed: 200 MB


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
    """The solver that should take least time for the number of unknowns and entries, by the first row that fits:

    ==============  =====================  ==============================================================
    unknowns        entries                solver
    ==============  =====================  ==============================================================
    up to 400       10^9 / unknowns^2      LeastSquares
    more than 4900  any                    ConjugateGradient
    any             any                    ConjugateGradient, if it is expected to take less time than
                                           NormalEquations, which take over if it has not converged
    any             any                    NormalEquations
    ==============  =====================  ==============================================================

    Conjugate gradients are expected to take as many steps as on incoherent data, and stop after the time of the normal
    equations: no choice takes much more than twice the time of the better one.
    """  # noqa: D400

    def choose(self, unknowns: int, n_entries: int, n_hit: int | None = None) -> CoreSolver:
        """The solver for a problem of this size; ``n_hit`` rows, or columns if they are fewer, have entries."""
        if unknowns <= 400 and n_entries * unknowns**2 <= 10**9:
            return LeastSquares()
        if unknowns > MOST_UNKNOWNS:
            return ConjugateGradient()
        affordable = _affordable_steps(unknowns, n_entries, n_entries if n_hit is None else n_hit)
        if affordable < _expected_steps(unknowns, n_entries):
            return NormalEquations()
        return FirstConverged((ConjugateGradient(max_iter=affordable), NormalEquations()))

    def solve(self, left: Matrix, right: Matrix, entries: Entries) -> Core:
        """Core for the bases ``left`` (n, r1) and ``right`` (m, r2)."""
        n_entries, side = len(entries.i), min(entries.shape)
        n_hit = math.ceil(-side * math.expm1(-n_entries / side))
        return self.choose(left.shape[1] * right.shape[1], n_entries, n_hit).solve(left, right, entries)


def _expected_steps(unknowns: int, n_entries: int) -> float:
    """Number of steps of conjugate gradients to rounding, each of which shrinks the error by sqrt(unknowns / entries).

    With hardly more entries than unknowns, the smallest singular value decides, and more steps are needed.
    """
    return 60 / math.log(max(n_entries / unknowns, 1.05))


def _affordable_steps(unknowns: int, n_entries: int, n_hit: int) -> int:
    """Number of steps of conjugate gradients in the time of the normal equations.

    Operations on small matrices run at half the speed of those on large ones, but in single precision; those on single
    entries are five times slower.
    """
    direct = n_hit * unknowns**2 / 2 + unknowns**3 / 3
    step = 4 * n_hit * unknowns + 20 * n_entries * math.sqrt(unknowns)
    return math.ceil(direct / step)


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
