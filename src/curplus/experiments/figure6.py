r"""Figure 6: :math:`\ell_F` of every method, as columns and rows grow with :math:`\alpha`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .comparison import relative_errors
from .drawing import panels
from .experiment import Experiment
from .tables import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]


def table(results: dict[str, Rows]) -> Rows:
    """Errors with one portion of entries."""
    return [row for row in relative_errors(results, "frobenius") if row["growth"] in (0, 1)]


def plot(table: Rows) -> Figure:
    """A panel for each matrix and rank, along alpha."""
    return panels(table, "alpha", norm="frobenius", label=r"$\alpha$")


EXPERIMENT = Experiment("figure6", "frobenius error as columns and rows grow", ("spectra", "comparison"), table, plot)
