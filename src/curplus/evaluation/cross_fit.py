r"""Errors at entries that a prediction was not fitted to: every scattered entry is held out once.

The entries are divided into folds. Without each fold in turn, the method of the approximation is fitted again to
everything else and predicts the fold. Given the rest, a fold is a sample of the positions that are not known, drawn
with known chances, so its errors say what the prediction gets wrong there, however rows and columns were chosen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._arrays import gather, take, to_numpy
from .._sets import NO_INDEX
from .._typing import FloatArray, IndexVector
from .._validation import check_level
from ..exceptions import InvalidArgumentError
from ..factorization import Factorization
from ..observation import Observation
from .folds import dealt, refits
from .residual import Residual

__all__ = ["FEWEST", "CrossFit", "check_arguments", "cross_fit", "errors_at", "one_noise", "table_as_entries"]

FOLDS = 5
FEWEST = 30  # entries that are held out in all, below which nothing is said
CHANCES = (
    "how the entries were chosen is not known, so they may not represent the rest (observe draws uniformly; if your "
    "own entries were drawn uniformly, or values are missing at random, say so with "
    'design=SamplingDesign(entries="uniform"))'
)


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Fits to a part of the entries, and which entries each of them did not have."""

    sample: Observation  # the observation, in which a table with gaps is entries
    fits: tuple[Factorization, ...]  # one for each fold
    fold: IndexVector  # (n_entries,), which fit did not have each record; -1 for those that all of them had
    counted: IndexVector  # (h,), the records that are evidence: held out once, outside the sampled rows and columns
    steering: IndexVector  # (s,), records that helped to choose rows and columns, where they are held out too
    reason: str = ""  # why there is no evidence; empty where there is

    @cached_property
    def residuals(self) -> FloatArray:
        """What the fits that did not have them get wrong at the counted records, shape (h,)."""
        return self.residuals_at(self.counted)

    def residuals_at(self, records: IndexVector) -> FloatArray:
        """The same at some records, each of which one of the fits did not have."""
        found = np.empty(len(records))
        for k, fit in enumerate(self.fits):
            here = self.fold[records] == k
            found[here] = errors_at(fit, self.sample, records[here])
        return found

    @property
    def chances(self) -> FloatArray:
        """For how many positions each counted record stands, relative to the others, shape (h,)."""
        weights: FloatArray = np.asarray(self.sample.entries.importance_weights)[self.counted]
        return weights


def errors_at(fit: Factorization, sample: Observation, which: IndexVector) -> FloatArray:
    """Value less prediction at some records, on the host."""
    guess = to_numpy(fit.entries(sample.i[which], sample.j[which]))
    errors: FloatArray = to_numpy(take(sample.values, which, axis=0)).astype(np.float64) - guess
    return errors


def cross_fit(
    approximation: Factorization, observation: Observation, *, folds: int = FOLDS, with_steering: bool = False
) -> CrossFit:
    """Fit the method of an approximation again, without each fold of the entries in turn.

    Entries that helped to choose rows and columns are held out only ``with_steering``, and are not counted even then.
    Where the method cannot be fitted again, the entries that the approximation itself did not use are the only fold.
    """
    sample = table_as_entries(observation)
    if observation.design.entries != "uniform" and observation.probabilities is None:
        return _nothing(sample, CHANCES)
    fold = _drawn_folds(sample, folds, with_steering and sample.probabilities is None)
    counted, steering = (_counted(sample, np.flatnonzero((fold >= 0) & x)) for x in (~sample.steering, sample.steering))
    if len(counted) < FEWEST:
        return _nothing(sample, f"only {len(counted)} entries can be held out, and it takes at least {FEWEST}")
    method = approximation.provenance.method
    reason = "how it was made is not known" if method is None else "it was made from the whole matrix"
    if method is not None and not method.sees_whole_matrix:
        try:
            return CrossFit(sample, tuple(refits(method, sample, fold, folds)), fold, counted, steering)
        except InvalidArgumentError as error:
            reason = f"without a fifth of its entries {error}"
    return _by_own_entries(approximation, observation, f"the approximation cannot be made again ({reason})")


def _by_own_entries(approximation: Factorization, observation: Observation, why: str) -> CrossFit:
    """The entries that the approximation did not use, as the only fold."""
    held = Residual(approximation, observation).held_out()
    held = held[~observation.steering[held]]
    if len(held) < FEWEST:
        return _nothing(observation, f"{why}, and its fit left out only {len(held)} entries")
    fold = np.full(observation.n_entries, -1)
    fold[held] = 0
    return CrossFit(observation, (approximation,), fold, held, NO_INDEX)


def _nothing(sample: Observation, reason: str) -> CrossFit:
    return CrossFit(sample, (), np.full(sample.n_entries, -1), NO_INDEX, NO_INDEX, reason)


def _drawn_folds(sample: Observation, folds: int, with_steering: bool) -> IndexVector:
    """The fold of each record; -1 for those on sampled rows and columns, and those that helped to choose these.

    Records of one position stay together where each position is drawn once. Independent draws may meet a position
    again, and what is known of it from the other draws is then part of what is predicted.
    """
    place = sample.entries.flat_index if sample.probabilities is None else np.arange(sample.n_entries)
    free = sample.outside & (with_steering | ~sample.steering)
    fold: IndexVector = np.where(free, dealt(place, folds, np.random.default_rng(0)), -1)
    return fold


def _counted(sample: Observation, which: IndexVector) -> IndexVector:
    """Records that are evidence: each position once, unless the draws are independent."""
    if sample.probabilities is not None or not sample.entries.has_repeats:
        return which
    return which[sample.entries.take(which).unique()]


def table_as_entries(observation: Observation) -> Observation:
    """The known values of a table with gaps as scattered entries; any other observation as it is."""
    o = observation
    if o.known_columns is not None and o.n_columns == o.shape[1]:
        return table_as_entries(o.T).T
    if o.known_rows is None or o.n_rows < o.shape[0] or o.probabilities is not None:
        return o
    k, j = np.nonzero(to_numpy(o.known_rows))
    return Observation(
        shape=o.shape,
        i=o.row_index[k],
        j=j,
        values=gather(o.rows, k, j),
        row_names=o.row_names,
        column_names=o.column_names,
        design=o.design,
        gaps=True,
        noise=one_noise(o),
    )


def one_noise(observation: Observation) -> float | str | None:
    """One standard deviation of a reading, for all of them."""
    noise = observation.noise
    return math.sqrt(float(np.mean(noise**2))) if isinstance(noise, np.ndarray) else noise


def check_arguments(approximation: Any, observation: Any, level: Any, *, caller: str) -> None:
    """An approximation, the observation it was made from, and a confidence."""
    if not isinstance(approximation, Factorization) or not isinstance(observation, Observation):
        raise InvalidArgumentError(
            f"{caller} was given a {type(approximation).__name__} and a {type(observation).__name__}. "
            f"Give {caller}(approximation, observation)."
        )
    check_level(level)
    made_from = approximation.provenance.fingerprint
    if approximation.shape != observation.shape or made_from not in (None, observation.fingerprint):
        raise InvalidArgumentError(
            f"the approximation, of shape {approximation.shape}, was computed from another observation than this one, "
            f"of shape {observation.shape}. Give the one it was computed from, or compute it again from this one."
        )
