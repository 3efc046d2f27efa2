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
from curplus.estimators.components import read_samples_then_features
from curplus.exceptions import InvalidArgumentError
from curplus.observation import SampleCounts
from tests.conftest import effort


@parametrize_with_checks([CURPlus(), CUR(), *effort([], [CUR(form="free")])])
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


def test_the_recommended_one_chooses_features_and_captures_more():
    rng = np.random.default_rng(0)
    X = 0.01 * rng.standard_normal((300, 100))
    X[rng.integers(300, size=60), rng.integers(100, size=60)] += 5 * rng.standard_normal(60)  # few places matter
    counts = {"n_components": 5, "n_columns": 15, "n_rows": 15}
    chosen, uniform = (
        np.mean([kind(**counts, random_state=k).fit(X).score(X) for k in range(effort(8, 30))])
        for kind in (CUR, CURPlus)
    )
    assert chosen > 1.4 * uniform
    chosen = CUR(**counts, random_state=0).fit(X)
    assert len(chosen.column_index_) == len(chosen.row_index_) == 15
    assert chosen.approximation_.report.rank == 5


def test_the_recommended_one_captures_more_of_new_samples_than_either_of_its_two_sources(rng):
    topics = rng.gamma(0.05, size=(12, 600))
    X = rng.poisson(topics[rng.integers(12, size=800)] * 20 / topics.sum(axis=1).mean()).astype(float)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)
    train, new = X[:400], X[400:]
    scores = []
    for seed in range(effort(4, 10)):
        model = CUR(12, n_columns=40, n_rows=40, n_entries=0, form="free", random_state=seed).fit(train)
        rows = np.linalg.svd(train[model.row_index_])[2][:12]
        alone = model.approximation_.svd().Vh
        scores.append([model.score(new), *(np.sum((new @ V.T) ** 2) / np.sum(new**2) for V in (rows, alone))])
    together, by_rows, by_approximation = np.mean(scores, axis=0)
    assert together > by_rows
    assert together > by_approximation


def test_features_that_several_samples_share_come_before_those_of_one():
    X = np.hstack([10 * np.eye(3), np.full((3, 1), 0.9), [[2.0], [0.0], [0.0]], np.zeros((3, 5))])
    seen = read_samples_then_features(X, SampleCounts(n_columns=4, n_rows=3, n_entries=0), 0)
    assert set(seen.column_index) == {0, 1, 2, 3}


def test_the_recommended_one_reads_what_it_says_and_nothing_else(digits, recording_source):
    counts = SampleCounts(n_columns=6, n_rows=9, n_entries=40)
    source = recording_source(digits)
    seen = read_samples_then_features(source, counts, 0)
    assert seen.counts == counts
    expected = np.zeros(digits.shape, dtype=bool)
    expected[:, seen.column_index] = expected[seen.row_index] = expected[seen.i, seen.j] = True
    assert np.array_equal(source.seen, expected)
    assert seen.design.rows == "uniform"


@pytest.mark.parametrize("counts", [(64, 30), (20, 1797)])
def test_with_all_features_or_all_samples_read_the_components_are_exact(digits, counts):
    model = CUR(5, n_columns=counts[0], n_rows=counts[1], random_state=0).fit(digits)
    _, s, Vt = np.linalg.svd(digits, full_matrices=False)
    assert np.allclose(np.abs(np.sum(model.components_ * Vt[:5], axis=1)), 1)
    if counts[0] == 64:
        assert model.singular_values_ == pytest.approx(s[:5])


def test_components_of_a_matrix_of_low_rank_are_exact(low_rank):
    X = low_rank((200, 60), 4)
    for form in ("cur", "free"):
        model = CUR(4, form=form, random_state=0).fit(X)
        assert model.score(X) == pytest.approx(1)
        assert CUR(10, form=form, random_state=0).fit(X).components_.shape == (4, 60)


@pytest.mark.parametrize("form", ["free", "cur"])
def test_the_recommended_one_approximates_what_it_read(digits, form):
    model = CUR(5, n_columns=20, n_rows=30, n_entries=400, form=form, random_state=3).fit(digits)
    seen = read_samples_then_features(digits, SampleCounts(20, 30, 400), 3)
    expected = curplus.approximate(seen, 5, form=form).to_array()
    assert np.allclose(model.approximation_.to_array(), expected, atol=1e-9)


def test_another_strategy_is_acquire_and_approximate(digits):
    model = CUR(5, n_columns=20, n_rows=30, n_entries=400, form="free", strategy="pivoted", random_state=3).fit(digits)
    seen = curplus.acquire(digits, n_columns=20, n_rows=30, n_entries=400, strategy="pivoted", rng=3)
    approx = curplus.approximate(seen, 5)
    assert np.allclose(model.approximation_.to_array(), approx.to_array(), atol=1e-9)
    assert np.allclose(np.abs(np.sum(model.components_ * approx.svd().Vh, axis=1)), 1)


def test_picks_stand_in_their_order_of_merit():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(load_digits().data, columns=[f"pixel{k}" for k in range(64)])
    model = CUR(4, n_columns=12, random_state=0).fit(X)
    importance = model.approximation_.importance()
    assert np.array_equal(model.column_index_, importance.columns.index)
    assert np.array_equal(model.row_index_, importance.rows.index)
    assert list(model.column_names_) == [f"pixel{k}" for k in model.column_index_]
    assert list(model.importance_.columns.names) == list(model.column_names_)
    C, U, R, column_index, _ = model.approximation_.cur()
    assert np.allclose(C @ U @ R, model.approximation_.to_array(), atol=1e-9)
    assert np.array_equal(C, X.to_numpy()[:, column_index])


def test_components_do_not_depend_on_the_form(digits):
    cur, free = (CUR(5, form=form, random_state=0).fit(digits) for form in ("cur", "free"))
    assert np.allclose(cur.components_, free.components_)
    assert not hasattr(free, "importance_")


def test_counts_and_forms_that_cannot_work_are_refused(digits):
    for options, message in (
        ({"n_columns": 65}, "n_columns=65"),
        ({"form": "best"}, "form='best'"),
        ({"n_rows": 0}, "0 rows"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            CUR(**options).fit(digits)
    assert CUR(3, n_rows=0, n_entries=5000, form="free", random_state=0).fit(digits).components_.shape == (3, 64)


def test_a_strategy_that_is_not_known_is_refused(digits):
    with pytest.raises(InvalidArgumentError, match="strategy='magic'"):
        CUR(strategy="magic").fit(digits)
