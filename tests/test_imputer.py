import numpy as np
import pytest
import scipy.sparse
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import curplus
from curplus.estimators import CURImputer
from curplus.estimators._units import Columns, Units
from curplus.exceptions import InvalidArgumentError
from tests.conftest import effort


@parametrize_with_checks(
    [CURImputer(), *effort([], [CURImputer(missing_values="unstored"), CURImputer(missing_values=-1)])]
)
def test_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)


def low_rank(n=80, m=12, rank=2, noise=0.05, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m)) + 3 + noise * rng.standard_normal((n, m))
    return X, rng.random((n, m)) < 0.2


@pytest.fixture
def table():
    X, gaps = low_rank()
    return np.where(gaps, np.nan, X)


def rmse(filled, X, at):
    return float(np.sqrt(np.mean((np.asarray(filled) - X)[at] ** 2)))


def test_gaps_are_filled_far_better_than_by_means(table):
    X, gaps = low_rank()
    filled = CURImputer().fit_transform(table)
    assert rmse(filled, X, gaps) < 0.15 * rmse(SimpleImputer().fit_transform(table), X, gaps)


@pytest.mark.parametrize("m", [2, 4, 10])
def test_a_few_columns_are_filled_almost_as_if_their_covariance_were_known(m):
    rng = np.random.default_rng(m)
    root = rng.standard_normal((m, m)) * 0.85 ** np.arange(m)[:, None]  # directions that all matter, and no noise
    covariance = root.T @ root
    X = rng.standard_normal((800, m)) @ root
    gaps = rng.random(X.shape) < 0.1
    best = X.copy()
    for i in np.flatnonzero(gaps.any(axis=1)):
        known, open_ = np.flatnonzero(~gaps[i]), np.flatnonzero(gaps[i])
        given_known = np.linalg.lstsq(covariance[np.ix_(known, known)], covariance[np.ix_(known, open_)])[0]
        best[i, open_] = X[i, known] @ given_known
    assert rmse(CURImputer().fit_transform(np.where(gaps, np.nan, X)), X, gaps) < 1.1 * rmse(best, X, gaps)


def test_new_rows_are_filled_from_the_fit():
    X, gaps = low_rank(n=120)
    table = np.where(gaps, np.nan, X)
    new = CURImputer().fit(table[:80]).transform(table[80:])
    assert rmse(new, X[80:], gaps[80:]) < 0.2 * rmse(SimpleImputer().fit_transform(table), X, gaps)


@example(seed=1, n=1, m=2, share=0.5)  # a fold that hides the only value
@given(seed=st.integers(0, 10_000), n=st.integers(1, 30), m=st.integers(1, 8), share=st.floats(0, 0.9))
def test_known_values_come_back_bit_for_bit_and_nothing_else_is_left_open(seed, n, m, share):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m)) * 10.0 ** rng.integers(-6, 6, size=m)
    X[rng.random((n, m)) < share] = np.nan
    X[0, 0] = 1.0
    before = X.copy()
    imputer = CURImputer(keep_empty_features=True)
    for filled in (imputer.fit_transform(X), imputer.transform(X)):
        known = ~np.isnan(X)
        assert np.array_equal(filled[known], X[known])
        assert np.isfinite(filled).all()
    assert np.array_equal(X, before, equal_nan=True)


def test_columns_of_very_different_units_do_not_disturb_each_other():
    X, gaps = low_rank()
    units = 10.0 ** np.linspace(-6, 6, X.shape[1])
    filled = CURImputer().fit_transform(np.where(gaps, np.nan, X * units)) / units
    plain = CURImputer(standardize=True).fit_transform(np.where(gaps, np.nan, X))
    assert rmse(filled, X, gaps) < 2 * rmse(plain, X, gaps)
    shifted = CURImputer().fit_transform(np.where(gaps, np.nan, X * units + 1000 * units)) / units - 1000
    assert rmse(shifted, X, gaps) < 2 * rmse(plain, X, gaps)


def test_the_error_of_a_column_that_hardly_varies_is_small():
    X, gaps = low_rank(n=200)
    X[:, 0] *= 1e-3
    error = CURImputer(standardize=False).fit(np.where(gaps, np.nan, X)).error_
    assert error[0] < 0.03 * np.median(error)


def test_columns_of_one_unit_are_scaled_only_if_so_said():
    alike, different = (Columns.of(low_rank()[0] * units) for units in (1.0, 10.0 ** np.linspace(-6, 6, 12)))
    for columns, standardize, changes in (
        (alike, "auto", False),
        (alike, True, True),
        (different, "auto", True),
        (different, False, False),
    ):
        shift, scale = Units.of(columns, standardize)
        assert bool(np.any(shift) or np.any(scale != 1)) is changes


def test_a_constant_column_is_filled_with_its_constant(table):
    table[:, 3] = np.where(np.isnan(table[:, 3]), np.nan, 7.0)
    for standardize in (True, "auto"):
        filled = CURImputer(standardize=standardize).fit_transform(table)
        np.testing.assert_array_equal(filled[:, 3], 7)
    assert CURImputer(max_value=5).fit(table).transform(np.full((1, 12), np.nan))[0, 3] == 5


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_rounding_does_not_make_a_constant_column_vary(kind):
    columns = Columns.of(kind(np.full((1000, 3), [0.1, -0.0235964589, 1e9 / 3])))
    np.testing.assert_array_equal(columns.variances, 0)
    np.testing.assert_array_equal(columns.means, [0.1, -0.0235964589, 1e9 / 3])


def test_a_value_that_one_column_has_only_once_is_no_disaster():
    """Hidden from the fit that tells the error, it leaves a constant column there."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 6))
    X[:, 5] = -0.0235964589
    X[17, 5] = 42.0
    X[rng.random(X.shape) < 0.5] = np.nan
    X[17, 5] = 42.0
    for seed in range(8):
        assert np.abs(CURImputer(random_state=seed).fit_transform(X)).max() <= 42


def test_a_scale_from_few_values_is_that_of_the_others():
    X, gaps = low_rank(n=200)
    gaps[2:, 4] = True
    X[:2, 4] = [3.0, 3.001]
    scales = Units.of(Columns.of(np.where(gaps, np.nan, X)), True).scale
    assert scales[4] > 0.1 * np.median(scales)


def test_fills_gaps_with_what_approximate_predicts_for_the_same_table(table):
    approx = curplus.approximate(curplus.Observation.from_table(table))
    filled = CURImputer().fit_transform(table)
    assert np.array_equal(filled, np.where(np.isnan(table), approx.to_array(), table))


def test_rows_of_the_fit_are_filled_as_well_by_transform():
    ratios = []
    for seed in range(3):
        X, gaps = low_rank(noise=0.5, seed=seed)
        table = np.where(gaps, np.nan, X)
        imputer = CURImputer()
        ratios.append(rmse(imputer.fit_transform(table), X, gaps) / rmse(imputer.transform(table), X, gaps))
    assert np.mean(ratios) == pytest.approx(1, abs=0.03)


def test_columns_of_noise_do_not_disturb_new_rows():
    """Each column has a noise of its own; with one for all, the others would be filled by columns of noise."""
    X, gaps = low_rank(n=300, noise=0.3)
    X[:, :6] += 2 * np.random.default_rng(1).standard_normal((300, 6))
    table = np.where(gaps, np.nan, X)
    imputer = CURImputer().fit(table[:200])
    quiet, at = X[200:, 6:], gaps[200:, 6:]
    one_noise = imputer.approximation_.complete_rows(table[200:])
    assert rmse(imputer.transform(table[200:])[:, 6:], quiet, at) < 0.8 * rmse(one_noise[:, 6:], quiet, at)


def test_tables_with_fewer_rows_than_columns_are_filled_as_well():
    X, gaps = low_rank(n=20, m=150)
    table = np.where(gaps, np.nan, X)
    imputer = CURImputer()
    means = rmse(SimpleImputer().fit_transform(table), X, gaps)
    assert rmse(imputer.fit_transform(table), X, gaps) < 0.15 * means
    assert rmse(imputer.transform(table), X, gaps) < 0.2 * means


def test_frames_keep_their_index_and_names_if_a_frame_is_asked_for(table):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(table, index=[f"sample{k}" for k in range(80)], columns=[f"gene{k}" for k in range(12)])
    assert isinstance(CURImputer().fit_transform(frame), np.ndarray)
    imputer = CURImputer().set_output(transform="pandas")
    for filled in (imputer.fit_transform(frame), imputer.transform(frame)):
        assert filled.index.equals(frame.index)
        assert filled.columns.equals(frame.columns)
        assert filled.notna().all(axis=None)
    assert np.array_equal(imputer.fit_transform(frame), CURImputer().fit_transform(table))


def test_nullable_columns_and_columns_of_objects_with_numbers_are_taken():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "a": pd.array([1, 2, None, 4], dtype="Int64"),
            "b": [1.5, None, 2.5, 3.5],
            "c": pd.Series([1, None, 2, 3], dtype=object),
        }
    )
    assert np.isfinite(CURImputer().fit_transform(frame)).all()


def test_polars_frames_keep_their_names(table):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(table, schema=[f"gene{k}" for k in range(12)]).with_columns(pl.all().fill_nan(None))
    filled = CURImputer().set_output(transform="polars").fit_transform(frame)
    assert filled.columns == frame.columns
    assert np.array_equal(filled.to_numpy(), CURImputer().fit_transform(table))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_that_are_not_numbers_are_refused_by_name(library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"age": [1.0, 2.0], "city": ["Lyon", "Hanoi"], "born": ["a", None]})
    with pytest.raises(InvalidArgumentError, match=r"columns 'city', 'born' of the table .* not numeric"):
        CURImputer().fit(frame)
    fitted = CURImputer().fit(frames.DataFrame({"age": [1.0, 2.0], "city": [1.0, 2.0], "born": [3.0, 4.0]}))
    with pytest.raises(InvalidArgumentError, match="'city'"):
        fitted.transform(frame)


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array])
def test_what_a_sparse_matrix_does_not_store_is_a_gap_if_so_said(table, kind):
    i, j = np.nonzero(~np.isnan(table))
    table[i[0], j[0]] = 0.0  # stored, so it is known
    matrix = kind((table[i, j], (i, j)), shape=table.shape)
    imputer = CURImputer(missing_values="unstored")
    dense = CURImputer()
    filled = imputer.fit_transform(matrix)
    assert filled[i[0], j[0]] == 0
    assert np.allclose(filled, dense.fit_transform(table), atol=1e-6)
    assert np.allclose(imputer.transform(matrix), dense.transform(table), atol=1e-6)
    assert np.allclose(imputer.error_, dense.error_, rtol=0.5)
    with pytest.raises(InvalidArgumentError, match="missing_values='unstored' if they are gaps"):
        CURImputer().fit(matrix)


def test_a_number_can_mark_a_gap(table):
    marked = np.where(np.isnan(table), -999.0, table)
    assert np.array_equal(CURImputer(missing_values=-999).fit_transform(marked), CURImputer().fit_transform(table))
    counts = np.outer(np.arange(1, 31), [1, 2, 3, 4])
    counts[4, 1] = -1
    assert CURImputer(missing_values=-1).fit_transform(counts)[4, 1] == pytest.approx(10, abs=0.5)
    with pytest.raises(InvalidArgumentError, match="missing_values='x' is no number"):
        CURImputer(missing_values="x").fit(table)


@pytest.mark.filterwarnings("ignore:Skipping features")
@pytest.mark.parametrize("keep", [False, True])
def test_empty_columns_are_left_out_or_zero_as_in_scikit_learn(table, keep):
    table[:, 5] = np.nan
    options = {"keep_empty_features": keep, "add_indicator": True}
    imputer, theirs = CURImputer(**options).fit(table), SimpleImputer(**options).fit(table)
    filled, expected = imputer.transform(table), theirs.transform(table)
    assert filled.shape == expected.shape
    assert list(imputer.get_feature_names_out()) == list(theirs.get_feature_names_out())
    assert np.array_equal(filled[:, -12:], expected[:, -12:])
    assert np.array_equal(imputer.fit_transform(table)[:, -12:], expected[:, -12:])
    if keep:
        assert not filled[:, 5].any()


def test_an_empty_row_gets_about_the_mean_row(table):
    imputer = CURImputer().fit(table)
    filled = imputer.transform(np.full((1, 12), np.nan))[0]
    spread = np.nanstd(table, axis=0)
    assert np.all(np.abs(filled - np.nanmean(table, axis=0)) < 0.4 * spread)
    table[7] = np.nan
    filled = CURImputer().fit_transform(table)[7]
    assert np.all(np.abs(filled - np.nanmean(table, axis=0)) < spread)


def test_filled_values_stay_within_their_limits(table):
    high = np.linspace(3, 4, 12)
    filled = CURImputer(min_value=2.9, max_value=high).fit_transform(table)
    gaps = np.isnan(table)
    assert filled[gaps].min() >= 2.9
    assert np.all((filled <= high) | ~gaps)
    assert np.array_equal(filled[~gaps], table[~gaps])
    with pytest.raises(InvalidArgumentError, match=r"min_value has shape \(3,\) but X has 12"):
        CURImputer(min_value=[1, 2, 3]).fit(table)
    with pytest.raises(InvalidArgumentError, match=r"min_value=5 is not below max_value=3 \(feature 0\)"):
        CURImputer(min_value=5, max_value=high).fit(table)


def test_the_error_of_each_column_is_told_in_its_unit():
    X, gaps = low_rank(n=400, noise=0.3)
    units = 10.0 ** np.linspace(-3, 3, X.shape[1])
    imputer = CURImputer()
    filled = imputer.fit_transform(np.where(gaps, np.nan, X * units))
    true = np.sqrt(np.mean(np.where(gaps, filled / units - X, 0) ** 2, axis=0) / np.mean(gaps, axis=0))
    assert imputer.error_ / units == pytest.approx(true, rel=0.6)
    assert np.mean(imputer.error_ / units) == pytest.approx(np.mean(true), rel=0.15)


def test_where_too_few_values_can_be_left_out_there_is_no_error():
    for table in (np.array([[1.0, 2.0], [np.nan, 4.0], [5.0, np.nan]]), low_rank()[0]):
        imputer = CURImputer().fit(table)
        assert np.isnan(imputer.error_).all()


def test_nothing_is_fitted_a_second_time_for_the_error(table, monkeypatch):
    calls = []

    def counted(*args, **options):
        calls.append(args)
        return curplus.approximate(*args, **options)

    monkeypatch.setattr("curplus.estimators.imputer.approximate", counted)
    monkeypatch.setattr("curplus.evaluation.cross_fit.made_again", None)
    imputer = CURImputer().fit(table)
    assert np.isfinite(imputer.error_).all()
    assert not imputer.intervals(table).reason
    assert len(calls) == 1


def test_single_precision_stays_single(table):
    single = table.astype(np.float32)
    filled = CURImputer().fit_transform(single)
    assert filled.dtype == np.float32
    assert np.allclose(filled, CURImputer().fit_transform(table), atol=0.05)


def test_works_in_a_pipeline(table):
    assert np.isfinite(make_pipeline(StandardScaler(), CURImputer(), StandardScaler()).fit_transform(table)).all()


def test_more_components_than_asked_for_are_not_used(table):
    assert CURImputer(n_components=1).fit(table).n_components_ == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 13}, "n_components=13 but the matrix has only 12"),
        ({"n_components": 0}, "n_components=0 is too small"),
        ({"standardize": "always"}, "standardize='always' is unknown"),
    ],
)
def test_settings_that_cannot_work_are_refused(table, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        CURImputer(**options).fit(table)


def test_a_table_of_which_nothing_is_known_is_refused():
    with pytest.raises(InvalidArgumentError, match="every cell is a gap"):
        CURImputer().fit(np.full((4, 3), np.nan))


def test_every_kind_of_random_state_is_taken(table):
    for state in (None, 0, np.random.default_rng(0), np.random.RandomState(0)):
        assert np.isfinite(CURImputer(random_state=state).fit_transform(table)).all()


@pytest.mark.parametrize("shape", [(400, 12), (12, 400)])
def test_intervals_cover_what_is_filled_in(shape):
    shares = []
    for seed in range(4):
        X, gaps = low_rank(*shape, noise=0.3, seed=seed)
        table = np.where(gaps, np.nan, X)
        low, high, reason = CURImputer().fit(table).intervals(table)
        assert not reason
        assert np.array_equal(low[~gaps], X[~gaps])
        assert np.array_equal(high[~gaps], X[~gaps])
        shares.append(((low <= X) & (high >= X))[gaps].mean())
    assert 0.86 < np.mean(shares) < 0.95


def test_intervals_lie_around_what_transform_fills_in_and_within_the_limits(table):
    imputer = CURImputer(min_value=0.0).fit(table)
    low, high, _ = imputer.intervals(table, level=0.8)
    filled = imputer.transform(table)
    assert np.all((low <= filled) & (filled <= high))
    assert np.nanmin(low[np.isnan(table)]) >= 0.0
    assert np.all(imputer.intervals(table, level=0.95).high >= high)


def test_noisy_columns_have_wider_intervals():
    X, gaps = low_rank(n=400)
    X[:, 0] += 2 * np.random.default_rng(1).standard_normal(400)
    table = np.where(gaps, np.nan, X)
    low, high, _ = CURImputer().fit(table).intervals(table)
    width = np.where(gaps, high - low, np.nan)
    assert np.nanmean(width[:, 0]) > 3 * np.nanmean(width[:, 1:])


def test_intervals_of_sparse_tables_and_empty_features_keep_their_shape(table):
    table[:, 3] = np.nan
    low, high, _ = CURImputer().fit(table).intervals(table)
    assert low.shape == high.shape == table.shape
    assert np.isnan(low[:, 3]).all()
    assert not np.isnan(np.delete(low, 3, axis=1)).any()
    stored = scipy.sparse.csr_array(np.where(np.isnan(table), 0.0, table))
    sparse = CURImputer(missing_values="unstored").fit(stored).intervals(stored)
    assert sparse.low == pytest.approx(low, nan_ok=True)


def test_intervals_need_values_that_were_left_out(table):
    with pytest.raises(InvalidArgumentError, match="level=2 is not a confidence"):
        CURImputer().fit(table).intervals(table, level=2)
    tiny = np.array([[1.0, 2.0], [np.nan, 4.0], [5.0, np.nan]])
    low, _, reason = CURImputer().fit(tiny).intervals(tiny)
    assert "only 4 entries can be held out" in reason
    assert np.isnan(low[1, 0])
