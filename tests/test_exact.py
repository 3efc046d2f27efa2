"""When rows, columns and their intersection are the answer, and when they are not."""

import numpy as np
import pytest

import curplus
from curplus import Observation
from curplus.methods.approximate.cross import cross_of, zero_target
from curplus.methods.approximate.exact import LOW_RANK, MOST_GROWTH, _growth, exact_answer
from curplus.methods.approximate.skeleton import inverse_of, svd_of
from curplus.observation import Cells
from tests.strategies import observed


def exact_of(seen, rank=None):
    return exact_answer(Cells.of(seen), seen, rank)


def test_the_answer_is_the_dense_product_of_columns_inverse_and_rows(low_rank):
    M = low_rank((60, 50), 4)
    seen = curplus.observe(M, n_columns=8, n_rows=6, n_entries=0, rng=0)
    found = exact_of(seen)
    expected = seen.columns @ np.linalg.pinv(seen.columns[seen.row_index], rcond=1e-10) @ seen.rows
    np.testing.assert_allclose(found.prediction.to_array(), expected, atol=1e-9)
    np.testing.assert_allclose(found.prediction.to_array(), M, atol=1e-9)
    assert found.is_confirmed
    assert "same rank" in found.reason


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("counts", [(4, 4, 60), (4, 4, 3), (8, 5, 200)])
def test_entries_that_are_predicted_to_rounding_confirm_it(low_rank, counts, dtype):
    M = low_rank((60, 50), 4, dtype)
    seen = curplus.observe(M, n_columns=counts[0], n_rows=counts[1], n_entries=counts[2], rng=0)
    found = exact_of(seen)
    assert found.reason == "entries are predicted to rounding"
    assert np.linalg.norm(found.prediction.to_array() - M) < 1e4 * np.finfo(dtype).eps * np.linalg.norm(M)


def test_directions_held_by_single_rows_are_exact(rng):
    """Twelve distinct rows: leaving out the only row of its kind says nothing, the ranks say it all."""
    M = rng.standard_normal((12, 200))[rng.integers(12, size=300)]
    seen = curplus.acquire(M, n_columns=30, n_rows=30, n_entries=200, rng=0)
    assert len(np.unique(seen.rows, axis=0)) == 12
    np.testing.assert_allclose(exact_of(seen).prediction.to_array(), M, atol=1e-9)


@pytest.mark.parametrize(("n_entries", "rank"), [(0, None), (1, 8), (100, None), (100, 8)])
def test_a_noisy_matrix_is_not_exact(full_rank, n_entries, rank):
    M = full_rank((60, 50), noise=0.5)
    for seed in range(5):
        assert exact_of(curplus.observe(M, n_columns=8, n_rows=8, n_entries=n_entries, rng=seed), rank) is None


def test_exactness_is_judged_by_entries_of_all_rows(low_rank, rng):
    """Entries stand in the order of their rows; the first thousand would not see that the last rows differ."""
    M = low_rank((400, 100), 4)
    M[200:] += 0.5 * rng.standard_normal((200, 100))
    entries = np.divmod(np.arange(500, 40_000, 9), 100)
    assert exact_of(observed(M, curplus.SamplePlan((400, 100), np.arange(4), np.arange(4), *entries)), 4) is None


def test_a_rank_that_many_single_rows_make_is_not_taken_for_that_of_the_matrix():
    """Of 30 and 20 groups, 20 rows and 20 columns meet some once, and do not meet others."""
    M = np.kron(np.random.default_rng(0).choice([-1.0, 1.0], (30, 20)), np.ones((10, 10)))
    for seed in range(5):
        assert exact_of(curplus.observe(M, n_columns=20, n_rows=20, n_entries=0, rng=seed), 5) is None
    seen = curplus.observe(M, n_columns=100, n_rows=150, n_entries=0, rng=0)
    np.testing.assert_allclose(exact_of(seen).prediction.to_array(), M, atol=1e-9)


def test_as_many_as_the_rank_are_exact_if_the_prediction_is_of_the_size_of_what_was_read():
    """Of 150 Gaussian matrices of rank 5 none grows beyond the bar; of 150 of noise, at most 5 % stay below it."""
    growths = {"low rank": [], "noise": []}
    for seed in range(150):
        draw = np.random.default_rng(seed)
        noise = draw.standard_normal((60, 50))
        low = draw.standard_normal((60, 5)) @ draw.standard_normal((5, 50))
        for kind, M in (("low rank", low), ("noise", noise)):
            seen = curplus.observe(M, n_columns=5, n_rows=5, n_entries=0, rng=seed)
            cells = Cells.of(seen)
            cross = cross_of(cells)
            growths[kind].append(
                _growth(inverse_of(cells, zero_target(cross), svd_of(cross.W), 0.0), cross, cells.shape)
            )
            assert (exact_of(seen, 5) is not None) == (growths[kind][-1] <= MOST_GROWTH)
    assert max(growths["low rank"]) < MOST_GROWTH
    assert np.mean(np.array(growths["noise"]) < MOST_GROWTH) < 0.05


def test_the_growth_is_that_of_the_dense_prediction(full_rank):
    seen = curplus.observe(full_rank((60, 50), noise=0.5), n_columns=5, n_rows=5, n_entries=0, rng=0)
    cells = Cells.of(seen)
    cross = cross_of(cells)
    plain = inverse_of(cells, zero_target(cross), svd_of(cross.W), 0.0)
    unread = np.delete(np.delete(plain.to_array(), seen.row_index, axis=0), seen.column_index, axis=1)
    rows, columns = np.delete(seen.rows, seen.column_index, axis=1), np.delete(seen.columns, seen.row_index, axis=0)
    assert _growth(plain, cross, cells.shape) == pytest.approx(
        2 * np.mean(unread**2) / (np.mean(rows**2) + np.mean(columns**2))
    )


@pytest.mark.parametrize("rank", range(1, LOW_RANK + 1))
def test_a_rank_so_low_is_believed(rng, rank):
    seen = curplus.observe(rng.standard_normal((60, 50)), n_columns=rank, n_rows=rank, n_entries=0, rng=0)
    assert not exact_of(seen, rank).is_confirmed
    assert exact_of(seen, rank + 1) is None


def test_smooth_kernels_keep_their_digits():
    """The inverse of an intersection of condition 1e11 is applied in factored form."""
    x, y = np.linspace(0, 1, 800)[:, None], np.linspace(0, 1, 700)
    M = 1 / (1 + (x - y) ** 2)
    seen = curplus.observe(M, n_columns=40, n_rows=40, n_entries=500, rng=0)
    assert np.linalg.norm(curplus.approximate(seen).to_array() - M) < 1e-11 * np.linalg.norm(M)


def test_without_entries_a_prediction_does_not_outgrow_what_was_read():
    """The intersection of a smooth kernel is nearly singular; its plain inverse is millions of times too large."""
    x, y = np.linspace(0, 1, 300)[:, None], np.linspace(0, 1, 200)
    M = np.exp(-((x - y) ** 2) / 0.02)
    for seed in range(3):
        seen = curplus.observe(M, n_columns=5, n_rows=5, n_entries=0, rng=seed)
        assert np.linalg.norm(curplus.approximate(seen, 5).to_array()) < 2 * np.linalg.norm(M)


def test_gaps_and_other_kinds_of_samples_are_never_exact(low_rank):
    M = low_rank((30, 20), 2)
    holes = np.where(np.random.default_rng(0).random(M.shape) < 0.1, np.nan, M)
    assert exact_of(curplus.observe(holes, n_columns=5, n_rows=5, n_entries=0, gaps=True, rng=0)) is None
    assert exact_of(curplus.observe(M, n_columns=5, n_rows=0, n_entries=90, rng=0)) is None
    assert exact_of(Observation.from_table(holes)) is None
