r"""Rows that are known whole as control variates: means of other rows from few columns, with less variance.

With features :math:`f_j` of all m columns, whose mean :math:`\bar f` is known, and the values of a row in d columns
drawn uniformly, the regression estimator of its mean is

.. math:: \hat\theta = \bar y + (\bar f - \bar f_d)^\top b, \qquad b = (F^\top F + \lambda I)^{-1} F^\top y,

and its variance that of the residuals (Cochran, Sampling Techniques, 1977, chapter 7). One :math:`\lambda` serves all
rows, so that differences of rows have the differences of their residuals. It is the one with which each column is
predicted best from the others, and residuals are those at columns that were left out; if the plain mean predicts
better, it is taken.
"""

from __future__ import annotations

import math

import numpy as np

from .._typing import FloatArray
from .differences import Means, means_of_columns, shared_errors

__all__ = ["features_of", "means_with_controls"]

FOR_EACH = 5  # columns for each feature: with fewer, residuals are too small (benchmarks/best.py, coverage)
MOST = 20  # features; benchmarks/best.py: 5 to 100 differ by less than 2 % of the answers
RIDGES = np.geomspace(1e-3, 1e3, 13)  # in terms of the mean square of a feature


def features_of(rows: FloatArray) -> FloatArray:
    """Leading components of rows (h, m) that are known whole: what tells columns apart, shape (m, r)."""
    _, s, Vt = np.linalg.svd(rows - np.mean(rows, axis=1, keepdims=True), full_matrices=False)
    r = int(np.count_nonzero(s[:MOST] > np.finfo(float).eps * max(rows.shape) * (s[0] if len(s) else 0.0)))
    return np.asarray(Vt[:r].T * s[:r])


def means_with_controls(values: FloatArray, features: FloatArray, mean_feature: FloatArray, n_columns: float) -> Means:
    """Means of rows from their values (n, d) in columns with these features (d, r)."""
    plain, d = means_of_columns(values, n_columns), values.shape[1]
    features, mean_feature = features[:, : d // FOR_EACH], mean_feature[: d // FOR_EACH]
    if not features.shape[1]:
        return plain
    centre = np.mean(features, axis=0)
    around = values - plain.mean[:, None]
    U, s, Vt = np.linalg.svd(features - centre, full_matrices=False)
    squares, shown, best = s**2, around @ U, float(np.sum(around**2)) * (d / (d - 1)) ** 2
    found = None
    for ridge in RIDGES * float(np.mean(squares)):
        share = squares / np.maximum(squares + ridge, np.finfo(float).tiny)
        residuals = (around - (shown * share) @ U.T) / np.maximum(1 - 1 / d - U**2 @ share, 1 / d)
        if (total := float(np.sum(residuals**2))) < best:
            best, found = total, (residuals, share)
    if found is None:
        return plain
    residuals, share = found
    slope = (shown * (share / np.where(s > 0, s, 1.0))) @ Vt
    shared = shared_errors(residuals, n_columns) * math.sqrt((d - 1) / d)
    error = np.sqrt(np.sum(shared**2, axis=1))
    return Means(plain.mean + slope @ (mean_feature - centre), error, plain.freedom - float(np.sum(share)), shared)
