r"""Which rows are best: the mean of every row or column, with intervals, from a part of the matrix.

Rows that were read whole have known means. Elsewhere an approximation predicts, and held-out entries correct it, so
that a bad prediction makes an interval wide and not wrong. The means of rows with few entries are shrunk towards the
others.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy.special

from .._arrays import harmless_unit, to_numpy
from .._typing import FloatArray
from .._validation import check_axis, check_real
from ..factorization import Factorization
from ..observation import Observation
from ..observation.fill import check_within
from .certificate import CROSS_FITTED
from .cross_fit import CrossFit, check_arguments, cross_fit, one_noise
from .differences import Means
from .effective_sample import FEWEST, effective_sample_size, tail_of, too_alike
from .mean_estimates import MeanEstimates
from .row_means import RowMeans, from_columns, with_entries, without_entries
from .row_sums import KnownPart, deviations, known_part, single_values

__all__ = ["estimate_means"]

MIN_TAIL_INDEX = 1.25  # tuned: least Hill index of squared errors: they have a mean above 1


def estimate_means(
    approximation: Factorization,
    observation: Observation,
    *,
    axis: int = 1,
    level: float = 0.95,
    min_value: float | None = None,
    max_value: float | None = None,
) -> MeanEstimates:
    r"""Estimate the mean of every row or column, with intervals.

    .. math::

       \hat\theta_i = \frac{1}{m} \Big( \sum_{\text{known}} M_{ij} + \sum_{\text{others}} (P_{ij} + \bar e_i) \Big)

    Parameters
    ----------
    approximation : Factorization
        The prediction. Its method is fitted again five times, each time without a fifth of the entries.
    observation : Observation
        What it was computed from; another one is refused. Entries must have been drawn uniformly, or with known
        ``probabilities``; rows and columns may have been chosen in any way.
    axis : {1, 0}, default 1
        1 for the means of rows, 0 for those of columns.
    level : float, default 0.95
        Confidence of each interval, and of the joint intervals taken together.
    min_value, max_value : float, optional
        Limits that all values have, such as 0 and 1; estimates and intervals keep to them.

    Returns
    -------
    MeanEstimates
        ``estimate``, ``low`` and ``high``; ``joint_low`` and ``joint_high``, which hold for all rows at once; ``total``
        and ``total_interval``; ``best(k)``, which rows may be among the k best; ``difference(a, b)``, with an interval.
        ``reason`` is why intervals are refused, if they are.

    Notes
    -----
    Every entry is held out once; of k independent draws with ``probabilities`` p, each error counts 1 / (k p) times
    (Hansen and Hurwitz 1943). The entries of a row are a random sample of its places, so the mean error
    :math:`\bar e_i` of predictions that did not have them corrects the prediction without bias, whatever the quality of
    the prediction and however rows and columns were chosen. Its variance is that of the errors of the row, pulled
    towards that of all rows, with Student's t.

    Entries that helped to choose rows and columns are no such sample. They get the weight that their measured bias
    against the other entries allows, over all rows together, and no weight in the total.

    Rows with few entries, or none, are shrunk: their means are taken for draws from one distribution around a common
    mean, or around a regression on the mean of the sampled columns (Fay and Herriot 1979). Intervals then hold on
    average over rows, not for each unusual row. The joint intervals do not rest on that alone: if a row has entries,
    they contain its interval without shrinkage as well.

    Forbidden places (``Observation.forbidden``) are left out: means and the total are those of the other places, and a
    row that is forbidden as a whole has its predicted mean, without an interval.

    Rows that were read whole are exact. Gaps count as places that were not read, and are assumed to be like the other
    places of their row. If entries are no evidence but columns were drawn uniformly, the values of a row there are a
    uniform sample of it, and its mean is estimated from them alone; differences of rows are paired. If columns were
    drawn for :class:`curplus.Best`, ``best(k)`` is what :func:`curplus.decide` finds possible. With ``noise`` means are
    those without noise; if its size is not known, those of the values as they were measured.

    Intervals are refused if the sampling probabilities of the entries are not known, if there are too few entries, or
    if a few large errors decide: rows whose own large errors were not drawn would get intervals that are too narrow.

    References
    ----------
    Robins, Rotnitzky, Zhao: Estimation of regression coefficients when some regressors are not always observed, 1994.
    Zrnic, Candes: Cross-prediction-powered inference, 2024. Hansen, Hurwitz: On the theory of sampling from finite
    populations, 1943. Fay, Herriot: Estimates of income for small places, 1979.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> rng = np.random.default_rng(0)
    >>> M = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 200)) + 0.1 * rng.standard_normal((60, 200))
    >>> M[7] += 1.0
    >>> seen = curplus.observe(M, n_columns=0, n_rows=0, n_entries=3000, rng=0)
    >>> means = curplus.estimate_means(curplus.approximate(seen), seen)
    >>> bool(np.mean((means.low < M.mean(axis=1)) & (M.mean(axis=1) < means.high)) > 0.85)
    True
    >>> means.best(1).tolist()
    [7]
    >>> means.difference(7, 6).is_clear
    True
    """
    check_arguments(approximation, observation, level, caller="estimate_means")
    check_real(observation.values, "means and intervals of cells")
    check_axis(axis)
    check_within(observation, min_value, max_value)
    if axis == 0:
        estimates = replace(_means_of_rows(approximation.T, observation.T, float(level)), axis=0)
    else:
        estimates = _means_of_rows(approximation, observation, float(level))
    return estimates.within(min_value, max_value, observation.shape)


def _means_of_rows(approximation: Factorization, observation: Observation, level: float) -> MeanEstimates:
    """The means of rows, computed in a unit in which squares stay in range."""
    unit = harmless_unit(observation.magnitude, observation.values, power=4)
    core = approximation.core._replace(Z=approximation.core.Z / unit)
    prediction = replace(approximation, core=core)
    found = cross_fit(approximation, observation, with_steering=True).divide(unit)
    known = known_part(found.sample)
    n_single = np.bincount(single_values(found.sample).flat // observation.shape[1], minlength=observation.shape[0])
    is_exact = (known.n_values + n_single == known.n_places) & (known.n_places > 0)
    noise, shared = _noise(observation), None
    columns = from_columns(found.sample, known, prediction) if found.reason else None
    if columns is not None:
        means, squares, n_entries, shared = columns
        reason = (too_alike(squares, "values in the drawn columns") or _why_not(squares)) if len(squares) else ""
    else:
        n_entries = np.bincount(found.sample.i[found.counted], minlength=observation.shape[0])
        squares = np.empty(0) if found.reason else _squares(found)
        reason = found.reason or too_alike(squares, CROSS_FITTED, found.values) or _why_not(squares)
        means = without_entries(known, prediction, found.sample) if found.reason else with_entries(known, found)
    reason = "" if is_exact.all() else observation.bounds.reason or reason
    means = means.without_errors(~is_exact) if reason else means
    means = _with_forbidden_rows(means, known, prediction)
    known_noise = 0.0 if math.isnan(noise) else noise / unit
    of_row = known_noise / math.sqrt(observation.shape[1])
    compared = tuple(part.with_noise(of_row).times(unit) for part in means.compared(shared))
    means = means.with_noise(known_noise, observation.shape[1])
    low, high, joint_low, joint_high = (end * unit for end in _intervals(means, level))
    reach = means.total_error * float(scipy.special.ndtri((1 + level) / 2))
    return MeanEstimates(
        estimate=means.pulled.mean * unit,
        low=low,
        high=high,
        joint_low=joint_low,
        joint_high=joint_high,
        total=means.total * unit,
        total_interval=None if reason else ((means.total - reach) * unit, (means.total + reach) * unit),
        n_entries=n_entries,
        is_exact=is_exact,
        compared=compared,
        axis=1,
        level=level,
        reason=reason,
        names=observation.row_names,
        noise=noise,
        n_places=known.n_places if observation.forbidden.any else None,
        paired=observation if len(observation.drawn_columns) else None,
    )


def _with_forbidden_rows(means: RowMeans, known: KnownPart, prediction: Factorization) -> RowMeans:
    """The same with predicted means, without errors, of rows that are forbidden as a whole."""
    n, m = prediction.shape
    if not len(closed := np.flatnonzero(known.n_places == 0)):
        return means
    nothing = np.full(len(closed), math.nan)
    part = Means(to_numpy(prediction @ np.ones(m))[closed] / m, nothing, nothing)
    return means.with_rows(closed, np.zeros(n), np.ones(n), RowMeans(part, part))


def _squares(found: CrossFit) -> FloatArray:
    """Squared errors, less the means of their rows."""
    squares: FloatArray = deviations(found) ** 2 / found.chances
    if np.count_nonzero(squares) < FEWEST:  # most rows have one entry, which has no deviation
        squares = found.chances * found.residuals**2
    return squares


def _why_not(squares: FloatArray) -> str:
    """Why squared deviations do not bound the errors of means; empty if they do."""
    size, index = effective_sample_size(squares), tail_of(squares).power
    if size < FEWEST:
        return (
            f"the effective sample size of the {len(squares)} squared errors is {size:.0f}, and at least "
            f"{FEWEST} is needed"
        )
    if index < MIN_TAIL_INDEX:
        return (
            f"the squared errors have too heavy a tail (Hill index {index:.2f}, and at least {MIN_TAIL_INDEX:g} is "
            "needed): rows in which no large error was drawn would get intervals that are too narrow"
        )
    return ""


def _noise(observation: Observation) -> float:
    """Standard deviation of a reading; 0 if readings are exact, nan if it is not known."""
    noise = one_noise(observation)
    return 0.0 if noise is None else observation.noise_estimate if isinstance(noise, str) else noise


def _intervals(means: RowMeans, level: float) -> tuple[FloatArray, ...]:
    """Both ends of the intervals of each row, and of those that hold for all rows at once.

    With a level of :math:`l^{1/h}` for each of h independent means, all hold at level l.
    """
    each = level ** (1 / max(int(np.count_nonzero(means.pulled.error > 0)), 1))
    borrowed, own = means.pulled.interval(each), means.own.interval(each)
    return *means.pulled.interval(level), np.fmin(own[0], borrowed[0]), np.fmax(own[1], borrowed[1])
