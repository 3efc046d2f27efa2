"""What a name stands for: strategies for rows and columns, strategies for entries, rules for a whole matrix.

A new one is a new row.
"""

from __future__ import annotations

from .._support.registry import Registry
from .adaptive import Adaptive
from .entry_strategies import EntryStrategy, ProductLeverage, UniformEntries
from .rules import Drawn, EquallyLikely, Ranked, Rule, explaining, leverage, pivoted, qdeim
from .strategies import Leverage, Pivoted, ResidualNorm, Strategy, Uniform

__all__ = ["ENTRY_STRATEGIES", "RULES", "STRATEGIES"]

#: The strategies for rows and columns by name.
STRATEGIES: Registry[Strategy] = Registry(
    "strategy",
    "choose(candidates, count, rng)",
    {
        "auto": Adaptive(),
        "uniform": Uniform(),
        "pivoted": Pivoted(),
        "residual_norm": ResidualNorm(),
        "leverage": Leverage(),
    },
)

#: The strategies for entries by name.
ENTRY_STRATEGIES: Registry[EntryStrategy] = Registry(
    "entry_strategy",
    "draw(observation, count, rng)",
    {"uniform": UniformEntries(), "product_leverage": ProductLeverage()},
)

#: The rules by name.
RULES: Registry[Rule] = Registry(
    "method",
    "select(matrix, k, rank, rng)",
    {
        "leverage": Drawn(leverage),
        "qdeim": Ranked(qdeim),
        "pivoted": Ranked(pivoted),
        "explaining": Ranked(explaining),
        "uniform": EquallyLikely(),
    },
)
