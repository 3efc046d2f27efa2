"""The ridge skeleton, beside dense inverses, and beside leaving rows out one at a time."""

import math
from dataclasses import replace

import numpy as np
import pytest

import curplus
from curplus._support.sets import NO_INDEX
from curplus.methods.approximate.cross import cross_of, offset_target, zero_target
from curplus.methods.approximate.skeleton import RIDGES, Skeleton, _left_out_squares, inverse_of, svd_of
from curplus.observation import Cells, SamplePlan, SamplingDesign
from tests.strategies import observed


def sampled(M, n_columns, n_rows, seed=0):
    return Cells.of(curplus.observe(M, n_columns=n_columns, n_rows=n_rows, n_entries=0, rng=seed))


def rest_error(M, cells, guess):
    """Frobenius error of a prediction where nothing was read."""
    rest = M - guess
    rest[cells.row_index], rest[:, cells.column_index] = 0, 0
    return np.linalg.norm(rest)


@pytest.mark.parametrize("of", [zero_target, offset_target])
@pytest.mark.parametrize("ridge", [0.0, 0.01, 1.0, math.inf])
def test_it_is_the_target_and_the_dense_ridge_inverse_of_the_deviations(rng, of, ridge):
    M = 3 + rng.standard_normal((30, 1)) + rng.standard_normal((30, 20))
    cells = sampled(M, 5, 6)
    target = of(cross_of(cells))
    C, R = np.column_stack([cells.columns, np.ones(30)]), np.vstack([cells.rows, np.ones(20)])
    dense = C @ target.left @ target.right @ R
    columns, rows = cells.columns - dense[:, cells.column_index], cells.rows - dense[cells.row_index]
    W = columns[cells.row_index]
    if math.isfinite(ridge):
        inverse = np.linalg.solve(W.T @ W + ridge * np.linalg.norm(W, 2) ** 2 * np.eye(5), W.T)
        dense = dense + columns @ inverse @ rows
    found = inverse_of(cells, target, svd_of(target.intersection(cross_of(cells))), ridge)
    np.testing.assert_allclose(found.to_array(), dense, atol=1e-9)


def left_out_errors(W, Y, ridge):
    """Squared errors of rows of Y predicted from those of W, each by a ridge regression without it."""
    errors = []
    for i in range(len(W)):
        others = np.arange(len(W)) != i
        gram = W[others].T @ W[others] + ridge * np.eye(W.shape[1])
        errors.append(np.sum((Y[i] - W[i] @ np.linalg.solve(gram, W[others].T @ Y[others])) ** 2))
    return np.array(errors)


def rows_of(cells):
    """The sampled rows in the sampled columns and outside them, and the largest square of a singular value."""
    W, Y = cells.rows[:, cells.column_index], np.delete(cells.rows, cells.column_index, axis=1)
    return W, Y, np.linalg.norm(W, 2) ** 2


def test_errors_of_left_out_rows_are_those_of_regressions_without_them(full_rank):
    W, Y, top = rows_of(sampled(full_rank((60, 50), noise=0.5), 8, 15))
    squares = _left_out_squares(svd_of(W), Y @ Y.T, np.zeros(len(Y)), RIDGES)
    for k in range(15, len(RIDGES), 5):
        np.testing.assert_allclose(squares[k], left_out_errors(W, Y, RIDGES[k] * top), rtol=1e-8)


def test_of_many_rows_some_stand_for_all(full_rank):
    W, Y, top = rows_of(sampled(full_rank((1500, 600), noise=0.5), 8, 600))
    squares = _left_out_squares(svd_of(W), Y @ Y.T, np.zeros(len(Y)), RIDGES)
    assert squares.shape[1] < 300
    assert squares[40].sum() == pytest.approx(left_out_errors(W, Y, RIDGES[40] * top).sum(), rel=0.1)


def chosen_ridge(cells, fit):
    """The ridge of a fit with target zero, from the part of the intersection that it keeps."""
    W = cells.rows[:, cells.column_index]
    a, s, bt = np.linalg.svd(W, full_matrices=False)
    inverse = np.diagonal(bt @ fit.mixing @ fit.coefficients @ a)
    return (s / inverse - s**2)[0] / s[0] ** 2


def test_the_ridge_predicts_left_out_rows_and_columns_best(full_rank):
    cells = sampled(full_rank((60, 50), noise=0.5), 8, 15)
    both = [(W, Y / np.linalg.norm(Y), top) for W, Y, top in (rows_of(cells), rows_of(cells.T))]
    errors = [sum(left_out_errors(W, Y, ridge * top).sum() for W, Y, top in both) for ridge in RIDGES]
    best = RIDGES[12 + int(np.argmin(errors[12:]))]
    assert chosen_ridge(cells, Skeleton().fit(cells)) == pytest.approx(best, rel=1e-6)


def test_with_many_rows_and_columns_the_ridge_is_near_that_of_all(full_rank):
    M = full_rank((500, 450), rank=5, noise=0.5)
    plan = curplus.observation.uniform_plan(M.shape, n_columns=301, n_rows=303, n_entries=0, rng=0)
    cells = Cells.of(observed(M, plan, design=SamplingDesign()))
    W, Y, top = rows_of(cells)

    def error(ridge):
        share = np.eye(303) - W @ np.linalg.solve(W.T @ W + ridge * top * np.eye(301), W.T)
        return np.linalg.norm(share @ Y / np.diagonal(share)[:, None])

    assert error(chosen_ridge(cells, Skeleton().fit(cells))) < 1.02 * min(map(error, RIDGES[25:60:2]))


def test_nothing_is_predicted_if_rows_do_not_depend_on_one_another():
    M = np.zeros((40, 30))
    M[np.arange(30), np.arange(30)] = 1
    cells = Cells.of(observed(M, curplus.SamplePlan((40, 30), np.arange(8), np.arange(8), NO_INDEX, NO_INDEX)))
    assert not Skeleton().fit(cells).to_array().any()


@pytest.mark.parametrize(("d1", "d2"), [(5, 6), (6, 12), (12, 6)])
def test_predicts_a_matrix_of_exact_rank_exactly(low_rank, d1, d2):
    M = low_rank((60, 50), 4)
    for seed in range(5):
        cells = sampled(M, d1, d2, seed)
        assert rest_error(M, cells, Skeleton().fit(cells).to_array()) < 1e-6 * np.linalg.norm(M)


def test_an_additive_matrix_needs_no_more_than_its_offsets(rng):
    M = 5 + rng.standard_normal((40, 1)) + rng.standard_normal((1, 30))
    cells = sampled(M, 3, 4)
    assert rest_error(M, cells, Skeleton().fit(cells).to_array()) < 1e-12 * np.linalg.norm(M)


def test_noise_around_a_mean_is_predicted_by_the_mean(rng):
    noise = rng.standard_normal((80, 60))
    cells = sampled(5 + noise, 10, 10)
    assert rest_error(5 + noise, cells, Skeleton().fit(cells).to_array()) < 1.05 * np.linalg.norm(noise)


def test_many_rows_and_columns_of_a_matrix_of_large_rank_are_all_used(rng):
    left = rng.standard_normal((800, 150)) / np.arange(1, 151) ** 0.7
    M = left @ rng.standard_normal((150, 700))
    cells = sampled(M, 320, 340)
    assert rest_error(M, cells, Skeleton().fit(cells).to_array()) < 1e-7 * np.linalg.norm(M)


def test_an_empty_intersection_predicts_nothing(rng):
    M = np.zeros((20, 15))
    M[:10, :7] = rng.standard_normal((10, 7))
    nothing = np.empty(0, dtype=np.int64)
    plan = curplus.SamplePlan((20, 15), np.arange(8, 14), np.arange(12, 19), nothing, nothing)
    assert not Skeleton().fit(Cells.of(observed(M, plan))).to_array().any()


def test_turned_and_scaled_it_is_turned_and_scaled(full_rank):
    M = full_rank((60, 50), noise=0.5)
    cells, scaled = sampled(M, 8, 9), sampled(1024 * M, 8, 9)
    fit = Skeleton().fit(cells).to_array()
    np.testing.assert_allclose(Skeleton().fit(scaled).to_array(), 1024 * fit, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(Skeleton().fit(cells.T).to_array(), fit.T, atol=1e-9)


def test_gaps_count_as_means(full_rank, rng):
    """Of the values of their sampled column, or row; where both meet, as the mean of both."""
    M = np.where(rng.random((60, 50)) < 0.1, np.nan, 3 + full_rank((60, 50)))
    seen = curplus.observe(M, n_columns=8, n_rows=9, n_entries=0, gaps=True, rng=0)
    columns = np.where(np.isnan(seen.columns), np.nanmean(seen.columns, axis=0), seen.columns)
    rows = np.where(np.isnan(seen.rows), np.nanmean(seen.rows, axis=1, keepdims=True), seen.rows)
    both = (columns[seen.row_index] + rows[:, seen.column_index]) / 2
    columns[seen.row_index], rows[:, seen.column_index] = both, both
    complete = Cells.of(replace(seen, columns=columns, rows=rows))
    np.testing.assert_allclose(
        Skeleton().fit(Cells.of(seen)).to_array(), Skeleton().fit(complete).to_array(), atol=1e-10
    )


@pytest.mark.parametrize(("counts", "applies"), [((2, 2), True), ((1, 5), False), ((5, 0), False), ((20, 3), False)])
def test_it_needs_two_rows_and_two_columns_and_not_all(full_rank, counts, applies):
    assert Skeleton().applies(sampled(full_rank(), *counts)) is applies


@pytest.mark.parametrize("width", [1e-3, 3e-3])
def test_an_intersection_of_nearly_nothing_divides_nothing_by_zero(width):
    """The squares of its singular values are zero, and not those of its rows and columns."""
    x = np.linspace(0, 1, 400)
    M = np.exp(-(((x[:, None] - x) / width) ** 2))
    with np.errstate(all="raise", under="ignore"):
        for seed in range(5):
            fit = Skeleton().fit(sampled(M, 8, 8, seed))
            assert np.all(np.isfinite(fit.to_array()))


def test_a_single_complex_value_where_rows_and_columns_intersect_is_approximated():
    """The squares outside are zero, up to rounding of their imaginary parts."""
    M = np.zeros((5, 4), dtype=complex)
    M[3, 2] = -0.48211931 + 0.646703j
    seen = observed(M, SamplePlan(M.shape, np.array([0, 1, 2]), np.array([0, 3]), np.array([4]), np.array([1])))
    assert np.all(np.isfinite(curplus.approximate(seen, 1).to_array()))
