"""What is known of the error of an approximation: a value, and its report."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .._typing import FloatArray
from ..factorization import Fact
from ..factorization.report import facts_as_html, facts_as_text
from ..observation.forbidden import OPEN_PLACES

__all__ = ["Certificate"]

HELD_OUT, CROSS_FITTED = "held-out entries", "cross-fitted entries"
LEFT_OUT_ROWS, LEFT_OUT_COLUMNS = "left-out rows", "left-out columns"
ALL_READ, NO_EVIDENCE = "everything was read", "none"
DIAGONAL = "the diagonal"  # of a PSD matrix: it gives the trace of the error, which bounds the error


@dataclass(frozen=True)
class Certificate:
    """What is known of the error ``E = M - approximation``, M as measured. Norms are Frobenius norms unless stated."""

    error: float  # estimate of || E ||; nan without evidence
    relative_error: float  # the same divided by an estimate of || M ||; by the diagonal, trace of E over trace of M
    interval: tuple[float, float] | None  # for || E ||, at ``level``; None if it is refused
    level: float
    reason: str  # why the interval is refused; empty otherwise
    evidence: str  # "held-out entries", "cross-fitted entries", "left-out rows", "left-out columns", ...
    lower_bound: float  # exact: the error at the positions that were read
    spectral_lower_bound: float  # exact: the larger spectral norm of E on the sampled rows and on the columns
    spectral_estimate: float  # of || E ||_2, from left-out rows; an estimate, not a bound; nan without them
    entries_to_halve: int | None  # how many more entries would halve the interval
    errors: FloatArray  # the magnitudes that the estimate rests on: of entries, or norms of rows
    detection_limit: float  # large errors at a smaller share of all positions may have been missed
    cell_error: float = math.nan  # root mean square error of the cells that were not read
    cell_interval: tuple[float, float] | None = None  # for it, at ``level``
    mean_cell_error: float = math.nan  # root mean square error of all cells
    spread: float = math.nan  # standard deviation of the values of M around their mean, estimated
    means_error: float = math.nan  # root mean square error of row and column means at cells that were not read
    n_forbidden: int = 0  # positions where no entry could be drawn: the certificate is about the others
    trace: float = math.nan  # of E, exact, if M is PSD and its diagonal is known; ``error`` is then this upper bound

    @property
    def verdict(self) -> str:
        """The certificate in one sentence."""
        if self.evidence == ALL_READ:
            everything = "everything that may be read" if self.n_forbidden else "everything"
            return f"{everything} was read, so the error is known: {self.error:.4g}{self._share}"
        if math.isnan(self.error):
            return f"the error is at least {self.lower_bound:.4g}, and there is no estimate of it: {self.reason}"
        if self.evidence == DIAGONAL:
            return self._by_trace()
        if self.interval is None:
            where = f"at {OPEN_PLACES}" if self.n_forbidden else "in all"
            return (
                f"no interval for the error: {self.reason}; "
                f"at the positions that were read it is {self.lower_bound:.4g}; "
                f"{where} it is estimated at {self.error:.4g}, and larger errors may have been missed"
            )
        low, high = self.interval
        return (
            f"the error is about {self.error:.4g}{self._share}, with {100 * self.level:g}% confidence between "
            f"{low:.4g} and {high:.4g}"
        )

    @property
    def what(self) -> str:
        """What the error is one of: "the matrix", or what is left of it if some places are forbidden."""
        return OPEN_PLACES if self.n_forbidden else "the matrix"

    @property
    def _share(self) -> str:
        return "" if math.isnan(self.relative_error) else f", {_percent(self.relative_error)} of {self.what}"

    @property
    def cells(self) -> str:
        """The error of a cell that was not read, in the units of the matrix; empty if it is not known."""
        if math.isnan(self.cell_error) or not self.spread > 0:
            return ""
        share = f"{_percent(self.cell_error / self.spread)} of the spread"
        if self.interval is None or self.cell_interval is None:
            return f"about {self.cell_error:.4g}, {share}; no interval"
        low, high = self.cell_interval
        return f"{self.cell_error:.4g} ({low:.4g} to {high:.4g}), {share}"

    def _by_trace(self) -> str:
        share = "" if math.isnan(self.relative_error) else f", {_percent(self.relative_error)} of that of {self.what}"
        return (
            f"the trace of the error is {self.trace:.4g}{share}, known from the diagonal, so that for a PSD matrix "
            f"the error is between {self.lower_bound:.4g} and {self.error:.4g}"
        )

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The certificate as facts, ready to be shown."""
        given = self.interval is not None and self.evidence != DIAGONAL
        one_in = f"{1 / self.detection_limit:,.0f}" if self.detection_limit else "0"
        unseen = f"large errors at fewer than 1 in {one_in} places, or in rows and columns none of which was read"
        of_all = self.mean_cell_error if given else math.nan
        not_read = "may be read, and was not," if self.n_forbidden else "was not read"
        all_cells = OPEN_PLACES if self.n_forbidden else "all cells"
        return (
            Fact("verdict", self.verdict),
            Fact("cell_error", self.cells or None, f"a cell that {not_read} is off by"),
            Fact("means_error", self.means_error, "row and column means would be off by"),
            Fact("mean_cell_error", of_all, f"mean over {all_cells}", "(root mean square)"),
            Fact("spread", self.spread, f"spread of {self.what}", "(standard deviation)"),
            Fact("evidence", self.evidence, unit=f"({len(self.errors)} errors)" if len(self.errors) else ""),
            Fact("lower_bound", self.lower_bound),
            Fact("spectral_lower_bound", self.spectral_lower_bound, "spectral norm, at least"),
            Fact("spectral_estimate", self.spectral_estimate, "spectral norm, about"),
            Fact("cannot_see", unseen if given and self.evidence != ALL_READ else None),
            Fact("forbidden", self.n_forbidden or None, "does not cover", "places where no entry could be drawn"),
            Fact("entries_to_halve", self.entries_to_halve, "to halve the interval", "more entries"),
        )

    def __repr__(self) -> str:
        found = "no interval" if self.interval is None else f"interval {self.interval[0]:.4g} to {self.interval[1]:.4g}"
        return f"<Certificate: error {self.error:.4g}{self._share}, {found}>"

    def __str__(self) -> str:
        return facts_as_text(self.facts)

    def _repr_html_(self) -> str:
        return facts_as_html("Certificate", self.facts)


def _percent(share: float) -> str:
    """A share in percent, with three digits however small it is."""
    return f"{share:.0%}" if share >= 10 else f"{100 * share:.3g}%"  # usual: digits shown
