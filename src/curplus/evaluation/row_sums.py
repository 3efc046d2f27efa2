r"""The mean of what is not known of a row: prediction plus the mean error at entries it was not fitted to.

For a fold k of the entries, a prediction P that did not have it, and the :math:`R_i` places of row i off the sampled
rows and columns, of which :math:`t` were fitted,

.. math::

   \hat\rho_{ik} = \frac{1}{R_i} \Big(
   \sum_{\text{fitted}} M_{ij} + \sum_{\text{others}} P_{ij} + (R_i - t) \, \bar e_{ik} \Big),

which errs by chance alone: the held-out entries of a row are a random sample of its places that were not fitted. The
folds are averaged by their numbers of entries. This is the augmented inverse probability weighting of missing data
(Robins, Rotnitzky and Zhao 1994), and prediction-powered inference with cross-fitting (Zrnic and Candes 2024).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._arrays import array_namespace, float64, to_numpy
from .._typing import FloatArray, IndexVector
from ..factorization import Factorization
from ..observation import Observation
from .cross_fit import CrossFit, errors_at

__all__ = ["KnownPart", "RowSample", "deviations", "known_part", "predicted_sums", "sample_rows"]


class KnownPart(NamedTuple):
    """What the sampled rows and columns say of each row."""

    total: FloatArray  # (n,), sum of the known values
    n_values: FloatArray  # (n,), how many they are


class RowSample(NamedTuple):
    """What the entries say of the mean of each row, over its places off the sampled rows and columns."""

    mean: FloatArray  # (n,), NaN without entries
    n_entries: FloatArray  # (n,), entries that count, as if all had had the same chance
    second: FloatArray  # (n,), mean square of errors around the mean error of their row
    fourth: FloatArray  # (n,), mean fourth power
    unread: FloatArray  # (n,), factor of the variance of the mean: places that were read are known

    def take(self, rows: IndexVector) -> RowSample:
        """The same of some rows."""
        return RowSample(*(part[rows] for part in self))


def known_part(sample: Observation) -> KnownPart:
    """Sums and numbers of the known values on sampled rows and columns, without forming the matrix."""
    total, count = _line_sums(sample.columns, sample.known_columns)
    on_rows = _line_sums(sample.rows, sample.known_rows)
    for whole, part in zip((total, count), on_rows, strict=True):
        whole[sample.row_index] = part
    return KnownPart(total, count)


def _line_sums(x: Any, known: Any) -> tuple[FloatArray, FloatArray]:
    """Sums and numbers of the known values of each row of an array, on the host."""
    xp = array_namespace(x)
    values = float64(x)
    if known is None:
        return to_numpy(xp.sum(values, axis=1)).copy(), np.full(x.shape[0], float(x.shape[1]))
    values = xp.where(known, values, xp.zeros_like(values))
    return to_numpy(xp.sum(values, axis=1)).copy(), to_numpy(xp.sum(float64(known), axis=1)).copy()


def predicted_sums(fit: Factorization, sample: Observation) -> FloatArray:
    """Sums of a prediction over the places of each row that sampled rows and columns do not show, shape (n,)."""
    shown = _line_sums(fit.columns(sample.column_index), sample.known_columns)[0]
    shown[sample.row_index] = _line_sums(fit.rows(sample.row_index), sample.known_rows)[0]
    sums: FloatArray = to_numpy(fit @ np.ones(sample.shape[1])).astype(np.float64) - shown
    return sums


def sample_rows(found: CrossFit, rest: FloatArray) -> RowSample:
    """What the entries say of each row, of which ``rest`` places are off the sampled rows and columns, shape (n,)."""
    row, weights, n = found.sample.i[found.counted], found.chances, found.sample.shape[0]
    total = np.bincount(row, weights, n)
    count = total**2 / np.maximum(np.bincount(row, weights**2, n), np.finfo(float).tiny)
    safe, around = np.maximum(total, np.finfo(float).tiny), deviations(found)
    second, fourth = (np.bincount(row, weights * around**power, n) / safe for power in (2, 4))
    some = np.where(total > 0, total * rest, np.nan)
    return RowSample(_weighted_sums(found, rest) / some, count, second, fourth, _unread(found, rest, count))


def deviations(found: CrossFit) -> FloatArray:
    """Errors at the counted entries, less the mean error of their rows, shape (h,)."""
    row, weights, n = found.sample.i[found.counted], found.chances, found.sample.shape[0]
    residuals, total = found.residuals, np.bincount(row, weights, n)
    means = np.bincount(row, weights * residuals, n) / np.maximum(total, np.finfo(float).tiny)
    around: FloatArray = residuals - means[row]
    return around


def _weighted_sums(found: CrossFit, rest: FloatArray) -> FloatArray:
    """Estimated sums over the rest of each row, one for each fold, added up with the weights of their entries, (n,)."""
    sample, n = found.sample, found.sample.shape[0]
    fold, row, weights = found.fold[found.counted], sample.i[found.counted], found.chances
    places = _distinct_places(sample)
    sums = np.zeros(n)
    for k, fit in enumerate(found.fits):
        here = fold == k
        errors = errors_at(fit, sample, found.counted[here])
        predicted, stands_for = predicted_sums(fit, sample), rest
        if sample.probabilities is None:
            fitted = places[found.fold[places] != k]
            predicted = predicted + np.bincount(sample.i[fitted], errors_at(fit, sample, fitted), n)
            stands_for = rest - np.bincount(sample.i[fitted], minlength=n)
        sums += np.bincount(row[here], weights[here], n) * predicted
        sums += np.bincount(row[here], weights[here] * errors, n) * stands_for
    return sums


def _distinct_places(sample: Observation) -> IndexVector:
    """The first record of each place off the sampled rows and columns."""
    outside = np.flatnonzero(sample.outside)
    return outside[sample.entries.take(outside).unique()] if sample.entries.has_repeats else outside


def _unread(found: CrossFit, rest: FloatArray, count: FloatArray) -> FloatArray:
    """The factor of the variance of a mean that follows from places that are known; 1 for independent draws, (n,)."""
    sample, n = found.sample, found.sample.shape[0]
    if sample.probabilities is not None:
        return np.ones(n)
    places = _distinct_places(sample)
    fitted = np.bincount(sample.i[places[found.fold[places] < 0]], minlength=n)
    left = np.maximum(rest - fitted, 0.0)
    factor: FloatArray = left * np.maximum(left - count, 0.0) / np.maximum(rest, 1.0) ** 2
    return factor
