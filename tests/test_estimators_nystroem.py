import os
import subprocess
import sys
import warnings

import array_api_strict
import numpy as np
import pytest
import scipy.sparse
from sklearn import config_context
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import curplus
from curplus import Observation
from curplus.estimators import CURNystroem, _kernels
from curplus.exceptions import InconsistentObservationError, InvalidArgumentError
from tests.conftest import effort

GAMMA = 0.05


@parametrize_with_checks(
    [CURNystroem(), *effort([], [CURNystroem(n_components=3, strategy="uniform"), CURNystroem("linear")])]
)
def test_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    return load_digits().data[:400] / 16


def gram(features):
    return features @ features.T


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array, lambda X: X.astype(np.float32)])
def test_is_the_nystroem_approximation_from_the_landmarks(digits, kind):
    X = kind(digits)
    model = CURNystroem(gamma=GAMMA, n_components=30, random_state=0)
    features = model.fit_transform(X)
    K = rbf_kernel(digits, gamma=GAMMA)
    C = K[:, model.component_indices_]
    expected = C @ np.linalg.pinv(C[model.component_indices_], hermitian=True) @ C.T
    tol = 2e-3 if features.dtype == np.float32 else 1e-9
    assert features.dtype == X.dtype
    np.testing.assert_allclose(gram(features), expected, atol=tol)
    assert model.trace_share_ == pytest.approx(np.trace(K - expected) / len(K), abs=tol)
    squares = features.T @ features
    np.testing.assert_allclose(squares, np.diag(np.diag(squares)), atol=tol * 400)
    assert (np.diff(np.diag(squares)) <= tol).all()
    np.testing.assert_allclose(model.transform(X[:7]), features[:7], atol=tol)


def test_with_the_same_landmarks_it_is_the_kernel_of_scikit_learn(digits):
    theirs = Nystroem(gamma=GAMMA, n_components=25, random_state=0).fit(digits[:300])
    ours = CURNystroem(gamma=GAMMA, n_components=25, strategy=theirs.component_indices_).fit(digits[:300])
    new = digits[300:]
    np.testing.assert_allclose(gram(ours.transform(new)), gram(theirs.transform(new)), atol=1e-8)
    np.testing.assert_array_equal(ours.components_, theirs.components_)


def test_chosen_landmarks_are_better_than_uniform_ones():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((480, 2)), 0.3 * rng.standard_normal((8, 2)) + 30])
    K = rbf_kernel(X, gamma=0.2)
    errors = {
        name: np.mean([np.linalg.norm(K - gram(make(seed).fit_transform(X))) for seed in range(10)])
        for name, make in {
            "ours": lambda seed: CURNystroem(gamma=0.2, n_components=40, random_state=seed),
            "uniform": lambda seed: CURNystroem(gamma=0.2, n_components=40, strategy="uniform", random_state=seed),
            "theirs": lambda seed: Nystroem(gamma=0.2, n_components=40, random_state=seed),
        }.items()
    }
    assert errors["ours"] < 0.2 * min(errors["uniform"], errors["theirs"])


@pytest.mark.parametrize("kernel", ["linear", "poly", "laplacian", "cosine", "chi2"])
def test_takes_the_kernels_of_scikit_learn(digits, kernel):
    options = {"gamma": 0.05} if kernel == "chi2" else {}
    model = CURNystroem(kernel, **options, n_components=60, random_state=0).fit(digits)
    K = pairwise_kernels(digits, metric=kernel, **options)
    features = model.transform(digits)
    left = np.trace(K) - np.sum(features**2)
    assert left / np.trace(K) == pytest.approx(model.trace_share_, abs=1e-9)
    assert model.trace_share_ < 0.2


def test_a_function_is_called_for_the_diagonal_the_landmarks_and_few_others(digits):
    calls = []

    def kernel(x, y, *, width):
        calls.append(1)
        return np.exp(-np.sum((x - y) ** 2) / width)

    X = digits[:80]
    model = CURNystroem(kernel, kernel_params={"width": 20.0}, n_components=12, random_state=0).fit(X)
    assert len(calls) < 14 * len(X)
    by_name = CURNystroem("rbf", gamma=1 / 20, n_components=12, random_state=0).fit(X)
    np.testing.assert_array_equal(model.component_indices_, by_name.component_indices_)
    np.testing.assert_allclose(gram(model.transform(X)), gram(by_name.transform(X)), atol=1e-9)


def test_never_forms_the_kernel_matrix(digits, monkeypatch):
    widest = []

    def watched(X, Y, **options):
        widest.append(X.shape[0] * Y.shape[0])
        return pairwise_kernels(X, Y, **options)

    monkeypatch.setattr(_kernels, "pairwise_kernels", watched)
    CURNystroem(gamma=GAMMA, n_components=40, random_state=0).fit(digits)
    assert max(widest) <= 5 * len(digits)  # an eighth of the landmarks at a time


def test_a_precomputed_kernel_gives_the_same_features(digits):
    K = rbf_kernel(digits, gamma=GAMMA)
    by_function = CURNystroem(gamma=GAMMA, n_components=20, random_state=0).fit(digits[:300])
    model = CURNystroem("precomputed", n_components=20, random_state=0).fit(K[:300, :300])
    np.testing.assert_array_equal(model.component_indices_, by_function.component_indices_)
    np.testing.assert_allclose(model.transform(K[300:, :300]), by_function.transform(digits[300:]), atol=1e-6)


def test_a_partly_known_kernel_needs_the_diagonal_and_the_landmarks(digits):
    rng = np.random.default_rng(0)
    K = rbf_kernel(digits, gamma=GAMMA)
    known = np.sort(rng.permutation(400)[:60])
    partly = np.full(K.shape, np.nan)
    partly[:, known], partly[np.arange(400), np.arange(400)] = K[:, known], np.diag(K)
    partly[known[0]], partly[5:9, known[0]] = K[known[0]], np.nan  # known in the mirrored place
    model = CURNystroem("precomputed", n_components=20, random_state=0).fit(partly)
    assert set(model.component_indices_) <= set(known)
    features = model.transform(np.where(np.isin(np.arange(400), model.component_indices_), K, np.nan))
    assert np.trace(K - gram(features)) / 400 == pytest.approx(model.trace_share_, abs=1e-10)
    with pytest.raises(InvalidArgumentError, match="landmarks"):
        model.transform(np.where(np.isin(np.arange(400), model.component_indices_[1:]), K, np.nan))


def test_an_observation_is_a_partly_known_kernel(digits):
    K = rbf_kernel(digits, gamma=GAMMA)
    seen = curplus.acquire(K, n_columns=30, psd=True, rng=0)
    model = CURNystroem("precomputed", n_components=12).fit(seen)
    assert model.n_features_in_ == 400
    np.testing.assert_allclose(gram(model.transform(K)), curplus.approximate(seen, 12).to_array(), atol=1e-9)
    certificate = curplus.certify(curplus.approximate(seen, 12), seen)
    assert model.trace_share_ == pytest.approx(certificate.relative_error, rel=1e-8)


def test_works_in_a_pipeline_and_a_search():
    X, y = load_digits(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(CURNystroem(gamma=0.001, random_state=0), RidgeClassifier()),
        {"curnystroem__n_components": [5, 80]},
        cv=2,
    ).fit(X, y)
    assert search.best_params_ == {"curnystroem__n_components": 80}
    assert search.best_score_ > 0.9


def test_names_its_features(digits):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(digits, columns=[f"pixel{k}" for k in range(64)])
    out = CURNystroem(n_components=3, random_state=0).set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == ["curnystroem0", "curnystroem1", "curnystroem2"]


def test_points_that_occur_twice_are_landmarks_once(digits):
    X = np.repeat(digits[:10], 5, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = CURNystroem(gamma=GAMMA, n_components=50, random_state=0).fit(X)
    assert len(model.component_indices_) == 10
    np.testing.assert_allclose(gram(model.transform(X)), rbf_kernel(X, gamma=GAMMA), atol=1e-9)
    assert model.trace_share_ < 1e-12


def test_a_kernel_that_is_zero_has_one_feature_that_is_zero():
    model = CURNystroem("linear", n_components=3, random_state=0).fit(np.zeros((5, 2)))
    assert np.array_equal(model.transform(np.ones((4, 2))), np.zeros((4, 1)))


@pytest.mark.parametrize("state", [None, 0, np.random.default_rng(0), np.random.RandomState(0)])
def test_every_kind_of_random_state_is_taken(digits, state):
    assert CURNystroem(n_components=4, random_state=state).fit(digits).components_.shape == (4, 64)


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        ({"n_components": 0}, np.eye(3), "n_components=0"),
        ({"strategy": "best"}, np.eye(3), "strategy='best' is unknown"),
        ({"strategy": [7]}, np.eye(3), "strategy"),
        ({"kernel": "additive_chi2"}, np.eye(3), "not positive semidefinite"),
        ({"kernel": lambda x, y: 1.0, "gamma": 2.0}, np.eye(3), "kernel_params"),
        ({"kernel": "precomputed"}, np.ones((3, 2)), "square matrix"),
        ({"kernel": "precomputed"}, np.full((3, 3), np.nan), "no point has all"),
        ({"kernel": "precomputed"}, Observation(shape=(3, 3), i=[0], j=[0], values=[1.0]), "has none"),
        ({}, Observation(shape=(3, 3), i=[0], j=[0], values=[1.0]), "Use kernel='precomputed'"),
    ],
)
def test_settings_that_cannot_work_are_refused(options, X, message):
    with pytest.raises(InvalidArgumentError, match=message):
        CURNystroem(**options).fit(X)


def test_a_matrix_that_is_no_kernel_is_refused():
    with pytest.raises(InconsistentObservationError, match="not PSD"):
        CURNystroem("precomputed", random_state=0).fit(np.array([[1.0, 3.0], [3.0, 1.0]]))


def test_a_partly_known_kernel_without_its_diagonal_is_refused():
    K = np.eye(4)
    K[3, 3] = np.nan
    with pytest.raises(InvalidArgumentError, match="the kernel of point 3 with itself is NaN"):
        CURNystroem("precomputed", random_state=0).fit(K)


# The number of landmarks follows a tolerance


@pytest.mark.parametrize("strategy", ["auto", "rpcholesky", "uniform"])
@pytest.mark.parametrize("tol", [0.1, 0.03, 0.005])
def test_landmarks_are_added_until_the_trace_is_met_and_hardly_more(digits, tol, strategy):
    K = rbf_kernel(digits, gamma=GAMMA)
    model = CURNystroem(gamma=GAMMA, n_components=None, tol=tol, strategy=strategy, random_state=0).fit(digits)
    left = np.trace(K - gram(model.transform(digits))) / np.trace(K)
    assert left == pytest.approx(model.trace_share_, rel=1e-8)
    assert left <= tol
    d = len(model.component_indices_)
    fewer = CURNystroem(gamma=GAMMA, n_components=int(d / 1.2) - 8, strategy=strategy, random_state=0).fit(digits)
    assert fewer.trace_share_ > tol


def test_the_tolerance_stops_at_the_most_components_and_at_an_exact_kernel(digits):
    capped = CURNystroem(gamma=GAMMA, n_components=10, tol=1e-6, random_state=0).fit(digits)
    assert len(capped.component_indices_) == 10
    assert capped.trace_share_ > 1e-6
    exact = CURNystroem("linear", n_components=None, tol=0.0, random_state=0).fit(digits[:, :7])
    assert len(exact.component_indices_) <= 7
    assert exact.trace_share_ < 1e-12
    by_matrix = CURNystroem("precomputed", n_components=None, tol=0.1, random_state=0)
    assert by_matrix.fit(rbf_kernel(digits, gamma=GAMMA)).trace_share_ <= 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": None}, "n_components=None"),
        ({"tol": -1.0}, "tol=-1.0 is not a share"),
        ({"tol": 0.1, "strategy": [1, 2]}, "they are given already"),
    ],
)
def test_a_tolerance_that_makes_no_sense_is_refused(digits, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        CURNystroem(**options).fit(digits)


# Arrays of other libraries

ALLOWED = os.environ.get("SCIPY_ARRAY_API") == "1"  # SciPy reads it once, when it is imported


@pytest.mark.skipif(ALLOWED, reason="this process does it itself")
def test_works_where_scipy_and_scikit_learn_dispatch_on_the_array():
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        __file__,
        "-k",
        "another_library or array_api",
    ]
    done = subprocess.run(
        command, env=os.environ | {"SCIPY_ARRAY_API": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


@pytest.mark.skipif(not ALLOWED, reason="SCIPY_ARRAY_API is not set: the test above runs this one")
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "precomputed", lambda x, y: float(x @ y)])
def test_arrays_of_another_library_stay_there(digits, kernel, kind):
    X = (rbf_kernel(digits, gamma=GAMMA) if kernel == "precomputed" else digits)[:200, :200].astype(kind)
    options = {"n_components": 15, "random_state": 0}
    expected = CURNystroem(kernel, **options).fit(X)
    strict = array_api_strict.asarray(X)
    with config_context(array_api_dispatch=True):
        model = CURNystroem(kernel, **options).fit(strict)
        features = model.transform(strict[:20, :])
    for found in (features, model.components_, model.normalization_):
        assert type(found) is type(strict)
        assert found.dtype == strict.dtype
    np.testing.assert_array_equal(model.component_indices_, expected.component_indices_)
    digits_kept = 1e-3 if kind == np.float32 else 1e-9
    theirs = expected.transform(X[:20])
    np.testing.assert_allclose(np.asarray(features), theirs, atol=digits_kept * np.abs(theirs).max())
    assert model.trace_share_ == pytest.approx(expected.trace_share_, abs=digits_kept)
