"""Offsets and shrunken singular values, beside the dense solution of the convex problem."""

import numpy as np
import pytest

import curplus
from curplus.evaluation.additive import additive_model
from curplus.methods.approximate.posterior import SparseSums
from curplus.methods.approximate.shrunken import THRESHOLD_RATIO, Shrunken, _leading, _solutions, _thresholds
from curplus.observation import Cells, Entries
from tests.strategies import FIELDS, adjoint, gaussian


@pytest.fixture(params=FIELDS)
def draw(rng, request):
    """Weighted entries of a matrix of rank 3 with noise, as entries and as tables of values and of weights."""
    field = request.param
    M = gaussian(rng, (40, 3), field) @ gaussian(rng, (3, 30), field) + 0.3 * gaussian(rng, (40, 30), field)
    i, j = np.divmod(rng.permutation(1200)[:700], 30)
    entries = Entries(M.shape, i, j, M[i, j], weights=rng.uniform(0.5, 1.0, 700))
    weights = np.zeros(M.shape)
    weights[i, j] = entries.weights
    return entries, M, weights


def last_solution(entries, number):
    """The solution of a threshold, reached through those before it."""
    falling = _thresholds(SparseSums.of(entries))[:number]
    *_, pair = _solutions(SparseSums.of(entries), np.append(falling, np.full(20, falling[-1])))
    return pair.left @ adjoint(pair.right), falling[-1]


def soft_impute(M, weights, threshold):
    """The dense solution, by proximal gradient steps (Mazumder, Hastie and Tibshirani 2010)."""
    L = np.zeros_like(M)
    for _ in range(3000):
        U, s, Vt = np.linalg.svd(L + weights * (M - L), full_matrices=False)
        L = (U * np.maximum(s - threshold, 0)) @ Vt
    return L


@pytest.mark.parametrize("number", [2, 6, 9])
def test_the_low_rank_part_is_the_dense_solution(draw, number):
    entries, M, weights = draw
    found, threshold = last_solution(entries, number)
    expected = soft_impute(M, weights, threshold)
    assert np.linalg.norm(found - expected) < 0.02 * np.linalg.norm(expected)


@pytest.mark.parametrize("number", [2, 6, 9])
def test_the_gradient_is_that_of_an_optimum(draw, number):
    """Its spectral norm is the threshold, and on the directions of the solution all its singular values are that."""
    entries, M, weights = draw
    found, threshold = last_solution(entries, number)
    gradient = weights * (M - found)
    assert np.linalg.norm(gradient, 2) < 1.03 * threshold
    U, s, Vt = np.linalg.svd(found)
    r = int(np.count_nonzero(s > 1e-8 * s[0]))
    on_directions = np.linalg.svd(adjoint(U[:, :r]) @ gradient @ adjoint(Vt[:r]), compute_uv=False)
    np.testing.assert_allclose(on_directions, threshold, rtol=0.05)


def test_above_the_first_threshold_the_solution_is_zero(draw):
    entries, M, weights = draw
    largest = np.linalg.norm(weights * M, 2)
    *_, at, below = _solutions(SparseSums.of(entries), np.array([1.01 * largest, 0.9 * largest]))
    assert not np.any(at.left @ adjoint(at.right))
    assert np.any(below.left @ adjoint(below.right))
    assert _thresholds(SparseSums.of(entries))[0] == pytest.approx(THRESHOLD_RATIO * largest, rel=0.05)


@pytest.mark.parametrize("shape", [(40, 30), (30, 40), (900, 500), (500, 900)])
def test_directions_that_stand_out_are_found_with_their_singular_values(rng, shape):
    signal = (rng.standard_normal((shape[0], 4)) * [8, 4, 2, 1]) @ rng.standard_normal((4, shape[1]))
    i, j = np.divmod(rng.permutation(np.prod(shape))[: np.prod(shape) // 2], shape[1])
    matrix = SparseSums.of(Entries(shape, i, j, signal[i, j], weights=rng.uniform(0.9, 1, len(i)))).values
    U, s, Vt = _leading(matrix, 2)
    np.testing.assert_allclose(s, np.linalg.svd(matrix.toarray(), compute_uv=False)[:2], rtol=0.02)
    np.testing.assert_allclose(np.sum((matrix @ Vt.T) * U, axis=0), s, rtol=1e-8)
    for vectors in (U, Vt.T):
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(2), atol=1e-10)


def rated(rng, n_entries=1500, noise=1.0):
    M = 3 + rng.standard_normal((80, 1)) + rng.standard_normal((1, 60))
    M = M + rng.standard_normal((80, 2)) @ rng.standard_normal((2, 60)) + noise * rng.standard_normal(M.shape)
    return M, Cells.of(curplus.observe(M, n_columns=0, n_rows=0, n_entries=n_entries, rng=0))


def test_left_out_cells_choose_a_threshold_that_is_nearly_the_best(rng):
    M, cells = rated(rng)
    chosen = Shrunken().settled(cells)
    assert Shrunken().settled(cells) == chosen
    assert chosen.settled(cells) is chosen
    error, *others = (
        np.linalg.norm(M - model.fit(cells).to_array()) for model in (chosen, *(Shrunken(k) for k in range(1, 20, 2)))
    )
    assert error < 1.05 * min(others)
    np.testing.assert_array_equal(Shrunken().fit(cells).to_array(), chosen.fit(cells).to_array())


def test_a_low_rank_is_found_beside_the_offsets_and_noise_has_none(rng):
    M, cells = rated(rng, noise=0.3)
    additive = np.linalg.norm(M - additive_alone(cells))
    assert np.linalg.norm(M - Shrunken().fit(cells).to_array()) < 0.7 * additive
    offsets, noise = rng.standard_normal((80, 1)) + rng.standard_normal(60), rng.standard_normal((80, 60))
    cells = Cells.of(curplus.observe(offsets + noise, n_columns=0, n_rows=0, n_entries=1500, rng=0))
    additive = np.linalg.norm(offsets - additive_alone(cells))
    assert np.linalg.norm(offsets - Shrunken().fit(cells).to_array()) < 1.1 * additive


def additive_alone(cells):
    """The additive model alone."""
    left, right = additive_model(cells.scattered).factors()
    return left @ right.T
