"""Features whose inner products are a kernel, from few columns of it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn import get_config
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._arrays import array_namespace, device, host_kind, is_array_api_obj, to_device, to_numpy
from .._support.sets import NO_INDEX
from .._typing import FloatArray, IndexVector, Matrix, RandomState
from .._validation import check_count, check_index, check_share
from ..acquisition.propose import seed_of
from ..acquisition.psd import PSD_STRATEGIES, propose_psd
from ..exceptions import InvalidArgumentError
from ..factorization.nystroem import Nystroem, nystroem_of
from ..observation import Observation, SamplePlan, read
from ..observation.symmetry import PSD, promised
from ._base import Estimator
from ._kernels import Kernel, KernelSource, known_in_either_place, points_at

__all__ = ["CURNystroem"]

PRECOMPUTED = "precomputed"


@dataclass(eq=False, repr=False)
class CURNystroem(ClassNamePrefixFeaturesOutMixin, Estimator):
    r"""Features whose inner products approximate a kernel, from a few well-chosen points.

    As scikit-learn's ``Nystroem``, with landmarks that are chosen by the residual of the diagonal of the kernel,
    instead of drawn uniformly. This finds small groups of points far from the others, and needs fewer landmarks for the
    same error. The kernel matrix is never formed: its diagonal, the columns of the landmarks and few other values are
    computed.

    Parameters
    ----------
    kernel : str, callable or "precomputed", default "rbf"
        A name that ``sklearn.metrics.pairwise.pairwise_kernels`` takes, or a function of two points that returns a
        number. With ``"precomputed"``, X is the kernel matrix: an array in which NaN stands for unknown values, or
        an :class:`~curplus.Observation`. A value that is known in one place is used in the mirrored place too.
    gamma, coef0, degree : float, optional
        Parameters of kernels that have a name, as in scikit-learn.
    kernel_params : dict, optional
        Further parameters of the kernel.
    n_components : int or None, default 100
        Most landmarks, and most features. With ``tol``, None stands for as many as that takes.
    tol : float, optional
        Landmarks are added, about a seventh more at a time, until the features leave no more than this share of the
        trace. It is exact, so the number of landmarks follows from the data.
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
        NaN if the diagonal is not known.
    n_features_in_ : int
        Number of features in fit.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X has string column names.

    Notes
    -----
    There are fewer landmarks than ``n_components`` if nothing but rounding is left of the diagonal: more would add
    nothing. Of a precomputed kernel that is partly known, points are landmarks if all of their kernels are
    known; the diagonal must be known. All columns of an Observation are landmarks, and there are at most
    ``n_components`` features.

    Arrays of other libraries, on a GPU too, are taken as they are if scikit-learn's array API dispatch is switched
    on (``array_api_dispatch``) and the kernel supports it; landmarks and features are then arrays of that library.

    A kernel must be positive semidefinite; a matrix that clearly is not is refused.

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

    kernel: Any = "rbf"
    _: KW_ONLY
    gamma: float | None = None
    coef0: float | None = None
    degree: float | None = None
    kernel_params: dict[str, Any] | None = None
    n_components: int | None = 100
    tol: float | None = None
    strategy: Any = "auto"
    random_state: RandomState | np.random.RandomState = None

    def _fit(self, X: Any) -> None:
        self._check_counts(X)
        if isinstance(X, Observation):
            self._fit_observation(X)
            return
        X = self._checked(X, reset=True)
        if self._is_precomputed:
            K = known_in_either_place(X)
            xp = array_namespace(K)
            seen = self._read(K, np.flatnonzero(~to_numpy(xp.any(xp.isnan(K), axis=0))))
        else:
            seen = self._read(KernelSource(X, self._kernel()), np.arange(X.shape[0]))
        self._remember(nystroem_of(seen), X)
        self.components_ = points_at(X, to_numpy(self.component_indices_))

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
        self._check_library(X)
        if not self._is_precomputed:
            kernels = self._kernel().between(X, self.components_)
        else:
            kernels = points_at(X.T, to_numpy(self.component_indices_)).T
            xp = array_namespace(kernels)
            if xp.any(xp.isnan(kernels)):
                raise InvalidArgumentError(
                    "some kernels of these points and the landmarks (component_indices_) are NaN. Features are made of "
                    "them, so they must be known."
                )
        kind = self.normalization_.dtype
        return array_namespace(kernels).astype(kernels @ self.normalization_.T, kind, copy=False)

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
        xp = array_namespace(X) if get_config()["array_api_dispatch"] and is_array_api_obj(X) else np
        return validate_data(self, X, reset=reset, dtype=(xp.float64, xp.float32), **how)

    def _check_library(self, X: Any) -> None:
        """That points are arrays of the library, and on the device, of those in fit."""
        fitted, own = self.normalization_, np.empty(0) if scipy.sparse.issparse(X) else X
        if array_namespace(fitted) is not array_namespace(own) or device(fitted) != device(own):
            raise InvalidArgumentError(
                "Inputs passed to CURNystroem.transform() must use the same namespace and the same device as those "
                f"passed to fit(). Got a {type(own).__name__} on {device(own)} and fit() had a "
                f"{type(fitted).__name__} on {device(fitted)}. Convert the points."
            )

    def _check_counts(self, X: Any) -> None:
        if self.n_components is not None or self.tol is None:
            check_count(self.n_components, name="n_components", at_least=1)
        if self.tol is not None:
            check_share(self.tol, name="tol")
            if isinstance(X, Observation) or not isinstance(self.strategy, str):
                raise InvalidArgumentError(
                    f"tol={self.tol:g} decides how many landmarks to choose, and they are given already. Leave tol out."
                )

    def _read(self, source: Any, candidates: IndexVector) -> Observation:
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
        most = min(self.n_components or n, len(candidates))
        seed = seed_of(self._rng())
        how: dict[str, Any] = {"strategy": self.strategy, "candidates": candidates, "seed": seed}
        while not self._is_close(seen):
            total = most if self.tol is None else min(most, seen.n_columns * 9 // 8 + 8)
            plan = propose_psd(seen, total, **how)
            if plan is None:
                break
            seen = seen.extend(read(source, plan, known=seen))
        if not seen.n_columns:  # the kernel is zero, and so is its feature
            first = SamplePlan((n, n), candidates[:1], NO_INDEX, NO_INDEX, NO_INDEX)
            seen = seen.extend(read(source, first, known=seen))
        return seen

    def _is_close(self, seen: Observation) -> bool:
        """Whether the columns leave no more of the trace than the tolerance."""
        if self.tol is None or not seen.n_columns:
            return False
        found = nystroem_of(seen)
        return bool(np.sum(found.residual) <= self.tol * np.sum(found.diagonal))

    def _fit_observation(self, observation: Observation) -> None:
        if not self._is_precomputed:
            raise InvalidArgumentError(f"X is an Observation, of a kernel matrix. Use kernel={PRECOMPUTED!r} for it.")
        seen = promised(observation, PSD)
        if seen.has_gaps or not seen.n_columns + seen.n_rows:
            raise InvalidArgumentError(f"landmarks are complete columns of the kernel, and {seen!r} has none.")
        self.n_features_in_ = seen.shape[0]
        found = nystroem_of(seen)
        self._remember(found, np.empty(0))
        self.components_ = to_numpy(found.columns).T

    def _remember(self, found: Nystroem, X: Any) -> None:
        """The features, as combinations of the columns of the landmarks, in the library and type of X."""
        R = to_numpy(array_namespace(found.factor).linalg.qr(found.factor)[1])
        _, s, Qt = np.linalg.svd(R)
        kept = min(self.n_components or len(s), len(s))
        mixing = _with_signs(Qt[:kept]) @ found.coefficients.T if kept else np.zeros((1, len(found.column_index)))
        is_sparse = scipy.sparse.issparse(X)
        mixing = np.ascontiguousarray(mixing, dtype=X.dtype if is_sparse else host_kind(X))
        self.normalization_ = mixing if is_sparse else to_device(mixing, X)
        self.component_indices_ = found.column_index if is_sparse else to_device(found.column_index, X)
        left, whole = np.sum(found.residual) + np.sum(s[kept:] ** 2), np.sum(found.diagonal)
        self.trace_share_ = float(np.clip(left / whole, 0.0, 1.0)) if whole else 0.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        tags.input_tags.sparse = not self._is_precomputed
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.allow_nan = self._is_precomputed
        return tags


def _with_signs(rows: FloatArray) -> FloatArray:
    """Rows whose largest number is positive, so that they do not depend on the library that found them."""
    largest = np.take_along_axis(rows, np.argmax(np.abs(rows), axis=1, keepdims=True), axis=1)
    return np.asarray(rows * np.sign(largest))
