r"""Figure 3: :math:`\ell_s` of every method, as columns and rows grow with :math:`\alpha`."""

from .error_figures import errors_along_alpha

__all__ = ["EXPERIMENT"]

EXPERIMENT = errors_along_alpha("figure3", "spectral")
