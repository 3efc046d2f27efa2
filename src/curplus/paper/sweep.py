"""A sweep: the options of a measurement, and the cells that it is divided into."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from importlib.metadata import version
from typing import Any, ClassVar, Protocol

from .._layout import __version__
from ..datasets.folders import DataHome
from .tables import Rows

__all__ = ["Cell", "Sweep", "description", "versions"]

Cell = tuple[Any, ...]  # words and whole numbers that name a piece of work


class Sweep(Protocol):
    """Options of a measurement, a frozen dataclass; they and the versions of the libraries decide every number."""

    name: ClassVar[str]

    @property
    def matrices(self) -> tuple[str, ...]:
        """Names of the matrices that it loads; none if it makes its own."""

    def cells(self) -> list[Cell]:
        """Pieces of work that do not depend on each other."""

    def measure(self, cell: Cell, data_home: DataHome) -> Rows:
        """Rows of the table that a cell stands for."""


def description(sweep: Sweep) -> dict[str, Any]:
    """The options of a sweep as JSON has them."""
    return {"sweep": sweep.name, **json.loads(json.dumps(asdict(sweep)))}  # type: ignore[call-overload]


def versions() -> dict[str, str]:
    """What the numbers depend on besides the options."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"curplus": __version__, "python": platform.python_version(), **libraries}
