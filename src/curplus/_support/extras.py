"""Packages that not every user has: imported where they are used, with an error that names what to install."""

from __future__ import annotations

import importlib
from typing import Any

from ..exceptions import MissingExtraError

__all__ = ["import_extra", "is_kind", "pyplot"]


def import_extra(module: str, *, extra: str, purpose: str) -> Any:
    """A module of an optional package; ``purpose`` is what needs it, with its verb."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{purpose}: pip install 'curplus[{extra}]'.") from error


def is_kind(thing: Any, package: str, name: str) -> bool:
    """Whether ``thing`` is of the class ``name`` of a package, found out without importing the package."""
    return any(kind.__name__ == name and kind.__module__.split(".")[0] == package for kind in type(thing).__mro__)


def pyplot() -> Any:
    """Matplotlib's pyplot."""
    return import_extra("matplotlib.pyplot", extra="plot", purpose="pictures need Matplotlib")
