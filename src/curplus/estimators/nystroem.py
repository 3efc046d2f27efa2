"""Features whose inner products are a kernel, from few columns of it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.extmath import svd_flip
from sklearn.utils.validation import check_is_fitted, validate_data

from .._arrays import to_numpy
from .._sets import NO_INDEX
from .._typing import FloatArray, IndexVector, Matrix, RandomState
from .._validation import check_count, check_index, random_generator
from ..acquisition.cholesky import PSD_STRATEGIES, propose_psd
from ..acquisition.propose import seed_of
from ..exceptions import InvalidArgumentError
from ..factorization.nystroem import Nystroem, nystroem_of
from ..observation import Observation, SamplePlan, read
from ..observation.symmetry import PSD, promised
from ._kernels import Kernel, KernelSource, known_in_either_place

__all__ = ["CURNystroem"]

PRECOMPUTED = "precomputed"


class CURNystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Features whose inner products approximate a kernel, from a few well-chosen points.

    As scikit-learn's ``Nystroem``, with landmarks that are chosen by what is left of the diagonal of the kernel,
    instead of drawn uniformly. This finds small groups of points far from the others, and needs fewer landmarks for the
    same error. The kernel matrix is never formed: its diagonal, the columns of the landmarks and few other values are
    computed.

    Parameters
    ----------
    kernel : str, callable or "precomputed", default "rbf"
        A name that ``sklearn.metrics.pairwise.pairwise_kernels`` knows, or a function of two points that returns a
        number. With ``"precomputed"``, X is the kernel matrix: an array in which NaN stands for what is not known, or
        an :class:`~curplus.Observation`. A value that is known in one place is known in the mirrored place.
    gamma, coef0, degree : float, optional
        Parameters of kernels that have a name, as in scikit-learn.
    kernel_params : dict, optional
        Further parameters of the kernel.
    n_components : int, default 100
        Most landmarks, and most features.
    strategy : {"auto", "rpcholesky", "uniform"} or array of positions, default "auto"
        How to choose landmarks, as in :func:`curplus.acquire` for PSD matrices. Positions are those of the landmarks.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Seed of the choice.

    Attributes
    ----------
    components_ : array or sparse matrix of shape (d, n_features)
        The landmarks; with a precomputed kernel, the kernels of the landmarks and all points.
    component_indices_ : array of shape (d,)
        Which of the training points they are.
    normalization_ : array of shape (k, d)
        Features are the kernels of a point and the landmarks, times the transpose of this. Features come in the order
        of their sums of squares on the training points, and are orthogonal there.
    trace_share_ : float
        Share of the trace of the kernel matrix of the training points that the features leave: exact, between 0 and 1.
        NaN where the diagonal is not known.
    n_features_in_ : int
        Number of features in fit.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X has string column names.

    Notes
    -----
    There are fewer landmarks than ``n_components`` where nothing but rounding is left of the diagonal: further ones
    would add nothing. Of a precomputed kernel that is partly known, points are landmarks if all of their kernels are
    known; the diagonal must be known. All columns of an Observation are landmarks, and there are at most
    ``n_components`` features.

    A kernel must be positive semidefinite; a matrix that is seen not to be is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from curplus.estimators import CURNystroem
    >>> X = load_digits().data / 16
    >>> model = CURNystroem(gamma=0.05, n_components=50, random_state=0)
    >>> features = model.fit_transform(X)
    >>> features.shape
    (1797, 50)
    >>> bool(np.isclose(model.trace_share_, 1 - np.sum(features**2) / len(X)))
    True
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        strategy: Any = "auto",
        random_state: RandomState | np.random.RandomState = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.strategy = strategy
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose landmarks and learn the features.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Training points; with a precomputed kernel, the matrix of shape (n_samples, n_samples).
        y : None
            Ignored.

        Returns
        -------
        self
        """
        n_components = check_count(self.n_components, name="n_components", at_least=1)
        if isinstance(X, Observation):
            self._fit_observation(X, n_components)
            return self
        X = self._checked(X, reset=True)
        if self._is_precomputed:
            K = known_in_either_place(X)
            seen = self._read(K, n_components, np.flatnonzero(~np.isnan(K).any(axis=0)))
        else:
            seen = self._read(KernelSource(X, self._kernel()), n_components, np.arange(X.shape[0]))
        self._remember(nystroem_of(seen), n_components, X.dtype)
        self.components_ = X[self.component_indices_]
        return self

    def transform(self, X: Any) -> Matrix:
        """Features of points, from their kernels with the landmarks alone.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Points; with a precomputed kernel, the kernels of these and all training points, of which those with the
            landmarks must be known.

        Returns
        -------
        array of shape (n_samples, k)
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if not self._is_precomputed:
            kernels = self._kernel().between(X, self.components_)
        else:
            kernels = X[:, self.component_indices_]
            if np.isnan(kernels).any():
                raise InvalidArgumentError(
                    "some kernels of these points and the landmarks (component_indices_) are NaN. Features are made of "
                    "them, so they must be known."
                )
        return (kernels @ self.normalization_.T).astype(self.normalization_.dtype, copy=False)

    @property
    def _n_features_out(self) -> int:
        return int(self.normalization_.shape[0])

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == PRECOMPUTED

    def _kernel(self) -> Kernel:
        own = {"gamma": self.gamma, "coef0": self.coef0, "degree": self.degree}
        return Kernel(self.kernel, own, self.kernel_params)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        how: dict[str, Any] = {"accept_sparse": "csr"}
        if self._is_precomputed:
            how = {"ensure_all_finite": "allow-nan"}
        return validate_data(self, X, reset=reset, dtype=(np.float64, np.float32), **how)

    def _read(self, source: Any, n_components: int, candidates: IndexVector) -> Observation:
        """The diagonal, and the columns of landmarks that are chosen among the candidates."""
        n = int(source.shape[0])
        seen = Observation(shape=(n, n), symmetry=PSD)
        if not isinstance(self.strategy, str):
            index = check_index(self.strategy, n, name="strategy")
            return read(source, SamplePlan((n, n), index, NO_INDEX, np.arange(n), np.arange(n)), known=seen).extend(
                seen
            )
        if self.strategy not in PSD_STRATEGIES:
            raise InvalidArgumentError(
                f"strategy={self.strategy!r} is unknown. Use one of {', '.join(map(repr, PSD_STRATEGIES))}, or give "
                "the positions of the landmarks."
            )
        if not len(candidates):
            raise InvalidArgumentError("no point has all of its kernels known, and a landmark needs them.")
        total, seed = min(n_components, len(candidates)), seed_of(self._seed())
        how: dict[str, Any] = {"strategy": self.strategy, "candidates": candidates, "seed": seed}
        while (plan := propose_psd(seen, total, **how)) is not None:
            seen = seen.extend(read(source, plan, known=seen))
        if not seen.n_columns:  # the kernel is zero, and so is its feature
            first = SamplePlan((n, n), candidates[:1], NO_INDEX, NO_INDEX, NO_INDEX)
            seen = seen.extend(read(source, first, known=seen))
        return seen

    def _fit_observation(self, observation: Observation, n_components: int) -> None:
        if not self._is_precomputed:
            raise InvalidArgumentError(f"X is an Observation, of a kernel matrix. Use kernel={PRECOMPUTED!r} for it.")
        seen = promised(observation, PSD)
        if seen.has_gaps or not seen.n_columns + seen.n_rows:
            raise InvalidArgumentError(f"landmarks are complete columns of the kernel, and {seen!r} has none.")
        self.n_features_in_ = seen.shape[0]
        found = nystroem_of(seen)
        self._remember(found, n_components, np.float64)
        self.components_ = to_numpy(found.columns).T

    def _remember(self, found: Nystroem, n_components: int, dtype: Any) -> None:
        """The features, as combinations of the columns of the landmarks."""
        P, s, Qt = np.linalg.svd(to_numpy(found.factor), full_matrices=False)
        Qt = svd_flip(P, Qt)[1][:n_components]
        none: FloatArray = np.zeros((1, len(found.column_index)))
        mixing = Qt @ found.coefficients.T if len(s) else none
        self.normalization_ = mixing.astype(dtype, copy=False)
        self.component_indices_ = found.column_index
        left, whole = np.sum(found.residual) + np.sum(s[n_components:] ** 2), np.sum(found.diagonal)
        self.trace_share_ = float(np.clip(left / whole, 0.0, 1.0)) if whole else 0.0

    def _seed(self) -> RandomState:
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31))
        random_generator(self.random_state)
        return self.random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._is_precomputed
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.allow_nan = self._is_precomputed
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
