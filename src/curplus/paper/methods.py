r"""The methods that Experiment II compares: the library's own, one row of a table each.

All start from one :class:`PaperSample`, whose bases are found once. What two methods share, an approximation and the
same one cut to rank r, is found once as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..factorization import Factorization
from ..methods import Bases, CURFull, CURPlus, CURUnbiased, StackedApproximation
from ..observation import Observation
from ..solvers import AcceleratedGradient

__all__ = ["COMPARED_METHODS", "ComparedMethod", "PaperSample"]


@dataclass(frozen=True, eq=False)
class PaperSample:
    """Columns, rows and entries of a matrix, with what several methods need of them."""

    matrix: Any  # (n, m), for the methods that see the whole matrix
    observation: Observation
    bases: Bases  # of all sampled columns and rows, leading directions first

    def fit(self, method: CURPlus | CURFull | CURUnbiased) -> Factorization:
        """The approximation by a method, with the bases that were found before."""
        return method.fit(self.observation, bases=self.bases)

    @cached_property
    def cur_full(self) -> Factorization:
        """CUR-F with all directions: the whole matrix is projected once."""
        return self.fit(CURFull(None, self.matrix))

    @cached_property
    def cur_unbiased(self) -> Factorization:
        """CUR-E with all directions."""
        return self.fit(CURUnbiased())


@dataclass(frozen=True)
class ComparedMethod:
    """A row of the table: what a method is called, how it fits a sample, and whether the entries matter to it."""

    name: str
    fit: Callable[[PaperSample, int], Factorization]  # from a sample and the rank
    uses_entries: bool


GRADIENT_STEPS = 10  # the paper does not say how many; more than a few tens come near the converged core
GRADIENT = AcceleratedGradient(max_iter=GRADIENT_STEPS, tol=0.0)

#: The methods in the order of the legends. A new one is a new row here, and a style in :mod:`~curplus.paper.drawing`.
COMPARED_METHODS = (
    ComparedMethod("CUR+ converged", lambda sample, r: sample.fit(CURPlus(r)), True),
    ComparedMethod(f"CUR+, {GRADIENT_STEPS} steps", lambda sample, r: sample.fit(CURPlus(r, GRADIENT)), True),
    ComparedMethod("CUR-E", lambda sample, r: sample.cur_unbiased, True),
    ComparedMethod("CUR-E, rank r", lambda sample, r: sample.cur_unbiased.truncate(r), True),
    ComparedMethod("CUR-F", lambda sample, r: sample.cur_full, False),
    ComparedMethod("CUR-F, rank r", lambda sample, r: sample.cur_full.truncate(r), False),
    ComparedMethod("best core", lambda sample, r: sample.fit(CURFull(r, sample.matrix)), False),
    ComparedMethod("approximate", lambda sample, r: StackedApproximation(r).fit(sample.observation), True),
)
