"""How good an approximation is: certificates without the matrix, metrics with it."""

from . import metrics
from .certificate import Certificate
from .certify import certify

__all__ = ["Certificate", "certify", "metrics"]
