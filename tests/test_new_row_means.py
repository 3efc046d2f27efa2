"""Means of rows that were not in the matrix: on average over rows like the fitted ones, or for each row by itself."""

import math

import numpy as np
import pandas as pd
import pytest

import curplus
from curplus.acquisition import draw_columns
from curplus.evaluation.new_row_means import _predicted
from curplus.exceptions import InvalidArgumentError
from curplus.factorization.new_rows import row_prior
from tests.conftest import effort


def answers(rng, n, m=240):
    """Right and wrong answers of people of different skill to questions of different hardness."""
    hardness = np.random.default_rng(5).standard_normal((3, m)) * [[1.5], [0.7], [0.7]]
    style = rng.standard_normal((n, 2))
    chance = 1 / (1 + np.exp(-(rng.standard_normal((n, 1)) + hardness[0] + style @ hardness[1:])))
    return (rng.random((n, m)) < chance).astype(float)


def fitted(history, **names):
    rows = {"shape": history.shape, "row_index": np.arange(len(history)), "rows": history}
    return curplus.approximate(curplus.Observation(**rows, **names))


def only(rows, columns):
    known = np.full(rows.shape, np.nan)
    known[:, columns] = rows[:, columns]
    return known


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    history, new = answers(rng, 120), answers(rng, effort(150, 1000))
    return history, new, fitted(history)


def covered(means, truth):
    return (means.low <= truth) & (truth <= means.high)


@pytest.mark.parametrize("choice", ["random", "goal", "qdeim"])
def test_intervals_hold_on_average_however_columns_were_chosen(people, choice):
    history, new, approx = people
    columns = {
        "random": np.random.default_rng(0).choice(240, 30, replace=False),
        "goal": curplus.select_columns(history, 30, goal="mean", rng=0),
        "qdeim": curplus.select_columns(history, 30, method="qdeim"),
    }[choice]
    means = approx.row_means(only(new, columns))
    assert 0.9 < covered(means, new.mean(axis=1)).mean() < 0.995
    assert not means.reason


def test_columns_chosen_for_the_mean_predict_it_better_than_random_ones(people):
    history, new, approx = people
    truth, random = new.mean(axis=1), np.random.default_rng(0).choice(240, 30, replace=False)
    chosen = approx.row_means(only(new, curplus.select_columns(history, 30, goal="mean", rng=0)))
    by_chance = approx.row_means(only(new, random))
    error = np.mean(np.abs(chosen.estimate - truth))
    assert error < 0.95 * np.mean(np.abs(by_chance.estimate - truth))
    assert error < 0.8 * np.mean(np.abs(new[:, random].mean(axis=1) - truth))


def test_by_drawn_columns_intervals_hold_for_rows_unlike_all_others(people):
    _, _, approx = people
    rng = np.random.default_rng(1)
    strange = (rng.random((1, 240)) < np.linspace(0.95, 0.2, 240)).astype(float)
    truth, inside, off = strange.mean(), [], []
    for seed in range(effort(80, 2000)):
        columns, chances = draw_columns(people[0], 40, rng=seed)
        means = approx.row_means(only(strange, columns), probabilities=chances)
        inside.append(bool(covered(means, truth)[0]))
        off.append((means.estimate[0] - truth) / (means.high[0] - means.low[0]))
    assert 0.91 < np.mean(inside) < 0.99
    assert abs(np.mean(off)) < 0.06


def test_rows_read_in_the_same_drawn_columns_have_paired_differences(people):
    history, new, approx = people
    columns, chances = draw_columns(history, 40, rng=0)
    means = approx.row_means(only(new, columns), probabilities=chances)
    truth = new.mean(axis=1)
    found = [means.difference(a, a + 1) for a in range(len(new) - 1)]
    inside = [d.low <= truth[a] - truth[a + 1] <= d.high for a, d in enumerate(found)]
    assert np.mean(inside) > 0.88
    assert np.mean([d.high - d.low for d in found]) < 1.1 * math.sqrt(2) * np.mean(means.high - means.low)


def test_drawn_columns_correct_what_is_predicted_of_each_column(people):
    """A dense computation of the estimate, each known value predicted from the others by complete_rows."""
    history, new, approx = people
    columns, chances = draw_columns(history, 12, rng=4)
    known = only(new[:3], columns)
    expected = []
    for row in known:
        predicted = approx.complete_rows(row[None])[0]
        total = predicted.sum()
        for j in columns:
            without = row.copy()
            without[j] = np.nan
            total += (row[j] - approx.complete_rows(without[None])[0, j]) * (1 / chances[j] - 1)
        expected.append(total / 240)
    means = approx.row_means(known, probabilities=chances)
    np.testing.assert_allclose(means.estimate, expected, rtol=1e-9)


def test_errors_at_known_values_are_had_from_more_and_from_fewer_of_them_than_directions(rng):
    approx = fitted(rng.standard_normal((30, 3)) @ rng.standard_normal((3, 20)) + 0.1 * rng.standard_normal((30, 20)))
    prior, row = row_prior(approx), rng.standard_normal(20)
    for count in (2, 12):
        columns = np.arange(count)
        _, errors = _predicted(prior, row[None, :count], columns, 1.0)
        for j in columns:
            without = np.where(np.isin(np.arange(20), np.setdiff1d(columns, [j])), row, np.nan)
            assert errors[0, j] == pytest.approx(row[j] - approx.complete_rows(without[None])[0, j])


def test_a_row_known_whole_is_exact_and_one_of_which_nothing_is_known_has_the_common_mean(people):
    history, new, approx = people
    known = np.stack([new[0], np.full(240, np.nan)])
    means = approx.row_means(known)
    assert means.is_exact.tolist() == [True, False]
    assert means.low[0] == means.high[0] == pytest.approx(new[0].mean())
    assert means.estimate[1] == pytest.approx(history.mean())
    assert means.high[1] - means.low[1] > 2 * history.mean(axis=1).std()


def test_rows_of_low_rank_are_exact(low_rank):
    M = low_rank((60, 50), 3)
    means = fitted(M[:50]).row_means(only(M[50:], np.arange(6)))
    np.testing.assert_allclose(means.estimate, M[50:].mean(axis=1), atol=1e-6 * np.abs(M).max())
    assert np.max(means.high - means.low) < 1e-4 * np.abs(M).max()


def test_is_the_same_after_saving(people, tmp_path):
    _, new, approx = people
    known = only(new[:5], np.arange(0, 240, 7))
    approx.save(tmp_path / "answer.npz")
    again = curplus.load(tmp_path / "answer.npz").row_means(known)
    np.testing.assert_array_equal(again.low, approx.row_means(known).low)


def test_frames_are_matched_by_the_names_of_their_columns(people):
    history, new, _ = people
    names = [f"q{j}" for j in range(240)]
    approx = fitted(history, column_names=names)
    known = pd.DataFrame(only(new[:4], np.arange(20)), columns=names, index=["a", "b", "c", "d"])
    means = approx.row_means(known[names[::-1]])
    assert means.names.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_allclose(means.estimate, approx.row_means(known.to_numpy()).estimate)


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_intervals_hold_for_histories_with_gaps(people, share):
    history, new = people[0][:70, ::3], people[1][:, ::3]
    seen = curplus.observe(history, n_columns=0, n_rows=0, n_entries=round(share * history.size), rng=0)
    columns = np.random.default_rng(0).choice(80, 20, replace=False)
    means = curplus.approximate(seen).row_means(only(new, columns))
    assert covered(means, new.mean(axis=1)).mean() > 0.9


@pytest.mark.parametrize("unit", [1e-120, 1e120])
def test_units_do_not_matter(people, unit):
    history, new, _ = people
    columns, chances = draw_columns(history, 25, rng=4)
    known = only(new[:10], columns)
    for options in ({}, {"probabilities": chances}):
        plain = fitted(history[:40]).row_means(known, **options)
        scaled = fitted(history[:40] * unit).row_means(known * unit, **options)
        np.testing.assert_allclose(scaled.low, plain.low * unit, rtol=1e-6)


def test_few_rows_and_few_draws_have_no_intervals(people):
    history, new, approx = people
    few = fitted(history[:6]).row_means(only(new, np.arange(20)))
    assert few.reason == "an interval needs at least 10 fitted rows, and there are 6"
    assert np.isnan(few.low).all()
    columns, chances = draw_columns(history, 5, rng=0)
    assert (
        "at least 10 columns that were drawn by chance"
        in approx.row_means(only(new, columns), probabilities=chances).reason
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"probabilities": np.ones(3)}, "has shape"),
        ({"probabilities": np.full(240, 1.5)}, "between 0 and 1"),
        ({"probabilities": np.full(240, 0.5)}, "row 0 has 20 known values but probabilities add up to 120"),
        ({"known": np.ones((2, 9))}, "9 values each"),
        ({"level": 2}, "level"),
    ],
)
def test_what_cannot_be_estimated_is_refused(people, change, message):
    _, new, approx = people
    arguments = {"known": only(new, np.arange(20))} | change
    with pytest.raises(InvalidArgumentError, match=message):
        approx.row_means(**arguments)


def test_rare_large_values_refuse_intervals_by_drawn_columns(rng):
    history, new = np.full((90, 80), 3.0), np.full((30, 80), 3.0)
    history[rng.integers(90, size=60), rng.integers(80, size=60)] = 50
    new[rng.integers(30, size=20), rng.integers(80, size=20)] = 80
    approx = curplus.approximate(curplus.Observation(shape=history.shape, row_index=range(90), rows=history))
    known = only(new, rng.permutation(80)[:16])
    assert "effective sample size" in approx.row_means(known, probabilities=[0.2] * 80).reason
