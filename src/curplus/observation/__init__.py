"""What was read of a matrix, and where it stood."""

from .bounds import Bounds
from .cells import Cells
from .entries import Entries, Repeats
from .fingerprint import Fingerprint
from .observation import Observation
from .plan import SampleCounts, SamplePlan, SamplingDesign, default_counts, uniform_plan
from .read import observe, read

__all__ = [
    "Bounds",
    "Cells",
    "Entries",
    "Fingerprint",
    "Observation",
    "Repeats",
    "SampleCounts",
    "SamplePlan",
    "SamplingDesign",
    "default_counts",
    "observe",
    "read",
    "uniform_plan",
]
