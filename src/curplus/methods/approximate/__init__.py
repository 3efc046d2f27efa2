"""The recommended method: a few plain models, one blend."""

from .approximate import StackedApproximation, approximate
from .interpolation import Interpolation
from .models import MODELS, Model
from .offsets import Offsets
from .prediction import Prediction
from .skeleton import without_gaps

__all__ = [
    "MODELS",
    "Interpolation",
    "Model",
    "Offsets",
    "Prediction",
    "StackedApproximation",
    "approximate",
    "without_gaps",
]
