"""Offsets: the additive model of :mod:`curplus.evaluation`, as one of those that are blended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...evaluation.additive import additive_model
from ...observation import Cells
from .prediction import Prediction

__all__ = ["Offsets", "is_affordable"]

MOST_OF_A_CROSS = 300_000  # cost: cells of rows and columns; with more, the skeleton is as good and faster


@dataclass(frozen=True)
class Offsets:
    """Offsets of rows and columns, as a model."""

    name: ClassVar[str] = "offsets"
    uses_entries: ClassVar[bool] = True

    def applies(self, cells: Cells) -> bool:
        """If all cells can be listed."""
        return is_affordable(cells)

    def settled(self, cells: Cells) -> Offsets:
        """The model itself: it has no settings."""
        return self

    def fit(self, cells: Cells) -> Prediction:
        """The prediction."""
        return Prediction.of(*additive_model(cells.scattered).factors())


def is_affordable(cells: Cells) -> bool:
    """Whether all cells can be listed: not if rows and columns hold very many."""
    return cells.is_local and (not cells.is_cross or cells.n_values <= MOST_OF_A_CROSS)
