"""Figure 2: the singular values of the data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._support.extras import pyplot
from . import matrices
from .experiment import Experiment
from .spectra import resolved_rank, spectrum_of_each
from .tables import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]


def table(results: dict[str, Rows]) -> Rows:
    """A row for each singular value."""
    return results["spectra"]


def plot(table: Rows) -> Figure:
    """A panel for each matrix, with its rank, as far as it is resolved."""
    spectra = spectrum_of_each(table)
    figure: Figure
    figure, axes = pyplot().subplots(
        1, len(spectra), figsize=(3.1 * len(spectra) + 0.4, 3.0), squeeze=False, layout="constrained"
    )
    for ax, (name, spectrum) in zip(axes[0], spectra.items(), strict=True):
        rank, size = resolved_rank(spectrum), len(spectrum.values)
        ax.plot(range(1, rank + 1), spectrum.values[:rank], color="#0072b2")
        ax.set(xscale="log", yscale="log", xlabel="k")
        ax.set_title(f"{matrices.label(name)}\nrank {rank} of {size}", fontsize=10)
        ax.grid(alpha=0.3)
    axes[0, 0].set_ylabel(r"$\sigma_k$")
    return figure


EXPERIMENT = Experiment("figure2", "singular values of the matrices", ("spectra",), table, plot)
