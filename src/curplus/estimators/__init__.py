"""The library for scikit-learn: the only subpackage that imports its base classes."""

from ._left_out import CellIntervals
from .cur import CUR
from .cur_plus import CURPlus
from .hidden_entries import HiddenEntries
from .imputer import CURImputer
from .nystroem import CURNystroem

__all__ = ["CUR", "CURImputer", "CURNystroem", "CURPlus", "CellIntervals", "HiddenEntries"]
