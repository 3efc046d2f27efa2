"""Rows that were not in the matrix are completed from part of their values, in closed form."""

import json

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import curplus
from curplus.exceptions import InvalidArgumentError
from curplus.factorization import FittedModel
from curplus.factorization.new_rows import ridge_inverse, row_prior
from tests.conftest import effort


def fitted(history, rank=None, **names):
    rows = {"shape": history.shape, "row_index": np.arange(len(history)), "rows": history}
    return curplus.approximate(curplus.Observation(**rows, **names), rank)


def hidden(rows, known):
    """The rows with NaN where nothing is known."""
    return np.where(known, rows, np.nan)


def dense_answer(history, rows, noise, mean):
    """The conditional expectation under a normal distribution with the covariance of the fitted rows, row by row."""
    centred = history - history.mean(axis=0)
    covariance = centred.T @ centred / len(history)
    out = rows.copy()
    for row in out:
        known = ~np.isnan(row)
        inverse = np.linalg.inv(covariance[np.ix_(known, known)] + noise**2 * np.eye(known.sum()))
        row[~known] = (mean + covariance[:, known] @ inverse @ (row[known] - mean[known]))[~known]
    return out


@pytest.fixture
def history(full_rank):
    return full_rank((60, 40), rank=5, noise=0.5) + 2


def test_is_the_conditional_expectation_given_the_known_values(history, rng):
    approx = fitted(history)
    assert approx.provenance.model.noise > 0
    new = history[:50] + 0.3 * rng.standard_normal((50, 40))
    share = rng.random((50, 1))
    rows = hidden(new, rng.random((50, 40)) < share)
    rows[0], rows[1] = np.nan, new[1]
    expected = dense_answer(history, rows, approx.provenance.model.noise, history.mean(axis=0))
    np.testing.assert_allclose(approx.complete_rows(rows), expected, rtol=1e-9, atol=1e-9)


@given(seed=st.integers(0, 2**31), n=st.integers(1, 30), m=st.integers(1, 30), p=st.integers(0, 40))
def test_known_values_are_untouched_and_all_others_are_finite(seed, n, m, p):
    rng = np.random.default_rng(seed)
    rows = hidden(rng.standard_normal((p, m)), rng.random((p, m)) < rng.random((p, 1)))
    kept = rows.copy()
    filled = fitted(rng.standard_normal((n, m))).complete_rows(rows)
    np.testing.assert_array_equal(rows, kept)
    assert filled.shape == rows.shape
    assert np.isfinite(filled).all()
    np.testing.assert_array_equal(filled[~np.isnan(rows)], rows[~np.isnan(rows)])


def test_each_row_is_completed_for_itself(history, rng):
    approx = fitted(history)
    patterns = rng.random((12, 40)) < 0.4
    known = patterns[rng.integers(0, 12, size=300)]  # some shared by many rows
    known[:30] = rng.random((30, 40)) < np.linspace(0, 1, 30)[:, None]
    rows = hidden(rng.standard_normal((300, 40)), known)
    alone = np.vstack([approx.complete_rows(row[None]) for row in rows])
    np.testing.assert_allclose(approx.complete_rows(rows), alone, rtol=1e-10, atol=1e-10)


def test_many_patterns_are_solved_in_batches_of_bounded_memory(history, rng, monkeypatch):
    rows = hidden(rng.standard_normal((100, 40)), rng.random((100, 40)) < 0.4)
    approx = fitted(history)
    expected = approx.complete_rows(rows)
    monkeypatch.setattr(curplus.factorization.new_rows, "NUMBERS_AT_A_TIME", 100)
    np.testing.assert_allclose(approx.complete_rows(rows), expected, rtol=1e-10)


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize(("n", "m", "rank", "n_known"), [(80, 30, 3, 3), (80, 30, 3, 8), (40, 200, 10, 10)])
def test_values_that_determine_the_row_determine_it_exactly(low_rank, n, m, rank, n_known, scale):
    both = low_rank((n + 9, m), rank=rank) * scale
    new = both[n:]
    for approx in (fitted(both[:n]), fitted(both[:n], rank)):
        filled = approx.complete_rows(hidden(new, np.arange(m) < n_known))
        assert np.max(np.abs(filled - new)) < 1e-10 * np.max(np.abs(new))


def test_values_determine_the_row_in_single_precision_too(low_rank):
    both = low_rank((70, 40), rank=4, dtype=np.float32)
    filled = fitted(both[:60]).complete_rows(hidden(both[60:], np.arange(40) < 8))
    assert filled.dtype == np.float32
    np.testing.assert_allclose(filled, both[60:], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("method", [curplus.cur_plus, curplus.cur_unbiased])
def test_an_approximation_without_a_model_completes_rows_of_exact_low_rank(low_rank, method):
    both = low_rank((80, 50), rank=3)
    seen = curplus.observe(both[:70], n_columns=8, n_rows=8, n_entries=300, rng=0)
    approx = method(seen, 3)
    assert approx.provenance.model is None
    if method is curplus.cur_plus:
        np.testing.assert_allclose(approx.complete_rows(hidden(both[70:], np.arange(50) < 5)), both[70:], atol=1e-9)


def test_without_a_model_the_residual_on_the_samples_is_the_noise(full_rank):
    M = full_rank((150, 100), rank=3, noise=0.3)
    approx = curplus.cur_plus(curplus.observe(M, n_columns=20, n_rows=20, n_entries=3000, rng=0), 3)
    unit = 2 ** np.ceil(np.log2(np.max(np.abs(approx.core.Z))))
    assert row_prior(approx).noise * unit == pytest.approx(0.3, rel=0.1)


def test_a_row_of_which_nothing_is_known_is_the_mean_row(history):
    for approx in (fitted(history), fitted(history, 3)):
        np.testing.assert_allclose(approx.complete_rows(np.full((2, 40), np.nan)), [history.mean(axis=0)] * 2)
    both = fitted(history).complete_columns(np.full((60, 2), np.nan))
    np.testing.assert_allclose(both.T, [history.mean(axis=1)] * 2)


@pytest.mark.parametrize("value", [0.0, 7.0, 1e-200])
def test_a_constant_matrix_leaves_the_mean(value):
    rows = np.full((2, 6), np.nan)
    rows[1, :3] = value + 8
    filled = fitted(np.full((9, 6), value)).complete_rows(rows)
    np.testing.assert_allclose(filled[np.isnan(rows)], value, rtol=1e-12)


FAMILIES = {
    "low rank and noise": lambda rng, n, m: rng.standard_normal((n, 3)) @ np.ones((3, 2)) @ np.ones((2, m)),
    "additive": lambda rng, n, m: rng.standard_normal((n, 1)) + np.linspace(0, 5, m),
    "nothing": lambda rng, n, m: np.zeros((n, m)),
}


@pytest.mark.parametrize("n_known", [1, 5, 20])
@pytest.mark.parametrize("family", FAMILIES)
def test_is_never_worse_than_the_mean_row_with_an_offset(family, n_known):
    ratios = []
    for seed in range(effort(3, 20)):
        rng = np.random.default_rng(seed)
        M = FAMILIES[family](rng, 200, 50) + 0.5 * rng.standard_normal((200, 50))
        history, new = M[:150], M[150:]
        filled = fitted(history).complete_rows(hidden(new, np.arange(50) < n_known))
        mean = history.mean(axis=0)
        offset = np.mean((new - mean)[:, :n_known], axis=1, keepdims=True) * n_known / (n_known + 1)
        ratios.append(np.linalg.norm(filled - new) / np.linalg.norm((mean + offset - new)[:, n_known:]))
    assert np.mean(ratios) < 1.01


@pytest.mark.parametrize("n_known", [2, 5])
def test_the_offset_of_a_new_row_is_shrunk_as_if_its_variance_were_known(n_known, rng):
    items, of_rows, of_noise = 3 + 0.5 * rng.standard_normal(60), 0.4, 0.9
    M = items + of_rows * rng.standard_normal((600, 1)) + of_noise * rng.standard_normal((600, 60))
    i, j = np.nonzero(rng.random((300, 60)) < 0.3)
    approx = curplus.approximate(curplus.Observation(shape=(300, 60), i=i, j=j, values=M[i, j]))
    new = M[300:]
    sums = np.sum((new - items)[:, :n_known], axis=1, keepdims=True)
    best = items + sums / (n_known + of_noise**2 / of_rows**2)  # the best linear unbiased prediction
    completed = approx.complete_rows(hidden(new, np.arange(60) < n_known))
    errors = [np.linalg.norm((x - new)[:, n_known:]) for x in (completed, best)]
    assert errors[0] < 1.03 * errors[1]


def test_columns_are_the_rows_of_the_transposed_matrix(history, rng):
    approx = fitted(history)
    columns = hidden(rng.standard_normal((60, 5)), rng.random((60, 5)) < 0.3)
    np.testing.assert_allclose(approx.complete_columns(columns), approx.T.complete_rows(columns.T).T)


def test_predictions_stay_within_the_limits_and_known_values_do_not(history, rng):
    approx = fitted(history)
    rows = hidden(10 * rng.standard_normal((20, 40)), rng.random((20, 40)) < 0.3)
    plain, limited = approx.complete_rows(rows), approx.complete_rows(rows, min_value=1.5, max_value=2)
    np.testing.assert_array_equal(limited, np.where(np.isnan(rows), np.clip(plain, 1.5, 2), rows))
    assert np.nanmax(rows) > 2


def test_a_cut_leaves_more_noise_and_the_same_mean_row(history):
    approx = fitted(history)
    cut, model = approx.truncate(3), approx.provenance.model
    s = np.linalg.svdvals(history)
    left_over = np.sum(s[3:] ** 2) / history.size
    assert cut.provenance.model.noise == pytest.approx(np.hypot(model.noise, np.sqrt(left_over)))
    assert fitted(history, 3).provenance.model.noise == pytest.approx(cut.provenance.model.noise)
    np.testing.assert_allclose(cut.provenance.model.mean_row, history.mean(axis=0))


def test_the_model_says_what_the_matrix_shows(history):
    model = FittedModel.of(fitted(history), 0.25)
    M = history
    rows, columns = M.mean(axis=1), M.mean(axis=0)
    assert model.noise == 0.25
    np.testing.assert_allclose(model.mean_column, rows)
    np.testing.assert_allclose(model.mean_row, columns)
    np.testing.assert_array_equal(model.T.mean_row, model.mean_column)
    assert model.scale(4.0).T.noise == 1.0
    np.testing.assert_array_equal(model.scale(4.0).mean_row, 4 * model.mean_row)


def test_a_saved_approximation_completes_rows_as_before(history, rng, tmp_path):
    rows = hidden(rng.standard_normal((9, 40)), rng.random((9, 40)) < 0.3)
    approx = fitted(history)
    approx.save(tmp_path / "a.npz")
    back = curplus.load(tmp_path / "a.npz")
    np.testing.assert_array_equal(back.complete_rows(rows), approx.complete_rows(rows))
    assert not back.provenance.model.mean_row.flags.writeable


def test_a_file_of_a_version_without_models_can_be_read(history, tmp_path):
    fitted(history).save(tmp_path / "new.npz")
    with np.load(tmp_path / "new.npz") as file:
        arrays = {name: file[name] for name in file.files if not name.startswith("model_")}
    header = json.loads(str(arrays.pop("curplus")))
    del header["fields"]["model"]
    header["arrays"] = {name: x for name, x in header["arrays"].items() if not name.startswith("model_")}
    np.savez(tmp_path / "old.npz", curplus=np.asarray(json.dumps(header)), **arrays)
    assert curplus.load(tmp_path / "old.npz").provenance.model is None


def test_a_file_with_a_damaged_model_is_refused(history, tmp_path):
    fitted(history).save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as file:
        arrays = dict(file)
    arrays["model_mean_row"][3] = np.nan
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(curplus.exceptions.FileFormatError, match="model_mean_row"):
        curplus.load(tmp_path / "a.npz")


@pytest.mark.parametrize(("k", "r"), [(7, 3), (3, 7), (4, 4)])
def test_the_ridge_inverse_is_that_of_the_normal_equations(rng, k, r):
    F = rng.standard_normal((5, k, r))
    F[:, 1] = 0
    expected = np.linalg.solve(np.swapaxes(F, 1, 2) @ F + 0.09 * np.eye(r), np.swapaxes(F, 1, 2))
    np.testing.assert_allclose(ridge_inverse(F, 0.3), expected, atol=1e-12)


# Tables


def named(history):
    columns = [f"c{j}" for j in range(history.shape[1])]
    return fitted(history, column_names=columns, row_names=[f"r{i}" for i in range(len(history))]), columns


def test_a_pandas_table_comes_back_with_its_index_and_columns(history, rng):
    pandas = pytest.importorskip("pandas")
    approx, columns = named(history)
    values = hidden(rng.standard_normal((4, 40)), rng.random((4, 40)) < 0.3)
    expected = approx.complete_rows(values)
    frame = pandas.DataFrame(values, index=list("abcd"), columns=columns)
    pandas.testing.assert_frame_equal(approx.complete_rows(frame), pandas.DataFrame(expected, frame.index, columns))
    turned = frame[columns[::-1]]
    pandas.testing.assert_frame_equal(approx.complete_rows(turned)[columns], approx.complete_rows(frame))
    across = approx.T.complete_columns(frame.T)
    pandas.testing.assert_frame_equal(across, approx.complete_rows(frame).T)
    plain = approx.complete_rows(pandas.DataFrame(values))
    np.testing.assert_array_equal(plain.to_numpy(), expected)


def test_a_polars_table_comes_back_with_its_columns(history, rng):
    polars = pytest.importorskip("polars")
    approx, columns = named(history)
    values = hidden(rng.standard_normal((4, 40)), rng.random((4, 40)) < 0.3)
    frame = polars.DataFrame(
        {name: [None if np.isnan(x) else x for x in values[:, j]] for j, name in enumerate(columns)}
    )
    filled = approx.complete_rows(frame)
    assert filled.columns == columns
    np.testing.assert_array_equal(filled.to_numpy(), approx.complete_rows(values))


def test_masked_values_are_unknown(history, rng):
    approx = fitted(history)
    values, known = rng.standard_normal((4, 40)), rng.random((4, 40)) < 0.3
    masked = np.ma.array(values, mask=~known)
    np.testing.assert_array_equal(approx.complete_rows(masked), approx.complete_rows(hidden(values, known)))


def test_whole_numbers_are_completed_as_real_ones(history):
    assert fitted(history).complete_rows([[3] * 40]).dtype == np.float64


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.zeros(40), r"rows has shape \(40,\).*two axes"),
        (np.zeros((2, 39)), "the new rows have 39 values each but the matrix has 40 columns"),
        (np.full((2, 40), np.inf), r"rows\[0, 0\] is infinite.*NaN"),
    ],
)
def test_rows_that_cannot_be_completed_are_refused(history, rows, message):
    with pytest.raises(InvalidArgumentError, match=message):
        fitted(history).complete_rows(rows)


def test_limits_and_names_that_make_no_sense_are_refused(history):
    pandas = pytest.importorskip("pandas")
    approx, columns = named(history)
    rows = np.full((1, 40), np.nan)
    with pytest.raises(InvalidArgumentError, match="min_value=3 is larger than max_value=2"):
        approx.complete_rows(rows, min_value=3, max_value=2)
    with pytest.raises(InvalidArgumentError, match="min_value=nan is not a number"):
        approx.complete_rows(rows, min_value=np.nan)
    with pytest.raises(InvalidArgumentError, match="rows does not have c0"):
        approx.complete_rows(pandas.DataFrame(rows, columns=["x", *columns[1:]]))
    with pytest.raises(InvalidArgumentError, match="the new columns have 40 values each but the matrix has 60 rows"):
        approx.complete_columns(rows.T)


# Real data


@pytest.mark.parametrize("k", [5, 20, 40])
def test_completed_rows_are_closer_than_least_squares_on_new_data_sets(data_dir, k):
    errors = np.load(data_dir / "oboe.npz")["error"].astype(float)
    history, new = errors[np.arange(len(errors)) % 4 != 0], errors[::4]
    known = np.isin(np.arange(219), curplus.select_columns(history, k, method="qdeim"))
    V = np.linalg.svd(history, full_matrices=False)[2][: k // 2].T
    expected = (V @ np.linalg.lstsq(V[known], new[:, known].T, rcond=None)[0]).T
    filled = fitted(history).complete_rows(hidden(new, known))
    assert np.linalg.norm((filled - new)[:, ~known]) < 0.9 * np.linalg.norm((expected - new)[:, ~known])
