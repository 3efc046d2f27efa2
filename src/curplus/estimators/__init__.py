"""The library for scikit-learn: the only subpackage that imports its base classes."""

from .cur import CUR
from .cur_plus import CURPlus

__all__ = ["CUR", "CURPlus"]
