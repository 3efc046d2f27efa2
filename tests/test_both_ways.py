"""Few values: rows and columns as such, all values as scattered ones, or a mean of both."""

import numpy as np
import pytest
from hypothesis import given, settings

import curplus
from curplus import Observation
from curplus.methods.approximate.both_ways import best_share, blended, set_aside
from curplus.methods.approximate.scattered import as_scattered, has_both_ways
from curplus.observation import Entries
from tests.strategies import observations

NONE = np.empty(0, dtype=int)


def noisy(shape=(90, 60), rank=3, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    signal = rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
    return signal + noise * rng.standard_normal(shape)


def unread_error(M, seen, approx):
    known = np.zeros(M.shape, dtype=bool)
    known[seen.row_index], known[:, seen.column_index], known[seen.i, seen.j] = True, True, True
    return np.sqrt(np.mean((M - approx.to_array())[~known] ** 2))


def dense(seen):
    """What is known, as a table."""
    table = np.full(seen.shape, np.nan)
    table[seen.i, seen.j] = seen.values
    for k, i in enumerate(seen.row_index):
        table[i] = np.where(np.isnan(seen.rows[k]), table[i], seen.rows[k])
    for k, j in enumerate(seen.column_index):
        table[:, j] = np.where(np.isnan(seen.columns[:, k]), table[:, j], seen.columns[:, k])
    return table


# All values as scattered ones


@given(observations())
@settings(max_examples=50)
def test_scattered_values_are_those_that_are_known(seen):
    scattered = as_scattered(seen)
    assert not scattered.n_rows
    assert not scattered.n_columns
    np.testing.assert_array_equal(dense(scattered), dense(seen))
    np.testing.assert_array_equal(scattered.i[: seen.n_entries], seen.i)
    assert len(np.unique(scattered.entries.flat_index[seen.n_entries :])) == scattered.n_entries - seen.n_entries


def test_gaps_stay_unknown_and_weights_are_kept():
    rows = np.array([[1.0, np.nan, 3.0, 4.0]])
    columns = np.array([[4.0], [5.0], [np.nan]])
    seen = Observation(
        shape=(3, 4),
        row_index=[0],
        rows=rows,
        column_index=[3],
        columns=columns,
        i=[1, 2],
        j=[0, 1],
        values=[7.0, 8.0],
        weights=[1.0, 3.0],
        gaps=True,
    )
    scattered = as_scattered(seen)
    np.testing.assert_array_equal(dense(scattered), dense(seen))
    np.testing.assert_allclose(scattered.weights, [0.5, 1.5, 1, 1, 1, 1])
    np.testing.assert_array_equal(scattered.evidence, [True, True, False, False, False, False])


def test_what_steered_is_neither_set_aside_nor_evidence_among_scattered_values():
    M = noisy()
    seen = curplus.acquire(M, n_columns=5, n_rows=5, n_entries=400, rng=0)
    assert seen.steering.any()
    aside = set_aside(seen, np.random.default_rng(0))
    assert len(aside) >= 50
    assert not seen.steering[aside].any()
    assert seen.outside[aside].all()
    evidence = np.flatnonzero(~as_scattered(seen).steering)
    np.testing.assert_array_equal(evidence, np.flatnonzero(seen.outside & ~seen.steering))


# When


def test_a_table_a_symmetric_matrix_and_many_values_have_one_way():
    M = noisy()
    few = curplus.observe(M, n_columns=4, n_rows=4, n_entries=300, rng=0)
    assert has_both_ways(few)
    assert has_both_ways(few.subset(rows=NONE))
    assert not has_both_ways(few.subset(rows=NONE, columns=NONE))
    assert not has_both_ways(Observation.from_table(np.where(np.eye(*M.shape) > 0, np.nan, M)))
    many = noisy((400, 300))
    assert not has_both_ways(curplus.observe(many, n_columns=30, n_rows=30, n_entries=3000, rng=0))
    square = M[:60] + M[:60].T
    assert not has_both_ways(curplus.acquire(square, n_columns=5, n_rows=5, n_entries=300, symmetric=True, rng=0))


@pytest.mark.parametrize(
    ("counts", "share"), [((6, 6), None), ((6, 4), 0.5), ((2, 6), 0.5), ((1, 6), 1), ((6, 0), 1), ((0, 6), 1)]
)
def test_with_too_few_entries_the_number_of_rows_and_columns_decides(counts, share):
    M = noisy()
    seen = curplus.observe(M, n_columns=counts[0], n_rows=counts[1], n_entries=30, rng=0)
    assert not len(set_aside(seen, np.random.default_rng(0)))
    approx = curplus.approximate(seen)
    assert approx.report.to_dict().get("scattered_share") == share
    assert sum(fact.name == "verdict" for fact in approx.report.facts) == 1
    np.testing.assert_allclose(approx.provenance.method.fit(seen).to_array(), approx.to_array(), atol=1e-9)


@pytest.mark.parametrize("n_entries", [0, 3, 30])
def test_few_rows_and_columns_that_meet_all_entries_stay_exact(n_entries):
    M = noisy(noise=0.0)
    seen = curplus.observe(M, n_columns=3, n_rows=3, n_entries=n_entries, rng=0)
    np.testing.assert_allclose(curplus.approximate(seen, 3).to_array(), M, atol=1e-9)


def test_without_a_rank_rows_and_columns_are_given_back_as_they_were_read():
    M = 3 + noisy(noise=0.6)
    seen = curplus.observe(M, n_columns=3, n_rows=4, n_entries=1500, rng=0)
    approx = curplus.approximate(seen)
    assert approx.report.scattered_share > 0
    np.testing.assert_allclose(approx.rows(seen.row_index), seen.rows, atol=1e-10)
    np.testing.assert_allclose(approx.columns(seen.column_index), seen.columns, atol=1e-10)


def test_gaps_of_rows_and_columns_are_filled_by_the_answer():
    M = 3 + noisy(noise=0.6)
    holes = np.where(np.random.default_rng(0).random(M.shape) < 0.1, np.nan, M)
    seen = curplus.observe(holes, n_columns=3, n_rows=4, n_entries=1500, rng=0, gaps=True)
    approx = curplus.approximate(seen)
    assert approx.report.scattered_share > 0
    known = ~np.isnan(seen.rows)
    np.testing.assert_allclose(approx.rows(seen.row_index)[known], seen.rows[known], atol=1e-10)
    assert np.sqrt(np.mean((approx.rows(seen.row_index) - M[seen.row_index])[~known] ** 2)) < 1.5


# How much


def answers(noise_of_lines, noise_of_values, seed=0):
    """A truth, and two answers that miss it by so much."""
    rng = np.random.default_rng(seed)
    truth = noisy(noise=0.0)
    seen = Observation(shape=truth.shape, row_index=np.arange(90), rows=truth)
    exact = curplus.approximate(seen, 3)
    wrong = []
    for size in (noise_of_lines, noise_of_values):
        more = size * np.outer(rng.standard_normal(90), rng.standard_normal(60))
        wrong.append(curplus.approximate(Observation(shape=truth.shape, row_index=np.arange(90), rows=truth + more), 4))
    return truth, exact, *wrong


@pytest.mark.parametrize(
    ("of_lines", "of_values", "low", "high"), [(2, 0.1, 0.95, 1), (0.1, 2, 0, 0.05), (1, 1, 0.3, 0.7)]
)
def test_the_better_answer_has_the_larger_share(of_lines, of_values, low, high):
    truth, _, lines, values = answers(of_lines, of_values)
    rng = np.random.default_rng(1)
    i, j = rng.integers(90, size=800), rng.integers(60, size=800)
    entries = Entries(truth.shape, i, j, truth[i, j])
    assert low <= best_share(lines, values, entries, None) <= high


def test_few_entries_leave_it_at_a_half():
    truth, _, lines, values = answers(0.3, 0.33)
    noise = np.random.default_rng(2).standard_normal(20)
    i, j = np.arange(20), np.arange(20)
    entries = Entries(truth.shape, i, j, truth[i, j] + 10 * noise)
    assert best_share(lines, values, entries, None) == pytest.approx(0.5, abs=0.2)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_mean_is_that_of_the_dense_matrices(share):
    _, _, lines, values = answers(1, 2)
    expected = (1 - share) * lines.to_array() + share * values.to_array()
    np.testing.assert_allclose(blended(lines, values, share, None).to_array(), expected, atol=1e-12)
    cut = blended(lines, values, share, 2).to_array()
    if 0 < share < 1:
        U, s, Vt = np.linalg.svd(expected)
        np.testing.assert_allclose(cut, (U[:, :2] * s[:2]) @ Vt[:2], atol=1e-10)


# The answer


@pytest.mark.parametrize("counts", [(1, 0), (0, 1), (1, 1), (2, 3)])
def test_few_rows_and_columns_do_not_make_it_worse_than_scattered_values(counts):
    worse = []
    for seed in range(4):
        M = 5 + noisy((80, 70), noise=0.5, seed=seed)
        seen = curplus.observe(M, n_columns=counts[0], n_rows=counts[1], n_entries=900, rng=seed)
        both = unread_error(M, seen, curplus.approximate(seen))
        worse.append(both / unread_error(M, seen, curplus.approximate(as_scattered(seen))))
    assert np.mean(worse) < 1.1


def test_one_row_and_a_few_entries_are_not_worse_than_nothing():
    """Entries fitted along one row once were off by twenty times the matrix."""
    for seed in range(5):
        M = 5 + noisy((200, 60), noise=1.0, seed=seed)
        seen = curplus.observe(M, n_columns=0, n_rows=1, n_entries=220, rng=seed)
        error = unread_error(M, seen, curplus.approximate(seen))
        assert error < 0.7 * np.sqrt(np.mean(M**2))


def test_the_report_says_how_much_comes_from_scattered_values_and_judges_it():
    M = 3 + noisy(noise=0.6)
    seen = curplus.observe(M, n_columns=3, n_rows=3, n_entries=1500, rng=0)
    approx = curplus.approximate(seen)
    assert 0 < approx.report.scattered_share <= 1
    assert approx.report.fitted_again == 1500
    assert approx.report["rank"].value == approx.rank
    assert "values that the fit did not use" in approx.report.verdict
    assert not len(approx.held_out)
    assert sum(fact.name == "verdict" for fact in approx.report.facts) == 1
    assert approx.provenance.model.noise == pytest.approx(unread_error(M, seen, approx), rel=0.15)


@pytest.mark.parametrize("rank", [1, 2, 5])
def test_a_rank_that_is_asked_for_is_kept(rank):
    M = 3 + noisy(noise=0.6)
    seen = curplus.observe(M, n_columns=6, n_rows=6, n_entries=1200, rng=0)
    assert curplus.approximate(seen, rank).rank <= rank


def test_it_can_be_made_again_and_certified():
    M = 3 + noisy(noise=0.6)
    seen = curplus.observe(M, n_columns=4, n_rows=4, n_entries=1200, rng=0)
    approx = curplus.approximate(seen)
    assert approx.report.scattered_share > 0
    np.testing.assert_allclose(approx.provenance.method.fit(seen).to_array(), approx.to_array(), atol=1e-9)
    low, high = curplus.certify(approx, seen).interval
    assert low < np.linalg.norm(M - approx.to_array()) < high


def test_rows_beside_entries_are_no_worse_than_all_values_taken_as_scattered():
    """Both are tried with all that is not set aside, as the answer will be made."""
    ratios = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        offsets = rng.standard_normal((240, 1)) + rng.standard_normal(200)
        M = offsets + 0.4 * rng.standard_normal((240, 4)) @ rng.standard_normal((4, 200))
        M += 0.3 * rng.standard_normal(M.shape)
        seen = curplus.observe(M, n_columns=0, n_rows=40, n_entries=1000, rng=seed)
        others = np.setdiff1d(np.arange(240), seen.row_index)
        answers = (curplus.approximate(x).to_array()[others] for x in (seen, as_scattered(seen)))
        error, scattered = (np.linalg.norm(M[others] - answer) for answer in answers)
        ratios.append(error / scattered)
    assert np.mean(ratios) < 1.03
