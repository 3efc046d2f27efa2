r"""Figure 6: :math:`\ell_F` of every method, as columns and rows grow with :math:`\alpha`."""

from .error_figures import errors_along_alpha

__all__ = ["EXPERIMENT"]

EXPERIMENT = errors_along_alpha("figure6", "frobenius")
