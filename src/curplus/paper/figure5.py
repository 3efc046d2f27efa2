r"""Figure 5: :math:`\ell_s` of every method, as entries grow from :math:`\Omega_0`, at the largest :math:`\alpha`."""

from __future__ import annotations

from .comparison import relative_errors
from .drawing import panels
from .experiment import Experiment
from .tables import Rows, where

__all__ = ["EXPERIMENT", "as_entries_grow"]


def as_entries_grow(name: str, norm: str) -> Experiment:
    """Errors at the largest alpha, along the number of entries; Figure 7 is the same in the other norm."""
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


EXPERIMENT = as_entries_grow("figure5", "spectral")
