"""The recommended transformer: it chooses what to read, and reports which features and samples matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..acquisition import acquire
from ..factorization import Factorization
from ..methods import approximate
from ..observation import Observation, SampleCounts
from ._base import SampledTransformer
from .components import Components, mean_components, read_samples_then_features

__all__ = ["CUR"]


@dataclass(eq=False, repr=False, kw_only=True)
class CUR(SampledTransformer):
    r"""Dimension reduction from a few samples, features and scattered entries: the recommended one.

    Fitting reads ``n_rows`` samples, ``n_columns`` features and ``n_entries`` single values of X, and nothing else.
    The samples are drawn uniformly, the features are chosen by these samples. The training data are
    approximated by :func:`curplus.approximate`, as C U R: features and samples that were read, with a small matrix
    between them. The components are the leading directions of the free approximation and of the samples that were
    read, taken together.

    Parameters
    ----------
    n_components : int, optional
        Target rank :math:`r`; by default 10, or the smaller side of X if that is less.
    n_columns, n_rows : int, optional
        How many features and samples to read whole; by default ``5 * n_components`` each, or all there are.
    n_entries : int, optional
        How many scattered entries to read; by default ``20 * n_components**2``, or all there are.
    form : {"cur", "free"}, default "cur"
        Whether the approximation is made of the features and samples that were read. A free one is a little closer to
        X, and has neither C, U, R nor an order of merit. The components do not depend on it.
    strategy : str, default "auto"
        How to choose what to read: ``"auto"`` as above, or another name that :func:`curplus.acquire` takes, which then
        chooses both samples and features. Components of chosen samples are those of the approximation alone.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Seed of the draw.

    Attributes
    ----------
    approximation_ : Factorization
        The approximation of the training matrix, with a report of what was chosen and why. Its function ``cur()``
        gives C, U and R.
    importance_ : Importance
        How much of the approximation each of the features (columns) and samples (rows) that were read explains, in
        their order of merit; only with ``form="cur"``.
    components_ : array of shape (k, n_features)
        Orthonormal directions; k is ``n_components``, or less if the samples span less.
    singular_values_ : array of shape (k,)
        Estimates of the singular values of X.
    column_index_, row_index_ : array
        Which features and samples were read whole: in their order of merit, or with ``form="free"`` as they were read.
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
    >>> X = load_digits().data[:200]
    >>> model = CUR(n_components=10, random_state=0).fit(X)
    >>> model.transform(X).shape
    (200, 10)
    >>> C, U, R, *_ = model.approximation_.cur()
    >>> C.shape, U.shape, R.shape
    ((200, 50), (50, 50), (50, 64))
    """

    form: str = "cur"
    strategy: str = "auto"

    def _read(self, X: Any, counts: SampleCounts) -> Observation:
        if self.strategy == "auto" and counts.n_rows:
            return read_samples_then_features(X, counts, self._rng())
        return acquire(X, **counts._asdict(), strategy=self.strategy, rng=self._rng())

    def _approximate(self, observation: Observation, rank: int) -> Factorization:
        return approximate(observation, rank, form=self.form)

    def _components(self, observation: Observation, rank: int) -> Components:
        free = self.approximation_ if self.form == "free" else approximate(observation, rank)
        return mean_components(free, observation, rank)

    def _remember_picks(self, observation: Observation) -> None:
        super()._remember_picks(observation)
        if self.form == "cur":
            self.importance_ = self.approximation_.importance()
            self.column_index_ = self.importance_.columns.index
            self.row_index_ = self.importance_.rows.index
