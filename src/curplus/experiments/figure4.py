r"""Figure 4: CUR-E when the entries grow with its core, as :math:`\alpha^3`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .drawing import compared, panels
from .experiment import Experiment
from .tables import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]


def table(results: dict[str, Rows]) -> Rows:
    """Spectral errors of CUR-E where there are alpha cubed portions of entries, with the methods that need none."""
    return [row for row in compared(results, "spectral") if row["growth"] in (0, row["alpha"] ** 3)]


def plot(table: Rows) -> Figure:
    """A panel for each matrix and rank, along alpha."""
    shown = ("CUR-E", "CUR-E, rank r", "CUR-F", "CUR-F, rank r")
    return panels(
        table, "alpha", norm="spectral", methods=shown, label=r"$\alpha$, with $|\Omega| = \alpha^3 \Omega_0$"
    )


EXPERIMENT = Experiment(
    "figure4", "CUR-E with entries in proportion to its unknowns", ("spectra", "comparison"), table, plot
)
