import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus.acquisition import ProductLeverage
from curplus.evaluation.entry_intervals import measured_values
from curplus.evaluation.entry_scale import fit_scale, fit_scores, weighted_quantile
from curplus.exceptions import InvalidArgumentError
from curplus.factorization import Provenance
from curplus.observation import SamplingDesign
from tests.conftest import effort
from tests.strategies import drawn_by_value


def matrix(n=80, m=60, seed=0):
    """Rows and columns of very different noise."""
    rng = np.random.default_rng(seed)
    noise = np.exp(rng.standard_normal((n, 1)) / 2) * np.exp(rng.standard_normal((1, m)) / 2)
    return rng.standard_normal((n, 2)) @ rng.standard_normal((2, m)) + 0.3 * noise * rng.standard_normal((n, m))


def everywhere(shape):
    return np.divmod(np.arange(math.prod(shape)), shape[1])


def intervals_of(seen, **options):
    i, j = everywhere(seen.shape)
    return curplus.predict_interval(curplus.approximate(seen, 2), seen, i, j, **options)


def inside(found, M):
    return (found.low <= M.ravel()) & (M.ravel() <= found.high)


@pytest.mark.parametrize("level", [0.8, 0.9])
def test_intervals_cover_as_often_as_they_say(level):
    shares = []
    for seed in range(effort(4, 8)):
        M = matrix(seed=seed)
        found = intervals_of(curplus.observe(M, n_columns=2, n_rows=2, n_entries=1500, rng=seed), level=level)
        shares.append(inside(found, M)[~found.is_measured].mean())
    assert level - 0.02 < np.mean(shares) < level + 0.03


def test_intervals_cover_where_entries_had_unequal_chances():
    shares = []
    for seed in range(effort(8, 16)):
        M, how = matrix(seed=seed), ProductLeverage(uniform_share=0.3)
        seen = curplus.acquire(M, n_columns=5, n_rows=5, n_entries=1500, entry_strategy=how, rng=seed)
        found = intervals_of(seen)
        shares.append(inside(found, M)[~found.is_measured].mean())
    assert 0.88 < np.mean(shares) < 0.93


def test_intervals_cover_where_chances_depend_on_the_values():
    """What was not read is small then; and a value that was drawn twice is known to the fit that predicts it."""
    shares = []
    for seed in range(20):
        M, seen = drawn_by_value(seed)
        found = intervals_of(seen)
        shares.append(inside(found, M)[~found.is_measured].mean())
    assert 0.893 < np.mean(shares) < 0.912


def test_a_scale_does_not_depend_on_the_unit_of_the_weights(rng):
    errors, i, j = rng.standard_normal(500), rng.integers(20, size=500), rng.integers(10, size=500)
    weights, known = rng.random(500) + 0.1, (np.full(20, 25.0), np.full(10, 50.0))
    one, other = (fit_scores(errors, i, j, times * weights, known) for times in (1.0, 7.0))
    np.testing.assert_allclose(one.values, other.values)


def test_every_row_and_column_is_covered_about_as_well():
    shares = []
    for seed in range(effort(4, 6)):
        M = matrix(100, 80, seed=seed)
        found = intervals_of(curplus.observe(M, n_columns=0, n_rows=0, n_entries=4000, rng=seed))
        shares.append(np.where(found.is_measured, np.nan, inside(found, M)).reshape(100, 80))
    by_row, by_column = np.nanmean(shares, axis=(0, 2)), np.nanmean(shares, axis=(0, 1))
    assert min(np.quantile(by_row, 0.1), np.quantile(by_column, 0.1)) > 0.8


def test_measured_values_are_their_own_interval():
    M = matrix(20, 15)
    seen = curplus.observe(M, n_columns=2, n_rows=3, n_entries=100, rng=0)
    known = np.zeros(M.shape, dtype=bool)
    known[seen.row_index] = known[:, seen.column_index] = known[seen.i, seen.j] = True
    values = measured_values(seen, *everywhere(M.shape))
    assert np.array_equal(values, np.where(known, M, np.nan).ravel(), equal_nan=True)
    found = intervals_of(seen)
    assert np.array_equal(found.is_measured, known.ravel())
    assert np.array_equal(found.low[found.is_measured], M[known])
    assert np.array_equal(found.high[found.is_measured], M[known])


def test_measured_values_with_noise_have_its_interval():
    M = matrix(30, 20)
    seen = curplus.observe(M, n_columns=2, n_rows=3, n_entries=300, noise=0.1, rng=0)
    found = intervals_of(seen)
    width = 2 * 0.1 * scipy.stats.norm.ppf(0.95)
    assert (found.high - found.low)[found.is_measured] == pytest.approx(width)


def test_ratings_must_say_that_they_are_missing_at_random():
    M = matrix()
    i, j = np.divmod(np.random.default_rng(0).permutation(4800)[:1500], 60)
    ratings = {"shape": M.shape, "i": i, "j": j, "values": M[i, j]}
    refused = intervals_of(curplus.Observation(**ratings))
    assert "observation.with_design(entries='uniform')" in refused.reason
    assert np.isnan(refused.low[~refused.is_measured]).all()
    assert np.array_equal(refused.low[refused.is_measured], M.ravel()[refused.is_measured])
    assert "refused" in repr(refused)
    given_ = intervals_of(curplus.Observation(**ratings, design=SamplingDesign(entries="uniform")))
    assert 0.86 < inside(given_, M)[~given_.is_measured].mean() < 0.95
    assert "90%" in repr(given_)


def test_a_table_with_gaps_gets_intervals_for_its_gaps():
    M = matrix()
    table = np.where(np.random.default_rng(0).random(M.shape) < 0.6, np.nan, M)
    seen = curplus.Observation.from_table(table, design=SamplingDesign(entries="uniform"))
    found = intervals_of(seen)
    assert np.array_equal(found.is_measured, ~np.isnan(table).ravel())
    assert 0.85 < inside(found, M)[~found.is_measured].mean() < 0.95


def test_nothing_is_said_without_entries_to_hold_out():
    M = matrix(40, 30)
    seen = curplus.observe(M, n_columns=5, n_rows=5, n_entries=0, rng=0)
    assert "0 entries can be held out" in intervals_of(seen).reason
    some = curplus.observe(M, n_columns=5, n_rows=5, n_entries=100, rng=0)
    bare = replace(curplus.approximate(some, 2), provenance=Provenance())
    assert "cannot be made again" in curplus.predict_interval(bare, some, [0], [0]).reason


def test_a_level_that_the_scores_cannot_tell_is_refused():
    seen = curplus.observe(matrix(20, 15), n_columns=0, n_rows=0, n_entries=60, rng=0)
    assert "too few for a level of 0.999" in intervals_of(seen, level=0.999).reason


def test_intervals_keep_the_names_of_rows_and_columns():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(matrix(40, 30)).rename(index="row {}".format, columns="column {}".format)
    seen = curplus.observe(table, n_columns=0, n_rows=0, n_entries=600, rng=0)
    found = curplus.predict_interval(curplus.approximate(seen, 2), seen, [7, 8], [5, 6])
    assert found.to_frame()[["row", "column"]].values.tolist() == [["row 7", "column 5"], ["row 8", "column 6"]]


def test_one_place_can_be_asked_for():
    M = matrix(40, 30)
    seen = curplus.observe(M, n_columns=3, n_rows=3, n_entries=300, rng=0)
    approx = curplus.approximate(seen, 2)
    found = curplus.predict_interval(approx, seen, 7, 5)
    assert len(found) == 1
    pytest.importorskip("pandas")
    assert found.to_frame()[["row", "column"]].values.tolist() == [[7, 5]]
    with pytest.raises(InvalidArgumentError, match="i has 2 positions and j has 1"):
        curplus.predict_interval(approx, seen, [1, 2], [3])
    with pytest.raises(InvalidArgumentError, match="out of range"):
        curplus.predict_interval(approx, seen, [40], [3])


@given(st.lists(st.floats(0, 100), min_size=1, max_size=40), st.floats(0.05, 0.95))
def test_the_quantile_is_the_one_of_split_conformal_prediction(scores, level):
    x, n = np.array(scores), len(scores)
    place = math.ceil(level * (n + 1) * (1 - 1e-12))
    expected = math.inf if place > n else np.sort(x)[place - 1]
    assert weighted_quantile(x, np.ones(n), level) == expected


def test_weights_stand_for_repetitions():
    scores, counts = np.array([1.0, 2.0, 3.0, 4.0]), np.array([5, 1, 3, 2])
    repeated = np.repeat(scores, counts)
    for level in (0.2, 0.5, 0.6):
        plain = weighted_quantile(np.append(repeated, [np.inf] * 4), np.ones(15), level)
        assert weighted_quantile(scores, counts.astype(float), level) == plain


def test_the_scale_of_rows_and_columns_is_found():
    rng = np.random.default_rng(0)
    rows, columns = np.exp(rng.standard_normal(60) / 2), np.exp(rng.standard_normal(50) / 2)
    i, j = rng.integers(60, size=20_000), rng.integers(50, size=20_000)
    errors = np.abs(rows[i] * columns[j] * rng.standard_normal(20_000))
    known = (np.bincount(i, minlength=60).astype(float), np.bincount(j, minlength=50).astype(float))
    scale = fit_scale(errors, i, j, np.ones(20_000), known)
    at = everywhere((60, 50))
    truth = math.sqrt(2 / math.pi) * np.outer(rows, columns).ravel()
    assert np.std(np.log(scale.at(*at) / truth)) < 0.1
    assert np.exp(np.mean(np.log(scale.at(*at) / truth))) == pytest.approx(1.0, abs=0.05)


def test_the_scale_without_its_own_error_is_that_of_a_fit_without_it_nearly():
    rng = np.random.default_rng(0)
    i, j, errors = rng.integers(20, size=200), rng.integers(10, size=200), rng.exponential(size=200)
    known = (np.bincount(i, minlength=20).astype(float), np.bincount(j, minlength=10).astype(float))
    scale = fit_scale(errors, i, j, np.ones(200), known)
    large = int(np.argmax(errors))
    others = np.arange(200) != large
    left_out = fit_scale(errors[others], i[others], j[others], np.ones(199), known)
    own = scale.without_own(i, j, errors, np.ones(200))[large]
    exact = left_out.at(i[[large]], j[[large]])[0]
    assert abs(own - exact) < 0.5 * abs(scale.at(i[[large]], j[[large]])[0] - exact) + 0.05 * exact
