"""What entries say of a change that they had no part in: by how many standard errors it predicts them better."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..._arrays import to_numpy
from ..._typing import FloatArray, IndexVector, Vector
from ...evaluation.folds import dealt
from ...factorization import Factorization
from ...observation import Entries

__all__ = [
    "FEWEST",
    "KEPT",
    "KEPT_OF_SEVERAL",
    "TOLD",
    "Gain",
    "best_gain",
    "best_on",
    "gain_over_zero",
    "is_met",
    "left_out_in_turn",
    "root_mean_square",
    "squared_errors",
    "standard_errors",
]

FEWEST = 100  # entries, below which nothing is tested: of a few, chance makes any number of standard errors
ENOUGH = 500  # entries set aside; with fewer, those that are fitted are left out in turn
FOLDS = 5
MANY = 15_000  # entries that were left out, with which those of fewer folds can leave no doubt
UNDECIDED = 1.0  # standard errors, up to those that convince, on which more entries are asked
KEPT = 2.0  # standard errors by which a change must predict better to be kept
KEPT_OF_SEVERAL = 3.0  # where it is the best of several
MET = 0.05  # of the spread of the entries: with errors so small, rows and columns say what there is to say
TOLD = 1.0  # by which an answer must be better than zero to be told from it


class Gain(NamedTuple):
    """What the best of several changes brings."""

    which: int  # of the changes
    standard_errors: float  # by which entries are predicted better; nan where there are too few to say


def left_out_in_turn(error: Entries) -> list[IndexVector]:
    """The records of each fold that :func:`best_gain` leaves out."""
    fold = dealt(error.flat_index, FOLDS, np.random.default_rng(0))
    return [np.flatnonzero(fold == k) for k in np.unique(fold)]


def best_gain(error: Entries, aside: Entries, fit: Callable[[int | None, Entries], Sequence[Vector]]) -> Gain:
    """The best of the changes that ``fit(fold, at)`` predicts at entries, by entries they were not fitted to.

    Parameters
    ----------
    error : Entries
        What is left to explain where changes are fitted.
    aside : Entries
        And at entries set aside. Where they are few, or undecided, the entries of ``error`` are left out in turn, a
        fifth at a time; many of them only until they leave no doubt.
    fit : callable
        Fits to ``error`` without a fold of it (by number, or None), returns what each change predicts at other entries.
    """
    if max(len(error), len(aside)) < FEWEST:
        return Gain(0, math.nan)
    if len(aside) >= ENOUGH:
        gain = _gain(aside, [to_numpy(change) for change in fit(None, aside)])
        if not UNDECIDED < gain.standard_errors <= KEPT_OF_SEVERAL:
            return gain
    folds = left_out_in_turn(error)
    parts: list[list[FloatArray]] = []
    for k, out in enumerate(folds):
        parts.append([to_numpy(change) for change in fit(k, error.take(out))])
        some = np.concatenate(folds[: k + 1])
        gain = _gain(error.take(some), [np.concatenate(change) for change in zip(*parts, strict=True)])
        if len(some) >= MANY and abs(gain.standard_errors) > 2 * KEPT_OF_SEVERAL:
            break
    return gain


def _gain(at: Entries, changes: Sequence[FloatArray]) -> Gain:
    before, weights = to_numpy(at.values), at.fit_weights
    after = [(before - change) ** 2 for change in changes]
    best = int(np.argmin([np.mean(weights * squares) for squares in after]))
    return Gain(best, standard_errors(before**2, after[best], weights))


def best_on(aside: Entries, answers: Sequence[Factorization], *, by: float = 0.0) -> int:
    """Which of some approximations predicts entries set aside best; the first of those that are equal.

    Another than the first must be better ``by`` so many standard errors.
    """
    weights, squares = aside.fit_weights, [squared_errors(answer, aside) for answer in answers]
    best = int(np.argmin([np.sum(weights * x) for x in squares]))
    return best if not by or standard_errors(squares[0], squares[best], weights) > by else 0


def squared_errors(approximation: Factorization | None, entries: Entries) -> Vector:
    """Squared errors at some entries, on the host; None is the zero matrix."""
    values = to_numpy(entries.values)
    return (values - (0.0 if approximation is None else to_numpy(approximation.entries(entries.i, entries.j)))) ** 2


def root_mean_square(answer: Factorization, entries: Entries) -> float:
    """Root mean square error at some entries."""
    return math.sqrt(float(np.mean(squared_errors(answer, entries))))


def is_met(answer: Factorization, entries: Entries, share: float = MET) -> bool:
    """Whether an answer leaves little to gain at some entries: no more than a share of their spread."""
    return root_mean_square(answer, entries) <= share * float(np.std(to_numpy(entries.values)))


def gain_over_zero(approximation: Factorization, entries: Entries) -> float:
    """By how many standard errors some entries are predicted better than by zero."""
    before, after = (squared_errors(answer, entries) for answer in (None, approximation))
    return standard_errors(before, after, entries.fit_weights)


def standard_errors(before: Vector, after: Vector, weights: Vector) -> float:
    """The mean by which weighted squares fall, divided by its standard error; 0 where nothing changes."""
    gain = weights * (before - after)
    spread = float(np.std(gain, ddof=1)) / math.sqrt(len(gain)) if len(gain) > 1 else 0.0
    return float(np.mean(gain)) / spread if spread > 0 else 0.0
