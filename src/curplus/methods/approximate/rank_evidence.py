"""How many directions help to predict what was not used: scattered entries, or sampled rows that are left out."""

from __future__ import annotations

import numpy as np

from ..._arrays import array_namespace, float64, take, to_numpy
from ..._sets import NO_INDEX
from ..._typing import FloatArray, IndexVector
from ...factorization import Factorization
from ...observation import Entries, Observation
from .assemble import assemble
from .skeleton import ridge_skeleton

__all__ = ["predictive_rank", "rank_for_entries"]

FOLDS, MORE_FOLDS, FEW_ROWS = 4, 10, 30  # more folds where rows are few
MOST_ENTRIES = 5000
CLOSE = 1.01  # a squared error that is larger by less than this factor counts as the same


def predictive_rank(observation: Observation, rank: int, offsets: str | bool) -> int:
    """The least rank at which left-out rows, or columns where they are more, are predicted as well as at any.

    The approximation is made without a quarter of the rows, four times; ``rank`` is how many directions the matrix is
    thought to have at least.
    """
    if observation.n_columns > observation.n_rows:
        return predictive_rank(observation.T, rank, offsets)
    order = np.random.default_rng(0).permutation(observation.n_rows)
    count = FOLDS if observation.n_rows > FEW_ROWS else MORE_FOLDS
    folds = [fold for fold in np.array_split(order, count) if 0 < len(fold) < observation.n_rows]
    if not folds:
        return rank
    parts = [_errors_by_rank(observation, fold, rank, offsets) for fold in folds]
    shortest = min(map(len, parts))
    if not shortest:
        return rank
    total = np.sum([part[:shortest] for part in parts], axis=0)
    return _least(total)


def rank_for_entries(answer: Factorization, entries: Entries) -> int:
    """The least rank at which some entries are predicted as well as at any rank of the approximation."""
    if not answer.rank:
        return 0
    if len(entries) > MOST_ENTRIES:
        entries = entries.take(np.random.default_rng(0).choice(len(entries), MOST_ENTRIES, replace=False))
    left = to_numpy(take(answer.left.vectors, entries.i, axis=0) @ answer.core.Z)
    right = to_numpy(take(answer.right.vectors, entries.j, axis=0))
    values = to_numpy(float64(entries.values))
    predicted = np.cumsum(left * right, axis=1)
    ranks = [k for k in _ranks(answer.rank) if k <= answer.rank]
    return _least(
        np.array([np.average((values - predicted[:, k - 1]) ** 2, weights=entries.fit_weights) for k in ranks])
    )


def _least(errors: FloatArray) -> int:
    """The least of the ranks whose squared error is close to the best."""
    return int(_ranks(len(errors))[np.argmax(errors <= CLOSE * errors.min())])


def _ranks(count: int) -> IndexVector:
    """The first ``count`` ranks that are tried: 1, 2, 3 ... and then in steps of about a tenth."""
    ranks = [1]
    while len(ranks) < count:
        ranks.append(ranks[-1] + max(1, ranks[-1] // 10))
    return np.array(ranks)


def _errors_by_rank(observation: Observation, fold: IndexVector, rank: int, offsets: str | bool) -> FloatArray:
    """Squared errors of some sampled rows outside the sampled columns, for growing ranks of a fit without them."""
    kept = observation.subset(
        rows=np.setdiff1d(np.arange(observation.n_rows), fold),
        entries=NO_INDEX,
        design=observation.design,
    )
    skeleton = ridge_skeleton(kept, min(rank, kept.n_rows - 1), kept.i, offsets)
    answer = assemble(kept, skeleton.prediction(kept))
    outside = np.setdiff1d(np.arange(observation.shape[1]), observation.column_index)
    left, right = take(answer.left.vectors, observation.row_index[fold], axis=0) @ answer.core.Z, answer.right.vectors
    rest = take(float64(take(observation.rows, fold, axis=0)), outside, axis=1)
    right = take(right, outside, axis=0)
    squares, before = [], 0
    for k in _ranks(answer.rank):
        if k > answer.rank:
            break
        rest = rest - left[:, before:k] @ right[:, before:k].T
        squares.append(float(array_namespace(rest).sum(rest**2)))
        before = k
    return np.array(squares)
