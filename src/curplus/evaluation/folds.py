"""Folds: values are dealt to a few of them, and a fit without each fold in turn predicts it.

Every value is then predicted once by a fit that did not have it. A refit has fewer values than the approximation, so it
errs a little more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._typing import IndexVector
from ..factorization import Factorization
from ..observation import Observation

__all__ = ["FOLDS", "dealt", "made_again"]

FOLDS = 5  # the usual number: refits have four fifths of the values, at five times the cost of a fit


def dealt(place: IndexVector, folds: int, rng: np.random.Generator) -> IndexVector:
    """The fold of each value, at random and of nearly equal size; values of one ``place`` are in one fold."""
    places, which = np.unique(place, return_inverse=True)
    fold: IndexVector = rng.permutation(len(places))[which] % folds
    return fold


def made_again(method: Any, observation: Observation, fold: IndexVector, folds: int) -> Iterator[Factorization]:
    """The method, fitted without the entries of each fold in turn; those of fold -1 are always there."""
    for k in range(folds):
        yield method.fit(observation.subset(entries=fold != k, design=observation.design))
