r"""Figure 7: :math:`\ell_F` of every method, as entries grow from :math:`\Omega_0`, at the largest :math:`\alpha`."""

from .figure5 import as_entries_grow

__all__ = ["EXPERIMENT"]

EXPERIMENT = as_entries_grow("figure7", "frobenius")
