r"""New rows, completed from their known values.

The fitted rows give a prior: their mean :math:`c`, and their directions with standard deviations (the columns
of F, so that :math:`F F^\top` is the covariance of the fitted rows). A new row is

.. math:: x = c + F w + e, \qquad w \sim N(0, I), \quad e \sim N(0, \sigma^2 I),

with the noise :math:`\sigma` of the fit, and its best linear unbiased prediction (BLUP) from the known places J
is :math:`c + F w` with :math:`w = (F_J^\top F_J + \sigma^2 I)^{-1} F_J^\top (x_J - c_J)`. Offsets are among the
directions, with the variance that those of the fitted rows have: an offset of its own for each new row made errors
larger on 24 of 28 tables (benchmarks/new_rows.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from .._arrays import (
    array_namespace,
    blocks,
    conjugate,
    double,
    float64,
    gather,
    is_numpy_array,
    largest,
    power_of_two,
    read_only,
    rounding_unit,
    take,
    to_device,
    to_numpy,
)
from .._typing import FloatArray, IndexVector, Matrix, Names, Vector
from .._validation import check_real
from ..exceptions import InvalidArgumentError
from .tables import check_not_infinite, column_order, like_table, numbers, within

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["Completing", "FittedModel"]

NUMBERS_AT_A_TIME = 2**22  # in the small matrices of the rows that are solved together
SHARED_PLACES = 2  # rows, on average, with the same known places; from here on, each set of places is solved once


@dataclass(frozen=True, eq=False)
class FittedModel:
    """Means and noise of a fit, besides its approximation, for rows that come later.

    An approximation that is cut to a low rank has lost some of this. The transpose of the model is the model of the
    transpose; ``scale`` changes its units. Noise is kept as a standard deviation, whose unit is that of the values: the
    squares of very large or small values are not numbers any more.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> M = np.outer([1.0, 2.0, 3.0], [1.0, 4.0, 5.0])
    >>> seen = curplus.Observation(shape=(3, 3), row_index=[0, 1, 2], rows=M)
    >>> curplus.approximate(seen).provenance.model.mean_row.round(12).tolist()
    [2.0, 8.0, 10.0]
    """

    ARRAYS: ClassVar[tuple[str, ...]] = ("mean_row", "mean_column")

    mean_row: Vector  # (m,), the prediction of a row without a known value
    mean_column: Vector  # (n,), the prediction of a column without a known value
    noise: float  # of new rows around the directions of the fitted ones, a standard deviation
    error: float  # of the fitted rows around the approximation, a standard deviation; 0 if all their values are known

    def __post_init__(self) -> None:
        for name in self.ARRAYS:
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @classmethod
    def of(cls, approximation: Factorization, noise: float, error: float | None = None) -> FittedModel:
        """The means of an approximation itself, with noise around it; in O((n + m) r) time."""
        error = noise if error is None else error
        return cls(_mean_row(approximation), conjugate(_mean_row(approximation.H)), noise, error)

    @property
    def T(self) -> FittedModel:
        """The model of the transposed matrix."""
        return FittedModel(self.mean_column, self.mean_row, self.noise, self.error)

    def scale(self, unit: float) -> FittedModel:
        """The model of the matrix in units that are ``unit`` times smaller."""
        size = abs(unit)
        return FittedModel(self.mean_row * unit, self.mean_column * unit, self.noise * size, self.error * size)

    def with_more_noise(self, left_over: float) -> FittedModel:
        """The model around an approximation with a larger residual: ``left_over``, its root mean square."""
        return replace(self, noise=math.hypot(self.noise, left_over), error=math.hypot(self.error, left_over))


class Completing:
    """Methods of an approximation for rows and columns that come later."""

    def row_means(self: Any, known: Any, *, probabilities: Any = None, level: float = 0.95) -> Any:
        r"""Means of rows that were not in the matrix, from those of their values that are known, with intervals.

        .. math:: \hat\theta = \frac1m \Big(\sum_{j \in J} x_j + (m - |J|) \, \hat t(x_J) \Big)

        Parameters
        ----------
        known : array, masked array, or DataFrame of pandas or Polars, of shape (p, m)
            NaN where a value is not known, as for :meth:`complete_rows`.
        probabilities : array of shape (m,), optional
            The chance of each column to be among the known ones, if these were drawn: see
            :func:`curplus.acquisition.draw_columns`. Intervals then hold for each row by itself, however unusual,
            and are refused if a few large errors decide.
        level : float, default 0.95
            Confidence of each interval. The joint intervals hold together with it if errors are normally distributed.

        Returns
        -------
        MeanEstimates
            ``estimate``, ``low`` and ``high``; ``difference(a, b)``; ``reason`` is why intervals are refused, if they
            are.

        Notes
        -----
        Without ``probabilities``, the mean :math:`t` of the other columns is predicted from the known ones by a
        regression on the fitted rows: a blend of a ridge regression and of the sample mean, corrected for the different
        means of the columns. The ridge and the weights are those that predict each fitted row best when it is left out.
        One of the ridges is that of :meth:`complete_rows`. Intervals come from the errors at left-out rows, so they
        hold on average over rows like the fitted ones; a row unlike all of these may lie outside.

        With ``probabilities`` :math:`\pi`, every column is predicted by :meth:`complete_rows`, and the errors at the
        known ones, each predicted from the others, correct the sum (augmented inverse probability weighting) [1]_:

        .. math:: \hat\theta = \frac1m \Big( \sum_{j \notin J} P_j
                  + \sum_{j \in J} \big( P_j + (x_j - P_j) / \pi_j \big) \Big)

        The variance is that of a draw without replacement with these chances [2]_. Rows with the same known columns
        have errors in common, which cancel in their differences.

        References
        ----------
        .. [1] Robins, Rotnitzky, Zhao: Estimation of regression coefficients when some regressors are not always
           observed, 1994.
        .. [2] Hajek: Asymptotic theory of rejective sampling with varying probabilities from a finite population, 1964.

        Examples
        --------
        >>> import numpy as np, curplus
        >>> rng = np.random.default_rng(0)
        >>> directions = rng.standard_normal((3, 200)) + 1
        >>> rows = rng.standard_normal((150, 3)) @ directions + rng.standard_normal((150, 200))
        >>> history, new = rows[:140], rows[140:]
        >>> approx = curplus.approximate(curplus.Observation(shape=(140, 200), row_index=range(140), rows=history))
        >>> chosen = curplus.select_columns(history, 20, goal="mean", rng=0)
        >>> known = np.full(new.shape, np.nan)
        >>> known[:, chosen] = new[:, chosen]
        >>> means = approx.row_means(known)
        >>> bool(np.all((means.low < new.mean(axis=1)) & (new.mean(axis=1) < means.high)))
        True
        """
        # evaluation comes later in the layout, so it is imported here
        evaluation = import_module("curplus.evaluation.new_row_means")
        return evaluation.new_row_means(self, known, probabilities=probabilities, level=level)

    def complete_rows(self: Any, rows: Any, *, min_value: float | None = None, max_value: float | None = None) -> Any:
        r"""Rows that were not in the matrix, with predictions for those of their values that are not known.

        A new row is the mean of the fitted rows and a part along the directions in which they differ, an offset among
        them; of all such rows it is the most likely one, given the known values.

        Parameters
        ----------
        rows : array, masked array, or DataFrame of pandas or Polars, of shape (p, m)
            NaN where a value is not known. The columns of a DataFrame may stand in another order than those of the
            matrix, if both have names.
        min_value, max_value : float, optional
            Limits for predictions, such as the ends of a scale of ratings. Known values are not changed.

        Returns
        -------
        array or DataFrame of shape (p, m)
            Of the same kind as ``rows``, with the same index and columns: known values untouched, all others
            predicted. A row without known values becomes the mean row. Each row is completed independently of the
            others.

        Raises
        ------
        InvalidArgumentError
            If the rows do not have one value for each column, or a value is infinite.

        Notes
        -----
        The noise that decides how closely known values are followed is ``provenance.model.noise``, which
        :func:`curplus.approximate` finds by predicting left-out rows. If there is none, it is the residual on the
        sampled rows and columns. Cost is :math:`O(n r^2 + m r^2)`, and :math:`O(k r \min(k, r))` for each pattern of k
        known places.

        Examples
        --------
        >>> import numpy as np, curplus
        >>> rng = np.random.default_rng(0)
        >>> directions = rng.standard_normal((3, 50))
        >>> history = rng.standard_normal((200, 3)) @ directions
        >>> approx = curplus.approximate(curplus.Observation(shape=(200, 50), row_index=range(200), rows=history))
        >>> new = rng.standard_normal((1, 3)) @ directions
        >>> known = np.where(np.arange(50) < 5, new, np.nan)
        >>> bool(np.allclose(approx.complete_rows(known), new))
        True
        """
        check_real(self.core.Z, "predictions for new rows")
        values, _, names = numbers(rows, name="rows")
        limits = (min_value, max_value)
        return like_table(rows, _filled(self, values, names, limits, ("rows", "columns")))

    def complete_columns(
        self: Any, columns: Any, *, min_value: float | None = None, max_value: float | None = None
    ) -> Any:
        """Columns that were not in the matrix, shape (n, p), with predictions for values that are not known.

        As :meth:`complete_rows`, with the two axes exchanged.
        """
        check_real(self.core.Z, "predictions for new columns")
        values, names, _ = numbers(columns, name="columns")
        limits = (min_value, max_value)
        return like_table(columns, _filled(self.T, values.T, names, limits, ("columns", "rows")).T)


def _filled(
    approximation: Factorization, values: Matrix, names: Names | None, limits: tuple[Any, Any], words: tuple[str, str]
) -> Matrix:
    """The rows with predictions in place of NaN."""
    order = checked_order(approximation, values, names, words)
    xp = array_namespace(values)
    is_known = ~xp.isnan(values)
    predicted = within(_predicted(approximation, values if order is None else values[:, order]), *limits, like=values)
    return xp.where(is_known, values, predicted if order is None else predicted[:, np.argsort(order)])


def checked_order(
    approximation: Factorization, values: Matrix, names: Names | None, words: tuple[str, str]
) -> IndexVector | None:
    """Position of each column of the matrix in new rows, which have a value or NaN for each; None if in order."""
    (name, axis), m = words, approximation.shape[1]
    if values.shape[1] != m:
        raise InvalidArgumentError(
            f"the new {name} have {values.shape[1]} values each but the matrix has {m} {axis}. Give a value for each "
            f"of its {axis}, NaN where it is not known."
        )
    check_not_infinite(values, name=name)
    return column_order(names, approximation.column_names, name=name, axis=axis)


def _predicted(approximation: Factorization, rows: Matrix) -> Matrix:
    """Predictions for all values of ``rows``, in the library of the approximation."""
    xp = array_namespace(rows)
    i, j = (to_numpy(k).astype(np.int64, copy=False) for k in xp.nonzero(~xp.isnan(rows)))
    prior = row_prior(approximation)
    deviations = to_numpy(gather(rows, i, j)).astype(np.float64) - to_numpy(take(prior.mean, j, axis=0))
    unit = power_of_two(largest(deviations), deviations)
    counts = np.bincount(i, minlength=rows.shape[0])
    scores = _row_scores(counts, j, deviations / unit, prior)
    return prior.mean + unit * (to_device(scores, prior.mean) @ prior.directions.T)


# The prior of rows, before their values are known


class RowPrior(NamedTuple):
    """Mean and directions of the fitted rows, and the noise around them."""

    mean: Vector  # (m,)
    directions: Matrix  # (m, r), each with the standard deviation of rows along it as its length, in some unit
    noise: float  # standard deviation, in the same unit
    unit: float  # that unit


def row_prior(approximation: Factorization) -> RowPrior:
    """The prior of rows, from an approximation and the model of its fit."""
    n, m = approximation.shape
    left, right = float64(approximation.left.vectors), float64(approximation.right.vectors)
    Z, model = to_numpy(float64(approximation.core.Z)), approximation.provenance.model
    unit = power_of_two(largest(Z), Z)
    size, s, Qt = _centred_directions(left, Z / unit)
    rounding = rounding_unit(approximation.core.Z) * size
    s, Qt = (x[s > max(n, m) * rounding] for x in (s, Qt))
    directions = right @ to_device(Qt.T * (s / math.sqrt(n)), right)
    least = Z.shape[1] * rounding / math.sqrt(n * m) or 1.0
    noise = (residual_at_samples(approximation) if model is None else model.noise) / unit
    mean = _mean_row(approximation) if model is None else model.mean_row
    mean = to_device(mean, right) if is_numpy_array(mean) else mean
    return RowPrior(mean, directions, max(noise, least), unit)


def _mean_row(approximation: Factorization) -> Vector:
    left = double(approximation.left.vectors)
    means = array_namespace(left).mean(left, axis=0) @ double(approximation.core.Z)
    return conjugate(double(approximation.right.vectors)) @ means


def _centred_directions(left: Matrix, Z: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    r"""Largest singular value of ``left @ Z``; singular values and right vectors without the mean of its rows.

    They are those of :math:`(I - \mathbf 1 \mathbf 1^\top / n) U Z`. Along the means of U, the residual is the distance
    of :math:`\mathbf 1 / \sqrt n` from its span, measured directly: a difference of squares would lose half of the
    digits.
    """
    if not Z.size:
        return 0.0, np.empty(0), np.empty((0, Z.shape[1]))
    xp = array_namespace(left)
    n, r = left.shape
    sums = xp.sum(left, axis=0)
    distance = math.sqrt(float(xp.sum((1 - left @ sums) ** 2)) / n)
    means = to_numpy(sums)
    root = np.eye(r) - (1 - distance) * np.outer(means, means) / (float(np.linalg.norm(means)) ** 2 or 1.0)
    _, s, Qt = np.linalg.svd(root @ Z, full_matrices=False)
    return float(np.linalg.norm(Z, 2)), s, Qt


def residual_at_samples(approximation: Factorization) -> float:
    """Root mean square of the residual on the sampled rows and columns; 0 if the approximation keeps none."""
    norm, count = 0.0, 0
    for side in (approximation, approximation.T):
        if side.right.sample is not None and math.prod(side.right.sample.shape):
            residual = float64(side.right.sample.T) - float64(side.rows(side.row_index))
            unit = power_of_two(largest(residual), residual)
            norm = math.hypot(norm, unit * math.sqrt(float(array_namespace(residual).sum((residual / unit) ** 2))))
            count += math.prod(residual.shape)
    return norm / math.sqrt(max(count, 1))


# How far new rows lie along the directions, in closed form


def _row_scores(counts: IndexVector, j: IndexVector, y: FloatArray, prior: RowPrior) -> FloatArray:
    """The w of each row (p, r) from its known deviations y at the columns j, listed row by row.

    Zero for rows without known values, and for those that are known as a whole. Rows with equally many known values are
    solved together; if their known places are the same, these are solved once.
    """
    (m, r), p = prior.directions.shape, len(counts)
    scores, starts = np.zeros((p, r)), np.cumsum(counts) - counts
    order = np.argsort(counts, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(counts[order])) + 1):
        k = int(counts[rows[0]]) if p else 0
        if not 0 < k < m:
            continue
        known = starts[rows, None] + np.arange(k)
        places, pattern, sharing = np.unique(j[known], axis=0, return_inverse=True, return_counts=True)
        if SHARED_PLACES * len(places) <= len(rows):
            sharers = np.split(np.argsort(pattern.reshape(-1), kind="stable"), np.cumsum(sharing)[:-1])
            for place, some in zip(places, sharers, strict=True):
                scores[rows[some]] = y[known[some]] @ _ridge_inverses(place[None], prior)[0].T
        else:
            for part in blocks(len(rows), (k + r) * min(k, r), most=NUMBERS_AT_A_TIME):
                inverses = _ridge_inverses(j[known[part]], prior)
                scores[rows[part]] = (inverses @ y[known[part], None])[:, :, 0]
    return scores


def _ridge_inverses(places: IndexVector, prior: RowPrior) -> FloatArray:
    """The matrices (b, r, k) that give w from the deviations at places (b, k)."""
    F = to_numpy(take(prior.directions, places.reshape(-1), axis=0))
    return ridge_inverse(F.reshape(*places.shape, -1), prior.noise)


def ridge_inverse(F: FloatArray, noise: float) -> FloatArray:
    r"""The matrices :math:`(F^\top F + \sigma^2 I)^{-1} F^\top` (b, r, k) for a stack of F (b, k, r).

    Without the squares: by a QR factorization of F above :math:`\sigma I`, or of its transpose, if that has fewer
    columns.
    """
    b, k, r = F.shape
    if k < r:
        return np.swapaxes(ridge_inverse(np.swapaxes(F, 1, 2), noise), 1, 2)
    ridge = np.broadcast_to(noise * np.eye(r), (b, r, r))
    Q, R = np.linalg.qr(np.concatenate([F, ridge], axis=1))
    return np.asarray(np.linalg.solve(R, np.swapaxes(Q[:, :k, :], 1, 2)))
