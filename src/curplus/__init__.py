"""Approximate a matrix from a few of its columns, rows and scattered entries.

A source is read according to a plan, what was read becomes an observation, a method makes an approximation of it, and
a certificate estimates its error. Names are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._layout import PUBLIC_NAMES, __version__

if TYPE_CHECKING:
    from . import (
        acquisition,
        datasets,
        estimators,
        evaluation,
        exceptions,
        factorization,
        methods,
        observation,
        paper,
        plotting,
        solvers,
        sources,
        study,
        theory,
    )
    from .acquisition import Costs, acquire, backtest, propose, select_columns
    from .evaluation import (
        Best,
        Certificate,
        EntryIntervals,
        MeanEstimates,
        certify,
        decide,
        estimate_means,
        metrics,
        predict_interval,
    )
    from .factorization import Factorization
    from .methods import approximate, cur_full, cur_plus, cur_unbiased, load
    from .observation import Observation, SamplePlan, observe, read
    from .sources import CallableSource, Source, as_source, open_source
    from .study import Study

__all__ = [
    "Best",
    "CallableSource",
    "Certificate",
    "Costs",
    "EntryIntervals",
    "Factorization",
    "MeanEstimates",
    "Observation",
    "SamplePlan",
    "Source",
    "Study",
    "__version__",
    "acquire",
    "acquisition",
    "approximate",
    "as_source",
    "backtest",
    "certify",
    "cur_full",
    "cur_plus",
    "cur_unbiased",
    "datasets",
    "decide",
    "estimate_means",
    "estimators",
    "evaluation",
    "exceptions",
    "factorization",
    "load",
    "methods",
    "metrics",
    "observation",
    "observe",
    "open_source",
    "paper",
    "plotting",
    "predict_interval",
    "propose",
    "read",
    "select_columns",
    "solvers",
    "sources",
    "study",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name not in PUBLIC_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f".{PUBLIC_NAMES[name] or name}", __name__)
    value = getattr(home, name) if PUBLIC_NAMES[name] else home
    globals()[name] = value  # the next use finds it at once
    return value


def __dir__() -> list[str]:
    return __all__
