"""How good an approximation is: certificates without the matrix, metrics with it."""

from . import metrics
from .certificate import Certificate, certify

__all__ = ["Certificate", "certify", "metrics"]
