r"""Figure 4: CUR-E when the entries grow with its core, as :math:`\alpha^3`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .comparison import relative_errors
from .drawing import panels
from .experiment import Experiment
from .tables import Rows, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

SHOWN = ("CUR-E", "CUR-E, rank r", "CUR-F", "CUR-F, rank r")


def table(results: dict[str, Rows]) -> Rows:
    """Spectral errors of CUR-E with alpha cubed portions of entries, with CUR-F, which needs none.

    Beyond one portion, each entry is drawn with the chance that makes the number in the table on average.
    """
    rows = where(relative_errors(results, "spectral"), method=(*SHOWN, "zero matrix"))
    return [row for row in rows if row["growth"] in (0, row["alpha"] ** 3)]


def plot(table: Rows) -> Figure:
    """A panel for each matrix and rank, along alpha."""
    return panels(table, "alpha", norm="spectral", label=r"$\alpha$, with $|\Omega| = \alpha^3 \Omega_0$")


EXPERIMENT = Experiment(
    "figure4", "CUR-E with entries in proportion to its unknowns", ("spectra", "comparison"), table, plot
)
