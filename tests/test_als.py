import numpy as np
import pytest

import curplus
from curplus.methods.approximate.als import alternate, measurements, solve_rows
from curplus.methods.approximate.short_rows import short_rows


@pytest.fixture
def seen(full_rank):
    M = full_rank((40, 30), rank=3, noise=0.3)
    plan = curplus.observation.uniform_plan((40, 30), n_columns=3, n_rows=4, n_entries=200, rng=0)
    i, j = np.append(plan.i, plan.i[:20]), np.append(plan.j, plan.j[:20])
    weights = np.linspace(0.5, 2, 220)
    return curplus.Observation(
        shape=(40, 30), column_index=plan.column_index, columns=M[:, plan.column_index], row_index=plan.row_index,
        rows=M[plan.row_index], i=i, j=j, values=M[i, j], weights=weights,
    )  # fmt: skip


@pytest.mark.parametrize("rank", [3, 12])
def test_every_row_is_its_own_least_squares_problem(seen, rng, rank):
    V = rng.standard_normal((30, rank))
    U = solve_rows(measurements(seen, np.arange(220)), V, ridge=0.1)
    for i in range(40):
        places, values, weights = list(seen.column_index), list(seen.columns[i]), [1.0] * 3
        if i in seen.row_index:
            places, values, weights = list(range(30)), list(seen.rows[list(seen.row_index).index(i)]), [1.0] * 30
        else:
            for t in np.flatnonzero(seen.i == i):
                if seen.j[t] not in seen.column_index:
                    places.append(seen.j[t])
                    values.append(seen.values[t])
                    weights.append(seen.weights[t] / seen.weights.mean())
        A, w = V[places], np.array(weights)
        expected = np.linalg.solve(A.T @ (w[:, None] * A) + 0.1 * np.eye(rank), A.T @ (w * np.array(values)))
        assert np.allclose(U[i], expected, atol=1e-10)


def test_arranging_by_columns_solves_the_transposed_problem(seen, rng):
    U = rng.standard_normal((40, 3))
    everything = np.arange(220)
    assert np.allclose(
        solve_rows(measurements(seen, everything).T, U, 0.1),
        solve_rows(measurements(seen.T, everything), U, 0.1),
        atol=1e-12,
    )


def test_some_rows_are_solved_as_they_are_among_all(seen, rng):
    V, some = rng.standard_normal((30, 3)), np.append(seen.row_index[:2], [0, 17])
    measured, ridge = measurements(seen, np.arange(220)), np.array([0.1, 1.0, 10.0])
    U = solve_rows(measured.at_rows(some), V, ridge)
    np.testing.assert_allclose(U, solve_rows(measured, V, ridge)[some], atol=1e-12)


@pytest.mark.parametrize("ridge", [1e-8, 0.3, np.geomspace(0.01, 10, 40)])
@pytest.mark.parametrize("n_rows", [0, 3])
def test_rows_with_few_values_are_solved_by_their_values(rng, ridge, n_rows):
    plan = curplus.observation.uniform_plan((50, 60), n_columns=0, n_rows=n_rows, n_entries=600, rng=0)
    long = np.full(45, 49)  # a row with more values than directions
    i, j = np.append(plan.i, long), np.append(plan.j, np.arange(45))
    keep = np.unique(60 * i + j, return_index=True)[1]
    i, j = i[keep], j[keep]
    M, V = rng.standard_normal((50, 60)), rng.standard_normal((60, 40))
    seen = curplus.Observation(
        shape=(50, 60), row_index=plan.row_index, rows=M[plan.row_index], i=i, j=j, values=M[i, j],
        weights=rng.uniform(0.5, 2, len(i)),
    )  # fmt: skip
    measured = measurements(seen, np.arange(len(i)))
    assert len(short_rows(measured.entries, 40)) > 40
    W = np.zeros((50, 60))
    W[i, j] = seen.weights / seen.weights.mean()
    W[plan.row_index] = 1
    roots = np.diag(np.sqrt(np.broadcast_to(ridge, 40)))
    for u, w, m in zip(solve_rows(measured, V, ridge), np.sqrt(W), M, strict=True):
        expected, *_ = np.linalg.lstsq(np.vstack([w[:, None] * V, roots]), np.append(w * m, np.zeros(40)))
        np.testing.assert_allclose(u, expected, atol=1e-9)


def test_no_row_is_short_where_positions_occur_twice_or_directions_are_few(seen):
    entries = measurements(seen, np.arange(220)).entries
    once = entries.take(entries.unique())
    assert [len(short_rows(x, rank)) for x, rank in ((once, 32), (entries, 32), (once, 31))] == [40, 0, 0]


def test_sweeps_recover_what_the_samples_alone_do_not(low_rank, rng):
    signal = low_rank((200, 150), 3)
    M = signal + 0.1 * signal.std() * rng.standard_normal((200, 150))
    seen = curplus.observe(M, n_columns=6, n_rows=6, n_entries=9000, rng=0)
    start = curplus.cur_plus(seen, 3).truncate(3)
    order = rng.permutation(9000)
    refined = alternate(start, seen, use=order[500:], check=order[:500])
    error = [np.linalg.norm(f.to_array() - signal) / np.linalg.norm(signal) for f in (start, refined)]
    assert error[1] < 0.04
    assert error[1] < 0.6 * error[0]


def test_a_start_that_cannot_be_improved_is_kept(low_rank):
    seen = curplus.observe(low_rank((60, 50), 3), n_columns=6, n_rows=6, n_entries=800, rng=0)
    start = curplus.cur_plus(seen, 3).truncate(3)
    refined = alternate(start, seen, use=np.arange(700), check=np.arange(700, 800))
    assert np.linalg.norm(refined.to_array() - start.to_array()) < 1e-10 * np.linalg.norm(start.to_array())
