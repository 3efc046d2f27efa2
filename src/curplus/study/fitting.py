"""The answer so far: fitted once for what is known, judged, and remembered."""

from __future__ import annotations

from typing import NamedTuple

from ..evaluation import Certificate, certify
from ..exceptions import InvalidArgumentError
from ..factorization import Factorization
from ..methods import approximate
from ..observation import Observation
from .ledger import observation_of
from .progress import is_judged, round_of
from .sqlite import SQLiteStorage

__all__ = ["Fits", "Fitted"]


class Fitted(NamedTuple):
    """An approximation, and what it knew."""

    last_tell: int
    last_list: int
    last_change: int
    n_values: int
    observation: Observation
    approximation: Factorization


class Fits:
    """Approximations of what a place knows; the last one is kept until more is known."""

    def __init__(self, storage: SQLiteStorage) -> None:
        self._storage = storage
        self._last: Fitted | None = None

    def now(self) -> Fitted:
        """The approximation of all that is known."""
        snapshot = self._storage.snapshot()
        settings, state = snapshot.settings, (snapshot.last_tell, snapshot.last_list, snapshot.last_change)
        if self._last is None or self._last[:3] != state:
            observation = observation_of(snapshot, settings, settings.records)
            if not any(observation.counts):
                raise InvalidArgumentError(
                    "nothing was measured yet, so there is nothing to fit. Tell some values first."
                )
            approximation = approximate(observation, settings.rank)
            self._last = Fitted(*state, snapshot.n_values, observation, approximation)
        return self._last

    def judge(self, fitted: Fitted, level: float) -> Certificate:
        """How good an approximation is; the error is kept, once for each table that was told or promised."""
        certificate = certify(fitted.approximation, fitted.observation, level=level)
        if not self._storage.is_read_only and not is_judged(self._storage.rounds(), certificate, fitted.last_tell):
            spent = self._storage.summary().spent
            self._storage.add_round(round_of(certificate, fitted.last_tell, fitted.n_values, spent))
        return certificate
