"""An approximation before it is refined, however it was begun."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..._typing import FloatArray
from ...factorization import Factorization, FittedModel
from ...observation import Entries
from .offsets import Offsets
from .rank import RankChoice
from .skeleton import Skeleton
from .way import Way

__all__ = ["Aside", "Start"]


class Aside(NamedTuple):
    """Values that the fit did not use."""

    entries: Entries
    means: FloatArray | None = None  # what the means of rows and columns say there, where it is known already


class Start(NamedTuple):
    """An approximation before it is refined."""

    approximation: Factorization
    rank: RankChoice
    skeleton: Skeleton | None = None  # None where there are no rows and columns to predict from
    used_entries: bool = True  # whether the entries had a part in it
    offsets: Offsets | None = None  # the additive model, where it had a part in it
    model: FittedModel | None = None  # for rows and columns that come later, where it is known already
    aside: Aside | None = None  # values of a table that were set aside although they are no scattered entries
    way: Way = Way()  # what was chosen

    @property
    def offsets_z(self) -> float:
        """By how many standard errors offsets fitted to the entries did better; nan where they were not tried."""
        return math.nan if self.way.offsets is None else self.way.offsets.standard_errors

    @property
    def correction_z(self) -> float:
        """By how many standard errors a core fitted to the entries did better; nan where none was tried."""
        return math.nan if self.way.core is None else self.way.core.standard_errors

    @property
    def is_exact(self) -> bool:
        """Whether nothing is left to refine."""
        return self.skeleton is not None and self.skeleton.is_exact

    @property
    def offsets_to_refine_around(self) -> bool:
        """Whether offsets of rows and columns were the first guess."""
        return self.offsets is not None or (self.skeleton is not None and self.skeleton.guess == "offsets")
