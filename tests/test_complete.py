"""All rows are complete: their leading part, and left-out rows choose the noise with which others are completed."""

import math

import numpy as np
import pytest

import curplus
from curplus.methods import complete
from curplus.methods.complete import complete_matrix, held_rows_noise


def test_leaving_a_row_out_is_the_same_as_fitting_without_it(rng):
    n, m, size = 12, 9, 4
    rows = rng.standard_normal((n, m))
    noises = np.asarray([0.001, 0.1, 3.0])
    found = complete._left_out_squares(rows, size, noises, np.random.default_rng(5))
    known, others = np.split(np.random.default_rng(5).permutation(m), [size])
    for t in range(3):
        noise = n * noises[t]
        squares = []
        for i in range(n):
            rest = np.delete(rows, i, axis=0)
            X, Y = rest[:, known] - rest[:, known].mean(axis=0), rest[:, others] - rest[:, others].mean(axis=0)
            inner = X.T @ X + noise * np.eye(size)
            new = rows[i, known] - rest[:, known].mean(axis=0)
            weights = np.linalg.solve(inner, X.T @ Y)
            squares.append((rows[i, others] - rest[:, others].mean(axis=0) - new @ weights) ** 2)
        assert found[t] == pytest.approx(np.mean(squares))


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(60, 40), (20, 300), (300, 20)])
def test_rows_of_exact_low_rank_show_no_noise(low_rank, shape, kind):
    assert held_rows_noise(low_rank(shape, rank=3, dtype=kind)) < (1e-6 if kind == "float32" else 1e-300)


def test_rows_without_a_pattern_are_all_noise(rng):
    noise = rng.standard_normal((80, 60))
    assert held_rows_noise(noise) > 0.8


@pytest.mark.parametrize("shape", [(1, 5), (2, 5), (7, 1)])
def test_where_nothing_can_be_left_out_all_deviation_is_noise(rng, shape):
    rows = rng.standard_normal(shape)
    assert held_rows_noise(rows) == pytest.approx(math.sqrt(np.mean(np.var(rows, axis=0))))


@pytest.mark.parametrize("shape", [(30, 70), (70, 30)])
@pytest.mark.parametrize("rank", [4, 100])
def test_a_known_matrix_is_approximated_as_well_as_can_be(full_rank, shape, rank):
    M = full_rank(shape, rank=5, noise=0.5)
    answer, model = complete_matrix(M, rank)
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    np.testing.assert_allclose(answer.to_array(), (U[:, :rank] * s[:rank]) @ Vt[:rank], atol=1e-10)
    assert answer.rank == min(rank, *shape)
    assert model.mean_row.shape == (shape[1],)


def test_every_direction_is_kept_where_all_rows_are_complete(full_rank):
    M = full_rank((30, 20), rank=5, noise=0.5)
    for approx in (
        curplus.approximate(curplus.Observation(shape=M.shape, row_index=np.arange(30), rows=M)),
        curplus.approximate(curplus.Observation(shape=M.shape, column_index=np.arange(20), columns=M)),
    ):
        assert approx.rank == 20
        np.testing.assert_allclose(approx.to_array(), M)
    assert "every direction" in approx.report["rank"].reason


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_noise_has_the_unit_of_the_values(full_rank, scale):
    M = full_rank((30, 20), rank=3, noise=0.5)
    noises = [
        curplus.approximate(
            curplus.Observation(shape=M.shape, row_index=np.arange(30), rows=M * unit)
        ).provenance.model.noise
        for unit in (1.0, scale)
    ]
    assert noises[1] / scale == pytest.approx(noises[0])
