"""Each row of a factor is its own ridge regression: beside dense normal equations."""

import numpy as np
import pytest

from curplus.methods.approximate.posterior import SparseSums, solve
from curplus.observation import Entries
from tests.strategies import FIELDS, adjoint, gaussian


@pytest.fixture(params=FIELDS)
def entries(rng, request):
    """Entries with weights, some of them twice."""
    i, j = np.divmod(rng.permutation(1200)[:200], 30)
    i, j = np.append(i, i[:20]), np.append(j, j[:20])
    return Entries((40, 30), i, j, gaussian(rng, 220, request.param), weights=rng.uniform(0.5, 2, 220))


def dense(entries, V, ridge):
    """The normal equations of each row, formed and solved one by one."""
    found = np.zeros((entries.shape[0], V.shape[1]), dtype=V.dtype)
    for row in range(len(found)):
        on = entries.i == row
        A, w = V[entries.j[on]].conj(), entries.weights[on]
        found[row] = np.linalg.solve(
            adjoint(A) @ (w[:, None] * A) + ridge * np.eye(V.shape[1]), adjoint(A) @ (w * entries.values[on])
        )
    return found


@pytest.mark.parametrize("rank", [1, 3, 12])
def test_every_row_solves_its_normal_equations(entries, rng, rank):
    field = FIELDS[np.iscomplexobj(entries.values)]
    V, U = gaussian(rng, (30, rank), field), gaussian(rng, (40, rank), field)
    sums = SparseSums.of(entries)
    for found, expected in (
        (solve(sums, V, 0.1), dense(entries, V, 0.1)),
        (solve(sums.H, U, 0.1), dense(entries.H, U, 0.1)),
    ):
        np.testing.assert_allclose(found[0], expected, atol=1e-10)


def test_a_row_of_which_nothing_is_known_is_zero_without_a_ridge(rng):
    entries = Entries((5, 6), np.array([1, 1, 3]), np.array([0, 2, 5]), np.array([1.0, 2.0, 3.0]), weights=np.ones(3))
    V = rng.standard_normal((6, 2))
    found, _ = solve(SparseSums.of(entries), V, 0.0)
    np.testing.assert_array_equal(found[[0, 2, 4]], 0)
    np.testing.assert_allclose(found[1] @ V[[0, 2]].T, [1, 2])


@pytest.mark.parametrize("rank", [3, 40])
def test_many_rows_are_solved_block_by_block_alike(rng, rank):
    """So many rows that their equations are not formed all at once."""
    n, count = 5000, 20_000
    i, j = rng.integers(n, size=count), rng.integers(60, size=count)
    entries = Entries((n, 60), i, j, rng.standard_normal(count), weights=np.ones(count))
    V, some = rng.standard_normal((60, rank)), rng.permutation(n)[:20]
    found, _ = solve(SparseSums.of(entries), V, 0.1)
    for row in some:
        A, y = V[j[i == row]], entries.values[i == row]
        np.testing.assert_allclose(found[row], np.linalg.solve(A.T @ A + 0.1 * np.eye(rank), A.T @ y), atol=1e-9)
