"""The additive model and the low-rank part of scattered entries, beside dense computations."""

import numpy as np
import pytest

import curplus
from curplus.methods.approximate.nuclear import low_rank_part, thresholds
from curplus.methods.approximate.offsets import additive_model
from curplus.observation import Entries


def entries_of(M, size, rng, weights=None):
    flat = rng.choice(M.size, size, replace=False)
    i, j = flat // M.shape[1], flat % M.shape[1]
    return Entries(M.shape, i, j, M[i, j], weights=np.ones(size) if weights is None else weights)


def test_the_additive_model_of_a_whole_table_is_its_means(rng):
    M = 5 + rng.standard_normal((40, 1)) + 3 * rng.standard_normal((1, 30))
    offsets = additive_model(entries_of(M, M.size, rng))
    i, j = (x.ravel() for x in np.indices(M.shape))
    np.testing.assert_allclose(offsets.at(i, j), M.ravel(), atol=1e-3)
    left, right = offsets.factors()
    np.testing.assert_allclose((left @ right.T).ravel(), offsets.at(i, j), atol=1e-12)


def test_offsets_are_shrunk_as_a_ridge_regression_would(rng):
    """For the variances that were found, the offsets solve the normal equations of the penalised problem."""
    M = 2 + rng.standard_normal((25, 1)) + 0.5 * rng.standard_normal((1, 20)) + rng.standard_normal((25, 20))
    weights = rng.uniform(0.5, 2, 200)
    entries = entries_of(M, 200, rng, weights)
    offsets = additive_model(entries)
    A = np.zeros((200, 46))
    A[:, 0], A[np.arange(200), 1 + entries.i], A[np.arange(200), 26 + entries.j] = 1, 1, 1
    rest = entries.values - offsets.at(entries.i, entries.j)
    gradient = A.T @ (weights * rest)
    assert abs(gradient[0]) < 1e-8 * np.abs(A.T @ (weights * entries.values))[0]
    found = np.concatenate([offsets.rows, offsets.columns])
    ridges = [np.median(gradient[1:][part] / found[part]) for part in (slice(25), slice(25, 45))]
    assert min(ridges) > 0
    penalty = np.diag([0.0, *np.repeat(ridges, (25, 20))])
    x = np.linalg.solve(A.T @ (weights[:, None] * A) + penalty, A.T @ (weights * entries.values))
    assert offsets.constant == pytest.approx(x[0], abs=0.01)
    np.testing.assert_allclose(found, x[1:], atol=0.01)


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_a_constant_has_no_offsets(value):
    seen = curplus.observe(np.full((20, 15), value), n_columns=0, n_rows=0, n_entries=60, rng=0)
    np.testing.assert_allclose(curplus.approximate(seen).to_array(), value, atol=1e-9)


def test_the_low_rank_part_solves_the_convex_problem(rng):
    """The residual is the threshold on the solution's own directions and less elsewhere, as at an optimum."""
    M = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 30)) + 0.3 * rng.standard_normal((40, 30))
    entries = entries_of(M, 700, rng)
    falling = thresholds(entries)[:6]
    U, V = low_rank_part(entries, np.append(falling, np.full(20, falling[-1])))
    rest = np.zeros(M.shape)
    rest[entries.i, entries.j] = entries.values - np.sum(U[entries.i] * V[entries.j], axis=1)
    s = np.linalg.svd(rest, compute_uv=False)
    assert s[0] < 1.02 * falling[-1]
    left, right = np.linalg.qr(U)[0], np.linalg.qr(V)[0]
    np.testing.assert_allclose(np.linalg.svd(left.T @ rest @ right, compute_uv=False), falling[-1], rtol=0.03)


@pytest.mark.parametrize("rank", [None, 1, 3, 10])
@pytest.mark.parametrize("kind", ["noise", "counts", "offsets", "low rank", "spikes"])
def test_values_alone_are_never_much_worse_than_the_additive_model_or_zero(rng, rank, kind):
    n, m = 60, 50
    low = rng.standard_normal((n, 2)) @ rng.standard_normal((2, m))
    M = {
        "noise": rng.standard_normal((n, m)),
        "counts": rng.poisson(0.3, (n, m)).astype(float),
        "offsets": 4 + rng.standard_normal((n, 1)) + rng.standard_normal((1, m)) + 0.5 * rng.standard_normal((n, m)),
        "low rank": low + 0.1 * rng.standard_normal((n, m)),
        "spikes": np.where(rng.random((n, m)) < 0.02, 50.0, 0.0) + rng.standard_normal((n, m)),
    }[kind]
    for size in (60, 400, 1500):
        seen = curplus.observe(M, n_columns=0, n_rows=0, n_entries=size, rng=0)
        error = np.linalg.norm(M - curplus.approximate(seen, rank).to_array())
        offsets = additive_model(Entries(M.shape, seen.i, seen.j, seen.values, weights=np.ones(size)))
        additive = np.linalg.norm(M - (offsets.constant + offsets.rows[:, None] + offsets.columns))
        assert error < 1.1 * min(additive, np.linalg.norm(M)) or (rank == 1 and error < 1.05 * np.linalg.norm(M))


def test_an_exact_matrix_is_found_from_few_values(low_rank):
    M = low_rank((150, 100), 3)
    seen = curplus.observe(M, n_columns=0, n_rows=0, n_entries=3000, rng=0)
    assert np.linalg.norm(curplus.approximate(seen, 3).to_array() - M) < 1e-3 * np.linalg.norm(M)


def test_the_rank_is_chosen_from_values_alone(low_rank, rng):
    M = low_rank((120, 100), 3) + 0.1 * rng.standard_normal((120, 100))
    approx = curplus.approximate(curplus.observe(M, n_columns=0, n_rows=0, n_entries=5000, rng=0))
    assert "as many directions as the values support" in approx.report["rank"].text
    assert np.linalg.norm(approx.to_array() - M) < 0.2 * np.linalg.norm(M)
    assert approx.report.model


def test_movielens_is_predicted_better_than_by_the_additive_model(data_dir):
    ratings = curplus.datasets.load("movielens_100k", data_home=data_dir)
    order = np.random.default_rng(0).permutation(ratings.n_entries)
    fit, test = order[:90_000], order[90_000:]
    seen = curplus.Observation(shape=ratings.shape, i=ratings.i[fit], j=ratings.j[fit], values=ratings.values[fit])
    errors = ratings.values[test] - curplus.approximate(seen, 10).entries(ratings.i[test], ratings.j[test])
    offsets = additive_model(Entries(ratings.shape, seen.i, seen.j, seen.values, weights=np.ones(90_000)))
    additive = ratings.values[test] - offsets.at(ratings.i[test], ratings.j[test])
    assert np.sqrt(np.mean(errors**2)) < 0.98 * np.sqrt(np.mean(additive**2))
