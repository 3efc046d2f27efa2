r"""The mean of what is not known of a row: prediction plus the mean error at entries it was not fitted to.

For a fold k of the entries, a prediction P that did not have it, and the :math:`R_i` places of row i off the sampled
rows and columns, of which :math:`t` were fitted,

.. math::

   \hat\rho_{ik} = \frac{1}{R_i} \Big(
   \sum_{\text{fitted}} M_{ij} + \sum_{\text{others}} P_{ij} + (R_i - t) \, \bar e_{ik} \Big),

which errs by chance alone: the held-out entries of a row are a random sample of its places that were not fitted. The
folds are averaged by their numbers of entries. This is the augmented inverse probability weighting of missing data
(Robins, Rotnitzky and Zhao 1994), and prediction-powered inference with cross-fitting (Zrnic and Candes 2024).

Errors at k independent draws with chances p add up by known denominators, :math:`\sum_t e_t / (k p_t)` (Hansen and
Hurwitz 1943). Divided by the weights that a row happens to have, they would be biased, in all rows alike, if chances
depend on values.

Entries that helped to choose rows and columns are no random sample of what is left. How far their mean error in a row
may be off, :math:`\beta`, follows from the other entries of all rows: with :math:`\sigma^2` the variance of an error,

.. math:: (\bar e_i^{\,\text{steering}} - \bar e_i)^2 \approx \beta^2 + \sigma_i^2 (1 / s_i + 1 / h_i),

and they count with the weight :math:`\sigma^2 / (\sigma^2 + s \beta^2)`, for s of them in a row.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.special
from numpy.typing import NDArray

from .._arrays import array_namespace, float64, to_numpy
from .._typing import FloatArray, IndexVector
from ..factorization import Factorization
from ..observation import Observation
from ..observation.entries import PlaceMeans
from .cross_fit import CrossFit, errors_at
from .effective_sample import FEWEST

__all__ = [
    "KnownPart",
    "RowSample",
    "deviations",
    "known_part",
    "predicted_sums",
    "sample_rows",
    "single_values",
    "with_steering",
]

SURE = 2.0  # usual: standard errors: a larger bias is not chance
MOST_CHOSEN = 0.5  # mathematics: share of rows and columns; above it the bound of the bias grows no further
FAR = 1e3  # rounding: standard deviations: beyond, the first term of the asymptotic series is used
TINY = np.finfo(float).tiny  # rounding: no division by zero


class KnownPart(NamedTuple):
    """The known values of each row on the sampled rows and columns."""

    total: FloatArray  # (n,), sum of the known values
    n_values: FloatArray  # (n,), their number
    n_places: FloatArray  # (n,), number of places that are not forbidden


class RowSample(NamedTuple):
    """The mean of each row estimated from entries, over its places off the sampled rows and columns."""

    mean: FloatArray  # (n,), NaN without entries
    n_entries: FloatArray  # (n,), entries that count, as if all had had the same chance
    second: FloatArray  # (n,), mean square of errors around the mean error of their row
    fourth: FloatArray  # (n,), mean fourth power
    factor: FloatArray  # (n,), of the variance of an error, which makes it that of the mean; infinite without entries

    def take(self, rows: IndexVector) -> RowSample:
        """The same of some rows."""
        return RowSample(*(part[rows] for part in self))


def known_part(sample: Observation) -> KnownPart:
    """Sums and numbers of the known values on sampled rows and columns, without forming the matrix."""
    total, count = _sums_of_rows(sample.columns, sample.known_columns)
    on_rows = _sums_of_rows(sample.rows, sample.known_rows)
    for whole, part in zip((total, count), on_rows, strict=True):
        whole[sample.row_index] = part
    return KnownPart(total, count, sample.forbidden.others(sample.shape))


def single_values(sample: Observation) -> PlaceMeans:
    """What entries off the sampled rows and columns show of places that are not forbidden, each place once."""
    return sample.entries.means(np.flatnonzero(sample.outside & ~sample.is_forbidden(sample.i, sample.j)))


def _sums_of_rows(x: Any, known: Any) -> tuple[FloatArray, FloatArray]:
    """Sums and numbers of the known values of each row of an array, on the host."""
    xp = array_namespace(x)
    values = float64(x)
    if known is None:
        return to_numpy(xp.sum(values, axis=1)).copy(), np.full(x.shape[0], float(x.shape[1]))
    values = xp.where(known, values, xp.zeros_like(values))
    return to_numpy(xp.sum(values, axis=1)).copy(), to_numpy(xp.sum(float64(known), axis=1)).copy()


def predicted_sums(fit: Factorization, sample: Observation) -> FloatArray:
    """Sums of a prediction over the places of each row that are not shown by rows and columns, nor forbidden, (n,)."""
    shown = _sums_of_rows(fit.columns(sample.column_index), sample.known_columns)[0]
    shown[sample.row_index] = _sums_of_rows(fit.rows(sample.row_index), sample.known_rows)[0]
    open_columns, (i, j) = np.ones(sample.shape[1]), sample.forbidden.cells
    open_columns[sample.forbidden.columns] = 0
    sums: FloatArray = to_numpy(fit @ open_columns).astype(np.float64) - shown
    sums -= np.bincount(i, to_numpy(fit.entries(i, j)), len(sums))
    sums[sample.forbidden.rows] = 0
    return sums


def sample_rows(found: CrossFit, rest: FloatArray) -> RowSample:
    """Estimates of each row from entries; ``rest`` (n,) are its numbers of places off the sampled rows and columns."""
    row, n, around = found.sample.i[found.counted], found.sample.shape[0], deviations(found)
    if found.sample.probabilities is None:
        count: FloatArray = np.bincount(row, minlength=n).astype(np.float64)
        mean, factor = _means(found, rest, found.counted, np.ones(len(row)), 0.0)
    else:
        count = found.n_draws * rest / math.prod(found.sample.shape)  # expected numbers
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = 1 / count
            mean = _mean_prediction(found) / rest + np.bincount(row, around, n) / count
    second, fourth = (np.bincount(row, around**power, n) / np.maximum(count, TINY) for power in (2, 4))
    return RowSample(mean, count, second, fourth, factor)


def _mean_prediction(found: CrossFit) -> FloatArray:
    """Predicted sums over the rest of each row, those of each fit by its share of the records, shape (n,)."""
    shares = np.bincount(found.fold[found.counted], minlength=len(found.fits)) / len(found.counted)
    sums: FloatArray = shares @ np.stack([predicted_sums(fit, found.sample) for fit in found.fits])
    return sums


def with_steering(rows: RowSample, found: CrossFit, rest: FloatArray) -> RowSample:
    """The same with entries that helped to choose rows and columns, weighted by how small their measured bias is."""
    bias = _bias_of_steering(found) if found.sample.probabilities is None else math.inf
    if math.isinf(bias):
        return rows
    of_row = np.bincount(found.sample.i[found.steering])
    weight = 1 / (1 + bias * float(np.mean(of_row[of_row > 0])))
    records = np.concatenate([found.counted, found.steering])
    weights = np.concatenate([np.ones(len(found.counted)), np.full(len(found.steering), weight)])
    mean, factor = _means(found, rest, records, weights, bias)
    return rows._replace(mean=mean, factor=factor)


def _bias_of_steering(found: CrossFit) -> float:
    r"""Mean square by which their mean errors in a row may be biased, in variances of an error.

    A row that is left although its entries could have chosen it, with a chance p, has a bias of at most
    :math:`\sqrt p / (1 - p)` standard errors (Cauchy and Schwarz). That is the prior, and a clearly larger measured
    bias replaces it. The result is infinite if too few rows have entries of both kinds.
    """
    n, row, other = found.sample.shape[0], found.sample.i[found.counted], found.sample.i[found.steering]
    count, of_steering = np.bincount(row, minlength=n), np.bincount(other, minlength=n)
    both = (count > 1) & (of_steering > 0)
    if np.count_nonzero(both) < FEWEST:
        return math.inf
    h, s = count[both], of_steering[both]
    mean, mean_of_steering = (
        np.bincount(at, errors, n)[both] / number
        for at, errors, number in ((row, found.residuals, h), (other, found.residuals_at(found.steering), s))
    )
    variance = np.bincount(row, deviations(found) ** 2, n)[both] / (h - 1)
    weights = 1 / (1 / h + 1 / s)
    excess = (mean_of_steering - mean) ** 2 - variance / weights
    square = float(np.average(excess, weights=weights))
    doubt = math.sqrt(float(np.sum((weights * (excess - square)) ** 2))) / float(np.sum(weights))
    of_error = float(np.average(variance, weights=h - 1))
    if of_error == 0:
        return math.inf
    sample, size = found.sample, found.sample.shape
    share = min(sample.n_rows / size[0] + sample.n_columns / size[1], MOST_CHOSEN) or MOST_CHOSEN
    likely = share / (1 - share) ** 2 / float(np.mean(s))
    if square > SURE * doubt:
        return (square + doubt) / of_error
    return _expected_square(square / of_error, doubt / of_error, likely)


def _expected_square(estimate: float, doubt: float, likely: float) -> float:
    """Posterior mean of a square with an exponential prior of mean ``likely``, given an estimate and its ``doubt``.

    It is the mean of a normal distribution that is truncated at zero.
    """
    if doubt == 0:
        return max(estimate, 0.0)
    centre = estimate - doubt**2 / likely
    below = -centre / doubt
    if below > FAR:
        return doubt / below
    return centre + doubt * math.exp(-(below**2) / 2 - scipy.special.log_ndtr(-below)) / math.sqrt(2 * math.pi)


def deviations(found: CrossFit) -> FloatArray:
    """Errors at the counted entries, less the mean error of their rows; of independent draws, weighted, (h,)."""
    if found.sample.probabilities is not None:
        return found.chances * found.residuals
    row = found.sample.i[found.counted]
    around: FloatArray = found.residuals - (np.bincount(row, found.residuals) / np.maximum(np.bincount(row), 1))[row]
    return around


def _means(
    found: CrossFit, rest: FloatArray, records: IndexVector, weights: FloatArray, bias: float
) -> tuple[FloatArray, FloatArray]:
    """The mean over the rest of each row from some weighted records, NaN without any, and its factor of the variance.

    Those that helped to choose have a common ``bias`` in each row, a mean square in variances of an error.
    """
    row, n = found.sample.i[records], found.sample.shape[0]
    total = np.bincount(row, weights, n)
    of_steering = np.bincount(row, weights * found.sample.steering[records], n)
    chance = np.bincount(row, weights**2, n) + bias * of_steering**2
    count = total**2 / np.maximum(chance, TINY)
    factor = np.where(total > 0, _unread(found, rest, records, count) / np.maximum(count, TINY), np.inf)
    some = np.where(total > 0, total * rest, np.nan)
    return _weighted_sums(found, rest, records, weights) / some, factor


def _weighted_sums(found: CrossFit, rest: FloatArray, records: IndexVector, weights: FloatArray) -> FloatArray:
    """Estimated sums over the rest of each row, one for each fold, added up with the weights of their records, (n,)."""
    sample, n = found.sample, found.sample.shape[0]
    fold, row = found.fold[records], sample.i[records]
    places, is_used = _distinct_places(sample, records)
    sums = np.zeros(n)
    for k, fit in enumerate(found.fits):
        here = fold == k
        errors = errors_at(fit, sample, records[here])
        others = places[~(is_used & (found.fold[places] == k))]
        predicted = predicted_sums(fit, sample) + np.bincount(sample.i[others], errors_at(fit, sample, others), n)
        stands_for = rest - np.bincount(sample.i[others], minlength=n)
        sums += np.bincount(row[here], weights[here], n) * predicted
        sums += np.bincount(row[here], weights[here] * errors, n) * stands_for
    return sums


def _distinct_places(sample: Observation, records: IndexVector) -> tuple[IndexVector, NDArray[np.bool_]]:
    """The first record of each place off the sampled rows and columns, and whether it is one of some records."""
    outside = np.flatnonzero(sample.outside & ~sample.is_forbidden(sample.i, sample.j))
    places = outside[sample.entries.take(outside).unique()] if sample.entries.has_repeats else outside
    is_used = np.zeros(sample.n_entries, dtype=bool)
    is_used[records] = True
    return places, is_used[places]


def _unread(found: CrossFit, rest: FloatArray, records: IndexVector, count: FloatArray) -> FloatArray:
    """The factor of the variance of a mean, as some places are known, shape (n,)."""
    sample, n = found.sample, found.sample.shape[0]
    places, is_used = _distinct_places(sample, records)
    others = np.bincount(sample.i[places[~is_used]], minlength=n)
    left = np.maximum(rest - others, 0.0)
    factor: FloatArray = left * np.maximum(left - count, 0.0) / np.maximum(rest, 1.0) ** 2
    return factor
