"""Columns chosen for the mean of a row reduce its posterior variance, and are judged by rows without a part in it."""

import itertools

import numpy as np
import pytest

from curplus.evaluation.history import History, HistoryModel
from curplus.evaluation.mean_columns import choice_errors, columns_for_mean, explaining_mean


def history_of(M):
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    return History(U * s, Vt.T, 0.0)


def variance_of_mean(model, columns):
    """Of the low-rank part of the mean of a row, given its values in some columns: a dense computation."""
    covariance = model.directions @ model.directions.T
    inside = covariance[np.ix_(columns, columns)] + np.diag(model.noise[columns])
    left = covariance - covariance[:, columns] @ np.linalg.solve(inside, covariance[columns])
    return left.mean()


def test_each_column_is_the_one_that_reduces_the_variance_most(rng):
    model = HistoryModel(rng.standard_normal((12, 3)) + 0.5, rng.random(12) + 0.2)
    known = [4, 7]
    for chosen in explaining_mean(model, 4, start=known):
        left = {j: variance_of_mean(model, [*known, j]) for j in range(12) if j not in known}
        assert left[chosen] == pytest.approx(min(left.values()))
        known.append(int(chosen))


def test_all_columns_can_be_chosen_and_none_twice(rng):
    model = HistoryModel(rng.standard_normal((9, 2)), np.full(9, 0.1))
    assert sorted(explaining_mean(model, 9).tolist()) == list(range(9))
    assert sorted([3, 5, *explaining_mean(model, 7, start=[3, 5])]) == list(range(9))


def test_columns_that_cost_more_are_taken_later():
    model = HistoryModel(np.ones((4, 1)), np.full(4, 0.5))
    assert explaining_mean(model, 1, cost=np.array([2.0, 2.0, 1.0, 3.0])).tolist() == [2]


def test_the_factor_model_has_the_variances_of_the_rows(rng):
    M = rng.standard_normal((50, 3)) @ rng.standard_normal((3, 20)) + rng.standard_normal((50, 20))
    model = history_of(M).factor_model()
    whole = np.sum(model.directions**2, axis=1)
    assert np.all(model.noise > 0)
    np.testing.assert_allclose(whole, M.var(axis=0))  # fewer columns than directions


def test_columns_chosen_from_noise_do_not_seem_better_than_random_ones(rng):
    errors = choice_errors(history_of(rng.standard_normal((40, 300))), 20, rng)
    assert errors[1.0] < 1.05 * min(errors.values())


def test_chosen_columns_predict_means_better_if_rows_have_directions_in_common(rng):
    weights = np.where(np.arange(200) < 20, 4.0, 0.3)[:, None]
    M = rng.standard_normal((80, 2)) @ (weights * (1 + rng.standard_normal((200, 2)) / 4)).T
    M += rng.standard_normal(M.shape)
    errors = choice_errors(history_of(M), 10, rng)
    assert errors[0.0] < 0.6 * errors[1.0]
    assert np.mean(columns_for_mean(history_of(M), 10, rng) < 20) >= 0.5  # a tenth by chance


def test_one_row_is_enough_to_choose(rng):
    assert len(set(columns_for_mean(history_of(rng.standard_normal((1, 12))), 5, rng).tolist())) == 5


def test_the_history_of_factors_is_the_matrix(rng):
    M = rng.standard_normal((7, 5))
    history = history_of(M)
    for count in range(5):
        for columns in itertools.islice(itertools.combinations(range(5), count), 3):
            others = np.setdiff1d(np.arange(5), columns)
            np.testing.assert_allclose(history.known(np.array(columns, dtype=int)), M[:, list(columns)], atol=1e-12)
            np.testing.assert_allclose(history.other_means(np.array(columns, dtype=int)), M[:, others].mean(axis=1))
