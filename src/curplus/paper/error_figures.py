r"""Errors of all methods, in two families of figures: along :math:`\alpha` (3 and 6), and along the entries (5, 7)."""

from __future__ import annotations

from .comparison import relative_errors
from .drawing import panels
from .experiment import Experiment
from .tables import Rows, where

__all__ = ["errors_along_alpha", "errors_along_entries"]


def errors_along_alpha(name: str, norm: str) -> Experiment:
    """Errors with one portion of entries, as columns and rows grow with alpha."""
    return Experiment(
        name,
        f"{norm} error as columns and rows grow",
        ("spectra", "comparison"),
        table=lambda results: [row for row in relative_errors(results, norm) if row["growth"] in (0, 1)],
        plot=lambda table: panels(table, "alpha", norm=norm, label=r"$\alpha$"),
    )


def errors_along_entries(name: str, norm: str) -> Experiment:
    """Errors at the largest alpha, as the number of entries grows."""
    return Experiment(
        name,
        f"{norm} error as entries grow",
        ("spectra", "comparison"),
        table=lambda results: _at_the_largest_alpha(relative_errors(results, norm)),
        plot=lambda table: panels(table, "growth", norm=norm, label=r"$|\Omega| / \Omega_0$"),
    )


def _at_the_largest_alpha(rows: Rows) -> Rows:
    """There the number of entries was varied; what CUR-E had beyond that belongs to Figure 4."""
    widest = max(row["alpha"] for row in rows)
    largest = max(row["growth"] for row in where(rows, method="CUR+ converged"))
    return [row for row in rows if row["alpha"] in (0, widest) and row["growth"] <= largest]
