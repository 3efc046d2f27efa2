"""From an observation to an approximation: one file per method."""

from .approximate import approximate
from .decompose import cur_full, cur_plus, cur_unbiased
from .loading import load

__all__ = ["approximate", "cur_full", "cur_plus", "cur_unbiased", "load"]
