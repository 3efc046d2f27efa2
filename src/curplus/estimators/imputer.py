"""A table with gaps, filled by a low-rank approximation: an imputer for scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.impute import MissingIndicator
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from .._arrays import blocks, to_numpy
from .._support.progress import showing
from .._typing import FloatArray, RandomState
from .._validation import check_count, check_level
from ..evaluation.cross_fit import cross_fit
from ..exceptions import InvalidArgumentError
from ..methods import approximate
from ..observation import Bounds, Observation, SamplingDesign
from ..observation.bounds import Limits, check_bounds
from ..observation.fill import within_bounds
from ..observation.scale import LOG, check_scale, logarithm, logarithm_of_bounds, logarithm_of_limit
from ._base import Estimator
from ._left_out import CellIntervals, completion_of_rows, errors_by_column
from ._tables import (
    UNSTORED,
    check_columns_are_numbers,
    check_kind,
    check_limits,
    dense_with_gaps,
    is_nan,
    split_bounds,
    with_gaps,
)
from ._units import Columns, Units

__all__ = ["CURImputer"]

SURELY_CONSTANT = 20  # known values of a column that are all equal: with more, it counts as constant


class Known(NamedTuple):
    """What a table says."""

    table: Any  # (n, m), on the scale that is fitted, NaN at gaps and bounds; sparse if it was
    raw: Any  # (n, m), in units
    bounds: Bounds  # on the scale that is fitted
    limits: Limits  # what they leave for each cell


@dataclass(eq=False, repr=False)
class CURImputer(Estimator):
    r"""Fill the gaps of a table from the values that are known, by :func:`curplus.approximate`.

    ``fit_transform(X)`` fills gaps with what ``approximate(Observation.from_table(X))`` predicts for them. Values that
    are known come back bit for bit, and the caller's table is never written to.

    Parameters
    ----------
    n_components : int, optional
        Rank of the approximation, at most; by default the least that predicts left-out values as well as more.
    missing_values : float, int, None, pandas.NA or "unstored", default nan
        What marks a gap. For a sparse matrix, state that what is not stored is a gap and not zero:
        ``missing_values="unstored"``; the filled table is then a dense array.
    standardize : "auto" or bool, default "auto"
        Whether the mean is subtracted from each column, and what is left divided by the standard deviation. "auto" does
        it if columns have different units: if the logarithms of their standard deviations spread by more than
        1.7, that is by a factor of 5 up and down.
    min_value, max_value : float or array of shape (n_features,), default -inf and inf
        Filled values are kept between these.
    scale : {None, "log"}, default None
        "log" for positive values that span powers of ten: their natural logarithms are fitted, ``approximation_`` and
        ``error_`` are theirs, and filled values and intervals are in units, all positive.
    add_indicator : bool, default False
        Whether to append a column of zeros and ones for each feature that had gaps in the fit.
    keep_empty_features : bool, default False
        Whether features without any known value in the fit are kept, and filled with 0, or left out.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState, default 0
        Decides which values are left out together.
    progress : bool, default False
        Whether to show on standard error how far a fit has come, if it takes more than a second.

    Attributes
    ----------
    approximation_ : Factorization
        The approximation of ``(X - shift_) / scale_``.
    n_components_ : int
        Its rank.
    error_ : array of shape (n_features,)
        Root mean square error of each column at values that were left out of a fit, in its own unit; near that of the
        others if few were. NaN for empty features, and for all if fewer than 30 values could be left out. It is the
        error of fits with fewer values, so it is a little too high.
    shift_, scale_ : array of shape (n_features,)
        What ``standardize`` subtracts from each column, and divides it by: 0 and 1 if it does nothing.
    indicator_ : sklearn.impute.MissingIndicator
        Where gaps were, if ``add_indicator``; else None.
    n_features_in_ : int
        Number of features in fit.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X has string column names.

    See Also
    --------
    curplus.approximate : The method: a few models, and the blend of them that predicts left-out values best.
    HiddenEntries : Cross-validation over entries.

    Notes
    -----
    As with scikit-learn's imputers, a frame gives an array unless ``set_output(transform="pandas")`` or ``"polars"``
    asks for a frame, which has the names and the index of X.

    ``transform`` takes every row for a new one, and completes it as :meth:`curplus.Factorization.complete_rows` does,
    with a noise for each column. ``fit_transform`` uses a little more of the rows of the fit.

    In a frame, a cell may be a bound, such as ``>10000`` or ``<0.5``: the true value is at least, or at most, that. It
    is fitted as a bound, is filled with what is expected beyond it, and no error rests on it.

    Examples
    --------
    >>> import numpy as np
    >>> from curplus.estimators import CURImputer
    >>> X = np.outer(np.arange(1.0, 41), [1.0, 2.0, 3.0, 4.0, 5.0])
    >>> X[9, 2] = X[19, 0] = X[29, 4] = np.nan  # 30, 20 and 150
    >>> filled = CURImputer().fit_transform(X)
    >>> filled[[9, 19, 29], [2, 0, 4]].round()
    array([ 30.,  20., 150.])
    """

    n_components: int | None = None
    _: KW_ONLY
    missing_values: Any = np.nan
    standardize: bool | str = "auto"
    min_value: Any = -np.inf
    max_value: Any = np.inf
    scale: str | None = None
    add_indicator: bool = False
    keep_empty_features: bool = False
    random_state: RandomState | np.random.RandomState = 0
    progress: bool = False

    def fit_transform(self, X: Any, y: Any = None, *, bounds: Bounds | None = None, **fit_params: Any) -> FloatArray:
        """Learn from a table and fill its gaps.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The table.
        y : None
            Ignored.
        bounds : Bounds, optional
            Cells that are known from one side only, if they are not written in X, which has gaps there.
        **fit_params
            Ignored.

        Returns
        -------
        array of shape (n_samples, n_features_out)
        """
        return self._filled(self._fit(X, bounds), lambda rows, _: self._predicted_of_fit(rows))

    def transform(self, X: Any) -> FloatArray:
        """Fill the gaps of new rows.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows with gaps; each is filled from its own known values and the fit.

        Returns
        -------
        array of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        return self._filled(self._known(X, reset=False), lambda _, block: self._predicted(block))

    def intervals(self, X: Any, *, level: float = 0.9) -> CellIntervals:
        """Intervals for what :meth:`transform` fills in, from the errors at left-out values.

        Values that are known are their own interval. The others are missing at random, it is assumed: like those that
        were left out. Then a share ``level`` of them lies inside, on average over the table. Intervals are wider in
        columns that are predicted worse, and in rows with fewer known values.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows with gaps: those of the fit, or new ones.
        level : float, default 0.9
            Share of the values that lie inside.

        Returns
        -------
        CellIntervals
            ``low`` and ``high``, each of shape (n_samples, n_features), kept between ``min_value`` and ``max_value``;
            NaN in features that were empty in the fit. If too few values were left out, gaps are NaN, and ``reason``
            is why. A bound is one end, and the other is NaN.
        """
        check_is_fitted(self)
        check_level(level)
        known = self._known(X, reset=False)
        table, raw = dense_with_gaps(known.table), dense_with_gaps(known.raw)
        ends = np.array([raw, raw], dtype=np.float64)
        reason = self._reason
        for rows in blocks(*table.shape):
            block = table[rows]
            i, j = np.nonzero(np.isnan(block) & self._is_kept)
            reach: Any = np.nan
            if self._scores is not None and len(i):
                n_known = np.count_nonzero(~np.isnan(block[:, self._is_kept]), axis=1)
                reach, reason = self._scores.reach(n_known[i], j, level)
            reach, centre = reach * self.scale_[j], self._predicted(block)[i, j]
            for end, sign in zip(ends, (-1, 1), strict=True):
                end[rows][i, j] = self._in_units(np.clip(centre + sign * reach, *self._limits[:, j]))
        for end, value in zip(ends, known.limits[2:], strict=True):
            end[known.limits[:2]] = np.where(np.isfinite(value), self._in_units(value), np.nan)
        return CellIntervals(ends[0], ends[1], reason)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns of the filled table.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the features, if the table of the fit had none.

        Returns
        -------
        array of str
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        added = [] if self.indicator_ is None else [self.indicator_.get_feature_names_out(names)]
        return np.concatenate([names[self._is_shown], *added])

    def _known(self, X: Any, more: Bounds | None = None, *, reset: bool) -> Known:
        """What a table says, on the scale that is fitted."""
        X, bounds = split_bounds(X)
        raw = table = with_gaps(self._checked(X, reset=reset), self.missing_values)
        bounds = bounds.union(check_bounds(more, table.shape), table.shape)
        if check_scale(self.scale) == LOG:
            names = getattr(self, "feature_names_in_", np.arange(table.shape[1]))
            if scipy.sparse.issparse(table):
                stored = scipy.sparse.coo_array(table)
                i, j = stored.coords
                logarithms = logarithm(stored.data, rows=i, columns=names[j])
                table = scipy.sparse.csr_array((logarithms, (i, j)), shape=table.shape)
            else:
                table = logarithm(table, columns=names)
            bounds = logarithm_of_bounds(bounds, np.arange(table.shape[0]), names)
        return Known(table, raw, bounds, bounds.limits(table.shape))

    def _in_units(self, x: Any) -> Any:
        return np.exp(x) if self.scale == LOG else x

    def _fit(self, X: Any, bounds: Bounds | None = None) -> Known:
        """Learn everything."""
        known = self._known(X, bounds, reset=True)
        table, bounds = known.table, known.bounds
        self._check_options(table.shape)
        columns = Columns.of(table)
        self._is_kept = (columns.counts > 0) | (np.bincount(bounds.j, minlength=table.shape[1]) > 0)
        if not columns.counts.any():
            raise InvalidArgumentError("X has no known value: every cell is a gap. Is missing_values what marks a gap?")
        constant = (columns.variances == 0) & (columns.counts >= SURELY_CONSTANT)
        self._limits[:, constant] = np.clip(columns.means[constant], *self._limits[:, constant])
        self.indicator_ = None
        if self.add_indicator:
            self.indicator_ = MissingIndicator(error_on_new=False).fit(dense_with_gaps(table))
        self._units = self.shift_, self.scale_ = Units.of(columns, self.standardize)
        with showing("fitting", wanted=self.progress):
            value = (bounds.value - self.shift_[bounds.j]) / self.scale_[bounds.j]
            self._approximate(self._units(table), columns.spreads()[0] / self.scale_, replace(bounds, value=value))
        return known

    def _approximate(self, table: Any, spreads: FloatArray, bounds: Bounds) -> None:
        """Approximate a table in comparable units, and estimate its errors from left-out values."""
        seen = Observation.from_table(
            table,
            missing=UNSTORED if scipy.sparse.issparse(table) else np.nan,
            column_names=getattr(self, "feature_names_in_", None),
            design=SamplingDesign(entries="uniform"),  # gaps are assumed to be at random
            bounds=bounds,
        )
        self.approximation_ = approximate(seen, self.n_components, rng=self._rng())
        self.n_components_ = self.approximation_.rank
        self.error_ = np.full(len(self._is_kept), np.nan)
        self._rows: Any = self.approximation_
        self._scores = None
        found = cross_fit(self.approximation_, seen)
        self._reason = found.reason
        if not found.reason:
            errors = errors_by_column(found.residuals, found.sample.j[found.counted], spreads) * self.scale_
            self.error_[self._is_kept] = errors[self._is_kept]
            self._rows, self._scores = completion_of_rows(found, self.approximation_, table, spreads)

    def _predicted_of_fit(self, rows: slice) -> FloatArray:
        """Predictions for rows of the fit."""
        return self._units.back(to_numpy(self.approximation_.rows(np.arange(rows.start, rows.stop))))

    def _predicted(self, rows: FloatArray) -> FloatArray:
        """Predictions for new rows (p, m), from known values of features of the fit."""
        known = self._units(np.where(self._is_kept, rows, np.nan))
        return self._units.back(np.asarray(self._rows.complete_rows(known)))

    def _filled(self, known: Known, predict: Callable[[slice, FloatArray], FloatArray]) -> FloatArray:
        """The table without gaps; ``predict(rows, block)`` gives all values of some rows."""
        table, (a, b, *ends) = dense_with_gaps(known.table), known.limits
        filled = dense_with_gaps(known.raw).copy()
        for rows in blocks(*table.shape):
            i, j = np.nonzero(np.isnan(table[rows]))
            if len(i):
                predicted = predict(rows, table[rows])
                here = np.flatnonzero((a >= rows.start) & (a < rows.stop))
                p, q = a[here] - rows.start, b[here]
                beyond = within_bounds(
                    predicted[p, q], np.nan_to_num(self.error_[q]), *(x[here] for x in ends), *self._limits[:, q]
                )
                predicted = self._in_units(np.clip(predicted, *self._limits))
                predicted[p, q] = self._in_units(beyond)
                filled[rows][i, j] = np.where(self._is_kept, predicted, 0)[i, j]
        shown = filled if self._is_shown.all() else filled[:, self._is_shown]
        return shown if self.indicator_ is None else np.hstack([shown, self.indicator_.transform(table)])

    @property
    def _is_shown(self) -> Any:
        return self._is_kept | self.keep_empty_features

    def _check_options(self, shape: tuple[int, int]) -> None:
        if self.n_components is not None:
            check_count(self.n_components, name="n_components", at_least=1, at_most=min(shape), of="rows or columns")
        if self.standardize not in (True, False, "auto"):
            raise InvalidArgumentError(f"standardize={self.standardize!r} is unknown. Give True, False or 'auto'.")
        self._limits = check_limits(self.min_value, self.max_value, shape[1])
        if self.scale == LOG:
            self._limits = logarithm_of_limit(self._limits)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """The numbers of a table in floating point, with gaps as they came."""
        check_columns_are_numbers(X)
        check_kind(X, self.missing_values)
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr" if isinstance(self.missing_values, str) else False,
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan" if is_nan(self.missing_values) else True,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = isinstance(self.missing_values, str)
        tags.input_tags.allow_nan = is_nan(self.missing_values)
        return tags
