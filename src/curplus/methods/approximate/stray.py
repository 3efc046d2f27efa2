"""Rows and columns that do not fit in with the sampled ones, where all else is met exactly.

An exact prediction needs each row, in the sampled columns, to be a combination of the sampled rows. A row that mostly
is not, because of one wrong value or of a direction of its own, would be predicted from the small part of it that is,
with values as large as the wrong one all along the row.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import array_namespace, float64, is_dask_array, take, to_device, to_numpy
from ..._typing import FloatArray, IndexVector, Matrix
from ...observation import Observation
from .leave_out import svd_of
from .prediction import Prediction

__all__ = ["without_stray_lines"]

DIRECTIONS = 1e-8  # singular values of the intersection, relative to the largest, that count
STRAY = 0.5  # of the squares of a row that no combination of the sampled ones explains


def without_stray_lines(prediction: Prediction, observation: Observation) -> Prediction:
    """The same prediction, and zero in the rows and columns that do not fit in."""
    if is_dask_array(observation.values):
        return prediction
    W = to_numpy(float64(take(observation.columns, observation.row_index, axis=0)))
    a, _, bt = svd_of(W).above(DIRECTIONS)
    rows = _stray(float64(observation.columns), bt.T, observation.row_index)
    columns = _stray(float64(observation.rows).T, a, observation.column_index)
    return _zero_in(_zero_in(prediction, rows).T, columns).T


def _stray(lines: Matrix, directions: FloatArray, sampled: IndexVector) -> IndexVector:
    """Which rows of ``lines`` lie mostly outside some orthonormal directions; sampled ones do not."""
    xp = array_namespace(lines)
    inside = xp.sum((lines @ to_device(directions, lines)) ** 2, axis=1)
    is_stray = to_numpy(inside < (1 - STRAY) * xp.sum(lines**2, axis=1)).copy()
    is_stray[sampled] = False
    return np.flatnonzero(is_stray)


def _zero_in(prediction: Prediction, rows: IndexVector) -> Prediction:
    """The prediction without what it says of some rows: each has a vector of its own that takes it away."""
    if not len(rows):
        return prediction
    left = prediction.left
    n, xp = left.shape[0], array_namespace(left)
    own = np.zeros((n, len(rows)))
    own[rows, np.arange(len(rows))] = 1.0
    taken = -(to_numpy(take(left, rows, axis=0)) @ prediction.mixing)
    return prediction._replace(
        left=xp.concat([left, to_device(own, left)], axis=1), mixing=np.vstack([prediction.mixing, taken])
    )
