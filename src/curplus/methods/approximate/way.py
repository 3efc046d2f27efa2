"""What a fit chose, so that another fit of the same kind need not choose it again.

Choices are kinds and amounts of shrinkage: which model, which first guess, what a change must be held back by. Whatever
is fitted to values (factors, cores, offsets, the ridge of the skeleton) is no choice, and is found anew in every fit.
"""

from __future__ import annotations

from typing import NamedTuple

from .evidence import Gain

__all__ = ["FACTORS", "MEAN", "SHRUNKEN", "SUBSPACE", "Step", "Way"]

FACTORS, SHRUNKEN = "factor model", "shrunken singular values"
MEAN = f"mean of a {FACTORS} and {SHRUNKEN}"
SUBSPACE = "subspace of the columns"


class Step(NamedTuple):
    """How an approximation was refined."""

    by: str  # alternating least squares, a factor model, or a mean
    rank: int = 0  # of alternating least squares, at most
    around_offsets: bool = False  # whether they shrink towards offsets
    with_lines: bool = False  # whether rows and columns were put back as they were read


class Way(NamedTuple):
    """The choices of a fit; what is empty or None was not chosen yet, or there was nothing to choose."""

    model: str = ""  # of scattered values, or of columns without rows
    n_thresholds: int | None = None  # how many thresholds down singular values were shrunk
    guess: str = ""  # the first guess of the ridge skeleton
    exponent: float | None = None  # by which its rows and columns are weighted
    offsets: Gain | None = None  # what offsets brought that were fitted to entries
    core: Gain | None = None  # and what a core did
    bare: bool | None = None  # whether the prediction alone was cut to a rank, without rows and columns as read
    step: Step | None = None  # the refinement
    scattered: Way | None = None  # of all values taken as scattered ones, where that is part of the answer
    share: float = 0.0  # how large that part is; 1 is all of it

    @property
    def takes_values_as_scattered(self) -> bool:
        """Whether all values were taken as scattered ones."""
        return self.model in (FACTORS, SHRUNKEN, MEAN)
