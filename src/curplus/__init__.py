"""Approximate a matrix from a few of its columns, rows and scattered entries.

The names below are the whole public surface, in the order of the story: a source is read according to a plan, what was
seen becomes an observation, and a factorization comes out. They are loaded when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, estimators, exceptions, experiments, metrics, plotting, theory
    from .acquisition import acquire
    from .approximation import approximate
    from .bases import Basis, leading_basis
    from .certificate import Certificate, certify
    from .core import (
        LSMR,
        SOLVERS,
        AcceleratedGradient,
        ConjugateGradient,
        Core,
        FirstConverged,
        LeastSquares,
        MinimumNorm,
        NormalEquations,
        choose_solver,
    )
    from .decompose import cur_full, cur_plus, cur_unbiased
    from .factorization import CUR, SVD, Choices, Factorization
    from .loading import load
    from .observation import Observation, observe, read
    from .sampling import Counts, Drawn, SamplePlan, default_counts, uniform_plan
    from .selection import select_columns
    from .sources import ArraySource, CallableSource, Source, SparseSource, TableSource, as_source
    from .strategies import STRATEGIES, Adaptive, Leverage, Pivoted, ProductLeverage, ResidualNorm, Uniform

__version__ = "0.1.0"

__all__ = [
    "CUR",
    "LSMR",
    "SOLVERS",
    "STRATEGIES",
    "SVD",
    "AcceleratedGradient",
    "Adaptive",
    "ArraySource",
    "Basis",
    "CallableSource",
    "Certificate",
    "Choices",
    "ConjugateGradient",
    "Core",
    "Counts",
    "Drawn",
    "Factorization",
    "FirstConverged",
    "LeastSquares",
    "Leverage",
    "MinimumNorm",
    "NormalEquations",
    "Observation",
    "Pivoted",
    "ProductLeverage",
    "ResidualNorm",
    "SamplePlan",
    "Source",
    "SparseSource",
    "TableSource",
    "Uniform",
    "__version__",
    "acquire",
    "approximate",
    "as_source",
    "certify",
    "choose_solver",
    "cur_full",
    "cur_plus",
    "cur_unbiased",
    "datasets",
    "default_counts",
    "estimators",
    "exceptions",
    "experiments",
    "leading_basis",
    "load",
    "metrics",
    "observe",
    "plotting",
    "read",
    "select_columns",
    "theory",
    "uniform_plan",
]

_MODULES = ("theory", "metrics", "estimators", "plotting", "datasets", "experiments", "exceptions")
_STORY = (
    "sources",
    "sampling",
    "observation",
    "bases",
    "core",
    "factorization",
    "loading",
    "decompose",
    "approximation",
    "selection",
    "strategies",
    "acquisition",
    "certificate",
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in __all__:
        for step in _STORY:  # a name's home needs the steps before it, so nothing is loaded in vain
            module = import_module(f".{step}", __name__)
            if name in module.__all__:
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
