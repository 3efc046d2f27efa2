"""How an approximation was made: by which method, from which sample, without which entries.

A method has one verb, ``fit(observation, *, rng=0)``, so an approximation that remembers its method can be made again
from other data; :func:`curplus.certify` does that. An approximation that was cut or transposed is made by the old
method followed by the cut or the transposition.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import IndexVector, RandomState
from ..observation import Fingerprint, Observation
from .fitted_model import FittedModel
from .report import FitReport

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["Provenance", "Transposed", "Truncated", "method_record"]


@dataclass(frozen=True)
class Truncated:
    """A method, followed by a cut to a lower rank."""

    method: Any
    rank: int

    @property
    def sees_whole_matrix(self) -> bool:
        """Whether the method needs more than an observation."""
        return bool(self.method.sees_whole_matrix)

    def fit(self, observation: Observation, *, rng: RandomState = 0) -> Factorization:
        approximation: Factorization = self.method.fit(observation, rng=rng)
        return approximation.truncate(self.rank)


@dataclass(frozen=True)
class Transposed:
    """A method for the transposed matrix."""

    method: Any

    @property
    def sees_whole_matrix(self) -> bool:
        """Whether the method needs more than an observation."""
        return bool(self.method.sees_whole_matrix)

    def fit(self, observation: Observation, *, rng: RandomState = 0) -> Factorization:
        approximation: Factorization = self.method.fit(observation.T, rng=rng)
        return approximation.T


@dataclass(frozen=True, eq=False)
class Provenance:
    """How an approximation was made."""

    method: Any = None  # an object with ``fit``, see curplus.methods.Method; None: it cannot be made again
    held_out: IndexVector = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # records the fit did not use
    fingerprint: Fingerprint | None = None  # of the observation; None: not known
    report: FitReport = FitReport()
    model: FittedModel | None = None  # what the fit found about means and noise, for rows that come later

    @property
    def T(self) -> Provenance:
        """How the transposed approximation is made."""
        method = self.method
        if method is not None:
            method = method.method if isinstance(method, Transposed) else Transposed(method)
        fingerprint = None if self.fingerprint is None else self.fingerprint.T
        model = None if self.model is None else self.model.T
        return Provenance(method, self.held_out, fingerprint, self.report.T, model)

    def truncate(self, rank: int, left_over: float = 0.0) -> Provenance:
        """How the approximation is made that is cut to ``rank``, which leaves ``left_over`` (a root mean square)."""
        facts = tuple(
            fact._replace(value=rank, reason=f"cut from {fact.value}") if fact.name == "rank" else fact
            for fact in self.report.facts
            if not fact.is_judgement
        )
        method = None if self.method is None else Truncated(self.method, rank)
        model = None if self.model is None else self.model.with_more_noise(left_over)
        return dataclasses.replace(self, method=method, report=FitReport(facts), model=model)


def method_record(method: Any) -> dict[str, Any] | None:
    """Name and fields of a method as JSON has them; None where there is none, or where it is not all plain data."""
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
