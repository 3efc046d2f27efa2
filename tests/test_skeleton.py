import math

import numpy as np
import pytest

import curplus
from curplus.methods.approximate.cross import cross_of
from curplus.methods.approximate.first_guess import offset_guess, sum_coefficient, sum_guess, zero_guess
from curplus.methods.approximate.leave_out import RIDGES, LeftOut, leading_svd_of, most_cautious, svd_of
from curplus.methods.approximate.line_weights import line_weights
from curplus.methods.approximate.ridge import ridge_for
from curplus.methods.approximate.skeleton import ridge_skeleton
from tests.strategies import observed

NONE = np.empty(0, dtype=np.int64)


def dense(skeleton, seen):
    predicted = skeleton.prediction(seen)
    return predicted.left @ predicted.mixing @ predicted.coefficients @ predicted.right.T


def rest_error(M, seen, skeleton):
    """Frobenius error of the prediction where nothing was read."""
    rest = M - dense(skeleton, seen)
    rest[seen.row_index] = 0
    rest[:, seen.column_index] = 0
    return np.linalg.norm(rest)


@pytest.mark.parametrize(("d1", "d2"), [(4, 4), (4, 9), (9, 4), (9, 12)])
def test_predicts_a_matrix_of_exact_rank_exactly(low_rank, d1, d2):
    M = low_rank((60, 50), 4)
    for seed in range(5):
        seen = curplus.observe(M, n_columns=d1, n_rows=d2, n_entries=0, rng=seed)
        skeleton = ridge_skeleton(seen, 4, NONE)
        assert rest_error(M, seen, skeleton) < 1e-14 * skeleton.condition**2 * np.linalg.norm(M)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_directions_held_by_single_rows_are_predicted_exactly(rng, dtype):
    """Twelve distinct rows: leaving out the only row of its kind says nothing, the ranks say it all."""
    M = rng.standard_normal((12, 200))[rng.integers(12, size=300)].astype(dtype)
    seen = curplus.acquire(M, n_columns=30, n_rows=30, n_entries=200, rng=0)
    assert len(np.unique(seen.rows, axis=0)) == 12
    skeleton = ridge_skeleton(seen, 12, NONE)
    assert skeleton.is_exact
    assert rest_error(M, seen, skeleton) < 1e4 * np.finfo(dtype).eps * np.linalg.norm(M)


def test_entries_that_differ_from_the_plain_inverse_show_that_it_is_not_exact(full_rank):
    M = full_rank((60, 50), rank=3, noise=0.5)
    seen = curplus.observe(M, n_columns=8, n_rows=8, n_entries=100, rng=0)
    assert not ridge_skeleton(seen, 8, np.flatnonzero(seen.outside)).is_exact
    assert ridge_skeleton(seen, 8, NONE).ridge == 0  # nothing can check it


def left_out_errors(W, Y, ridge):
    """Squared errors of rows of Y predicted from those of W, each by a ridge regression without it."""
    errors = []
    for i in range(len(W)):
        others = np.arange(len(W)) != i
        gram = W[others].T @ W[others] + ridge * np.eye(W.shape[1])
        B = np.linalg.solve(gram, W[others].T @ Y[others])
        errors.append(np.sum((Y[i] - W[i] @ B) ** 2))
    return np.array(errors)


def test_leaving_out_is_exact(full_rank):
    M = full_rank((60, 50), rank=3, noise=0.5)
    seen = curplus.observe(M, n_columns=8, n_rows=15, n_entries=0, rng=0)
    R = M[seen.row_index]
    W, Y = R[:, seen.column_index], np.delete(R, seen.column_index, axis=1)
    squares = LeftOut(svd_of(W), Y @ Y.T, np.zeros(15)).squares()
    top = np.linalg.norm(W, 2) ** 2
    for k in range(15, len(RIDGES), 5):
        np.testing.assert_allclose(squares[k], left_out_errors(W, Y, RIDGES[k] * top), rtol=1e-8)


def test_of_many_rows_some_stand_for_all(full_rank):
    M = full_rank((1500, 600), rank=3, noise=0.5)
    seen = curplus.observe(M, n_columns=8, n_rows=600, n_entries=0, rng=0)
    R = M[seen.row_index]
    W, Y = R[:, seen.column_index], np.delete(R, seen.column_index, axis=1)
    squares = LeftOut(svd_of(W), Y @ Y.T, np.zeros(600)).squares()
    top = np.linalg.norm(W, 2) ** 2
    assert squares.shape == (len(RIDGES), 150)
    assert squares[40].sum() == pytest.approx(left_out_errors(W, Y, RIDGES[40] * top).sum(), rel=0.1)


def test_with_many_rows_and_columns_the_ridge_is_near_that_of_all(full_rank):
    M = full_rank((500, 450), rank=5, noise=0.5)
    plan = curplus.observation.uniform_plan(M.shape, n_columns=301, n_rows=303, n_entries=0, rng=0)
    skeleton = ridge_skeleton(observed(M, plan), 5, NONE, offsets=False)
    R = M[plan.row_index]
    W, Y = R[:, plan.column_index], np.delete(R, plan.column_index, axis=1)

    def error(ridge):
        share = np.eye(303) - W @ np.linalg.solve(W.T @ W + ridge * np.linalg.norm(W, 2) ** 2 * np.eye(301), W.T)
        return np.linalg.norm(share @ Y / np.diagonal(share)[:, None])

    assert error(skeleton.ridge) < 1.02 * min(map(error, RIDGES[25:60:2]))


def test_the_ridge_is_the_largest_that_predicts_left_out_rows_as_well_as_the_best(full_rank):
    M = full_rank((60, 50), rank=3, noise=0.5)
    plan = curplus.observation.uniform_plan((60, 50), n_columns=8, n_rows=15, n_entries=0, rng=0)
    skeleton = ridge_skeleton(observed(M, plan), 3, NONE, offsets=False)  # drawn "given": one side, no sums
    R = M[plan.row_index]
    W, Y = R[:, plan.column_index], np.delete(R, plan.column_index, axis=1)
    top = np.linalg.norm(W, 2) ** 2
    direct = np.array([left_out_errors(W, Y, ridge * top) for ridge in RIDGES[12:]])
    best = int(np.argmin(direct.sum(axis=1)))
    worse = direct - direct[best]
    close = worse.sum(axis=1) <= np.std(worse, axis=1) * np.sqrt(15)
    assert skeleton.ridge == RIDGES[12 + int(np.flatnonzero(close)[-1])]
    assert skeleton.guess == "zero"


def test_no_ridge_is_chosen_where_rows_cannot_be_predicted_at_all():
    assert most_cautious(np.full((4, 3), math.inf), 0.0) == 3


def test_the_part_made_of_sums_minimises_the_error_of_left_out_lines(rng):
    M = rng.poisson(2.0, size=(40, 30)).astype(float)
    seen = curplus.observe(M, n_columns=6, n_rows=7, n_entries=0, rng=0)
    alpha = sum_coefficient(cross_of(seen))

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


@pytest.mark.parametrize("make", [zero_guess, sum_guess, offset_guess])
def test_rows_and_columns_are_split_into_a_first_guess_and_deviations(rng, make):
    """Guess and deviations add up to what was read, and agree where rows and columns intersect."""
    M = 3 + rng.standard_normal((30, 1)) + rng.standard_normal((30, 20))
    seen = curplus.observe(M, n_columns=5, n_rows=6, n_entries=0, rng=0)
    cross = cross_of(seen)
    first = make(cross)
    C, R = np.column_stack([seen.columns, np.ones(30)]), np.vstack([seen.rows, np.ones(20)])
    guess = C @ first.left @ first.right @ R
    columns = C @ first.by_columns(np.eye(5))
    np.testing.assert_allclose(columns, seen.columns - guess[:, seen.column_index], atol=1e-10)
    np.testing.assert_allclose(first.of_rows(R), seen.rows - guess[seen.row_index], atol=1e-10)
    np.testing.assert_allclose(first.intersection(cross), columns[seen.row_index], atol=1e-10)
    np.testing.assert_allclose(first.T.intersection(cross.T), first.intersection(cross).T, atol=1e-10)


def uneven_rows(rng, shape=(300, 200)):
    """Rank 5, and a tenth of the rows noise of more than twice its size; and which."""
    M = rng.standard_normal((shape[0], 5)) @ rng.standard_normal((5, shape[1]))
    noisy = rng.choice(shape[0], shape[0] // 10, replace=False)
    M[noisy] = 5 * rng.standard_normal((len(noisy), shape[1]))
    return M, noisy


@pytest.mark.parametrize("make", [zero_guess, sum_guess, offset_guess])
def test_weighted_rows_are_left_out_as_in_weighted_least_squares(rng, make):
    M, _ = uneven_rows(rng, (60, 50))
    seen = curplus.observe(M, n_columns=8, n_rows=15, n_entries=0, rng=0)
    cross = cross_of(seen)
    (weights,) = line_weights(cross, 5, (0.5,))
    guess = make(cross)._replace(weights=weights)
    choice = ridge_for(guess, cross, svd_of(cross.W), 8, False, None)  # only the rows can be left out
    R = np.vstack([seen.rows, np.ones(50)])
    W, Y = guess.intersection(cross), np.delete(guess.of_rows(R), seen.column_index, axis=1)
    own = make(cross).own_rows
    ridge = choice.ridge * np.linalg.norm(W, 2) ** 2
    share = np.eye(15) - W @ np.linalg.solve(W.T @ W + ridge * np.eye(8), W.T)
    errors = share @ Y / (np.diagonal(share) - own)[:, None] / weights.rows[:, None]
    total = np.sum(np.delete(seen.rows, seen.column_index, axis=1) ** 2)
    assert choice.left_out == pytest.approx(np.sum(errors**2) / total, rel=1e-6)


def test_lines_count_less_the_more_of_them_is_unexplained(rng):
    M, noisy = uneven_rows(rng)
    seen = curplus.observe(M, n_columns=20, n_rows=100, n_entries=0, rng=0)
    (weights,) = line_weights(cross_of(seen), 5, (0.5,))
    is_noisy = np.isin(seen.row_index, noisy)
    assert weights.rows[is_noisy].max() < 0.5 * weights.rows[~is_noisy].min()
    np.testing.assert_array_equal(line_weights(cross_of(seen).T, 5, (0.5,))[0].columns, weights.rows)
    np.testing.assert_array_equal(line_weights(cross_of(seen), 20, (0.5,))[0].rows, np.ones(100))


@pytest.mark.parametrize(("unequal", "n_weights"), [(1.0, 0), (2.0, 2)])
def test_lines_that_differ_as_chance_makes_them_differ_have_no_weights(rng, unequal, n_weights):
    M = rng.standard_normal((600, 5)) @ rng.standard_normal((5, 400))
    M += rng.standard_normal(M.shape) * np.where(np.arange(600) % 2, 1.0, unequal)[:, None]
    seen = curplus.observe(M, n_columns=40, n_rows=60, n_entries=0, rng=0)
    assert len(line_weights(cross_of(seen), 5)) == n_weights


@pytest.mark.parametrize("guess", ["zero", "offsets"])
def test_many_noisy_lines_are_predicted_as_well_by_some_of_their_directions(rng, guess):
    M = rng.standard_normal((1400, 10)) @ rng.standard_normal((10, 1300)) + 5 * (guess == "offsets")
    M += 2 * rng.standard_normal(M.shape)
    seen = curplus.observe(M, n_columns=620, n_rows=640, n_entries=0, rng=0)
    few, whole = (ridge_skeleton(seen, rank, NONE, guess=guess) for rank in (10, 200))
    assert few.mixing.shape[1] <= 242
    assert whole.mixing.shape[1] >= 620
    assert rest_error(M, seen, few) < 1.001 * rest_error(M, seen, whole)


@pytest.mark.parametrize("noise", [0, 1e-9])
def test_many_lines_of_a_matrix_of_large_rank_are_all_used(rng, noise):
    left = rng.standard_normal((1400, 400)) / np.arange(1, 401) ** 0.7
    M = left @ rng.standard_normal((400, 1300))
    M += noise * rng.standard_normal(M.shape)
    seen = curplus.observe(M, n_columns=620, n_rows=640, n_entries=0, rng=0)
    assert rest_error(M, seen, ridge_skeleton(seen, 5, NONE)) < max(1e3 * noise, 1e-9) * np.linalg.norm(M)


@pytest.mark.parametrize("scale", [1.0, 1e70, 1e-70])
@pytest.mark.parametrize("shape", [(700, 650), (650, 700)])
def test_a_leading_part_by_a_random_subspace_is_nearly_the_best(rng, shape, scale):
    W = rng.standard_normal((shape[0], 30)) @ rng.standard_normal((30, shape[1])) + rng.standard_normal(shape)
    W *= scale
    svd, best = leading_svd_of(W, 60), svd_of(W)
    np.testing.assert_allclose(svd.s[:30], best.s[:30], rtol=1e-5)
    for vectors in (svd.a, svd.bt.T):
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(60), atol=1e-9)
    assert np.linalg.norm(W - svd.a * svd.s @ svd.bt) < 1.02 * np.linalg.norm(best.s[60:])  # noise has no leading part


@pytest.mark.parametrize("seed", range(3))
def test_chosen_rows_of_noise_do_not_mislead(seed):
    M, noisy = uneven_rows(np.random.default_rng(seed))
    good = np.setdiff1d(np.arange(300), noisy)[:6]
    plan = curplus.observation.uniform_plan(M.shape, n_columns=15, n_rows=1, n_entries=500, rng=seed)
    with_noise, without = (
        observed(M, plan._replace(row_index=rows)) for rows in (np.concatenate([good, noisy[:9]]), good)
    )
    error, least = (np.linalg.norm(M - curplus.approximate(x, 5).to_array()) for x in (with_noise, without))
    assert error < 1.1 * least


def test_offsets_are_shrunk_as_a_random_effect_would_be(rng):
    """Means over few columns tell little of a row; the share that is kept is the ratio of variances."""
    n, m, spread, noise = 3000, 40, 0.7, 1.5
    M = spread * rng.standard_normal((n, 1)) + noise * rng.standard_normal((n, m))
    seen = curplus.observe(M, n_columns=4, n_rows=50, n_entries=0, rng=0)
    first = offset_guess(cross_of(seen))
    assert first.left[0, 0] * 4 == pytest.approx(spread**2 / (spread**2 + noise**2 / 4), abs=0.05)


def test_an_additive_matrix_needs_no_more_than_its_offsets(rng):
    M = 5 + rng.standard_normal((40, 1)) + rng.standard_normal((1, 30))
    seen = curplus.observe(M, n_columns=3, n_rows=4, n_entries=0, rng=0)
    skeleton = ridge_skeleton(seen, 2, NONE, offsets=True)
    assert rest_error(M, seen, skeleton) < 1e-12 * np.linalg.norm(M)


def test_offsets_are_the_first_guess_where_left_out_rows_and_columns_say_so(rng):
    noise = rng.standard_normal((80, 60))
    with_mean = curplus.observe(5 + noise, n_columns=10, n_rows=10, n_entries=0, rng=0)
    assert ridge_skeleton(with_mean, 2, NONE).guess == "offsets"
    assert rest_error(5 + noise, with_mean, ridge_skeleton(with_mean, 2, NONE)) < 1.05 * np.linalg.norm(noise)
    low = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 60)) + 0.1 * noise
    assert ridge_skeleton(curplus.observe(low, n_columns=10, n_rows=10, n_entries=0, rng=0), 3, NONE).guess != "offsets"


def test_an_empty_crossing_predicts_nothing(rng):
    M = np.zeros((20, 15))
    M[:10, :7] = rng.standard_normal((10, 7))
    plan = curplus.SamplePlan((20, 15), np.arange(8, 14), np.arange(12, 19), NONE, NONE)
    seen = observed(M, plan)
    assert not dense(ridge_skeleton(seen, 2, NONE), seen).any()


def test_scales_as_the_matrix(full_rank):
    M = full_rank((60, 50), noise=0.5)
    seen = [curplus.observe(x, n_columns=8, n_rows=9, n_entries=0, rng=0) for x in (M, 1024 * M)]
    one, other = (dense(ridge_skeleton(x, 3, NONE), x) for x in seen)
    np.testing.assert_allclose(other, 1024 * one, rtol=1e-9, atol=1e-9)


def test_without_entries_a_prediction_does_not_outgrow_what_was_read():
    """The intersection of a smooth kernel is nearly singular; its plain inverse is millions of times too large."""
    x, y = np.linspace(0, 1, 300)[:, None], np.linspace(0, 1, 200)
    M = np.exp(-((x - y) ** 2) / 0.02)
    seen = curplus.observe(M, n_columns=5, n_rows=5, n_entries=0, rng=4)
    skeleton = ridge_skeleton(seen, 5, NONE)
    assert skeleton.condition > 1e8
    assert np.linalg.norm(dense(skeleton, seen)) < 10 * np.linalg.norm(M)


def test_entries_see_the_digits_of_a_smooth_kernel():
    """Its plain inverse is as good as the rows and columns are, if nothing is multiplied out between them."""
    x, lines = np.linspace(0, 1, 1000), np.linspace(0, 999, 44).astype(int)
    M = np.exp(-(((x[:, None] - x) / 0.1) ** 2))
    i, j = np.random.default_rng(0).integers(1000, size=(2, 3000))
    seen = curplus.Observation(
        shape=M.shape, column_index=lines, columns=M[:, lines], row_index=lines, rows=M[lines], i=i, j=j, values=M[i, j]
    )
    assert ridge_skeleton(seen, 40, np.arange(3000)).is_exact
    assert np.linalg.norm(M - curplus.approximate(seen).to_array()) < 1e-9 * np.linalg.norm(M)


def test_smooth_kernels_keep_their_digits():
    """The inverse of an intersection of condition 1e11 is applied in factored form."""
    x, y = np.linspace(0, 1, 2000)[:, None], np.linspace(0, 1, 1500)
    M = 1 / (1 + (x - y) ** 2)
    seen = curplus.observe(M, n_columns=40, n_rows=40, n_entries=500, rng=0)
    approx = curplus.approximate(seen)
    assert np.linalg.norm(approx.to_array() - M) < 1e-11 * np.linalg.norm(M)


def test_exactness_is_judged_by_entries_of_all_rows(low_rank, rng):
    """Entries stand in the order of their rows; the first thousand would not see that the last rows differ."""
    M = low_rank((400, 100), 4)
    M[200:] += 0.5 * rng.standard_normal((200, 100))
    plan = curplus.SamplePlan(
        (400, 100), np.arange(4), np.arange(4), *np.unravel_index(np.arange(500, 40_000, 9), M.shape)
    )
    seen = observed(M, plan)
    assert not ridge_skeleton(seen, 4, np.flatnonzero(seen.outside)).is_exact


def test_first_guesses_that_not_all_can_be_judged_by_rows_and_columns_are_compared(rng):
    M = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 40)) + 0.01 * rng.standard_normal((60, 40))
    for seed in range(8):
        answer = curplus.approximate(curplus.acquire(M, budget=0.3, rng=seed))
        assert np.linalg.norm(M - answer.to_array()) < np.linalg.norm(M)


def test_a_rank_that_many_single_rows_make_is_not_taken_for_that_of_the_matrix():
    """Of 30 and 20 groups, 20 rows and 20 columns meet some once, and do not meet others."""
    rng = np.random.default_rng(0)
    M = np.kron(rng.choice([-1.0, 1.0], (30, 20)), np.ones((10, 10)))
    for seed in range(5):
        seen = curplus.observe(M, n_columns=20, n_rows=20, n_entries=0, rng=seed)
        approx = curplus.approximate(seen, 5)
        assert "exact" not in approx.report.verdict
        assert np.linalg.norm(M - approx.to_array()) < np.linalg.norm(M)
    seen = curplus.observe(M, n_columns=100, n_rows=150, n_entries=0, rng=0)
    np.testing.assert_allclose(curplus.approximate(seen).to_array(), M, atol=1e-12)
