import math

import numpy as np
import pytest

import curplus
from curplus.methods.approximate.correction import CORRECTION_RIDGES, corrected, errors_at, normal_sums
from curplus.methods.approximate.cross import cross_of
from curplus.methods.approximate.entry_offsets import with_entry_offsets
from curplus.methods.approximate.evidence import best_gain, left_out_in_turn
from curplus.methods.approximate.prediction import Prediction
from curplus.observation import Entries


def predicting(seen, right):
    """The prediction ``C @ right``."""
    d1, d2 = seen.n_columns, seen.n_rows
    return Prediction(seen.columns, np.eye(d1), np.eye(d1, d2 + d1, d2), np.hstack([seen.rows.T, right.T]))


def nothing(seen):
    return predicting(seen, np.zeros((seen.n_columns, seen.shape[1])))


def dense(prediction):
    return prediction.left @ prediction.mixing @ prediction.coefficients @ prediction.right.T


def correct(seen, prediction, use, check):
    better, gain = corrected(seen, prediction, errors_at(seen, prediction, use, check), cross_of(seen))
    return better, gain.standard_errors


def add_offsets(seen, prediction, use, check):
    better, errors, gain = with_entry_offsets(
        seen, prediction, errors_at(seen, prediction, use, check), has_constant=False
    )
    again = errors_at(seen, better, use, check)
    assert np.allclose(errors.fit.values, again.fit.values)
    assert np.allclose(errors.aside.values, again.aside.values)
    return better, gain.standard_errors


def test_a_wrong_prediction_of_a_low_rank_matrix_is_mended(low_rank):
    M = low_rank((100, 80), 3)
    seen = curplus.observe(M, n_columns=3, n_rows=3, n_entries=2000, rng=0)
    better, gain = correct(seen, nothing(seen), np.arange(1500), np.arange(1500, 2000))
    assert gain > 3
    assert np.linalg.norm(dense(better) - M) < 0.02 * np.linalg.norm(M)


def test_a_right_prediction_is_left_alone(low_rank):
    M = low_rank((100, 80), 3)
    seen = curplus.observe(M, n_columns=3, n_rows=3, n_entries=2000, rng=0)
    right = predicting(seen, np.linalg.lstsq(M[:, seen.column_index], M)[0])
    same, _ = correct(seen, right, np.arange(1500), np.arange(1500, 2000))
    assert np.allclose(dense(same), M, atol=1e-10)


@pytest.mark.parametrize(("use", "check"), [(800, 200), (950, 50)])
def test_entries_of_pure_noise_correct_nothing(rng, use, check):
    M = rng.standard_normal((100, 80))
    kept = 0
    for seed in range(20):
        seen = curplus.observe(M, n_columns=10, n_rows=10, n_entries=1000, rng=seed)
        kept += correct(seen, nothing(seen), np.arange(use), np.arange(use, use + check))[1] > 3
    assert kept <= 1


def test_a_hundred_entries_or_less_are_not_tried(full_rank):
    seen = curplus.observe(full_rank(), n_columns=3, n_rows=3, n_entries=100, rng=0)
    before = nothing(seen)
    same, gain = correct(seen, before, np.arange(90), np.arange(90, 100))
    assert same is before
    assert math.isnan(gain)


def test_offsets_of_rows_and_columns_are_found_in_the_error(rng):
    M = rng.standard_normal((100, 1)) + rng.standard_normal((1, 80)) + 0.1 * rng.standard_normal((100, 80))
    seen = curplus.observe(M, n_columns=3, n_rows=3, n_entries=3000, rng=0)
    order = rng.permutation(3000)
    better, gain = add_offsets(seen, nothing(seen), order[:2500], order[2500:])
    assert gain > 3
    assert np.linalg.norm(dense(better) - M) < 0.1 * np.linalg.norm(M)


def test_offsets_of_pure_noise_change_little(rng):
    M = rng.standard_normal((100, 80))
    for seed in range(10):
        seen = curplus.observe(M, n_columns=3, n_rows=3, n_entries=500, rng=seed)
        after, _ = add_offsets(seen, nothing(seen), np.arange(450), np.arange(450, 500))
        assert np.linalg.norm(dense(after) - M) < 1.01 * np.linalg.norm(M)


def test_samples_of_zeros_are_not_tried():
    seen = curplus.observe(np.zeros((30, 20)), n_columns=3, n_rows=3, n_entries=100, rng=0)
    assert math.isnan(correct(seen, nothing(seen), np.arange(80), np.arange(80, 100))[1])


def entries_in_bases(rng):
    """Two bases of four vectors, and weighted entries."""
    left, right = (np.linalg.qr(rng.standard_normal((size, 4))).Q for size in (60, 50))
    i, j = rng.integers(60, size=300), rng.integers(50, size=300)
    values, weights = 1e6 * rng.standard_normal(300), rng.uniform(0.5, 2, 300)
    return left, right, Entries((60, 50), i, j, values, weights=weights)


@pytest.mark.parametrize("n_out", [1, 60])
def test_the_core_of_each_ridge_is_that_of_a_solver_also_without_some_entries(rng, n_out):
    left, right, entries = entries_in_bases(rng)
    out, kept = np.split(rng.permutation(len(entries)), [n_out])
    sums = normal_sums(left, right, entries).minus(normal_sums(left, right, entries.take(out)))
    for ridge, Z in zip(CORRECTION_RIDGES, sums.cores(), strict=True):
        expected = curplus.solvers.LeastSquares(ridge=ridge).solve(left, right, entries.take(kept)).Z
        assert np.allclose(Z, expected, rtol=0, atol=1e-10 * np.linalg.norm(expected))


def test_one_entry_that_outweighs_all_the_others_leaves_equations_that_can_be_solved():
    left = right = np.eye(10**5, 4)
    entries = Entries((10**5, 10**5), np.arange(4), np.zeros(4, dtype=int), np.ones(4))
    assert all(np.isfinite(Z).all() for Z in normal_sums(left, right, entries).cores())


@pytest.mark.parametrize(("number", "share", "folds"), [(1000, 1.0, 5), (100_000, 1.0, 1), (100_000, 0.0, 5)])
def test_entries_are_left_out_in_turn_until_many_leave_no_doubt(rng, number, share, folds):
    """A change that explains a share of the error, or nothing."""
    place = rng.permutation(10**6)[:number]
    error = Entries((1000, 1000), place // 1000, place % 1000, rng.standard_normal(number))
    asked, parts = [], left_out_in_turn(error)

    def fit(fold, at):
        asked.append(parts[fold])
        np.testing.assert_array_equal(at.values, error.values[parts[fold]])
        return [share * at.values + 0.01 * rng.standard_normal(len(at))]

    gain = best_gain(error, error.take(place[:0]), fit)
    assert len(asked) == folds
    assert len(np.unique(np.concatenate(asked))) == sum(map(len, asked))
    assert (gain.standard_errors > 6) == (share == 1)


def test_entries_of_one_place_are_left_out_together(rng):
    i, j = np.repeat(rng.integers(30, size=(2, 200)), 3, axis=1)
    parts = left_out_in_turn(Entries((30, 30), i, j, rng.standard_normal(600)))
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(600))
    places = [set((30 * i + j)[out].tolist()) for out in parts]
    assert sum(map(len, places)) == len(set.union(*places))
    one = Entries((30, 30), np.zeros(200, dtype=int), np.zeros(200, dtype=int), rng.standard_normal(200))
    assert all(map(len, left_out_in_turn(one)))  # none without entries


def test_parts_of_the_equations_add_up(rng):
    left, right = rng.standard_normal((50, 4)), rng.standard_normal((40, 3))
    i, j = rng.integers(50, size=300), rng.integers(40, size=300)
    error = Entries((50, 40), i, j, rng.standard_normal(300), weights=rng.uniform(0.5, 2.0, 300))
    whole, *parts = (normal_sums(left, right, error.take(out)) for out in (np.arange(300), *left_out_in_turn(error)))
    for k, part in enumerate(whole):
        np.testing.assert_allclose(sum(x[k] for x in parts), part, rtol=1e-12, atol=1e-15)
