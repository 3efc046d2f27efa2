r"""Cross-validation over entries of a table: known values are hidden, predicted, and compared.

scikit-learn's searches can only choose rows, so the work is divided: the splitter gives all rows in an order of its own
for each fold, and the scorer hides in the k-th column the entries of every ``n_splits``-th row, starting from a row
that differs between columns. The order moves on by one from fold to fold: every known entry is hidden in one fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples

from .._typing import FloatArray, IndexVector
from .._validation import check_count
from ..exceptions import InvalidArgumentError
from ..factorization.tables import like_table
from ._tables import check_columns_are_numbers, dense_with_gaps, is_nan, with_gaps
from ._units import Columns

__all__ = ["HiddenEntries"]


@dataclass(frozen=True)
class HiddenEntries:
    """Folds of entries for scikit-learn's searches: ``cv=folds, scoring=folds.score``.

    Each known entry of the table is hidden in one fold. An imputer is fitted to the table without them, and the
    values that it fills in are compared with those that were hidden. This works for every imputer of scikit-learn,
    and for pipelines that keep the columns.

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds, at least 2. A fold hides ``1 / n_splits`` of the known entries.
    standardize : bool, default True
        Whether errors are divided by the standard deviation of their column, so that columns of different units count
        alike. Otherwise they are in the units of the table.
    random_state : int, default 0
        Decides which entries are hidden together.

    Notes
    -----
    A search fits each candidate to the whole table before it asks for the score; this fit is not used. A column keeps
    at least one known entry. If ``n_splits`` does not divide the number of rows, the entries of a few rows, fewer
    than ``n_splits``, are never hidden.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from curplus.estimators import CURImputer, HiddenEntries
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 8)) + 0.1 * rng.standard_normal((60, 8))
    >>> X[rng.random(X.shape) < 0.2] = np.nan
    >>> folds = HiddenEntries(n_splits=2)
    >>> search = GridSearchCV(CURImputer(), {"n_components": [1, 2]}, cv=folds, scoring=folds.score).fit(X)
    >>> search.best_params_["n_components"] > 1
    True
    """

    n_splits: int = 5
    standardize: bool = field(default=True, kw_only=True)
    random_state: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        check_count(self.n_splits, name="n_splits", at_least=2)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds.

        Parameters
        ----------
        X, y, groups : object
            Ignored.

        Returns
        -------
        int
        """
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[IndexVector, IndexVector]]:
        """All rows for the fit and all rows for the score, in an order that differs from fold to fold.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The table.
        y, groups : object
            Ignored.

        Yields
        ------
        train, test : array of shape (n_samples,)
            The same positions.
        """
        order = np.random.default_rng(self.random_state).permutation(_num_samples(X))
        n_moved = len(order) - len(order) % self.n_splits
        for fold in range(self.n_splits):
            rows = np.concatenate([np.roll(order[:n_moved], fold), order[n_moved:]])
            yield rows, rows

    def score(self, imputer: Any, X: Any, y: Any = None) -> float:
        """Minus the root mean square error at hidden entries, for ``scoring=``; larger is better.

        Parameters
        ----------
        imputer : estimator
            A copy of it is fitted to the table with entries hidden.
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The table, in the order of a fold.
        y : object
            Ignored.

        Returns
        -------
        float
        """
        marker = imputer.get_params().get("missing_values", np.nan)
        table = _numbers(X, marker)
        n, m = table.shape
        start = np.random.default_rng(self.random_state).integers(self.n_splits, size=m)
        known = ~np.isnan(table)
        hidden = known & ((np.arange(n)[:, None] + start) % self.n_splits == 0)
        hidden[n - n % self.n_splits :] = False
        hidden &= known.sum(axis=0) > hidden.sum(axis=0)
        if not hidden.any():
            raise InvalidArgumentError(
                f"no entry of this table of shape {table.shape} can be hidden: it has fewer than n_splits="
                f"{self.n_splits} rows, or at most one known value in each column. Use fewer splits or a larger table."
            )
        fitted, (i, j) = clone(imputer), np.nonzero(hidden)
        filled = np.asarray(fitted.fit_transform(_like(X, np.where(hidden, np.nan, table), marker)), dtype=np.float64)
        errors = filled[i, _places(fitted, np.unique(j), m)[j]] - table[i, j]
        if self.standardize:
            variances = Columns.of(table).variances
            errors = errors / np.sqrt(np.where(variances > 0, variances, 1.0))[j]
        return -float(np.sqrt(np.mean(errors**2)))


def _numbers(X: Any, marker: Any) -> FloatArray:
    """The table with NaN at gaps."""
    check_columns_are_numbers(X)
    finite = "allow-nan" if is_nan(marker) else True
    values = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=finite)
    return np.asarray(dense_with_gaps(with_gaps(values, marker)))


def _like(X: Any, table: FloatArray, marker: Any) -> Any:
    """A table with NaN at gaps as the same kind of table as X."""
    if scipy.sparse.issparse(X):
        known = np.nonzero(~np.isnan(table))
        return scipy.sparse.csr_array((table[known], known), shape=table.shape)
    return like_table(X, table if is_nan(marker) else np.where(np.isnan(table), marker, table))


def _places(fitted: Any, needed: IndexVector, m: int) -> IndexVector:
    """Where each column of the table stands in the filled one, which may lack empty ones and have indicators."""
    names = [str(name) for name in getattr(fitted, "feature_names_in_", [f"x{k}" for k in range(m)])]
    given = {str(name): k for k, name in enumerate(fitted.get_feature_names_out())}
    lost = [names[k] for k in needed if names[k] not in given]
    if lost:
        raise InvalidArgumentError(
            f"the filled table has no column {lost[0]!r}, in which values were hidden, so they cannot be compared. "
            "Score an imputer that keeps the columns and their names."
        )
    return np.asarray([given.get(name, -1) for name in names], dtype=np.int64)
