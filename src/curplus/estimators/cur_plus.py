"""CUR+ as a transformer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..factorization import Factorization
from ..methods import cur_plus
from ..observation import Observation, SampleCounts, observe
from ._base import SampledTransformer

__all__ = ["CURPlus"]


@dataclass(eq=False, repr=False, kw_only=True)
class CURPlus(SampledTransformer):
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
        How to solve for the core: a name in :data:`curplus.solvers.SOLVERS`.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Seed of the draw.

    Attributes
    ----------
    approximation_ : Factorization
        The CUR+ approximation of the training matrix, with its C U R form and diagnostics.
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
    >>> from curplus.estimators import CURPlus
    >>> X = load_digits().data
    >>> model = CURPlus(n_components=10, random_state=0).fit(X)
    >>> model.transform(X).shape
    (1797, 10)
    """

    solver: str = "auto"

    def _read(self, X: Any, counts: SampleCounts) -> Observation:
        return observe(X, **counts._asdict(), rng=self._rng())

    def _approximate(self, observation: Observation, rank: int) -> Factorization:
        return cur_plus(observation, rank, solver=self.solver)
