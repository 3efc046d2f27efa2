"""A table with gaps, filled by a low-rank approximation: an imputer for scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import MissingIndicator
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from .._typing import FloatArray, RandomState
from .._validation import check_count, check_level, check_share, random_generator
from ..exceptions import InvalidArgumentError
from ._engine import Start, fit_table
from ._errors import measured, without_hidden
from ._intervals import CellIntervals, hidden_scores
from ._scaling import ColumnMoments, column_moments
from ._tables import (
    UNSTORED,
    blocks_of_rows,
    check_any_known,
    check_columns_are_numbers,
    check_kind,
    check_limits,
    dense_with_gaps,
    is_gap_marker_nan,
    some_rows,
    with_gaps,
)

__all__ = ["CURImputer"]

SURELY_CONSTANT = 20  # known values of a column, with which it is
MOST_CELLS = 4_000_000  # of a part of the table that tells the error; more rows would take longer and say the same


class CURImputer(TransformerMixin, BaseEstimator):
    r"""Fill the gaps of a table from the values that are known, by a mean row and a matrix of low rank.

    .. math:: x_i = \mu + V u_i + e_i, \qquad u_i \sim N(0, I), \quad e_{ij} \sim N(0, \sigma_j^2)

    Rows are draws from one distribution, with noise of its own for each column; if there are fewer rows than columns,
    it is the other way round. Gaps get what is expected given the known values of their row. Values that are known come
    back bit for bit, and the caller's table is never written to.

    Parameters
    ----------
    n_components : int, optional
        Rank of the approximation of the table without its mean row. By default up to 10, or half of the shorter side up
        to 30, or a third of it up to 40, whichever is most; directions that the known values do not support are shrunk
        to nothing.
    missing_values : float, int, None, pandas.NA or "unstored", default nan
        What marks a gap. In a sparse matrix it must be said that what is not stored is a gap and not zero:
        ``missing_values="unstored"``; the filled table is then a dense array.
    standardize : "auto" or bool, default "auto"
        Whether columns are shifted and scaled to a common mean and standard deviation inside. "auto" does it where
        columns have different units: where the logarithms of their standard deviations spread by more than 1, that is
        by a factor of e up and down.
    min_value, max_value : float or array of shape (n_features,), default -inf and inf
        Filled values are kept between these.
    add_indicator : bool, default False
        Whether to append a column of zeros and ones for each feature that had gaps in the fit.
    keep_empty_features : bool, default False
        Whether features without any known value in the fit are kept, and filled with 0, or left out.
    validation_fraction : float, optional, default 0.1
        Share of the known values of each column that are hidden from one more fit, which tells ``error_`` and
        ``error_path_``; None leaves these out and takes half the time.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState, default 0
        Decides which values are hidden, and which are set aside inside the fit.

    Attributes
    ----------
    approximation_ : Factorization
        The approximation of ``(X - shift_) / scale_``, without features that were empty.
    n_components_ : int
        Its rank.
    error_ : array of shape (n_features,)
        Root mean square error at hidden values of each column, in its own unit; NaN where nothing could be hidden. None
        if ``validation_fraction`` is None. It is the error of a fit with fewer values, so it is a little too high.
    error_path_ : ErrorPath
        Error against rank, see :func:`curplus.plotting.plot_error_path`. None if ``validation_fraction`` is None.
    shift_, scale_ : array of shape (n_features,)
        Mean row, and for each column its unit: the size of its noise, where there are more rows than columns.
    indicator_ : sklearn.impute.MissingIndicator
        Where gaps were, if ``add_indicator``; else None.
    n_features_in_ : int
        Number of features in fit.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X has string column names.

    See Also
    --------
    curplus.approximate : The recommended method for scattered entries, and for rows and columns.
    HiddenEntries : Cross-validation over entries.

    Notes
    -----
    Tables of which both sides are longer than 2,000 are approximated by :func:`curplus.approximate` from their known
    values. A row of which nothing is known gets the mean row.

    As with scikit-learn's imputers, a frame gives an array unless ``set_output(transform="pandas")`` or ``"polars"``
    asks for a frame, which has the names and the index of X.

    ``transform`` takes every row for a new one. With at least as many rows as columns, rows of the fit get from it what
    ``fit_transform`` gives; otherwise ``fit_transform`` knows more of them.

    Examples
    --------
    >>> import numpy as np
    >>> from curplus.estimators import CURImputer
    >>> X = np.outer(np.arange(1.0, 41), [1.0, 2.0, 3.0, 4.0, 5.0])
    >>> X[9, 2] = X[19, 0] = X[29, 4] = np.nan  # 30, 20 and 150
    >>> filled = CURImputer(validation_fraction=None).fit_transform(X)
    >>> filled[[9, 19, 29], [2, 0, 4]].round()
    array([ 30.,  20., 150.])
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        missing_values: Any = np.nan,
        standardize: bool | str = "auto",
        min_value: Any = -np.inf,
        max_value: Any = np.inf,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        validation_fraction: float | None = 0.1,
        random_state: RandomState | np.random.RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.missing_values = missing_values
        self.standardize = standardize
        self.min_value = min_value
        self.max_value = max_value
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Approximate the table.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The table.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> FloatArray:
        """Approximate the table and fill its gaps.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The table.
        y : None
            Ignored.
        **fit_params
            There are none.

        Returns
        -------
        array of shape (n_samples, n_features_out)
        """
        table = self._fit(X)
        return self._filled(table, lambda rows, _: self.approximation_.rows(np.arange(rows.start, rows.stop)))

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
        table = with_gaps(self._checked(X, reset=False), self.missing_values)
        return self._filled(table, lambda _, block: self._found.complete(block))

    def intervals(self, X: Any, *, level: float = 0.9) -> CellIntervals:
        """Intervals for what :meth:`transform` fills in, from the errors at hidden values.

        Values that are known are their own interval. The others are missing at random, it is assumed: like those that
        were hidden from a fit. Then a share ``level`` of them lies inside, on average over the table. Intervals are
        wider in columns that are predicted worse, and in rows of which less is known.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows with gaps: those of the fit, or new ones.
        level : float, default 0.9
            Share of the values that shall lie inside.

        Returns
        -------
        CellIntervals
            ``low`` and ``high``, each of shape (n_samples, n_features), kept between ``min_value`` and ``max_value``;
            NaN in features that were empty in the fit. Where too few values were hidden, gaps are NaN, and ``reason``
            says so.
        """
        check_is_fitted(self)
        if self._scores is None:
            raise InvalidArgumentError(
                f"validation_fraction={self.validation_fraction!r}, so no values were hidden, and nothing says how far "
                "predictions can be off. Fit with a share of the values to hide, such as validation_fraction=0.1."
            )
        table = dense_with_gaps(with_gaps(self._checked(X, reset=False), self.missing_values))
        kept = np.flatnonzero(self._is_kept)
        low, high = table.astype(np.float64), table.astype(np.float64)
        reason = ""
        for rows in blocks_of_rows(table.shape):
            block = table[rows][:, kept]
            i, j = np.nonzero(np.isnan(block))
            centre = self._units.back(self._found.complete(self._units(block)))[i, j] if len(i) else np.empty(0)
            reach, reason = self._scores.reach(np.count_nonzero(~np.isnan(block), axis=1)[i], j, check_level(level))
            low[rows][i, kept[j]] = np.clip(centre - reach, *self._limits[:, kept[j]])
            high[rows][i, kept[j]] = np.clip(centre + reach, *self._limits[:, kept[j]])
        return CellIntervals(low, high, reason)

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

    def _fit(self, X: Any) -> Any:
        """Learn everything; returns the table with NaN at gaps, sparse if it was."""
        table = with_gaps(self._checked(X, reset=True), self.missing_values)
        self._check_options(table.shape)
        rng = random_generator(self._seed())
        self._is_kept = check_any_known(table)
        self.indicator_ = self._indicator(table)
        kept = table if self._is_kept.all() else table[:, self._is_kept]
        rank = None if self.n_components is None else min(self.n_components, *kept.shape)
        start = self._measure(kept, rank, rng)
        self._found = fit_table(kept, rank, self.standardize, rng, start)
        self._units, self.approximation_ = self._found.units, self._found.approximation
        self.n_components_ = self.approximation_.rank
        self.shift_, self.scale_ = np.zeros(table.shape[1]), np.ones(table.shape[1])
        self.shift_[self._is_kept], self.scale_[self._is_kept] = self._units
        self._hold_constant(column_moments(kept))
        return table

    def _hold_constant(self, moments: ColumnMoments) -> None:
        """Columns of which many values are known, all the same, are filled with that value."""
        constant = (moments.variances == 0) & (moments.counts >= SURELY_CONSTANT)
        where = np.flatnonzero(self._is_kept)[constant]
        self._limits[:, where] = np.clip(moments.means[constant], *self._limits[:, where])

    def _measure(self, table: Any, rank: int | None, rng: np.random.Generator) -> Start | None:
        """Hide values from a fit, and set the errors at them; returns where the fit to all values may start."""
        self.error_, self.error_path_, self._scores = None, None, None
        if not self.validation_fraction:
            return None
        part = some_rows(table, MOST_CELLS, rng)
        fitted, hidden = without_hidden(part, self.validation_fraction, rng)
        self.error_ = np.full(self.n_features_in_, np.nan)
        if not len(hidden.values):
            return None
        found = fit_table(fitted, rank, self.standardize, rng)
        errors, self.error_path_ = measured(found.approximation, found.units, hidden, column_moments(fitted))
        self.error_[self._is_kept] = errors
        self._scores = hidden_scores(found, fitted, hidden)
        return found.start if part.shape == table.shape or table.shape[0] >= table.shape[1] else None

    def _filled(self, table: Any, predict: Callable[[slice, FloatArray], Any]) -> FloatArray:
        """The table without gaps; ``predict(rows, block)`` gives the values of some rows in comparable units."""
        table = dense_with_gaps(table)
        filled = table.copy()
        kept = np.flatnonzero(self._is_kept)
        low, high = self._limits[:, kept]
        for rows in blocks_of_rows(table.shape):
            block = table[rows][:, kept]
            i, j = np.nonzero(np.isnan(block))
            if len(i):
                predicted = np.clip(self._units.back(np.asarray(predict(rows, self._units(block)))), low, high)
                filled[rows][i, kept[j]] = predicted[i, j]
        for k in np.flatnonzero(~self._is_kept):
            filled[np.isnan(filled[:, k]), k] = 0
        shown = filled if self._is_shown.all() else filled[:, self._is_shown]
        return shown if self.indicator_ is None else np.hstack([shown, self.indicator_.transform(table)])

    @property
    def _is_shown(self) -> Any:
        return self._is_kept | self.keep_empty_features

    def _indicator(self, table: Any) -> MissingIndicator | None:
        if not self.add_indicator:
            return None
        return MissingIndicator(error_on_new=False).fit(dense_with_gaps(table))

    def _check_options(self, shape: tuple[int, int]) -> None:
        if self.n_components is not None:
            check_count(self.n_components, name="n_components", at_least=1, at_most=min(shape), of="rows or columns")
        if self.validation_fraction is not None:
            check_share(self.validation_fraction, name="validation_fraction")
        if self.standardize not in (True, False, "auto"):
            raise InvalidArgumentError(f"standardize={self.standardize!r} is unknown. Give True, False or 'auto'.")
        self._limits = check_limits(self.min_value, self.max_value, shape[1])

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """The numbers of a table in floating point, with gaps as they came."""
        check_columns_are_numbers(X)
        unstored = isinstance(self.missing_values, str) and self.missing_values == UNSTORED
        check_kind(X, self.missing_values)
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csc" if unstored else False,
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan" if is_gap_marker_nan(self.missing_values) else True,
        )

    def _seed(self) -> RandomState:
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31))
        return self.random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = isinstance(self.missing_values, str)
        tags.input_tags.allow_nan = is_gap_marker_nan(self.missing_values)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
