r"""The skeleton without a ridge: :math:`C W_k^+ R`, exact on rows and columns as far as their intersection allows.

For functions and other matrices without noise. The few rows and columns that :func:`curplus.acquire` chooses are far
from each other, so that each is predicted badly from the others, and leaving them out would choose a ridge that is too
large. Here W is cut to as many singular directions as predict some entries best; nothing larger than W is computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from ..._arrays import abs_squared, adjoint, conjugate, take, to_numpy
from ..._support.sets import evenly_spaced
from ..._typing import FloatArray
from ...factorization import Fact
from ...observation import Cells
from .prediction import Prediction
from .skeleton import svd_of, without_gaps

__all__ = ["Interpolation"]

FEWEST_FOR_INTERPOLATION = 1000  # tuned: entries; with fewer, the number of directions would fit noise
MOST_FOR_DIRECTIONS = 2000  # cost: entries by which the number of directions is chosen
# tuned: of the entries; larger errors are noise; flat from .01 (functions read to a tolerance) to .9 (word counts)
NOISY = 0.05
NO_NOISE = 0.01  # tuned: of the entries: with errors this small and nearly all directions, nothing is left to average
# tuned: of the directions and one more, so that few must all be used; flat from .76 (rank 6, little noise) to .8
# (functions read to 1e-2 to 1e-6)
NEARLY_ALL = 0.8


@dataclass(frozen=True)
class Interpolation:
    """The skeleton without a ridge, as a model; all directions above rounding, if no number of them is given."""

    directions: int | None = None
    name: ClassVar[str] = "interpolation"
    uses_entries: ClassVar[bool] = False

    def applies(self, cells: Cells) -> bool:
        """If rows and columns were read, and enough entries to verify that there is no noise to amplify."""
        noise = self.noise(cells)
        return noise is not None and noise.error <= NOISY

    def noise(self, cells: Cells) -> EntryNoise | None:
        """How well entries are predicted; None if they are too few."""
        if not cells.is_cross or len(cells.entries) < FEWEST_FOR_INTERPOLATION:
            return None
        errors = _errors(self.fit(cells), cells)
        best = int(np.argmin(errors))
        return EntryNoise(math.sqrt(errors[best] / errors[0]) if errors[0] else 0.0, best, len(errors) - 1)

    def settled(self, cells: Cells) -> Interpolation:
        """As many directions as predict some entries best; more would fit noise."""
        return replace(self, directions=self.best(cells).mixing.shape[1])

    def best(self, cells: Cells) -> Prediction:
        """The prediction of the settled model, by one decomposition."""
        cross = self.fit(cells)
        k = int(np.argmin(_errors(cross, cells))) if len(cells.entries) else None
        return cross._replace(mixing=cross.mixing[:, :k], coefficients=cross.coefficients[:k])

    def fit(self, cells: Cells) -> Prediction:
        """The prediction; gaps of rows and columns are filled by means."""
        whole = without_gaps(cells) if cells.has_gaps else cells
        W = to_numpy(take(whole.rows, whole.column_index, axis=1))
        a, s, bh = svd_of(W).above(max(W.shape) * cells.rounding)
        k = self.directions
        mixing, coefficients = adjoint(bh[:k]) / s[:k], adjoint(a[:, :k])
        why = "entries are predicted best"
        found = Fact("directions", k, "directions of the interpolation", f"of {len(s)}", why, is_decision=True)
        return Prediction(whole.columns, mixing, coefficients, whole.turned_rows, True, (found,) if k else ())


class EntryNoise(NamedTuple):
    """How well rows and columns alone predict some entries."""

    error: float  # relative, root mean square
    directions: int  # with which it is least
    most: int  # directions there are

    @property
    def is_none(self) -> bool:
        """Whether entries show no noise at all: the error is small, and smallest with nearly all directions.

        The last directions are the first to be spoilt by noise, so a model that averages over cells has none to reduce.
        """
        return self.error <= NO_NOISE and self.directions >= min(NEARLY_ALL * (self.most + 1), self.most)

    @property
    def fact(self) -> Fact:
        """What is decided by it."""
        outcome = "none" if self.is_none else "little" if self.error <= NOISY else "some"
        why = f"predicted to {self.error:.1%} by {self.directions} of {self.most} directions"
        return Fact("entry_noise", outcome, "noise of the entries", reason=why, is_decision=True)


def _errors(cross: Prediction, cells: Cells) -> FloatArray:
    """Squared errors of a prediction at some entries, for each number of directions from 0 on."""
    some = evenly_spaced(len(cells.entries), MOST_FOR_DIRECTIONS)
    entries = cells.entries.take(some)
    values = to_numpy(entries.values)
    left = to_numpy(take(cross.left, entries.i, axis=0)) @ cross.mixing
    right = conjugate(to_numpy(take(cross.right, entries.j, axis=0)) @ adjoint(cross.coefficients))
    predicted = np.cumsum(np.column_stack([np.zeros(len(values)), left * right]), axis=1)
    unit = float(np.max(np.abs(values))) or 1.0
    return np.asarray(np.sum(abs_squared((values[:, None] - predicted) / unit), axis=0))
