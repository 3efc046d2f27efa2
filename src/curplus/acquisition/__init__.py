"""Choosing what to read: by one round (propose), in a loop (acquire), or with the whole matrix (select_columns)."""

from .acquire import acquire
from .adaptive import Adaptive
from .backtest import Backtest, Trial, backtest
from .candidates import Candidates
from .choice import ENTRY_STRATEGIES, RULES, STRATEGIES
from .entry_strategies import EntryDraws, EntryStrategy, ProductLeverage, UniformEntries
from .mean_widths import NarrowMeans
from .new_row import ColumnDraw, draw_columns, next_columns
from .prices import Costs
from .propose import propose
from .rules import Rule
from .select_columns import select_columns
from .strategies import Leverage, Pivoted, ResidualNorm, Strategy, Uniform

__all__ = [
    "ENTRY_STRATEGIES",
    "RULES",
    "STRATEGIES",
    "Adaptive",
    "Backtest",
    "Candidates",
    "ColumnDraw",
    "Costs",
    "EntryDraws",
    "EntryStrategy",
    "Leverage",
    "NarrowMeans",
    "Pivoted",
    "ProductLeverage",
    "ResidualNorm",
    "Rule",
    "Strategy",
    "Trial",
    "Uniform",
    "UniformEntries",
    "acquire",
    "backtest",
    "draw_columns",
    "next_columns",
    "propose",
    "select_columns",
]
