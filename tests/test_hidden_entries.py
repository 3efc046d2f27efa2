import numpy as np
import pytest
import scipy.sparse
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from curplus.estimators import CURImputer, HiddenEntries
from curplus.exceptions import InvalidArgumentError


class Recording(SimpleImputer):
    """An imputer that keeps what it was fitted to."""

    seen: list = []  # noqa: RUF012

    def fit_transform(self, X, y=None, **params):
        Recording.seen.append(np.asarray(X))
        return super().fit_transform(X, y, **params)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((63, 2)) @ rng.standard_normal((2, 8)) + 0.1 * rng.standard_normal((63, 8))
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def test_every_entry_is_hidden_in_one_fold(table):
    folds = HiddenEntries(5, random_state=3)
    Recording.seen.clear()
    cross_val_score(Recording(), table, cv=folds, scoring=folds.score)
    times = np.zeros(table.shape)
    for (rows, test), seen in zip(folds.split(table), Recording.seen, strict=True):
        assert np.array_equal(rows, test)
        assert np.array_equal(np.sort(rows), np.arange(63))
        hidden = np.isnan(seen) & ~np.isnan(table[rows])
        assert 0.1 < hidden.sum() / np.count_nonzero(~np.isnan(table)) < 0.3
        times[rows] += hidden
    moved = np.concatenate([next(iter(folds.split(table)))[0][:60]])
    assert np.array_equal(times[moved], ~np.isnan(table[moved]))
    assert not np.delete(times, moved, axis=0).any()


def test_a_search_finds_the_rank_of_a_table_with_gaps(table):
    folds = HiddenEntries(4)
    imputer = CURImputer()
    search = GridSearchCV(imputer, {"n_components": [1, 2, 6]}, cv=folds, scoring=folds.score).fit(table)
    assert search.best_params_["n_components"] in (2, 6)
    assert search.best_score_ > -0.3
    assert np.isfinite(search.best_estimator_.transform(table)).all()
    assert search.n_splits_ == 4


def test_the_score_is_minus_the_error_at_hidden_entries(table):
    folds = HiddenEntries(4, standardize=False)
    rows, _ = next(iter(folds.split(table)))
    Recording.seen.clear()
    score = folds.score(Recording(), table[rows])
    hidden = np.isnan(Recording.seen[0]) & ~np.isnan(table[rows])
    means = np.broadcast_to(np.nanmean(Recording.seen[0], axis=0), table.shape)
    assert score == pytest.approx(-np.sqrt(np.mean((means - table[rows])[hidden] ** 2)))
    units = 10.0 ** np.arange(8)
    scores = [HiddenEntries(4).score(SimpleImputer(), table * unit) for unit in (1.0, units)]
    assert scores[0] == pytest.approx(scores[1])


@pytest.mark.parametrize("kind", ["pandas", "polars", "sparse", "marked"])
def test_every_kind_of_table_gives_the_same_score(table, kind):
    folds, imputer = HiddenEntries(3), CURImputer(2)
    expected = folds.score(imputer, table)
    i, j = np.nonzero(~np.isnan(table))
    if kind == "sparse":
        imputer.set_params(missing_values="unstored")
        given = scipy.sparse.csr_array((table[i, j], (i, j)), shape=table.shape)
    elif kind == "marked":
        imputer.set_params(missing_values=-99)
        given = np.where(np.isnan(table), -99, table)
    else:
        given = pytest.importorskip(kind).DataFrame(table)
    assert folds.score(imputer, given) == pytest.approx(expected, rel=1e-6)


@pytest.mark.filterwarnings("ignore:Skipping features")
def test_empty_columns_and_indicators_do_not_confuse_the_score(table):
    folds = HiddenEntries(3)
    table[:, 2] = np.nan
    for options in ({}, {"add_indicator": True}, {"keep_empty_features": True}):
        score = folds.score(SimpleImputer(**options), table)
        assert score == pytest.approx(folds.score(SimpleImputer(), table))
    table[1:, 3] = np.nan  # never hidden: it is alone in its column
    assert np.isfinite(folds.score(SimpleImputer(), table))


def test_what_cannot_be_hidden_is_refused():
    with pytest.raises(InvalidArgumentError, match="fewer than n_splits=5 rows"):
        HiddenEntries(5).score(SimpleImputer(), np.eye(3))
    with pytest.raises(InvalidArgumentError, match="n_splits=1 is too small"):
        HiddenEntries(1)


def test_an_imputer_that_loses_columns_is_refused(table):
    lossy = make_pipeline(SimpleImputer(), VarianceThreshold(2.0))
    with pytest.raises(InvalidArgumentError, match="has no column 'x"):
        HiddenEntries(3).score(lossy, table)
