"""The recommended method, a file for each of its steps."""

from .approximate import CrossApproximation, approximate
from .evidence import Gain
from .way import Step, Way

__all__ = ["CHOICES", "CrossApproximation", "approximate"]

#: What a fit chose, and files keep.
CHOICES = (Way, Step, Gain)
