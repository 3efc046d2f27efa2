import math

import numpy as np

import curplus
from curplus.methods.approximate.correction import CORRECTION_RIDGES, corrected, ridge_cores


def test_a_wrong_prediction_of_a_low_rank_matrix_is_mended(low_rank):
    M = low_rank((100, 80), 3)
    seen = curplus.observe(M, n_columns=3, n_rows=3, n_entries=2000, rng=0)
    B, gain = corrected(seen, np.zeros((3, 80)), np.arange(1500), np.arange(1500, 2000))
    assert gain > 2
    assert np.linalg.norm(M[:, seen.column_index] @ B - M) < 0.02 * np.linalg.norm(M)


def test_a_right_prediction_is_left_alone(low_rank):
    M = low_rank((100, 80), 3)
    seen = curplus.observe(M, n_columns=3, n_rows=3, n_entries=2000, rng=0)
    right = np.linalg.lstsq(M[:, seen.column_index], M)[0]
    B, _ = corrected(seen, right, np.arange(1500), np.arange(1500, 2000))
    assert np.allclose(B, right, atol=1e-10)


def test_entries_of_pure_noise_correct_nothing(rng):
    M = rng.standard_normal((100, 80))
    kept = 0
    for seed in range(20):
        seen = curplus.observe(M, n_columns=10, n_rows=10, n_entries=1000, rng=seed)
        kept += corrected(seen, np.zeros((10, 80)), np.arange(800), np.arange(800, 1000))[1] > 2
    assert kept <= 2


def test_too_few_entries_are_not_tried(full_rank):
    seen = curplus.observe(full_rank(), n_columns=3, n_rows=3, n_entries=7, rng=0)
    B = np.ones((3, 20))
    same, gain = corrected(seen, B, np.arange(5), np.arange(5, 7))
    assert same is B
    assert math.isnan(gain)


def test_samples_of_zeros_are_not_tried():
    seen = curplus.observe(np.zeros((30, 20)), n_columns=3, n_rows=3, n_entries=100, rng=0)
    assert math.isnan(corrected(seen, np.zeros((3, 20)), np.arange(80), np.arange(80, 100))[1])


def test_the_core_of_each_ridge_is_that_of_a_solver(rng):
    left, right = (np.linalg.qr(rng.standard_normal((size, 4))).Q for size in (60, 50))
    i, j = rng.integers(60, size=300), rng.integers(50, size=300)
    seen = curplus.Observation(
        shape=(60, 50), i=i, j=j, values=1e6 * rng.standard_normal(300), weights=rng.uniform(0.5, 2, 300)
    )
    for ridge, Z in zip(CORRECTION_RIDGES, ridge_cores(left, right, seen), strict=True):
        expected = curplus.solvers.LeastSquares(ridge=ridge).solve(left, right, seen).Z
        assert np.allclose(Z, expected, rtol=0, atol=1e-10 * np.linalg.norm(expected))
