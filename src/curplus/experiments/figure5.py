r"""Figure 5: :math:`\ell_s` of every method, as entries grow from :math:`\Omega_0`, at the largest :math:`\alpha`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .comparison import relative_errors
from .drawing import panels
from .experiment import Experiment
from .tables import Rows, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]


def table(results: dict[str, Rows]) -> Rows:
    """Errors at the largest alpha, where the number of entries was varied."""
    rows = relative_errors(results, "spectral")
    widest = max(row["alpha"] for row in rows)
    largest = max(row["growth"] for row in where(rows, method="approximate"))
    return [row for row in rows if row["alpha"] in (0, widest) and row["growth"] <= largest]


def plot(table: Rows) -> Figure:
    """A panel for each matrix and rank, along the number of entries."""
    return panels(table, "growth", norm="spectral", label=r"$|\Omega| / \Omega_0$")


EXPERIMENT = Experiment("figure5", "spectral error as entries grow", ("spectra", "comparison"), table, plot)
