"""Figure 2: the singular values of the data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._extras import pyplot
from . import matrices
from .experiment import Experiment
from .spectra import references
from .tables import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]


def table(results: dict[str, Rows]) -> Rows:
    """A row for each singular value."""
    return results["spectra"]


def plot(table: Rows) -> Figure:
    """A panel for each matrix, with its numerical rank."""
    spectra = references(table)
    figure: Figure
    figure, axes = pyplot().subplots(
        1, len(spectra), figsize=(3.1 * len(spectra) + 0.4, 3.0), squeeze=False, layout="constrained"
    )
    for ax, (name, reference) in zip(axes[0], spectra.items(), strict=True):
        rank, size = reference.numerical_rank(), len(reference.values)
        ax.plot(range(1, rank + 1), reference.values[:rank], color="#0072b2")
        ax.set(xscale="log", yscale="log", xlabel="k")
        ax.set_title(f"{matrices.label(name)}\nrank {rank} of {size}", fontsize=10)
        ax.grid(alpha=0.3)
    axes[0, 0].set_ylabel(r"$\sigma_k$")
    return figure


EXPERIMENT = Experiment("figure2", "singular values of the matrices", ("spectra",), table, plot)
