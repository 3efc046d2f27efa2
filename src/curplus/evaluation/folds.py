"""Cross-fitting: every entry is predicted once by a fit that did not have it.

The entries are divided into folds. Without each fold in turn, the method that made an approximation is fitted again and
predicts it. A refit has fewer entries than the approximation, so it errs a little more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import to_numpy
from .._typing import FloatArray, IndexVector
from ..observation import Observation
from ..observation.holdout import evidence_outside

__all__ = ["FOLDS", "cross_predictions"]

FOLDS = 10


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
    records = evidence_outside(observation)
    places, place = np.unique(observation.entries.flat_index[records], return_inverse=True)
    fold = (np.random.default_rng(0).permutation(len(places)) % folds)[place]
    predicted = np.empty(len(records))
    for k in range(min(folds, len(places))):
        out = records[fold == k]
        kept = np.ones(observation.n_entries, dtype=bool)
        kept[out] = False
        refit = method.fit(observation.subset(entries=kept, design=observation.design))
        predicted[fold == k] = to_numpy(refit.entries(observation.i[out], observation.j[out]))
    return records, predicted
