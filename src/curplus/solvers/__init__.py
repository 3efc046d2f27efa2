r"""Solving for Z: one small class per way to find the core.

Eq. (opt): :math:`\min_Z \tfrac12 \|\mathcal R_\Omega(M) - \mathcal R_\Omega(\hat U Z \hat V^\top)\|_F^2`, an ordinary
least-squares problem with r1 r2 unknowns and one equation per entry. All solvers return the same answer: the minimiser,
and if it is not unique, the one of least norm. They differ in cost and in their diagnostics.

With ``ridge`` the objective has :math:`\tfrac12 \lambda \tfrac{|\Omega|}{nm} \|Z\|_F^2` added. The factor makes
:math:`\lambda` a number without units: 1 has as much weight as the entries have on average.
"""

from .choice import SOLVERS, Automatic, FirstConverged
from .direct import LeastSquares, MinimumNorm, NormalEquations
from .equations import EntryEquations
from .iterative import LSMR, AcceleratedGradient, ConjugateGradient
from .solver import CoreSolver, Found, Solver

__all__ = [
    "LSMR",
    "SOLVERS",
    "AcceleratedGradient",
    "Automatic",
    "ConjugateGradient",
    "CoreSolver",
    "EntryEquations",
    "FirstConverged",
    "Found",
    "LeastSquares",
    "MinimumNorm",
    "NormalEquations",
    "Solver",
]
