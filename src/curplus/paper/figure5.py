r"""Figure 5: :math:`\ell_s` of every method, as entries grow from :math:`\Omega_0`, at the largest :math:`\alpha`."""

from .error_figures import errors_along_entries

__all__ = ["EXPERIMENT"]

EXPERIMENT = errors_along_entries("figure5", "spectral")
