"""What is known of the error of an approximation: a value, and its words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .._typing import FloatArray
from ..factorization import Fact
from ..factorization.report import facts_as_html, facts_as_text

__all__ = ["Certificate"]

HELD_OUT, LEFT_OUT, ALL_READ, NO_EVIDENCE = "held-out entries", "left-out rows", "everything was read", "none"
DIAGONAL = "the diagonal"  # of a PSD matrix: it tells the trace of the error, and that bounds the error


@dataclass(frozen=True)
class Certificate:
    """What is known of the error ``E = M - approximation``, M as it was measured. Norms are Frobenius if not said."""

    error: float  # estimate of || E ||; nan where there is no evidence
    relative_error: float  # the same divided by an estimate of || M ||; by the diagonal, trace of E over trace of M
    interval: tuple[float, float] | None  # for || E ||, at ``level``; None where it is refused
    level: float
    reason: str  # why the interval is refused; empty otherwise
    evidence: str  # "held-out entries", "left-out rows", "everything was read", "the diagonal", or "none"
    lower_bound: float  # exact: the error at the positions that were read
    spectral_lower_bound: float  # exact: the larger spectral norm of E on the sampled rows and on the columns
    spectral_estimate: float  # of || E ||_2, from left-out rows; an estimate, not a bound; nan without them
    entries_to_halve: int | None  # how many more entries would halve the interval
    errors: FloatArray  # the magnitudes that the estimate rests on: of entries, or norms of rows
    detection_limit: float  # large errors at a smaller share of all positions may not have been met anywhere
    trace: float = math.nan  # of E, exact, where M is PSD and its diagonal is known; ``error`` is then this upper bound

    @property
    def verdict(self) -> str:
        """The certificate in one sentence."""
        if math.isnan(self.error):
            return f"nothing can be said of the error but that it is at least {self.lower_bound:.4g}: {self.reason}"
        if self.evidence == DIAGONAL:
            return self._by_trace()
        share = "" if math.isnan(self.relative_error) else f", {self.relative_error:.2%} of the matrix"
        size = f"the error is about {self.error:.4g}{share}"
        if self.interval is None:
            return f"{size}, and at least {self.lower_bound:.4g}; no interval: {self.reason}"
        low, high = self.interval
        return f"{size}, with {self.level:.0%} confidence between {low:.4g} and {high:.4g}"

    def _by_trace(self) -> str:
        share = "" if math.isnan(self.relative_error) else f", {self.relative_error:.2%} of that of the matrix"
        return (
            f"the trace of the error is {self.trace:.4g}{share}, known from the diagonal, so that for a PSD matrix "
            f"the error is between {self.lower_bound:.4g} and {self.error:.4g}"
        )

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What there is to say, ready to be shown."""
        given = self.interval is not None and self.evidence != DIAGONAL
        one_in = f"{1 / self.detection_limit:,.0f}" if self.detection_limit else "0"
        unseen = f"large errors at fewer than 1 in {one_in} places, or in rows and columns none of which was read"
        return (
            Fact("verdict", self.verdict),
            Fact("evidence", self.evidence, unit=f"({len(self.errors)} errors)" if len(self.errors) else ""),
            Fact("lower_bound", self.lower_bound),
            Fact("spectral_lower_bound", self.spectral_lower_bound, "spectral norm, at least"),
            Fact("spectral_estimate", self.spectral_estimate, "spectral norm, about"),
            Fact("cannot_see", unseen if given else None),
            Fact("entries_to_halve", self.entries_to_halve, "to halve the interval", "more entries"),
        )

    def __str__(self) -> str:
        return facts_as_text(self.facts)

    def _repr_html_(self) -> str:
        return facts_as_html("Certificate", self.facts)
