"""What the estimators share: read parts of X, approximate it, and project on its leading directions."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.extmath import svd_flip
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from .._typing import IndexVector, Matrix, Names, RandomState
from .._validation import check_count
from ..exceptions import InvalidArgumentError
from ..factorization import Factorization
from ..observation import Observation, SampleCounts, default_counts
from ..observation.plan import DEFAULT_RANK
from ..sources.anndata import is_anndata, matrix_of
from .components import Components

__all__ = ["Estimator", "SampledTransformer"]

FORMATS = ("csr", "csc", "coo")


class Estimator(TransformerMixin, BaseEstimator):
    """What all estimators share: they learn from a table, in its precision. Each is a dataclass of its options."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Training data.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    def _fit(self, X: Any) -> Any:
        raise AssertionError("each estimator has its own")

    def _rng(self) -> RandomState:
        """What scikit-learn calls a random state, as the library takes it."""
        state: Any = self.random_state
        return int(state.randint(2**31)) if isinstance(state, np.random.RandomState) else state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(eq=False, repr=False)
class SampledTransformer(ClassNamePrefixFeaturesOutMixin, Estimator):
    """Read parts of X, approximate it, and project on its leading directions."""

    n_components: int | None = None
    _: KW_ONLY
    n_columns: int | None = None
    n_rows: int | None = None
    n_entries: int | None = None
    random_state: RandomState | np.random.RandomState = None

    def _read(self, X: Any, counts: SampleCounts) -> Observation:
        raise AssertionError("each estimator has its own")

    def _approximate(self, observation: Observation, rank: int) -> Factorization:
        raise AssertionError("each estimator has its own")

    def _fit(self, X: Any) -> None:
        X = self._checked(X, reset=True)
        n, m = X.shape
        rank = min(DEFAULT_RANK, n, m) if self.n_components is None else self.n_components
        rank = check_count(rank, name="n_components", at_least=1, at_most=min(n, m), of="rows or columns")
        asked = zip((self.n_columns, self.n_rows, self.n_entries), default_counts((n, m), rank), strict=True)
        counts = SampleCounts(*(default if count is None else count for count, default in asked))
        observation = self._read(X, counts)
        self.approximation_ = self._named(self._approximate(observation, rank))
        s, vectors = self._components(observation, rank)
        self.singular_values_ = s.astype(X.dtype, copy=False)
        self.components_ = vectors.astype(X.dtype, copy=False)
        self._remember_picks(observation)
        names = getattr(self, "feature_names_in_", np.arange(m))
        self.column_names_: Names = names[self.column_index_]

    def _named(self, approximation: Factorization) -> Factorization:
        """The approximation with the names of the features, if there are any."""
        names = getattr(self, "feature_names_in_", None)
        return approximation if names is None else replace(approximation, column_names=np.asarray(names, dtype=str))

    def _components(self, _observation: Observation, _rank: int) -> Components:
        """Directions of the samples: the right singular vectors of the approximation."""
        U, s, Vt = self.approximation_.svd()
        return Components(s, svd_flip(U, Vt, u_based_decision=False)[1])

    def _remember_picks(self, observation: Observation) -> None:
        self.column_index_: IndexVector = observation.column_index
        self.row_index_: IndexVector = observation.row_index

    def transform(self, X: Any) -> Matrix:
        """Coordinates of new samples in the learnt components.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Samples, with every feature.

        Returns
        -------
        array of shape (n_samples, k)
        """
        check_is_fitted(self)
        return self._checked(X, reset=False) @ self.components_.T

    def inverse_transform(self, X: Any) -> Matrix:
        """Samples from their coordinates.

        Parameters
        ----------
        X : array of shape (n_samples, k)
            Coordinates.

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return np.asarray(X) @ self.components_

    def score(self, X: Any, y: Any = None) -> float:
        r"""Share of the sum of squares of X that the components capture, between 0 and 1.

        .. math:: 1 - \|X - X V V^\top\|_F^2 / \|X\|_F^2

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Samples; new ones, for a score that is not too high.
        y : None
            Ignored.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        total = float((X.multiply(X) if hasattr(X, "multiply") else X**2).sum())
        return float(np.sum((X @ self.components_.T) ** 2)) / total if total else 1.0

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def _checked(self, X: Any, *, reset: bool) -> Any:
        if is_anndata(X):
            return self._checked_annotated(X, reset=reset)
        return validate_data(self, X, reset=reset, accept_sparse=FORMATS, dtype=(np.float64, np.float32))

    def _checked_annotated(self, X: Any, *, reset: bool) -> Any:
        """The matrix of an AnnData object; its variables are the features."""
        names = np.asarray(X.var_names, dtype=object)
        if not reset and not np.array_equal(names, getattr(self, "feature_names_in_", names)):
            raise InvalidArgumentError(
                "the AnnData object has other variables than the one of the fit, or in another order. Give the same: "
                "adata[:, model.feature_names_in_]."
            )
        matrix = matrix_of(X.to_memory() if X.isbacked else X)
        matrix = check_array(matrix, accept_sparse=FORMATS, dtype=(np.float64, np.float32), estimator=self)
        if reset:
            self.n_features_in_, self.feature_names_in_ = matrix.shape[1], names
        return matrix

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
