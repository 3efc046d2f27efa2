"""Choosing what to read next."""

from .acquire import acquire
from .select_columns import select_columns
from .strategies import STRATEGIES, Adaptive, Leverage, Pivoted, ProductLeverage, ResidualNorm, Strategy, Uniform

__all__ = [
    "STRATEGIES",
    "Adaptive",
    "Leverage",
    "Pivoted",
    "ProductLeverage",
    "ResidualNorm",
    "Strategy",
    "Uniform",
    "acquire",
    "select_columns",
]
