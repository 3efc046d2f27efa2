"""How an approximation was made: by which method, from which sample, without which entries.

A method has one verb, ``fit(observation, *, rng=0)``, so an approximation that keeps its method can be made again
from other data; :func:`curplus.certify` does that. The method of an approximation that was cut or transposed is the
old one followed by the cut or the transposition.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._typing import IndexVector, RandomState
from ..observation import Fingerprint, Observation
from .new_rows import FittedModel
from .report import FitReport

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["Provenance", "Refits", "Transposed", "Truncated", "method_record"]


@dataclass(frozen=True)
class _Changed:
    """A method, followed by a change of its approximation."""

    method: Any

    @property
    def sees_whole_matrix(self) -> bool:
        """Whether the method needs more than an observation."""
        return bool(self.method.sees_whole_matrix)


@dataclass(frozen=True)
class Truncated(_Changed):
    """A method, followed by a cut to a lower rank."""

    rank: int

    def fit(self, observation: Observation, *, rng: RandomState = 0) -> Factorization:
        approximation: Factorization = self.method.fit(observation, rng=rng)
        return approximation.truncate(self.rank)


@dataclass(frozen=True)
class Transposed(_Changed):
    """A method for the transposed matrix."""

    def fit(self, observation: Observation, *, rng: RandomState = 0) -> Factorization:
        approximation: Factorization = self.method.fit(observation.T, rng=rng)
        return approximation.T


class Refits(NamedTuple):
    """The same method without each fold of the records in turn."""

    fold: IndexVector  # (n_entries,), in which fold each record was left out; -1 for those that never were
    rows: IndexVector  # (d2,), the same of the sampled rows
    columns: IndexVector  # (d1,), and of the sampled columns
    fits: tuple[Factorization, ...]  # one for each fold

    @property
    def T(self) -> Refits:
        """Those of the transposed matrix."""
        return Refits(self.fold, self.columns, self.rows, tuple(fit.T for fit in self.fits))

    @property
    def H(self) -> Refits:
        """Those of the adjoint."""
        return self.T._replace(fits=tuple(fit.H for fit in self.fits))

    def conj(self) -> Refits:
        """Those of the conjugate of a complex matrix."""
        return self._replace(fits=tuple(fit.conj() for fit in self.fits))

    def truncate(self, rank: int) -> Refits:
        """Those of an approximation that is cut."""
        return self._replace(fits=tuple(fit.truncate(min(rank, fit.rank)) for fit in self.fits))


@dataclass(frozen=True, eq=False)
class Provenance:
    """How an approximation was made."""

    method: Any = None  # an object with ``fit``, see curplus.methods.Method; None: it cannot be made again
    held_out: IndexVector = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # records the fit did not use
    fingerprint: Fingerprint | None = None  # of the observation; None: not known
    report: FitReport = FitReport()
    model: FittedModel | None = None  # means and noise, for rows that come later
    refits: Refits | None = None  # for held-out errors; None: the method is fitted again when they are needed

    @property
    def T(self) -> Provenance:
        """How the transposed approximation is made."""
        method = self.method
        if method is not None:
            method = method.method if isinstance(method, Transposed) else Transposed(method)
        fingerprint = None if self.fingerprint is None else self.fingerprint.T
        model = None if self.model is None else self.model.T
        refits = None if self.refits is None else self.refits.T
        return Provenance(method, self.held_out, fingerprint, self.report.T, model, refits)

    @property
    def H(self) -> Provenance:
        """How the adjoint of a complex approximation is made: from the adjoint of the sample."""
        refits = None if self.refits is None else self.refits.H
        return dataclasses.replace(self.T, fingerprint=None, refits=refits)

    def conj(self) -> Provenance:
        """How the conjugate of a complex approximation is made: from the conjugate of the sample."""
        refits = None if self.refits is None else self.refits.conj()
        return dataclasses.replace(self, fingerprint=None, refits=refits)

    def truncate(self, rank: int, left_over: float = 0.0) -> Provenance:
        """How the approximation is made that is cut to ``rank``, which leaves ``left_over`` (a root mean square)."""
        facts = tuple(
            fact._replace(value=rank, reason=f"cut from {fact.value}") if fact.name == "rank" else fact
            for fact in self.report.facts
            if not fact.is_judgement
        )
        method = None if self.method is None else Truncated(self.method, rank)
        model = None if self.model is None else self.model.with_more_noise(left_over)
        refits = None if self.refits is None else self.refits.truncate(rank)
        return dataclasses.replace(self, method=method, report=FitReport(facts), model=model, refits=refits)


def method_record(method: Any) -> dict[str, Any] | None:
    """Name and fields of a method as JSON has them; None if there is none, or if it is not all plain data."""
    try:
        return None if method is None else _record(method)
    except TypeError:
        return None


def _record(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if hasattr(value, "_asdict"):
        parts = value._asdict()
    elif isinstance(value, (tuple, list)):
        return [_record(item) for item in value]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        kept = (f.name for f in dataclasses.fields(value) if f.metadata.get("saved", True))
        parts = {name: getattr(value, name) for name in kept}
    else:
        raise TypeError(f"{type(value).__name__} is no plain data")
    return {"name": type(value).__name__, "fields": {name: _record(part) for name, part in parts.items()}}
