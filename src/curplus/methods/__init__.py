"""From an observation to an approximation: one file per method."""

from .approximate import StackedApproximation, approximate
from .choice import METHODS
from .cur_full import CURFull, cur_full
from .cur_plus import CURPlus, cur_plus
from .cur_unbiased import CURUnbiased, cur_unbiased
from .loading import load
from .method import Bases, Method

__all__ = [
    "METHODS",
    "Bases",
    "CURFull",
    "CURPlus",
    "CURUnbiased",
    "Method",
    "StackedApproximation",
    "approximate",
    "cur_full",
    "cur_plus",
    "cur_unbiased",
    "load",
]
