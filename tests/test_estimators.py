import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import curplus
from curplus.estimators import CUR, CURPlus
from curplus.exceptions import InvalidArgumentError


@parametrize_with_checks([CURPlus(), CUR()])
def test_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    return load_digits().data


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_matrix])
def test_is_cur_plus_of_the_same_draw(digits, kind):
    model = CURPlus(5, n_columns=20, n_rows=30, n_entries=400, random_state=3).fit(kind(digits))
    seen = curplus.observe(digits, n_columns=20, n_rows=30, n_entries=400, rng=3)
    expected = curplus.cur_plus(seen, 5).to_array()
    assert np.allclose(model.approximation_.to_array(), expected, atol=1e-9)
    assert np.array_equal(model.column_index_, seen.column_index)
    assert np.array_equal(model.row_index_, seen.row_index)
    s = model.singular_values_
    assert s == pytest.approx(np.linalg.svd(expected, compute_uv=False)[:5])
    assert np.allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-12)


def test_transform_projects_and_inverse_transform_returns(digits):
    model = CURPlus(8, random_state=0).fit(digits[:1000])
    new = digits[1000:]
    V = model.components_.T
    assert np.allclose(model.transform(new), new @ V)
    assert np.allclose(model.inverse_transform(model.transform(new)), new @ V @ V.T)
    expected = 1 - np.linalg.norm(new - new @ V @ V.T) ** 2 / np.linalg.norm(new) ** 2
    assert model.score(new) == pytest.approx(expected)
    assert model.score(scipy.sparse.csr_array(new)) == pytest.approx(expected)
    assert model.score(np.zeros((3, 64))) == 1


def test_says_which_features_were_picked():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(load_digits().data, columns=[f"pixel{k}" for k in range(64)])
    model = CURPlus(4, n_columns=6, random_state=0).set_output(transform="pandas").fit(X)
    assert list(model.column_names_) == [f"pixel{k}" for k in model.column_index_]
    out = model.transform(X)
    assert list(out.columns) == ["curplus0", "curplus1", "curplus2", "curplus3"]
    assert out.index.equals(X.index)


def test_works_in_a_pipeline_and_a_search(digits):
    search = GridSearchCV(CURPlus(random_state=0), {"n_components": [2, 10]}, cv=2).fit(digits)
    assert search.best_params_ == {"n_components": 10}
    assert make_pipeline(StandardScaler(), CURPlus(3, random_state=0)).fit_transform(digits).shape == (1797, 3)


def test_every_kind_of_random_state_is_taken(digits):
    for state in (None, 0, np.random.default_rng(0), np.random.RandomState(0)):
        assert CURPlus(3, random_state=state).fit(digits).components_.shape == (3, 64)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 65}, "n_components=65 but the matrix has only 64"),
        ({"n_components": 0}, "n_components=0 is too small"),
        ({"n_components": 5, "n_columns": 3}, "rank=5 but only 3 columns"),
        ({"n_columns": 65}, "n_columns=65"),
        ({"n_components": 5, "n_entries": 3}, "25 unknowns"),
        ({"solver": "magic"}, "solver='magic' is unknown"),
    ],
)
def test_settings_that_cannot_work_are_refused(digits, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        CURPlus(**options).fit(digits)


def test_the_recommended_one_chooses_what_to_read_and_captures_more():
    rng = np.random.default_rng(0)
    X = 0.01 * rng.standard_normal((300, 100))
    X[rng.integers(300, size=60), rng.integers(100, size=60)] += 5 * rng.standard_normal(60)  # few places matter
    counts = {"n_components": 5, "n_columns": 15, "n_rows": 15}
    chosen, uniform = (
        np.mean([kind(**counts, random_state=k).fit(X).score(X) for k in range(30)]) for kind in (CUR, CURPlus)
    )
    assert chosen > 1.4 * uniform
    chosen = CUR(**counts, random_state=0).fit(X)
    assert len(chosen.column_index_) == len(chosen.row_index_) == 15
    assert "better than no answer" in chosen.approximation_.report.verdict or chosen.approximation_.report.rank == 5


def test_the_recommended_one_is_acquire_and_approximate(digits):
    model = CUR(5, n_columns=20, n_rows=30, n_entries=400, random_state=3).fit(digits)
    seen = curplus.acquire(digits, n_columns=20, n_rows=30, n_entries=400, rng=3)
    assert np.allclose(model.approximation_.to_array(), curplus.approximate(seen, 5).to_array(), atol=1e-9)


def test_a_strategy_that_is_not_known_is_refused(digits):
    with pytest.raises(InvalidArgumentError, match="strategy='magic'"):
        CUR(strategy="magic").fit(digits)
