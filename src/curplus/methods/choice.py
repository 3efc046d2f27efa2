"""Which method a name stands for, in code and in saved files."""

from __future__ import annotations

from typing import Any

from .._support.registry import Registry
from ..factorization.provenance import Transposed, Truncated
from ..solvers import SOLVERS, FirstConverged
from .approximate import MODELS, StackedApproximation
from .cur_full import CURFull
from .cur_plus import CURPlus
from .cur_unbiased import CURUnbiased
from .method import Method

__all__ = ["METHODS", "method_of"]

#: The methods by name, with the options they have by default. A new one is a new row.
METHODS: Registry[Method] = Registry(
    "method",
    "fit(observation)",
    {
        "approximate": StackedApproximation(),
        "cur_plus": CURPlus(rank=10),  # usual: a rank to begin with
        "cur_full": CURFull(),
        "cur_unbiased": CURUnbiased(),
    },
)


def method_of(record: Any) -> Any:
    """The method of a saved record; None if it is not known here, or was saved with options it does not have."""
    kinds = METHODS.classes() | SOLVERS.classes()
    kinds |= {kind.__name__: kind for kind in (Transposed, Truncated, FirstConverged, *map(type, MODELS))}

    def made(value: Any) -> Any:
        if isinstance(value, dict):
            return kinds[value["name"]](**{name: made(part) for name, part in value["fields"].items()})
        return tuple(made(part) for part in value) if isinstance(value, list) else value

    try:
        method = made(record)
    except (KeyError, TypeError, ValueError):
        return None
    return method if isinstance(method, Method) else None
