import math

import numpy as np
import pytest

import curplus
from curplus.methods.approximate.skeleton import RIDGES, ridge_skeleton
from tests.strategies import observed


def rest_error(M, seen, X):
    """Frobenius error of C X R where nothing was read."""
    rest = M - M[:, seen.column_index] @ X @ M[seen.row_index]
    rest[seen.row_index] = 0
    rest[:, seen.column_index] = 0
    return np.linalg.norm(rest)


@pytest.mark.parametrize(("d1", "d2"), [(4, 4), (4, 9), (9, 4), (9, 12)])
def test_predicts_a_matrix_of_exact_rank_exactly(low_rank, d1, d2):
    M = low_rank((60, 50), 4)
    for seed in range(5):
        seen = curplus.observe(M, n_columns=d1, n_rows=d2, n_entries=0, rng=seed)
        skeleton = ridge_skeleton(seen, 4)
        assert rest_error(M, seen, skeleton.X) < 1e-14 * skeleton.condition**2 * np.linalg.norm(M)


def left_out_errors(W, Y, ridge):
    """Squared errors of rows of Y predicted from those of W, each by a ridge regression without it."""
    errors = []
    for i in range(len(W)):
        others = np.arange(len(W)) != i
        gram = W[others].T @ W[others] + ridge * np.eye(W.shape[1])
        B = np.linalg.solve(gram, W[others].T @ Y[others])
        errors.append(np.sum((Y[i] - W[i] @ B) ** 2))
    return np.array(errors)


def test_the_ridge_is_the_largest_that_predicts_left_out_rows_as_well_as_the_best(full_rank):
    M = full_rank((60, 50), rank=3, noise=0.5)
    plan = curplus.observation.uniform_plan((60, 50), n_columns=8, n_rows=15, n_entries=0, rng=0)
    skeleton = ridge_skeleton(observed(M, plan), 3)  # drawn "given": one side, no sums
    R = M[plan.row_index]
    W, Y = R[:, plan.column_index], np.delete(R, plan.column_index, axis=1)
    top = np.linalg.norm(W, 2) ** 2
    direct = np.array([left_out_errors(W, Y, ridge * top) for ridge in RIDGES[1:]])
    best = int(np.argmin(direct.sum(axis=1)))
    worse = direct - direct[best]
    close = worse.sum(axis=1) <= np.std(worse, axis=1) * np.sqrt(15)
    expected = int(np.flatnonzero(close)[-1])
    assert skeleton.row_ridge == RIDGES[1 + expected]
    assert skeleton.left_out_error == pytest.approx(direct[expected].sum() / np.sum(Y**2), rel=1e-8)
    assert skeleton.sum_coefficient == 0
    assert math.isnan(skeleton.column_ridge)


def test_entries_choose_the_ridge_where_no_line_can_be_left_out(rng):
    """As many rows and columns as directions: without a ridge, the prediction is far off."""
    U, V = (np.linalg.qr(rng.standard_normal((size, 40))).Q for size in (60, 40))
    M = (U / np.arange(1, 41)) @ V.T
    seen = curplus.observe(M, n_columns=8, n_rows=8, n_entries=200, rng=1)
    use = np.arange(200)
    skeleton = ridge_skeleton(seen, 8, use)
    C, R, W = seen.columns, seen.rows, seen.rows[:, seen.column_index]
    top = np.linalg.norm(W, 2) ** 2

    def errors(ridge):
        X = np.linalg.solve(W.T @ W + ridge * top * np.eye(8), W.T)
        return (seen.values - (C @ X @ R)[seen.i, seen.j]) ** 2

    direct = np.array([errors(ridge) for ridge in RIDGES[1:]])
    best = int(np.argmin(direct.sum(axis=1)))
    worse = direct - direct[best]
    close = worse.sum(axis=1) <= np.std(worse, axis=1) * np.sqrt(200)
    assert skeleton.entry_ridge == RIDGES[1 + int(np.flatnonzero(close)[-1])]
    assert rest_error(M, seen, skeleton.X) < np.linalg.norm(M) < rest_error(M, seen, ridge_skeleton(seen, 8).X)


def test_a_handful_of_entries_does_not_choose_a_ridge(low_rank):
    seen = curplus.observe(low_rank((60, 40), 3), n_columns=3, n_rows=3, n_entries=9, rng=0)
    assert math.isnan(ridge_skeleton(seen, 3, np.arange(9)).entry_ridge)


def test_the_part_made_of_sums_minimises_the_error_of_left_out_lines(rng):
    M = rng.poisson(2.0, size=(40, 30)).astype(float)
    seen = curplus.observe(M, n_columns=6, n_rows=7, n_entries=0, rng=0)
    alpha = ridge_skeleton(seen, 2).sum_coefficient

    def total(a):
        error = 0.0
        for lines, own, other in (
            (M[seen.row_index], seen.column_index, 40),
            (M[:, seen.column_index].T, seen.row_index, 30),
        ):
            sums, Y = lines[:, own].sum(axis=1), np.delete(lines, own, axis=1)
            stand_for = (other - len(lines)) / len(lines)
            error += stand_for * sum(
                np.sum((Y[i] - a * sums[i] * (Y.sum(axis=0) - Y[i])) ** 2) for i in range(len(lines))
            )
        return error

    assert total(alpha) < min(total(alpha * 1.01), total(alpha * 0.99))


def test_an_empty_crossing_predicts_nothing(rng):
    M = np.zeros((20, 15))
    M[:10, :7] = rng.standard_normal((10, 7))
    plan = curplus.SamplePlan((20, 15), np.arange(8, 14), np.arange(12, 19), np.empty(0, int), np.empty(0, int))
    assert not ridge_skeleton(observed(M, plan), 2).X.any()


def test_scales_as_an_inverse(full_rank):
    M = full_rank((60, 50), noise=0.5)
    one, other = (
        ridge_skeleton(curplus.observe(x, n_columns=8, n_rows=9, n_entries=0, rng=0), 3).X for x in (M, 1024 * M)
    )
    assert np.allclose(other * 1024, one, rtol=1e-10)
