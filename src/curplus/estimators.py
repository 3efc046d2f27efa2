"""The scikit-learn face: the only module that imports scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.extmath import svd_flip
from sklearn.utils.validation import check_is_fitted, validate_data

from ._typing import IndexVector, Matrix, Names, RandomState
from ._validation import check_count
from .acquisition import acquire
from .approximation import approximate
from .decompose import cur_plus
from .factorization import Factorization
from .observation import Observation, observe
from .sampling import Counts, default_counts

__all__ = ["CUR", "CURPlus"]


class _SampledTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What both estimators share: read parts of X, approximate it, and project on its right singular vectors."""

    n_components: int | None
    n_columns: int | None
    n_rows: int | None
    n_entries: int | None
    random_state: RandomState | np.random.RandomState

    def _read(self, X: Any, counts: Counts) -> Observation:
        raise AssertionError("each estimator has its own")

    def _approximate(self, observation: Observation, rank: int) -> Factorization:
        raise AssertionError("each estimator has its own")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Read parts of X and learn the components.

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
        X = self._checked(X, reset=True)
        n, m = X.shape
        rank = min(10, n, m) if self.n_components is None else self.n_components
        rank = check_count(rank, name="n_components", at_least=1, at_most=min(n, m), of="rows or columns")
        asked = (self.n_columns, self.n_rows, self.n_entries)
        counts = Counts(*(d if a is None else a for a, d in zip(asked, default_counts((n, m), rank), strict=True)))
        observation = self._read(X, counts)
        self.approximation_ = self._approximate(observation, rank)
        U, self.singular_values_, Vt = self.approximation_.svd()
        self.components_ = svd_flip(U, Vt, u_based_decision=False)[1]
        self.column_index_: IndexVector = observation.column_index
        self.row_index_: IndexVector = observation.row_index
        names = getattr(self, "feature_names_in_", np.arange(m))
        self.column_names_: Names = names[self.column_index_]
        return self

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
            Samples, new ones for an honest score.
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
        formats = ("csr", "csc", "coo")
        return validate_data(self, X, reset=reset, accept_sparse=formats, dtype=(np.float64, np.float32))

    def _seed(self) -> RandomState:
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31))
        return self.random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class CURPlus(_SampledTransformer):
    r"""Dimension reduction by CUR+: a low-rank basis from a few samples, a few features and scattered entries.

    Fitting reads ``n_columns`` features, ``n_rows`` samples and ``n_entries`` single values of X, drawn uniformly at
    random, and nothing else. The components are the right singular vectors of the CUR+ approximation.

    Parameters
    ----------
    n_components : int, optional
        Target rank :math:`r`; by default 10, or the smaller side of X if that is less.
    n_columns, n_rows : int, optional
        How many features and samples to read whole; by default ``5 * n_components`` each, or all there are.
    n_entries : int, optional
        How many scattered entries to read; by default ``20 * n_components**2``, or all there are.
    solver : str, default "auto"
        How to solve for the core: a name in :data:`curplus.SOLVERS` or ``"auto"``.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Seed of the draw.

    Attributes
    ----------
    approximation_ : Factorization
        The CUR+ answer for the training matrix, with its C U R form and diagnostics.
    components_ : array of shape (k, n_features)
        Orthonormal right singular vectors; k is ``n_components``, or less if the samples span less.
    singular_values_ : array of shape (k,)
        Singular values of the approximation.
    column_index_, row_index_ : array
        Which features and samples were read whole.
    column_names_ : array
        Names of those features, or their positions if X has no feature names.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X has string column names.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from curplus.estimators import CURPlus
    >>> X = load_digits().data
    >>> model = CURPlus(n_components=10, random_state=0).fit(X)
    >>> model.transform(X).shape
    (1797, 10)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_columns: int | None = None,
        n_rows: int | None = None,
        n_entries: int | None = None,
        solver: str = "auto",
        random_state: RandomState | np.random.RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_columns = n_columns
        self.n_rows = n_rows
        self.n_entries = n_entries
        self.solver = solver
        self.random_state = random_state

    def _read(self, X: Any, counts: Counts) -> Observation:
        return observe(X, **counts._asdict(), rng=self._seed())

    def _approximate(self, observation: Observation, rank: int) -> Factorization:
        return cur_plus(observation, rank, solver=self.solver)


class CUR(_SampledTransformer):
    r"""Dimension reduction from a few samples, a few features and scattered entries, chosen well: the recommended one.

    Fitting reads ``n_columns`` features, ``n_rows`` samples and ``n_entries`` single values of X, chosen in rounds by
    :func:`curplus.acquire`, and nothing else. The components are the right singular vectors of the answer of
    :func:`curplus.approximate`.

    Parameters
    ----------
    n_components : int, optional
        Target rank :math:`r`; by default 10, or the smaller side of X if that is less.
    n_columns, n_rows : int, optional
        How many features and samples to read whole; by default ``5 * n_components`` each, or all there are.
    n_entries : int, optional
        How many scattered entries to read; by default ``20 * n_components**2``, or all there are.
    strategy : str, default "auto"
        How to choose what to read: a name that :func:`curplus.acquire` knows.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Seed of the draw.

    Attributes
    ----------
    approximation_ : Factorization
        The answer for the training matrix, with what was chosen and why.
    components_ : array of shape (k, n_features)
        Orthonormal right singular vectors; k is ``n_components``, or less if the samples span less.
    singular_values_ : array of shape (k,)
        Singular values of the approximation.
    column_index_, row_index_ : array
        Which features and samples were read whole.
    column_names_ : array
        Names of those features, or their positions if X has no feature names.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X has string column names.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from curplus.estimators import CUR
    >>> X = load_digits().data
    >>> model = CUR(n_components=10, random_state=0).fit(X)
    >>> model.transform(X).shape
    (1797, 10)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_columns: int | None = None,
        n_rows: int | None = None,
        n_entries: int | None = None,
        strategy: str = "auto",
        random_state: RandomState | np.random.RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_columns = n_columns
        self.n_rows = n_rows
        self.n_entries = n_entries
        self.strategy = strategy
        self.random_state = random_state

    def _read(self, X: Any, counts: Counts) -> Observation:
        return acquire(X, **counts._asdict(), strategy=self.strategy, rng=self._seed())

    def _approximate(self, observation: Observation, rank: int) -> Factorization:
        return approximate(observation, rank)
