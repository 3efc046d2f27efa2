r"""Figure 3: :math:`\ell_s` of every method, as columns and rows grow with :math:`\alpha`."""

from __future__ import annotations

from .comparison import relative_errors
from .drawing import panels
from .experiment import Experiment

__all__ = ["EXPERIMENT", "as_lines_grow"]


def as_lines_grow(name: str, norm: str) -> Experiment:
    """Errors with one portion of entries, along alpha; Figure 6 is the same in the other norm."""
    return Experiment(
        name,
        f"{norm} error as columns and rows grow",
        ("spectra", "comparison"),
        table=lambda results: [row for row in relative_errors(results, norm) if row["growth"] in (0, 1)],
        plot=lambda table: panels(table, "alpha", norm=norm, label=r"$\alpha$"),
    )


EXPERIMENT = as_lines_grow("figure3", "spectral")
