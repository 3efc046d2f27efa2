"""Rows and columns that do not fit in with the sampled ones, where all else is met exactly.

An exact prediction needs each row, in the sampled columns, to be a combination of the sampled rows. A row that mostly
is not, because of one wrong value or of a direction of its own, would be predicted from the small part of it that is,
with values as large as the wrong one all along the row.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import array_namespace, float64, index_table, is_dask_array, to_device
from ..._typing import Array, FloatArray, IndexVector, Matrix
from ...observation import Observation
from .prediction import Prediction

__all__ = ["without_stray_lines"]

DIRECTIONS = 1e-8  # singular values of the intersection, relative to the largest, that count
STRAY = 0.5  # of the squares of a row that no combination of the sampled ones explains


def without_stray_lines(prediction: Prediction, observation: Observation) -> Prediction:
    """The same exact prediction, and zero in the rows and columns that do not fit in.

    Its ``mixing`` has the directions of the sampled rows, at the sampled columns; its ``coefficients`` those of the
    sampled columns, each divided by its singular value.
    """
    if is_dask_array(observation.values):
        return prediction
    sizes = np.linalg.norm(prediction.coefficients, axis=1)
    kept = sizes * DIRECTIONS < sizes.min(initial=np.inf)
    of_rows, of_columns = prediction.mixing[:, kept], (prediction.coefficients[kept] / sizes[kept, None]).T
    rows = _are_stray(float64(observation.columns), of_rows, observation.row_index)
    columns = _are_stray(float64(observation.rows).T, of_columns, observation.column_index)
    return _zero_in(_zero_in(prediction, rows).T, columns).T


def _are_stray(lines: Matrix, directions: FloatArray, sampled: IndexVector) -> Array:
    """Whether each row of ``lines`` lies mostly outside some orthonormal directions, (n,); sampled ones do not."""
    xp = array_namespace(lines)
    inside = xp.sum((lines @ to_device(directions, lines)) ** 2, axis=1)
    others = to_device(index_table(sampled, lines.shape[0]) < 0, lines)
    return (inside < (1 - STRAY) * xp.sum(lines**2, axis=1)) & others


def _zero_in(prediction: Prediction, rows: Array) -> Prediction:
    """The prediction less what it says of some rows, which becomes vectors of their own."""
    left, xp = prediction.left, array_namespace(prediction.left)
    if not bool(xp.any(rows)):
        return prediction
    mixed = left @ to_device(prediction.mixing, left)
    own = xp.where(rows[:, None], mixed, xp.zeros_like(mixed))
    return prediction._replace(
        left=xp.concat([left, own], axis=1), mixing=np.vstack([prediction.mixing, -np.eye(mixed.shape[1])])
    )
