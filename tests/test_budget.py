"""Budgets: never overspent, nearly used up, split as prices say; what is required is read, what is forbidden is not."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import curplus
from curplus import Costs, Observation, acquire, approximate, propose
from curplus.acquisition.budget import Budget
from curplus.acquisition.prices import spent
from curplus.acquisition.propose import Purchase
from curplus.exceptions import InvalidArgumentError
from tests.conftest import effort

from .strategies import seeds

OPEN = {"n_columns": None, "n_rows": None, "n_entries": None}


def low_rank(n=60, m=40, rank=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m)) + 0.01 * rng.standard_normal((n, m))


def split_of(money, prices, unexplained=()):
    """Money for columns, rows and entries, none of which is given."""
    return Budget((None, None, None), money, prices).split(unexplained)


class CountingFunction(curplus.CallableSource):
    """A function that knows at which places it was asked."""

    def __init__(self, M):
        self.asked = np.zeros(M.shape, dtype=int)

        def function(i, j):
            np.add.at(self.asked, (i, j), 1)
            return M[i, j]

        super().__init__(function, M.shape)


@given(st.floats(0.02, 0.9), st.sampled_from(["auto", "uniform", "pivoted", "residual_norm"]), seeds)
@example(0.1796875, "uniform", 0)  # three columns and four rows, rounded up, leave less for entries than their share
def test_a_share_is_never_exceeded_and_nearly_used_up(share, strategy, seed):
    M = low_rank()
    source = CountingFunction(M)
    seen = acquire(source, budget=share, strategy=strategy, rng=seed)
    assert source.asked.max() <= 1
    assert source.asked.sum() == seen.n_values_read
    assert 0.9 * share * M.size - 60 <= seen.n_values_read <= share * M.size + 1e-9


def test_a_number_of_values_is_the_share_that_it_is():
    M = low_rank()
    a, b = (acquire(M, budget=budget, rng=0) for budget in (0.3, 720))
    np.testing.assert_array_equal(a.row_index, b.row_index)
    np.testing.assert_array_equal(a.i, b.i)


@given(seeds, st.floats(100, 3000))
def test_money_is_never_overspent_whatever_the_prices(seed, budget):
    M = low_rank()
    rng = np.random.default_rng(seed)
    costs = Costs(row=rng.lognormal(3, 1, 60), column=rng.lognormal(4, 1, 40), entry=rng.lognormal(0, 1, (60, 40)))
    seen = acquire(M, budget=budget, costs=costs, rng=seed)
    prices = costs.of(M.shape)
    paid = np.sum(prices.rows[seen.row_index]) + np.sum(prices.columns[seen.column_index])
    asked = seen.outside | seen.steering
    paid += np.sum(prices.entry[seen.i[asked], seen.j[asked]])
    assert paid == pytest.approx(spent(seen, prices).total)
    assert paid <= budget * (1 + 1e-9)


def test_cheap_columns_are_preferred_where_they_say_as_much():
    rng = np.random.default_rng(1)
    M = np.repeat(rng.standard_normal((80, 10)), 4, axis=1) + 0.01 * rng.standard_normal((80, 40))
    price = np.where(np.arange(40) % 4 == 0, 1.0, 100.0)
    cheap = curplus.select_columns(M, 10, method="qdeim", cost=price)
    assert np.mean(price[cheap]) < 2
    assert sorted(np.unique(cheap // 4)) == list(range(10))
    assert np.mean(price[curplus.select_columns(M, 10, method="qdeim")]) > 20


@pytest.mark.parametrize("method", ["leverage", "qdeim", "pivoted", "explaining"])
def test_equal_prices_change_no_choice(method):
    M = low_rank(rank=6)
    alike = curplus.select_columns(M, 5, method=method, rng=0, cost=np.full(40, 7.0))
    np.testing.assert_array_equal(alike, curplus.select_columns(M, 5, method=method, rng=0))


def test_a_cheap_row_is_bought_more_often_than_a_dear_column():
    M = low_rank(100, 100)
    seen = acquire(M, budget=3000, costs=Costs(row=20.0, column=400.0), rng=0)
    assert seen.n_rows > 5 * max(seen.n_columns, 1)


def test_a_long_matrix_is_not_read_by_short_columns_alone():
    M = low_rank(50, 2000)
    counts = acquire(M, budget=0.1, rng=0).counts
    assert 5 < counts.n_columns / counts.n_rows < 8  # the square root of 40; the same money would be 40


def test_a_budget_that_buys_few_crosses_goes_to_entries():
    prices = Costs().of((500, 500))
    assert split_of(2500.0, prices).rows == 0
    split = split_of(50_000.0, prices)
    assert split.rows == split.columns > 0.4 * 50_000
    assert split.rows + split.columns + split.entries == pytest.approx(50_000)


# The split follows what was read


def with_noisy_rows(n=300, m=200, seed=0):
    """Rank 3, and one row in ten is large and like no other."""
    rng = np.random.default_rng(seed)
    M = low_rank(n, m, seed=seed)
    M[::10] = 20 * rng.standard_normal((len(M[::10]), m))
    return M


def test_money_goes_to_rows_where_few_of_them_hold_what_is_unexplained():
    M = with_noisy_rows()
    even = acquire(low_rank(300, 200), budget=0.15, rng=0)
    fixed = {"n_columns": even.n_columns, "n_rows": even.n_rows, "n_entries": even.n_entries}
    seen = [acquire(M, budget=0.15, rng=seed) for seed in range(5)]
    turned = [acquire(np.ascontiguousarray(M.T), budget=0.15, rng=seed) for seed in range(5)]
    assert np.median([x.n_rows for x in seen]) > 1.6 * even.n_rows
    assert np.median([x.n_columns for x in turned]) > 1.6 * even.n_rows
    assert np.median([np.count_nonzero(x.row_index % 10 == 0) for x in seen]) >= 26  # of 30
    assert any("the largest rows leave" in line for line in seen[1].history)
    assert any("the largest columns leave" in line for line in turned[1].history)
    fitted = effort(3, 5)
    before = [_unread_error(M, acquire(M, **fixed, rng=seed)) for seed in range(fitted)]
    assert np.median([_unread_error(M, x) for x in seen[:fitted]]) < 0.6 * np.median(before)


def _unread_error(M, seen):
    """What is wrong once measured values are kept."""
    errors = M - approximate(seen).to_array()
    errors[seen.row_index] = errors[:, seen.column_index] = errors[seen.i, seen.j] = 0
    return np.linalg.norm(errors)


def test_an_even_matrix_is_read_as_prices_say():
    split = split_of(6000.0, Costs().of((200, 150)))
    for seed in range(5):
        seen = acquire(low_rank(200, 150, seed=seed), budget=0.2, rng=seed)
        assert not any("unexplained" in line for line in seen.history)
        assert 0 <= seen.n_rows - split.rows / 150 <= 2  # where a row meets columns that are known it costs nothing
        assert 0 <= round(seen.n_columns - split.columns / 200) <= 2


@given(st.floats(0.1, 0.6), seeds, st.floats(0.0, 3.0), st.floats(0.0, 3.0))
def test_heavy_rows_and_columns_do_not_make_it_spend_more(share, seed, rows, columns):
    rng = np.random.default_rng(seed)
    M = np.exp(rows * rng.standard_normal((80, 1)) + columns * rng.standard_normal(50)) * rng.standard_normal((80, 50))
    source = CountingFunction(M)
    seen = acquire(source, budget=share, rng=seed)
    assert source.asked.max() <= 1
    assert 0.9 * share * M.size - 80 <= seen.n_values_read <= share * M.size + 1e-9


def test_more_for_a_kind_is_less_for_the_others():
    prices = Costs().of((200, 150))
    plain = split_of(6000.0, prices)
    moved = split_of(6000.0, prices, (1.0, 8.0))
    assert moved.rows > plain.rows
    assert moved.columns < plain.columns
    assert moved.entries < plain.entries
    assert moved.rows + moved.columns + moved.entries == pytest.approx(6000)
    assert split_of(6000.0, prices, (2.5, 0.3)) == plain
    extreme = split_of(6000.0, prices, (1.0, 1e9))
    assert extreme.columns == pytest.approx(plain.columns / 2)
    assert extreme.entries == pytest.approx(plain.entries / 2)
    without_rows = Budget((None, 0, 0), 6000.0, prices).split((1.0, 8.0))
    assert without_rows.columns == 6000


def test_what_is_fixed_stays_fixed_and_the_budget_decides_the_rest():
    M = low_rank()
    seen = acquire(M, budget=900, n_entries=100, rng=0)
    assert seen.n_entries == 100
    assert seen.n_rows > 2
    assert seen.n_values_read <= 900
    seen = acquire(M, budget=900, n_rows=5, n_columns=5, rng=0)
    assert (seen.n_rows, seen.n_columns) == (5, 5)
    assert 880 <= seen.n_values_read <= 900


def test_the_history_says_how_the_budget_was_split():
    seen = acquire(low_rank(), budget=0.4, rng=0)
    assert "for rows and columns" in seen.history[0]
    assert any("pilots" in line for line in seen.history)
    assert seen.history[-1].startswith(f"spent {seen.n_values_read}: ")


def test_history_survives_saving_and_extending(tmp_path):
    seen = acquire(low_rank(), budget=0.4, rng=0)
    seen.save(tmp_path / "seen.npz")
    assert curplus.load(tmp_path / "seen.npz").history == seen.history
    more = acquire(low_rank(), budget=0.5, start=seen, rng=0)
    assert more.history[: len(seen.history)] == seen.history


def test_going_on_with_a_larger_budget_keeps_what_was_bought():
    M = low_rank()
    first = acquire(M, budget=0.2, rng=0)
    source = CountingFunction(M)
    more = acquire(source, budget=0.5, start=first, rng=0)
    assert more.n_values_read <= 0.5 * M.size
    assert not source.asked[first.row_index].any()


def test_propose_asks_for_no_more_than_the_budget():
    seen = Observation(shape=(60, 40))
    M = low_rank()
    while (plan := propose(seen, budget=600, rng=3)) is not None:
        seen = seen.extend(curplus.read(M, plan, known=seen))
    assert seen.n_values_read <= 600
    np.testing.assert_array_equal(seen.i, acquire(M, budget=600, rng=3).i)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({}, "n_columns, n_rows, n_entries and a budget are missing"),
        ({"n_rows": 3, "n_entries": 4}, "n_columns and a budget are missing"),
        ({"budget": 0}, "budget=0 is not an amount"),
        ({"budget": "much"}, "budget='much' is not an amount"),
        ({"budget": 0.1, "costs": {"row": 1}}, "are no prices"),
        ({"budget": 0.1, "costs": Costs(row=-1.0)}, "not a positive number"),
        ({"budget": 0.1, "costs": Costs(column=[1.0, 2.0])}, r"Give one number, or an array of shape \(40,\)"),
        ({"n_columns": 1, "n_rows": 1, "n_entries": 1, "costs": Costs()}, "Give budget= too"),
        ({"tol": 2.0}, "tol=2.0 is not a relative error"),
        ({"tol": 0.1, "n_rows": 3}, "tol= decides itself"),
        ({"budget": 0.1, "required": [3]}, "is no dict of places"),
        ({"budget": 0.1, "required": {"rows": [99]}}, "99"),
        ({"budget": 0.1, "required": {"rows": [3]}, "forbidden": {"rows": [3]}}, "row 3 is required"),
        ({"budget": 0.1, "forbidden": {"cells": [1, 2, 3]}}, "not two arrays"),
        ({"n_columns": 40, "n_rows": 1, "n_entries": 1, "forbidden": {"columns": [0]}}, "only 39 columns are"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_said(how, message):
    with pytest.raises(InvalidArgumentError, match=message):
        acquire(low_rank(), **how)


@given(st.floats(0.01, 1.0), seeds)
def test_observe_takes_a_budget_too(share, seed):
    M = low_rank()
    seen = curplus.observe(M, budget=share, rng=seed)
    assert seen.n_values_read <= share * M.size if share < 1 else seen.n_values_read == 1
    assert seen.n_values_read >= 0.5 * share * M.size - 2 if share < 1 else True


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({}, "n_columns, n_rows, n_entries missing"),
        ({"budget": 0.1, "n_rows": 3}, "decides all three"),
        ({"budget": -1}, "budget=-1 is not an amount"),
    ],
)
def test_observe_says_what_is_wrong_with_a_budget(how, message):
    with pytest.raises(InvalidArgumentError, match=message):
        curplus.observe(low_rank(), **how)


# What must and must not be read


@given(st.data(), st.sampled_from(["auto", "pivoted", "residual_norm", "leverage", "uniform"]), seeds)
def test_required_places_are_read_and_forbidden_ones_are_not(data, strategy, seed):
    M = low_rank()
    index = st.lists(st.integers(0, 39), max_size=5, unique=True)
    required = {"rows": data.draw(index), "columns": data.draw(index)}
    forbidden = {
        "rows": [i for i in data.draw(index) if i not in required["rows"]],
        "columns": [j for j in data.draw(index) if j not in required["columns"]],
        "cells": ([50, 51], [39, 38]),
    }
    required["columns"] = [j for j in required["columns"] if j not in (38, 39)]
    seen = acquire(
        M, n_columns=12, n_rows=12, n_entries=200, strategy=strategy, required=required, forbidden=forbidden, rng=seed
    )
    assert (seen.n_columns, seen.n_rows, seen.n_entries) == (12, 12, 200)
    assert set(required["rows"]) <= set(seen.row_index)
    assert set(required["columns"]) <= set(seen.column_index)
    assert not set(forbidden["rows"]) & set(seen.row_index)
    assert not set(forbidden["columns"]) & set(seen.column_index)
    mask = np.zeros(M.shape, dtype=bool)
    mask[seen.row_index] = mask[:, seen.column_index] = mask[seen.i, seen.j] = True
    assert not mask[50, 39]
    assert not mask[51, 38]


def test_required_cells_are_read_and_are_no_evidence():
    seen = acquire(low_rank(), n_columns=3, n_rows=3, n_entries=50, required={"cells": ([4, 5], [6, 7])}, rng=0)
    assert seen.n_entries == 50
    assert (seen.i[0], seen.j[0], seen.i[1], seen.j[1]) == (4, 6, 5, 7)
    assert not seen.evidence[:2].any()


# An older matrix


def test_an_older_matrix_chooses_the_first_rows_and_columns():
    rng = np.random.default_rng(0)
    old = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 40))
    old[7] *= 50
    M = old + 0.05 * rng.standard_normal(old.shape)
    first = {"rows": curplus.select_columns(old.T, 2), "columns": curplus.select_columns(old, 2)}
    assert 7 in first["rows"]
    guided = [_error(M, acquire(M, n_columns=4, n_rows=4, n_entries=0, required=first, rng=s)) for s in range(6)]
    blind = [_error(M, acquire(M, n_columns=4, n_rows=4, n_entries=0, strategy="uniform", rng=s)) for s in range(6)]
    assert np.mean(guided) < np.mean(blind)


def _error(M, seen):
    return np.linalg.norm(M - approximate(seen, 4).to_array()) / np.linalg.norm(M)


# Replaying a known matrix


def test_a_backtest_judges_by_values_that_were_not_read():
    M = low_rank(rank=3)
    trials = []
    result = curplus.backtest(M, budgets=[0.1, 0.5], seeds=2, on_trial=trials.append)
    assert len(trials) == len(result.trials) == 2 * 3 * 2 * 2
    by = {(row["strategy"], row["method"], row["budget"]): row["error"] for row in result.table()}
    assert by["auto", "approximate", 0.5] < 0.05
    assert by["auto", "approximate", 0.5] < by["auto", "approximate", 0.1]
    assert by["auto", "additive", 0.5] > 0.5
    trial = result.trials[0]
    seen = acquire(M, budget=trial.budget, strategy=trial.strategy, rng=trial.seed)
    unread = np.ones(M.shape, dtype=bool)
    unread[seen.row_index] = unread[:, seen.column_index] = unread[seen.i, seen.j] = False
    answer = approximate(seen).to_array()
    assert trial.error == pytest.approx(np.sqrt(np.mean((M - answer)[unread] ** 2) / np.mean(M**2)))
    assert "auto" in str(result)


def test_a_backtest_gives_the_same_in_two_processes():
    M = low_rank(rank=3)
    how = {"budgets": [0.3], "strategies": ["auto"], "seeds": 3}
    one, two = (curplus.backtest(M, **how, jobs=jobs) for jobs in (1, 2))
    assert [t[:6] for t in one.trials] == [t[:6] for t in two.trials]


def test_a_backtest_leaves_gaps_out():
    M = low_rank(rank=3)
    M[np.random.default_rng(0).random(M.shape) < 0.1] = np.nan
    result = curplus.backtest(M, budgets=[0.4], strategies=["auto", "entries"], methods=["approximate"], seeds=1)
    assert all(trial.error < 0.5 for trial in result.trials)


@pytest.mark.parametrize(
    ("matrix", "how", "message"),
    [
        (np.full((3, 4), np.nan), {}, "whose values are known"),
        (np.ones(3), {}, r"shape \(3,\)"),
        (np.ones((3, 4)), {"methods": ["magic"]}, "magic"),
        (np.ones((3, 4)), {"seeds": 0}, "seeds=0 is too small"),
    ],
)
def test_a_backtest_that_cannot_work_says_why(matrix, how, message):
    with pytest.raises(InvalidArgumentError, match=message):
        curplus.backtest(matrix, **how)


@settings(max_examples=effort(20, 200))
@given(seeds, st.integers(1000, 6000), st.integers(100, 2500))
def test_what_entries_have_used_up_is_not_spent_again_on_rows_and_columns(seed, n_entries, more):
    M = low_rank(200, 200)
    start = curplus.observe(M, n_columns=0, n_rows=0, n_entries=n_entries, rng=seed)
    seen = acquire(M, budget=n_entries + more, start=start, rng=seed)
    assert seen.n_values_read <= n_entries + more


def test_the_share_for_rows_and_columns_is_that_of_the_horizon():
    nothing, totals = Observation(shape=(60, 40)), []
    for horizon in (None, 150, 1200):
        plan = Purchase.of(nothing, OPEN, budget=300, horizon=horizon, strategy="uniform").next_plan(nothing, 0)
        totals.append((len(plan.column_index), len(plan.row_index)))
    split = split_of(1200.0, Costs().of((60, 40)))
    share = (split.rows + split.columns) / 1200
    assert totals[0] == totals[1] == (0, 0)
    assert totals[2] == (round(share * 150 / 60), round(share * 150 / 40))


def test_a_part_of_the_horizon_never_buys_more_than_itself():
    M, seen = low_rank(), Observation(shape=(60, 40), gaps=True)
    for budget in (200, 400, 800, 1200):
        purchase = Purchase.of(seen, OPEN, budget=budget, horizon=1200)
        while (plan := purchase.next_plan(seen, 0)) is not None:
            seen = seen.extend(curplus.read(M, plan, known=seen, gaps=True))
        assert seen.n_values_read <= budget
    assert seen.n_values_read > 1150


def test_what_is_required_keeps_to_the_budget(rng):
    A = rng.standard_normal((40, 30))
    with pytest.raises(InvalidArgumentError, match="cost 90, and 10 of the budget are left"):
        acquire(A, budget=10, required={"rows": [4, 5, 6]}, rng=0)
    assert acquire(A, budget=200, required={"rows": [4, 5, 6]}, rng=0).n_values_read == 200


def test_a_budget_beyond_everything_reads_everything(rng):
    A = rng.standard_normal((20, 15))
    assert acquire(A, budget=1e9, rng=0).n_values_read == A.size
    closed = np.divmod(rng.permutation(300)[:297], 15)
    assert acquire(A, budget=0.5, forbidden={"cells": closed}, rng=0).n_values_read == 3
