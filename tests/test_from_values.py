"""Scattered values, tables with gaps, gaps of rows and columns, and what is said of the answer."""

import numpy as np
import pytest

import curplus
from curplus.methods.approximate.assemble import leading_part, mean_of
from curplus.methods.approximate.factors import Factors
from curplus.methods.approximate.fill_lines import filled_lines
from curplus.methods.approximate.known_table import known_table
from curplus.methods.approximate.nuclear import _gains, _not_met
from curplus.methods.approximate.offsets import additive_model
from curplus.methods.approximate.posterior import posterior_mean
from curplus.methods.approximate.rank_evidence import predictive_rank, rank_for_entries
from curplus.observation import Entries, Observation


@pytest.fixture
def panel(rng):
    """Offsets, two directions and noise, 120 x 60."""
    signal = 3 + rng.standard_normal((120, 1)) + rng.standard_normal((1, 60))
    signal = signal + rng.standard_normal((120, 2)) @ rng.standard_normal((2, 60))
    return signal + 0.2 * rng.standard_normal(signal.shape)


def relative(approx, M):
    return np.linalg.norm(approx.to_array() - M) / np.linalg.norm(M)


# Tables with gaps


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("turned", [False, True])
def test_a_table_with_gaps_is_filled_to_its_noise(panel, rng, dtype, turned):
    M = (panel.T if turned else panel).astype(dtype)
    gaps = rng.random(M.shape) < 0.3
    seen = Observation.from_table(np.where(gaps, np.nan, M))
    approx = curplus.approximate(seen)
    error = np.sqrt(np.mean((approx.to_array() - M)[gaps] ** 2))
    assert error < 0.26
    assert approx.provenance.model.noise == pytest.approx(error, rel=0.2)
    assert approx.report.model == "factor model"
    assert approx.report.against_zero_z > 10
    filled = seen.fill(approx)
    assert np.array_equal(filled[~gaps], M[~gaps])


def test_the_verdict_on_a_table_compares_with_its_means(rng):
    """Means that are found in all values of the rows in question, and not in a few of them."""
    additive = 3 + rng.standard_normal((1500, 1)) + rng.standard_normal((1, 60)) + 0.5 * rng.standard_normal((1500, 60))
    taste = rng.standard_normal((1500, 2)) @ rng.standard_normal((2, 60))
    gaps = rng.random(taste.shape) < 0.3
    plain, low_rank = (
        curplus.approximate(Observation.from_table(np.where(gaps, np.nan, x))).report
        for x in (additive, additive + taste)
    )
    assert "not clearly better than means of rows and columns" in plain.verdict
    assert "better than means of rows and columns on 1500 values" in low_rank.verdict


def test_a_table_is_approximated_without_offsets(panel, rng):
    seen = Observation.from_table(np.where(rng.random(panel.shape) < 0.3, np.nan, panel))
    approx = curplus.approximate(seen, offsets=False)
    assert approx.report.model == "shrunken singular values"
    assert relative(approx, panel) < 0.2


def test_a_table_with_gaps_is_cut_to_the_rank_asked_for(panel, rng):
    seen = Observation.from_table(np.where(rng.random(panel.shape) < 0.2, np.nan, panel))
    for rank in (1, 2, 4):
        assert curplus.approximate(seen, rank).rank == rank


@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1e6, 1e150])
def test_units_do_not_matter(panel, rng, scale):
    gaps = rng.random(panel.shape) < 0.3
    one, other = (
        curplus.approximate(Observation.from_table(np.where(gaps, np.nan, x))).to_array()
        for x in (panel, scale * panel)
    )
    np.testing.assert_allclose(other / scale, one, rtol=0.02, atol=0.02)


def test_empty_rows_and_columns_of_a_table_get_a_finite_guess(panel, rng):
    table = np.where(rng.random(panel.shape) < 0.3, np.nan, panel)
    table[5], table[:, 7] = np.nan, np.nan
    approx = curplus.approximate(Observation.from_table(table))
    assert np.all(np.isfinite(approx.to_array()))
    mean_row = np.delete(panel, 5, axis=0).mean(axis=0)
    assert np.linalg.norm(np.delete(approx.to_array()[5] - mean_row, 7)) < 0.2 * np.linalg.norm(mean_row)


def test_known_values_are_read_as_a_table(rng):
    M = rng.standard_normal((20, 15))
    seen = curplus.observe(M, n_columns=3, n_rows=4, n_entries=40, rng=0)
    use = np.arange(0, 40, 2)
    expected = np.full(M.shape, np.nan)
    expected[seen.row_index], expected[:, seen.column_index] = seen.rows, seen.columns
    expected[seen.i[use], seen.j[use]] = seen.values[use]
    table = known_table(seen, use)
    np.testing.assert_array_equal(table.rows(slice(None)), expected)
    np.testing.assert_array_equal(table.rows(np.array([7, 2, 11])), expected[[7, 2, 11]])


def test_repeated_entries_count_with_their_mean(rng):
    seen = Observation(shape=(3, 2), i=[1, 1, 0], j=[0, 0, 1], values=[2.0, 4.0, 5.0], weights=[1.0, 3.0, 1.0])
    assert known_table(seen, np.arange(3)).rows(np.array([1]))[0, 0] == pytest.approx(3.5)


# Gaps of rows and columns


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_rows_and_columns_with_gaps_are_used_for_all_they_know(low_rank, rng, share):
    M = low_rank((200, 150), 4) + 0.05 * rng.standard_normal((200, 150))
    holes = np.where(rng.random(M.shape) < share, np.nan, M)
    options = {"n_columns": 20, "n_rows": 20, "n_entries": 1500, "rng": 0}
    complete = relative(curplus.approximate(curplus.observe(M, **options), 4), M)
    seen = curplus.observe(holes, **options, gaps=True)
    assert seen.has_gaps
    assert relative(curplus.approximate(seen, 4), M) < (1.1 if share < 0.1 else 1.6) * complete + 0.01


def test_filled_rows_and_columns_agree_where_they_intersect(low_rank, rng):
    M = low_rank((60, 50), 3)
    seen = curplus.observe(
        np.where(rng.random(M.shape) < 0.2, np.nan, M), n_columns=8, n_rows=9, n_entries=0, gaps=True, rng=0
    )
    filled = filled_lines(seen)
    assert not filled.has_gaps
    np.testing.assert_array_equal(filled.columns[filled.row_index], filled.rows[:, filled.column_index])
    known = ~np.isnan(seen.columns)
    np.testing.assert_array_equal(filled.columns[known], seen.columns[known])


@pytest.mark.parametrize(("n_columns", "n_rows"), [(1, 1), (1, 5), (6, 0), (0, 6), (3, 3)])
def test_few_rows_and_columns_with_gaps_have_a_finite_answer(panel, rng, n_columns, n_rows):
    holes = np.where(rng.random(panel.shape) < 0.4, np.nan, panel)
    seen = curplus.observe(holes, n_columns=n_columns, n_rows=n_rows, n_entries=300, gaps=True, rng=1)
    assert np.all(np.isfinite(curplus.approximate(seen).to_array()))


# Two models and their mean


def test_the_mean_of_two_approximations(rng):
    first, second = (leading_part(rng.standard_normal((12, k)), rng.standard_normal((9, k)), k) for k in (2, 3))
    np.testing.assert_allclose(mean_of(first, second).to_array(), (first.to_array() + second.to_array()) / 2)


def test_averaged_factors_err_less_than_the_best_guess(rng):
    signal = rng.standard_normal((100, 3)) @ rng.standard_normal((3, 80))
    M = signal + rng.standard_normal(signal.shape)
    flat = rng.choice(M.size, 2500, replace=False)
    entries = Entries(M.shape, flat // 80, flat % 80, M.ravel()[flat], weights=np.ones(2500))
    U, s, Vt = np.linalg.svd(signal, full_matrices=False)
    start = Factors(U[:, :3] * np.sqrt(s[:3]), Vt[:3].T * np.sqrt(s[:3]))
    fitted = posterior_mean(entries, start)
    least_squares = start
    for _ in range(30):  # no shrinkage at all
        V = np.zeros((80, 3))
        for j in range(80):
            on = entries.j == j
            V[j] = np.linalg.lstsq(least_squares.left[entries.i[on]], entries.values[on])[0]
        U = np.zeros((100, 3))
        for i in range(100):
            on = entries.i == i
            U[i] = np.linalg.lstsq(V[entries.j[on]], entries.values[on])[0]
        least_squares = Factors(U, V)
    errors = [np.linalg.norm(x.left @ x.right.T - signal) for x in (fitted, least_squares)]
    assert errors[0] < errors[1]


# The rank


def test_the_rank_is_the_least_that_predicts_left_out_rows(low_rank, rng):
    M = low_rank((150, 120), 5)
    noisy = M + 0.05 * np.std(M) * rng.standard_normal(M.shape)
    for n_columns, n_rows in ((30, 40), (40, 30)):
        seen = curplus.observe(noisy, n_columns=n_columns, n_rows=n_rows, n_entries=0, rng=0)
        assert predictive_rank(seen, 1, "auto") == 5


def test_the_rank_may_exceed_half_of_the_rows():
    x, y = np.linspace(0, 1, 300)[:, None], np.linspace(0, 1, 200)
    M = np.exp(-((x - y) ** 2) / 0.02)
    seen = curplus.observe(M, n_columns=15, n_rows=15, n_entries=12_000, rng=0)
    approx = curplus.approximate(seen)
    assert approx.rank > 8
    assert relative(approx, M) < 0.01


def test_entries_choose_among_the_ranks_of_an_approximation(rng):
    left, right = rng.standard_normal((50, 3)), rng.standard_normal((40, 3))
    noise = 1e-3 * leading_part(rng.standard_normal((50, 6)), rng.standard_normal((40, 6)), 6).to_array()
    answer = leading_part(np.hstack([left, noise]), np.hstack([right, np.eye(40)]), 9)
    i, j = (x.ravel() for x in np.indices((50, 40)))
    assert rank_for_entries(answer, Entries((50, 40), i, j, (left @ right.T).ravel())) == 3


# Verdicts


def test_a_verdict_does_not_rest_on_a_few_values():
    """A heavy column that was not sampled: the answer is worse than zero, and nothing says otherwise."""
    g = np.random.default_rng(0)
    M = g.standard_normal((300, 5)) @ g.standard_normal((5, 200))
    M[:, 3] = 1e3 * g.standard_normal(300)
    for seed in range(6):
        seen = curplus.observe(M, n_columns=20, n_rows=20, n_entries=2000, rng=seed)
        approx = curplus.approximate(seen, 5)
        if relative(approx, M) > 1:
            assert "do not tell how good it is" in approx.report.verdict or "no evidence" in approx.report.verdict


def test_an_additive_matrix_is_not_said_to_be_better_than_means(rng):
    M = 5 + rng.standard_normal((150, 1)) + rng.standard_normal((1, 100)) + 0.3 * rng.standard_normal((150, 100))
    approx = curplus.approximate(curplus.observe(M, n_columns=10, n_rows=10, n_entries=9000, rng=0))
    assert "not clearly better than means" in approx.report.verdict
    assert approx.report.against_zero_z > 10


def test_chosen_rows_say_little_of_the_others(low_rank, rng):
    M = low_rank((150, 100), 3) + rng.standard_normal((150, 100))
    chosen = curplus.approximate(curplus.acquire(M, n_columns=20, n_rows=20, n_entries=0, rng=0))
    assert "they were chosen" in chosen.report.verdict


@pytest.mark.parametrize("offsets", ["yes", None, 2])
def test_offsets_that_are_unknown_are_refused(panel, offsets):
    seen = curplus.observe(panel, n_columns=5, n_rows=5, n_entries=0, rng=0)
    with pytest.raises(curplus.exceptions.InvalidArgumentError, match='Give "auto", True or False'):
        curplus.approximate(seen, offsets=offsets)


@pytest.mark.parametrize("offsets", [True, False, "auto"])
@pytest.mark.parametrize("counts", [(8, 8, 0), (8, 8, 1500), (0, 0, 2500), (8, 0, 1500)])
def test_every_kind_of_sample_can_be_approximated_with_and_without_offsets(panel, offsets, counts):
    seen = curplus.observe(panel, n_columns=counts[0], n_rows=counts[1], n_entries=counts[2], rng=0)
    approx = curplus.approximate(seen, offsets=offsets)
    assert relative(approx, panel) < 0.45
    assert relative(curplus.approximate(seen, 3, offsets=offsets), panel) < 0.5


def test_entries_that_have_chosen_are_fitted_too(rng):
    """Offsets and noise: the answer is the additive model of all entries, and none of them is missed."""
    M = rng.standard_normal((60, 1)) + rng.standard_normal((1, 50)) + rng.standard_normal((60, 50))
    seen = curplus.observe(M, n_columns=0, n_rows=0, n_entries=1100, rng=0)
    approx = curplus.approximate(seen)
    model = additive_model(Entries(M.shape, seen.i, seen.j, seen.values, weights=np.ones(1100)))
    additive = model.constant + model.rows[:, None] + model.columns
    assert np.linalg.norm(M - approx.to_array()) < 1.002 * np.linalg.norm(M - additive)
    assert approx.report.fitted_again == 1100
    assert len(approx.held_out) == 0
    assert curplus.certify(approx, seen).evidence == "cross-fitted entries"


def test_entries_with_weights_are_fitted_without_a_warning(panel, rng):
    flat = rng.choice(panel.size, 1500, replace=False)
    i, j = np.divmod(flat, 60)
    seen = Observation(shape=panel.shape, i=i, j=j, values=panel[i, j], weights=rng.uniform(0.5, 2, 1500))
    approx = curplus.approximate(seen)
    assert approx.report.fitted_again == 1500
    assert relative(approx, panel) < 0.3


def filled_error(X, gaps):
    """Errors at the gaps of a table: of what is filled in, and of the additive model."""
    table = np.where(gaps, np.nan, X)
    seen = curplus.Observation.from_table(table)
    (i, j), at = np.nonzero(~gaps), np.nonzero(gaps)
    means = additive_model(Entries(X.shape, i, j, X[i, j], weights=np.ones(len(i)))).at(*at)
    guesses = np.asarray(seen.fill(curplus.approximate(seen)))[at], means
    return [float(np.sqrt(np.mean((X[at] - guess) ** 2))) for guess in guesses]


@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
@pytest.mark.parametrize("seed", range(2))
def test_a_table_of_outliers_is_not_filled_with_larger_ones(shape, seed):
    rng = np.random.default_rng(seed)
    error, means = filled_error(rng.standard_cauchy(shape), rng.random(shape) < 0.1)
    assert error < 1.05 * means


@pytest.mark.parametrize("seed", [0, 9, 10])  # without this the last two would hide one, and be off by its size
def test_the_only_value_of_a_column_is_not_set_aside(seed):
    rng = np.random.default_rng(seed)
    X = 100 * rng.standard_normal(20) + rng.standard_normal((5, 20))
    gaps = rng.random(X.shape) < 0.5
    gaps[rng.integers(5, size=20), np.arange(20)] = False
    error, means = filled_error(X, gaps)
    assert error < 1.2 * means


# A low rank that is no better than offsets


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_few_large_values_do_not_make_a_low_rank(seed):
    """Of Student's t with two degrees of freedom, what is left out rarely shows where a low rank is large."""
    rng = np.random.default_rng(seed)
    M = rng.standard_t(2, (1000, 12)) + rng.standard_normal((1, 12))
    seen = curplus.observe(M, n_columns=0, n_rows=0, n_entries=6000, rng=seed)
    unread = np.ones(M.shape, dtype=bool)
    unread[seen.i, seen.j] = False
    errors = [np.linalg.norm((M - guess)[unread]) for guess in (curplus.approximate(seen).to_array(), M.mean(axis=0))]
    assert errors[0] < 1.01 * errors[1]


def test_what_a_low_rank_has_elsewhere_counts_against_it():
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((40, 2)), rng.standard_normal((30, 2))
    M = left @ right.T
    place = rng.permutation(M.size)
    i, j = np.divmod(place, 30)
    fit, left_out = (
        Entries(M.shape, i[t], j[t], M[i[t], j[t]], weights=np.ones(400)) for t in (slice(400), slice(400, 800))
    )
    good = Factors(left, right)
    gained = np.sum(_gains(good, left_out))
    np.testing.assert_allclose(gained, np.sum(M[left_out.i, left_out.j] ** 2))
    assert _not_met(good, fit, left_out) < 0.1 * gained
    hidden = np.ones(M.shape)
    hidden[i[:800], j[:800]] = 0
    row = int(np.argmax(hidden.sum(axis=1)))
    spike = np.zeros((40, 1)), hidden[row][:, None].copy()
    spike[0][row] = 100.0  # large in one row, where nothing was read
    bad = Factors(np.hstack([left, spike[0]]), np.hstack([right, spike[1]]))
    np.testing.assert_allclose(np.sum(_gains(bad, left_out)), gained)  # what is left out does not see it
    assert _not_met(bad, fit, left_out) > gained
    np.testing.assert_allclose(Factors(left, right).mean_square, np.mean(M**2))


def test_a_smooth_kernel_is_met_beyond_what_twenty_factors_leave_of_it():
    """A factor model alone leaves 5e-4: however good it looks, the other model is tried too."""
    x, y = np.linspace(0, 1, 300), np.linspace(0, 1, 200)
    M = np.exp(-(((x[:, None] - y) / 0.3) ** 2))
    seen = curplus.observe(M, n_columns=0, n_rows=0, n_entries=30_000, rng=0)
    assert np.linalg.norm(M - curplus.approximate(seen).to_array()) < 1e-4 * np.linalg.norm(M)
