r"""Intervals for single entries that were not read, by conformal prediction.

Every entry is held out once; its error, relative to the scale of errors in its row and column, is a score. Entries that
were not read have scores of the same distribution as those that were, if these were drawn uniformly, and with weights
of one over their chances otherwise. So the interval of an entry reaches as far as the quantile of the scores times the
scale at its place. This needs no model of the errors; a bad scale only makes intervals wider than necessary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special

from .._arrays import gather, index_table, to_numpy
from .._support.extras import import_extra
from .._support.sets import is_in
from .._typing import FloatArray, IndexVector, Names
from .._validation import check_index, check_real
from ..exceptions import InvalidArgumentError
from ..factorization import Factorization
from ..observation import Observation
from ..observation.fill import check_within, error_of, limited, within_bounds
from .cross_fit import CrossFit, check_arguments, cross_fit, one_noise
from .effective_sample import FEWEST
from .entry_scale import fit_scores
from .row_sums import known_part

__all__ = ["EntryIntervals", "predict_interval"]


@dataclass(frozen=True, eq=False)
class EntryIntervals:
    """Predicted values at some places, and intervals for them.

    If no interval can be given, its ends are NaN and ``reason`` is why; values that were measured are exact.
    """

    i: IndexVector  # (k,)
    j: IndexVector  # (k,)
    value: FloatArray  # (k,), the measured value if there is one, else the prediction
    low: FloatArray  # (k,), at ``level``
    high: FloatArray  # (k,)
    is_measured: Any  # (k,)
    level: float
    n_scores: int  # entries that the intervals rest on
    reason: str = ""  # why there are no intervals; empty if there are
    row_names: Names | None = None  # (k,), of the places
    column_names: Names | None = None  # (k,)

    def __len__(self) -> int:
        return len(self.value)

    def to_frame(self) -> Any:
        """A table (pandas): row, column, value, low, high, measured; by name if the matrix has names."""
        pandas = import_extra("pandas", extra="pandas", purpose="tables with names need pandas")
        rows = self.i if self.row_names is None else self.row_names
        columns = self.j if self.column_names is None else self.column_names
        found = {"row": rows, "column": columns, "value": self.value, "low": self.low, "high": self.high}
        return pandas.DataFrame(found | {"measured": self.is_measured})

    def __repr__(self) -> str:
        if self.reason:
            return f"<EntryIntervals of {len(self)} entries, refused: {self.reason}>"
        width = float(np.nanmedian((self.high - self.low)[~self.is_measured])) if not np.all(self.is_measured) else 0.0
        return f"<EntryIntervals of {len(self)} entries at {self.level:.0%}, median width {width:.3g}>"


def predict_interval(
    approximation: Factorization,
    observation: Observation,
    i: Any,
    j: Any,
    *,
    level: float = 0.9,
    min_value: float | None = None,
    max_value: float | None = None,
) -> EntryIntervals:
    r"""Predict entries, with an interval for each.

    .. math:: \hat M_{ij} \pm q \, s_{ij}, \qquad q = \text{quantile of } |e| / s \text{ at entries held out}

    Parameters
    ----------
    approximation : Factorization
        The prediction. Its method is fitted again five times, each time without a fifth of the entries: give all
        places in one call.
    observation : Observation
        What it was computed from; another one is refused. Entries must have been drawn uniformly, or with known
        ``probabilities``.
    i, j : arrays of shape (k,)
        Places.
    level : float, default 0.9
        Share of the entries that were not read whose value lies in its interval.
    min_value, max_value : float, optional
        Limits that all values have; predictions and intervals keep to them.

    Returns
    -------
    EntryIntervals
        ``value``, ``low``, ``high``, and ``reason`` if intervals are refused. Places that were forbidden have none.
        The value at a bounded place is the one expected beyond its bound, which is one end; the other is NaN.
        Values that were measured are their own interval; with noise, it is that of the value without noise.

    Notes
    -----
    The scale :math:`s_{ij}` is a factor of the row times one of the column, both estimated from errors of held-out
    entries and shrunk towards those of rows and columns with as many known values. The coverage holds on average over
    the entries that were not read, not for each of them; due to the scale, it is about as good in rows and columns with
    few known values.

    For ratings, or a table with gaps, the sampling probabilities are not known. If values are missing at random, make
    the observation with ``design=SamplingDesign(entries="uniform")``. The intervals then hold for values that are
    like the known ones.

    References
    ----------
    Gui, Barber, Ma: Conformalized matrix completion, 2023. Shao, Zhang: Distribution-free matrix prediction under
    arbitrary missing pattern, 2023. Tibshirani, Barber, Candes, Ramdas: Conformal prediction under covariate shift,
    2019.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> rng = np.random.default_rng(0)
    >>> M = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 60)) + 0.1 * rng.standard_normal((80, 60))
    >>> seen = curplus.observe(M, n_columns=0, n_rows=0, n_entries=2400, rng=0)
    >>> i, j = np.divmod(np.arange(80 * 60), 60)
    >>> found = curplus.predict_interval(curplus.approximate(seen), seen, i, j)
    >>> new = ~found.is_measured
    >>> inside = (found.low <= M[i, j]) & (M[i, j] <= found.high)
    >>> bool(0.85 < inside[new].mean() < 0.95)
    True
    """
    check_arguments(approximation, observation, level, caller="predict_interval")
    check_real(observation.values, "means and intervals of cells")
    check_within(observation, min_value, max_value)
    n, m = observation.shape
    i, j = check_index(np.atleast_1d(i), n, name="i"), check_index(np.atleast_1d(j), m, name="j")
    if len(i) != len(j):
        raise InvalidArgumentError(f"i has {len(i)} positions and j has {len(j)}. Give pairs.")
    measured = measured_values(observation, i, j)
    is_measured = ~np.isnan(measured)
    value = np.where(is_measured, measured, to_numpy(approximation.entries(i, j)).astype(np.float64))
    found = cross_fit(approximation, observation)
    reach, reason = _reach(found, i, j, float(level))
    out_of_reach = observation.is_forbidden(i, j)
    reach[out_of_reach] = np.nan
    if not reason and np.all(is_measured | out_of_reach) and np.any(~is_measured):
        reason = "all of these places were forbidden, and such places have no intervals"
    reach = np.where(is_measured, _reach_of_noise(observation, float(level)), reach)
    value, low, high = (
        np.where(is_measured, x, limited(x, min_value, max_value)) for x in (value, value - reach, value + reach)
    )
    value, low, high = _kept_to_bounds(approximation, observation, (i, j), (value, low, high), min_value, max_value)
    named = ((observation.row_names, i), (observation.column_names, j))
    names = (None if of_all is None else of_all[at] for of_all, at in named)
    return EntryIntervals(i, j, value, low, high, is_measured, float(level), len(found.counted), reason, *names)


def _kept_to_bounds(
    approximation: Factorization,
    observation: Observation,
    at: tuple[IndexVector, IndexVector],
    ends: tuple[FloatArray, FloatArray, FloatArray],
    *limits: float | None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """At bounded places, the value expected beyond the bound, and the bound as one end; the other one is not known."""
    value, low, high = ends
    m, bounds = observation.shape[1], observation.bounds.limits(observation.shape)
    flat = bounds.i * m + bounds.j
    t = np.flatnonzero(is_in(at[0] * m + at[1], flat))
    if len(t):
        least, most = (x[np.searchsorted(flat, at[0][t] * m + at[1][t])] for x in bounds[2:])
        value[t] = within_bounds(value[t], error_of(approximation), least, most, *limits)
        low[t], high[t] = (np.where(np.isfinite(x), x, np.nan) for x in (least, most))
    return value, low, high


def _reach(found: CrossFit, i: IndexVector, j: IndexVector, level: float) -> tuple[FloatArray, str]:
    """How far intervals reach at some places; NaN, and the reason, if there is no evidence."""
    if found.reason:
        return np.full(len(i), np.nan), found.reason
    once = _drawn_once(found)
    if len(once) < FEWEST:
        few = f"only {len(once)} positions were drawn once, and at least {FEWEST} are needed"
        return np.full(len(i), np.nan), few
    row, column = (index[found.counted[once]] for index in (found.sample.i, found.sample.j))
    scores = fit_scores(found.residuals[once], row, column, found.chances[once], _n_known(found.sample))
    return scores.reach(i, j, level)


def _drawn_once(found: CrossFit) -> IndexVector:
    """Which counted records stand for positions that were not read: of independent draws, those of positions hit once.

    A position is hit once k p / (1 - p) times as often as it is not hit, so such records, weighted by 1 / p, are a
    sample of the positions that were not. If a position was hit again, the fit that predicts it has its value.
    """
    if found.sample.probabilities is None:
        return np.arange(len(found.counted))
    _, which, counts = np.unique(found.sample.entries.flat_index, return_inverse=True, return_counts=True)
    once: IndexVector = np.flatnonzero(counts[which][found.counted] == 1)
    return once


def _n_known(sample: Observation) -> tuple[FloatArray, FloatArray]:
    """Number of known values of each row and of each column."""
    n, m = sample.shape
    outside = np.flatnonzero(sample.outside)
    rows = known_part(sample).n_values + np.bincount(sample.i[outside], minlength=n)
    columns = known_part(sample.T).n_values + np.bincount(sample.j[outside], minlength=m)
    return rows, columns


def measured_values(observation: Observation, i: IndexVector, j: IndexVector) -> FloatArray:
    """Measured values at some places, NaN at others."""
    o, (n, m) = observation, observation.shape
    found = np.full(len(i), np.nan)
    column, row = index_table(o.column_index, m)[j], index_table(o.row_index, n)[i]
    t = np.flatnonzero(column >= 0)
    found[t] = to_numpy(gather(o.columns, i[t], column[t]))
    t = np.flatnonzero(row >= 0)
    found[t] = to_numpy(gather(o.rows, row[t], j[t]))
    means = o.entries.means(np.flatnonzero(o.outside))
    place = np.minimum(np.searchsorted(means.flat, i * m + j), max(len(means.flat) - 1, 0))
    t = np.flatnonzero(means.flat[place] == i * m + j) if len(means.flat) else place[:0]
    found[t] = means.mean[place[t]]
    return found


def _reach_of_noise(observation: Observation, level: float) -> float:
    """How far a value without noise may lie from its reading; 0 if readings are exact or the noise is not known."""
    noise = one_noise(observation)
    noise = observation.noise_estimate if isinstance(noise, str) else noise or 0.0
    return 0.0 if math.isnan(noise) else noise * float(scipy.special.ndtri((1 + level) / 2))
