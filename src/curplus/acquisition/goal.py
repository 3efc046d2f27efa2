"""Target counts, and the money to spend on them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray, IndexVector
from ..observation import Observation, SampleCounts
from .costs import Prices

__all__ = ["Goal", "Lines"]


class Lines(NamedTuple):
    """The rows, or columns, that can be chosen, and what they cost."""

    taken: IndexVector
    forbidden: IndexVector
    prices: FloatArray | None = None  # (size,)
    money: float = math.inf  # what may be spent on them

    @property
    def excluded(self) -> IndexVector:
        """Those that cannot be chosen although they are not known: forbidden, or too expensive."""
        if self.prices is None:
            return self.forbidden
        return np.union1d(self.forbidden, np.flatnonzero(self.prices > self.money))

    @property
    def n_available(self) -> int:
        """How many can be chosen."""
        return 0 if self.prices is None else len(self.prices) - len(np.union1d(self.taken, self.excluded))

    @property
    def affordable(self) -> int:
        """How many more the money buys, if those that cost less are chosen more often."""
        if self.prices is None:
            return 0
        others = np.delete(self.prices, np.union1d(self.taken, self.excluded))
        if not len(others):
            return 0
        usual = len(others) / np.sum(1 / others)
        return max(1, min(int(self.money / usual + 1e-9), len(others)))

    def within_money(self, index: IndexVector) -> IndexVector:
        """The first of some, as far as the money goes."""
        return index if self.prices is None else index[np.cumsum(self.prices[index]) <= self.money * (1 + 1e-12)]


class Goal(NamedTuple):
    """Target counts, and the money to spend on them."""

    counts: SampleCounts  # totals, those that are known included
    n_entries_first: int  # of the entries so many are bought whatever the rows and columns cost
    columns: Lines
    rows: Lines
    n_of_a_kind: int  # rows, or columns if they are fewer, that are wanted before anything is seen
    prices: Prices | None = None  # of a budget
    money: float = math.inf  # what is left of it
    reason: str = ""
    because: str = ""  # what has been seen that changed how it is split

    def within_money(
        self, observation: Observation, i: IndexVector, j: IndexVector, rng: Any, *, evidence: bool = True
    ) -> IndexVector:
        """Which of some entries can be paid for; those to be left out are drawn. What is known costs nothing.

        Entries that help to choose count as paid for wherever they stand, as in :func:`.costs.spent`.
        """
        if self.prices is None:
            return np.arange(len(i))
        on_lines = np.isin(i, observation.row_index) | np.isin(j, observation.column_index)
        cost = np.where(on_lines & evidence, 0.0, self.prices.entries(i, j))
        order = rng.permutation(len(i))
        return np.sort(order[np.cumsum(cost[order]) <= self.money * (1 + 1e-12)])
