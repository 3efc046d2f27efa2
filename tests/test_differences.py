"""Differences of means: with errors of their own or in common, one pair at a time or all at once."""

import itertools

import numpy as np
import pytest
import scipy.stats

from curplus.evaluation.differences import Means, largest_possible, means_of_columns, rank_limits
from tests.conftest import effort


def independent(mean, error, freedom=np.inf):
    return Means(np.array(mean, float), np.full(len(mean), float(error)), np.full(len(mean), float(freedom)))


def test_the_difference_of_rows_read_in_the_same_columns_is_that_of_a_paired_t_test(rng):
    values = rng.standard_normal((3, 20)) + rng.standard_normal(20) * 5
    found = means_of_columns(values, 10**12).difference(0, 1, 0.9)
    expected = scipy.stats.ttest_rel(values[0], values[1]).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_the_difference_of_rows_with_entries_of_their_own_is_that_of_welch(rng):
    a, b = rng.standard_normal(9), 3 * rng.standard_normal(14)
    own = Means(
        np.array([a.mean(), b.mean()]), np.array([scipy.stats.sem(a), scipy.stats.sem(b)]), np.array([8.0, 13.0])
    )
    expected = scipy.stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    found = own.difference(0, 1, 0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_columns_read_whole_leave_no_error(rng):
    values = rng.standard_normal((4, 30))
    found = means_of_columns(values, 30).difference(2, 3, 0.95)
    assert found.low == found.high == pytest.approx(values[2].mean() - values[3].mean())


def test_a_row_does_not_differ_from_itself(rng):
    assert independent([1.0, 2.0], 0.3).difference(1, 1, 0.95)[:3] == (0, 0, 0)
    assert not independent([1.0, 2.0], 0.3).difference(1, 1, 0.95).is_clear


@pytest.mark.parametrize("draws", [effort(200, 1000)])
def test_intervals_of_paired_differences_hold_as_often_as_promised(rng, draws):
    M = (rng.random((8, 400)) < rng.random(400) * np.linspace(0.6, 1, 8)[:, None]).astype(float)
    truth, inside = M.mean(axis=1), []
    for _ in range(draws):
        means = means_of_columns(M[:, rng.choice(400, 60, replace=False)], 400)
        for a, b in itertools.combinations(range(8), 2):
            found = means.difference(a, b, 0.95)
            inside.append(found.low <= truth[a] - truth[b] <= found.high)
    assert 0.93 < np.mean(inside) < 0.98


def brute_force(means, k, level):
    n = len(means.mean)
    chance = (1 - level) / (k * (n - k))
    above = np.zeros((n, n), dtype=bool)
    for a, b in itertools.permutations(range(n), 2):
        above[a, b] = means.difference(a, b, 1 - 2 * chance).low > 0
    return above.sum(axis=0) < k


@pytest.mark.parametrize("k", [1, 3, 10])
def test_a_row_is_out_if_k_others_are_above_it(rng, k):
    means = independent(rng.standard_normal(30), 0.2, 12)
    np.testing.assert_array_equal(largest_possible([means], k, 0.95), brute_force(means, k, 0.95))
    paired = means_of_columns(rng.standard_normal((30, 25)) / 3 + rng.standard_normal((30, 1)), 100)
    np.testing.assert_array_equal(largest_possible([paired], k, 0.95), brute_force(paired, k, 0.95))


def test_all_rows_are_possible_if_as_many_are_looked_for_or_nothing_is_known():
    assert largest_possible([independent([1, 2, 3], 0.0)], 3, 0.95).all()
    assert largest_possible([independent([1, 2, 3], np.nan)], 1, 0.95).all()


def test_the_best_rows_are_among_the_possible_ones_as_often_as_promised(rng):
    truth = np.concatenate([np.zeros(20), np.full(3, 0.8)])
    kept = [
        largest_possible([independent(truth + 0.25 * rng.standard_normal(23), 0.25)], 3, 0.9)[20:].all()
        for _ in range(400)
    ]
    assert np.mean(kept) > 0.9


def test_a_row_is_above_another_only_if_every_known_estimate_has_it_so():
    clear, unclear = independent([0, 5], 0.1), independent([0, 5], 10.0)
    assert largest_possible([clear], 1, 0.95).tolist() == [False, True]
    assert largest_possible([clear, unclear], 1, 0.95).all()
    assert largest_possible([clear, independent([0, 5], np.nan)], 1, 0.95).tolist() == [False, True]


def test_ranks_lie_between_those_that_are_surely_above_and_below(rng):
    means = independent([3.0, 1.0, 1.01, -4.0], 0.1)
    best, worst = rank_limits([means], 0.95)
    assert best.tolist() == [1, 2, 2, 4]
    assert worst.tolist() == [1, 3, 3, 4]
