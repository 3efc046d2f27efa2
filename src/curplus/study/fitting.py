"""The answer so far: fitted once for what is known, judged, and remembered."""

from __future__ import annotations

from typing import NamedTuple

from ..evaluation import Certificate, certify
from ..exceptions import InvalidArgumentError
from ..factorization import Factorization
from ..methods import approximate
from ..observation import Observation
from .ledger import observation_of
from .progress import round_of
from .storage import Storage

__all__ = ["Fits", "Fitted"]


class Fitted(NamedTuple):
    """An approximation, and what it knew."""

    last_tell: int
    last_list: int
    n_values: int
    observation: Observation
    approximation: Factorization


class Fits:
    """Approximations of what a place knows; the last one is kept until more is known."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._last: Fitted | None = None

    def now(self) -> Fitted:
        """The approximation of all that is known."""
        snapshot, settings = self._storage.snapshot(), self._storage.settings
        state = snapshot.last_tell, snapshot.last_list
        if self._last is None or self._last[:2] != state:
            observation = observation_of(snapshot, settings, settings.records)
            if not any(observation.counts):
                raise InvalidArgumentError(
                    "nothing was measured yet, so there is nothing to fit. Tell some values first."
                )
            approximation = approximate(observation, settings.rank)
            self._last = Fitted(*state, snapshot.n_values, observation, approximation)
        return self._last

    def judge(self, fitted: Fitted, level: float) -> Certificate:
        """How good an approximation is; the error is kept, once for each table that was told."""
        certificate = certify(fitted.approximation, fitted.observation, level=level)
        rounds = self._storage.rounds()
        if not self._storage.is_read_only and (not rounds or rounds[-1].tell != fitted.last_tell):
            spent = self._storage.summary().spent
            self._storage.add_round(round_of(certificate, fitted.last_tell, fitted.n_values, spent))
        return certificate
