"""Sampled columns without rows: the other side is fitted to entries, with a prior that the sampled columns give."""

from dataclasses import replace

import numpy as np
import pytest

import curplus
from curplus.methods.approximate.from_columns import from_columns
from curplus.methods.approximate.way import SUBSPACE, Way

ALL = np.arange(3000)


def by_subspace(seen, rank, use, check):
    return from_columns(seen, rank, "auto", use, check, Way(SUBSPACE)).approximation


@pytest.fixture
def seen(full_rank):
    return curplus.observe(full_rank((60, 300), rank=4, noise=0.2), n_columns=12, n_rows=0, n_entries=3000, rng=0)


def test_every_column_is_a_ridge_regression_with_the_variances_of_the_sampled_ones(seen):
    U, _, _ = np.linalg.svd(seen.columns, full_matrices=False)
    U = U[:, :3]
    variances = np.mean((U.T @ seen.columns) ** 2, axis=1)
    noise = np.mean((seen.columns - U @ U.T @ seen.columns) ** 2)
    found = by_subspace(seen, 3, ALL, ALL[:0]).to_array()
    for j in np.setdiff1d(np.arange(300), seen.column_index):
        here = seen.j == j
        A = U[seen.i[here]]
        expected = U @ np.linalg.solve(A.T @ A + np.diag(noise / variances), A.T @ seen.values[here])
        np.testing.assert_allclose(found[:, j], expected, atol=1e-10)


def test_columns_that_are_unlike_the_sampled_ones_are_shrunk(rng):
    """Large columns are sampled; of the others, which are small and of no common rank, little can be said."""
    M = rng.standard_normal((100, 800))
    M[:, :50] *= 3
    seen = curplus.observe(M, n_columns=0, n_rows=0, n_entries=16_000, rng=0)
    seen = replace(seen, column_index=np.arange(50), columns=M[:, :50])
    order = rng.permutation(16_000)
    for check, bound in ((order[:1500], 1.02), (order[:0], np.inf)):
        rest = by_subspace(seen, 40, order[1500:], check).to_array()[:, 50:]
        assert np.linalg.norm(M[:, 50:] - rest) < bound * np.linalg.norm(M[:, 50:])
    assert np.linalg.norm(M[:, 50:] - rest) > 1.1 * np.linalg.norm(M[:, 50:])  # what entries set aside have prevented


@pytest.mark.parametrize("turned", [False, True])
def test_an_exact_subspace_stays_exact(low_rank, turned):
    M = low_rank((120, 400), 5) * np.geomspace(1, 1e4, 400)
    counts = {"n_columns": 0, "n_rows": 10} if turned else {"n_columns": 10, "n_rows": 0}
    answer = curplus.approximate(curplus.observe(M, **counts, n_entries=12_000, rng=0), rank=5)
    assert np.linalg.norm(answer.to_array() - M) < 1e-9 * np.linalg.norm(M)
