"""Folds: values are dealt to a few of them, and a fit without each fold in turn predicts it.

Every value is then predicted once by a fit that did not have it. A refit has fewer values than the approximation, so it
errs a little more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._arrays import to_numpy
from .._typing import FloatArray, IndexVector
from ..factorization import Factorization
from ..observation import Observation
from ..observation.holdout import evidence_outside

__all__ = ["FOLDS", "cross_predictions", "dealt", "refits"]

FOLDS = 10


def dealt(place: IndexVector, folds: int, rng: np.random.Generator) -> IndexVector:
    """The fold of each value, at random and of nearly equal size; values of one ``place`` are in one fold."""
    places, which = np.unique(place, return_inverse=True)
    fold: IndexVector = rng.permutation(len(places))[which] % folds
    return fold


def refits(method: Any, observation: Observation, fold: IndexVector, folds: int) -> Iterator[Factorization]:
    """The method, fitted without the entries of each fold in turn; those of fold -1 are always there."""
    for k in range(folds):
        yield method.fit(observation.subset(entries=fold != k, design=observation.design))


def cross_predictions(method: Any, observation: Observation, *, folds: int = FOLDS) -> tuple[IndexVector, FloatArray]:
    """The records that can be held out, and what fits without them predict there.

    Records of one position are in one fold. The cost is that of ``folds`` fits.

    Parameters
    ----------
    method : object with ``fit``
        How the approximation was made, with its choices kept.
    observation : Observation
        What it was made from.
    folds : int
        How often it is made again.

    Returns
    -------
    records : array of shape (k,)
        Those outside the sampled rows and columns that took no part in choosing what was read.
    predicted : array of shape (k,)
        What the refits predict there, on the host.
    """
    o, records = observation, evidence_outside(observation)
    fold = np.full(o.n_entries, -1)
    fold[records] = dealt(o.entries.flat_index[records], folds, np.random.default_rng(0))
    predicted = np.empty(o.n_entries)
    for k, refit in enumerate(refits(method, o, fold, int(fold.max(initial=-1)) + 1)):
        out = fold == k
        predicted[out] = to_numpy(refit.entries(o.i[out], o.j[out]))
    return records, predicted[records]
