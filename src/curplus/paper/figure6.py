r"""Figure 6: :math:`\ell_F` of every method, as columns and rows grow with :math:`\alpha`."""

from .figure3 import as_lines_grow

__all__ = ["EXPERIMENT"]

EXPERIMENT = as_lines_grow("figure6", "frobenius")
