"""The recommended transformer: it chooses rows, columns and entries, and uses everything that was read."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import RandomState
from ..acquisition import acquire
from ..factorization import Factorization
from ..methods import approximate
from ..observation import Observation, SampleCounts
from ._base import SampledTransformer

__all__ = ["CUR"]


class CUR(SampledTransformer):
    r"""Dimension reduction from a few samples, features and scattered entries that are chosen: the recommended one.

    Fitting reads ``n_columns`` features, ``n_rows`` samples and ``n_entries`` single values of X, chosen in rounds by
    :func:`curplus.acquire`, and nothing else. The components are the right singular vectors of the approximation
    by :func:`curplus.approximate`.

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
        The approximation of the training matrix, with a report of what was chosen and why.
    components_ : array of shape (k, n_features)
        Orthonormal right singular vectors; k is ``n_components``, or less if the samples span less.
    singular_values_ : array of shape (k,)
        Singular values of the approximation.
    column_index_, row_index_ : array
        Which features and samples were read whole.
    column_names_ : array
        Names of those features, or their positions if X has no feature names.
    n_features_in_ : int
        Number of features in fit.
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

    def _read(self, X: Any, counts: SampleCounts) -> Observation:
        return acquire(X, **counts._asdict(), strategy=self.strategy, rng=self._seed())

    def _approximate(self, observation: Observation, rank: int) -> Factorization:
        return approximate(observation, rank)
