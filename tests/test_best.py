"""The k best rows by rounds of paired columns: what is read, what is decided, and how often that is right."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.special import ndtri

import curplus
from curplus.acquisition import NarrowMeans
from curplus.evaluation.elimination import Boundary, look_sizes
from curplus.exceptions import InvalidArgumentError
from curplus.observation import Bounds


def answers(rng, n=20, m=400, spread=1.5):
    """0/1 answers with good and bad rows, easy and hard columns."""
    logits = spread * rng.standard_normal((n, 1)) + rng.standard_normal((1, m))
    return (rng.random((n, m)) < 1 / (1 + np.exp(-logits))).astype(float)


def top(A, k):
    """Rows whose means are above that of the place after k."""
    means = A.mean(axis=1)
    return set(np.flatnonzero(means > np.sort(means)[-k - 1]).tolist()) if k < len(A) else set(range(len(A)))


def parts(observation):
    return {
        name: np.asarray(getattr(observation, name))
        for name in ("column_index", "row_index", "i", "j", "values", "columns", "rows", "drawn_columns", "drawn_rows")
    }


def assert_same(one, other):
    for name, value in parts(one).items():
        np.testing.assert_array_equal(value, parts(other)[name], err_msg=name)


def known(A, order, **more):
    return curplus.Observation(shape=A.shape, row_index=range(len(A)), rows=A, drawn_columns=order, **more)


# deciding


def test_the_best_are_found_with_part_of_the_values(rng):
    A = answers(rng)
    seen = curplus.acquire(A, goal=curplus.Best(2), rng=0)
    decision = curplus.decide(seen, curplus.Best(2))
    assert decision.is_decided
    assert set(decision.chosen.tolist()) == set(np.argsort(-A.mean(axis=1))[:2].tolist())
    assert seen.n_values_read < 0.9 * A.size
    assert seen.history[-1] == decision.reason
    assert 0 < decision.error_spent <= 0.05 + 1e-12


def test_the_smallest_and_columns_are_found_alike(rng):
    A = answers(rng)
    rows = curplus.acquire(A, goal=curplus.Best(2), rng=0)
    columns = curplus.acquire(A.T, goal=curplus.Best(2, axis=0), rng=0)
    smallest = curplus.acquire(-A, goal=curplus.Best(2, largest=False), rng=0)
    assert_same(rows, columns.T)
    assert_same(dataclasses.replace(rows, columns=-rows.columns, values=-rows.values), smallest)
    found = curplus.decide(columns, curplus.Best(2, axis=0))
    np.testing.assert_array_equal(found.possible, curplus.decide(rows, curplus.Best(2)).possible)
    assert found.what == "columns"


def test_the_true_best_are_ruled_out_in_less_than_one_of_twenty_runs():
    """All rows but the best have the same number of ones: what rules the best out is chance alone."""
    lost, n, m = 0, 12, 300
    for seed in range(200):
        rng = np.random.default_rng(seed)
        A = np.tile(np.arange(m) < m // 2, (n, 1)).astype(float)
        for row in A:
            row[:] = row[np.argsort(rng.random(m) + 2.0 * (np.arange(m) % 3 > 0) * np.arange(m))]
        A[0, np.argmin(A[0])] = 1
        lost += 0 not in curplus.decide(known(A, rng.permutation(m)), curplus.Best(1)).possible
    assert lost <= 16  # 10 are expected at most


def test_a_history_saves_values_and_does_not_mislead(rng):
    traits = rng.standard_normal((2, 500))
    A = 0.3 * rng.standard_normal((12, 500)) + rng.standard_normal((12, 2)) @ traits + 0.05 * np.arange(12)[:, None]
    history = rng.standard_normal((40, 2)) @ traits + 0.1 * rng.standard_normal((40, 500))
    both, saved = np.vstack([A, history]), []
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(500)
        alone = curplus.decide(known(A, order), curplus.Best(2))
        helped = curplus.decide(known(both, order), curplus.Best(2, among=range(12)))
        assert top(A, 2) <= set(helped.possible.tolist())
        saved.append(helped.looks[-1].n_columns / alone.looks[-1].n_columns)
    assert np.median(saved) < 0.6


def test_all_columns_are_read_for_rows_that_are_alike(rng):
    A = answers(rng, n=6, m=60)
    A[:2] = 1 - np.eye(2, 60)
    seen = curplus.acquire(A, goal=curplus.Best(1), rng=0)
    decision = curplus.decide(seen, curplus.Best(1))
    assert decision.is_decided
    assert sorted(decision.tied.tolist()) == sorted(decision.left.tolist()) == [0, 1]
    assert not len(decision.chosen)
    assert "the same mean" in decision.reason
    known_there = np.isin([0, 1], seen.row_index) | (np.bincount(seen.i, minlength=6)[:2] + seen.n_columns == 60)
    assert known_there.all()
    two = curplus.decide(seen, curplus.Best(2))
    assert two.is_decided
    assert not len(two.tied)


def test_as_many_as_there_are_need_no_reading(rng):
    A = answers(rng, n=5)
    assert curplus.propose(curplus.Observation(shape=A.shape), goal=curplus.Best(5), rng=0) is None
    assert sorted(curplus.decide(curplus.Observation(shape=A.shape), curplus.Best(5)).chosen) == [0, 1, 2, 3, 4]
    with pytest.raises(InvalidArgumentError, match="k=6"):
        curplus.decide(curplus.Observation(shape=A.shape), curplus.Best(6))


def test_few_columns_are_all_read(rng):
    A = rng.standard_normal((5, 12))
    seen = curplus.acquire(A, goal=curplus.Best(1), rng=0)
    assert curplus.decide(seen, curplus.Best(1)).chosen.tolist() == [int(np.argmax(A.mean(axis=1)))]
    assert seen.n_values_read == A.size


def test_noisy_values_are_never_exact(rng):
    A = np.ones((3, 30)) + 1e-3 * rng.standard_normal((3, 30))
    seen = curplus.acquire(A, goal=curplus.Best(1), noise=0.1, rng=0)
    decision = curplus.decide(seen, curplus.Best(1))
    assert seen.n_values_read == A.size
    assert not decision.is_decided
    assert seen.history[-1].startswith("no more can be read; not decided")


def test_columns_with_gaps_do_not_count(rng):
    A = answers(rng, n=8, m=200)
    A[3, ::5] = np.nan
    seen = curplus.acquire(A, goal=curplus.Best(1), gaps=True, rng=0)
    assert curplus.decide(seen, curplus.Best(1)).is_decided
    assert top(np.delete(A, np.arange(0, 200, 5), axis=1), 1) <= set(curplus.decide(seen, curplus.Best(1)).possible)


def test_uniform_columns_that_were_read_before_count(rng):
    A = answers(rng)
    seen = curplus.observe(A, n_columns=60, n_rows=0, n_entries=0, rng=0)
    decision = curplus.decide(seen, curplus.Best(2))
    assert decision.looks[-1].n_columns > 50
    more = curplus.acquire(A, goal=curplus.Best(2), start=seen, rng=0)
    assert curplus.decide(more, curplus.Best(2)).looks[: decision.n_looks] == decision.looks
    given = curplus.Observation(shape=A.shape, column_index=seen.column_index, columns=seen.columns)
    assert not curplus.decide(given, curplus.Best(2)).looks


def test_means_and_differences_are_those_of_the_columns_that_were_drawn(rng):
    A, covered, clear = answers(rng, spread=0.7), [], []
    truth, best = A.mean(axis=1), curplus.Best(2)
    for seed in range(10):
        seen = curplus.acquire(A, goal=best, budget=0.3, rng=seed)
        means = curplus.estimate_means(curplus.approximate(seen, models=("offsets",)), seen)
        np.testing.assert_array_equal(means.best(2), curplus.decide(seen, best).possible)
        covered.append(np.mean((means.low <= truth) & (truth <= means.high)))
        a, b = means.best(2)[:2].tolist()
        found = means.difference(a, b)
        clear.append(found.low - 1e-12 <= truth[a] - truth[b] <= found.high + 1e-12)
    assert np.mean(covered) > 0.9
    assert np.mean(clear) >= 0.8


# reading


def test_propose_is_pure_and_goes_on_after_save_and_load(rng, tmp_path):
    A, best = answers(rng), curplus.Best(2)
    at_once = curplus.acquire(A, goal=best, rng=3)
    seen = curplus.Observation(shape=A.shape)
    while (plan := curplus.propose(seen, goal=best, rng=3)) is not None:
        again = curplus.propose(seen, goal=best, rng=3)
        for one, other in zip(plan, again, strict=True):
            np.testing.assert_equal(one, other)
        decision = curplus.decide(seen, best)
        assert decision.looks == curplus.decide(seen, best).looks
        seen = seen.extend(curplus.read(A, plan, known=seen))
        seen.save(tmp_path / "seen.npz")
        seen = curplus.load(tmp_path / "seen.npz")
    assert_same(at_once, seen)


def test_looks_are_the_same_whatever_was_read_besides(rng):
    A, best = answers(rng), curplus.Best(2)
    seen = curplus.acquire(A, goal=best, rng=0)
    assert curplus.decide(known(A, seen.drawn_columns), best).looks == curplus.decide(seen, best).looks


def test_a_budget_ends_it_and_more_goes_on(rng):
    A, best = answers(rng, spread=0.5), curplus.Best(2)
    seen = curplus.acquire(A, goal=best, budget=0.1, rng=0)
    assert seen.n_values_read <= 0.1 * A.size
    assert seen.history[-1].startswith("the budget is spent; not decided")
    decision = curplus.decide(seen, best)
    assert 0 < decision.n_more < math.inf
    more = curplus.acquire(A, goal=best, start=seen, rng=0)
    assert_same(curplus.acquire(A, goal=best, rng=0), more)


def test_rows_that_are_forbidden_or_not_compared_are_not_read(rng):
    A = answers(rng)
    seen = curplus.acquire(A, goal=curplus.Best(2, among=range(10)), forbidden={"rows": [0], "columns": [3]}, rng=0)
    assert not np.isin(seen.i, [0, *range(10, 20)]).any()
    assert 3 not in seen.drawn_columns
    assert not seen.n_columns


@pytest.mark.parametrize(
    ("best", "forbidden", "message"),
    [(2, {"rows": [0, 1, 2]}, "k=2 .* not forbidden"), (1, {"columns": range(30)}, "all columns are forbidden")],
)
def test_what_leaves_nothing_to_compare_is_refused(best, forbidden, message):
    with pytest.raises(InvalidArgumentError, match=message):
        curplus.decide(curplus.Observation(shape=(4, 30), forbidden=forbidden), curplus.Best(best))


def test_rows_with_bounds_are_not_compared(rng):
    """Columns with a bound would be left out: what is left of the better row is what lies below the bound."""
    A = rng.standard_normal((2, 100)) + np.array([[2.8], [0.0]])
    above = np.nonzero(A > 1)
    bounds = Bounds(*above, np.ones(len(above[0])), np.ones(len(above[0]), dtype=int))
    below = np.where(A > 1, np.nan, A)
    index = range(100)
    seen = curplus.Observation(
        shape=A.shape, column_index=index, columns=below, gaps=True, bounds=bounds, drawn_columns=index
    )
    decision = curplus.decide(seen, curplus.Best(1))
    assert sorted(decision.possible.tolist()) == [0, 1]
    assert "bounds" in decision.reason
    assert math.isnan(curplus.estimate_means(curplus.approximate(seen), seen).difference(0, 1).low)
    with pytest.raises(InvalidArgumentError, match="leave out the goal"):
        curplus.propose(seen, goal=curplus.Best(1), budget=0.5)


def test_nothing_known_is_read_again(rng):
    A = answers(rng)
    reads = []
    source = curplus.CallableSource(lambda i, j: (reads.extend(zip(i, j, strict=True)), A[i, j])[1], A.shape)
    start = curplus.observe(source, n_columns=5, n_rows=2, n_entries=50, rng=1)
    curplus.acquire(source, goal=curplus.Best(2), start=start, rng=0)
    assert len(set(reads)) == len(reads)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"goal": "best"}, "goal='best' is none"),
        ({"goal": 3}, "goal=3 is none"),
        ({"goal": "means"}, "Say how narrow"),
        ({"width": 0.1}, 'for goal="means"'),
        ({"goal": "means", "width": -1}, "no width"),
        ({"goal": curplus.Best(1), "n_columns": 3}, "Leave out n_columns"),
        ({"goal": curplus.Best(1), "required": {"rows": [0]}}, "Leave out required"),
        ({"goal": curplus.Best(1), "symmetric": True}, "symmetric"),
        ({"goal": curplus.Best(1), "forbidden": {"cells": ([0], [0])}}, "not cells"),
        ({"goal": curplus.Best(1, among=[99])}, "among"),
    ],
)
def test_goals_that_make_no_sense_are_refused(rng, how, message):
    with pytest.raises(InvalidArgumentError, match=message):
        curplus.propose(curplus.Observation(shape=(8, 8)), **how, rng=0)


@pytest.mark.parametrize("how", [{"k": 0}, {"k": 1, "axis": 2}, {"k": 1, "level": 1.5}])
def test_a_best_that_makes_no_sense_is_refused(how):
    with pytest.raises(InvalidArgumentError):
        curplus.Best(**how)


def test_the_goal_is_the_matrix_if_none_is_given(rng):
    A = answers(rng)
    assert_same(curplus.acquire(A, budget=0.3, rng=0), curplus.acquire(A, budget=0.3, goal="matrix", rng=0))


# bounds


def test_one_comparison_is_wrong_as_often_as_was_spent():
    """Means of columns drawn without replacement, of a population with the mean zero."""
    m, spent = 300, 0.02
    sizes, boundary = look_sizes(m)[:-1], Boundary()
    bounds = [boundary.chance(1 / (1 / d - 1 / m), spent / len(sizes)) for d in sizes]
    rng, population = np.random.default_rng(0), np.random.default_rng(1).standard_normal(m)
    population -= population.mean()
    wrong = 0
    for _ in range(4000):
        sums = np.cumsum(rng.permutation(population))
        z = [sums[d - 1] / d / math.sqrt((1 / d - 1 / m) * np.var(population, ddof=1)) for d in sizes]
        wrong += any(x > -ndtri(p) for x, p in zip(z, bounds, strict=True))
    assert 0.7 * spent < wrong / 4000 < 1.3 * spent
    assert sum(bounds) > 1.3 * spent  # than by Bonferroni's inequality


# narrow means


def test_means_are_read_until_their_intervals_are_narrow(rng):
    A = answers(rng, n=15, m=300)
    goal = NarrowMeans(0.25)
    seen = curplus.acquire(A, goal="means", width=0.25, rng=0)
    means = curplus.estimate_means(curplus.approximate(seen), seen)
    assert np.max(means.high - means.low) <= 0.25
    assert seen.history[-1] == "all intervals are at most 0.25 wide"
    assert seen.design.entries == "uniform"
    assert curplus.propose(seen, goal=goal, rng=0) is None
    short = curplus.acquire(A, goal=goal, budget=400, rng=0)
    assert short.n_values_read <= 400
    assert "the widest interval is" in short.history[-1]


def test_forbidden_rows_are_neither_read_for_means_nor_waited_for(rng):
    A = rng.standard_normal((12, 300)) + np.arange(12)[:, None]
    seen = curplus.acquire(A, goal="means", width=0.4, forbidden={"rows": [2], "columns": [7]}, rng=0)
    assert not np.isin(seen.i, [2]).any()
    assert not np.isin(seen.j, [7]).any()
    assert seen.history[-1] == "all intervals are at most 0.4 wide"
    assert seen.n_values_read < 0.8 * A.size


@pytest.mark.parametrize("seed", range(3))
def test_dear_entries_stay_within_the_budget(rng, seed):
    costs = curplus.Costs(entry=np.where(rng.random((12, 300)) < 0.1, 10.0, 0.5))
    seen = curplus.acquire(answers(rng, 12, 300), goal="means", width=0.01, budget=700, costs=costs, rng=seed)
    assert 600 < np.sum(costs.entry[seen.i, seen.j]) <= 700
