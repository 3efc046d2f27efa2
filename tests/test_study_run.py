"""A study that calls a function: each value is kept at once, failures are repeated, and a broken function stops it."""

import math
import threading
import time

import numpy as np
import pytest

from curplus import Study
from curplus.exceptions import InvalidArgumentError, SourceError

pytest.importorskip("pandas")

SHAPE = (30, 20)


@pytest.fixture
def study(tmp_path):
    with Study.create(tmp_path / "a.study", rows=SHAPE[0], columns=SHAPE[1]) as study:
        yield study


def test_a_run_spends_its_budget_and_asks_for_no_cell_twice(study, low_rank):
    truth, calls = low_rank(SHAPE, rank=2), []

    def measure(row, column):
        calls.append((row, column))
        return truth[row, column]

    rounds = []
    status = study.run(measure, budget=0.5, on_round=rounds.append)
    assert (status.spent, status.n_pending, status.n_values) == (300, 0, 300)
    assert len(set(calls)) == len(calls) == 300
    assert len(rounds) == len(status.rounds) == 4
    assert np.allclose(study.predict()["value"].to_numpy().reshape(SHAPE), truth)
    assert study.run(measure, budget=0.5).spent == 300
    assert len(calls) == 300


def test_no_more_calls_are_out_than_workers(study):
    out, most, lock = 0, 0, threading.Lock()

    def measure(row, column):
        nonlocal out, most
        with lock:
            out += 1
            most = max(most, out)
        time.sleep(0.001)
        with lock:
            out -= 1
        return float(row + column)

    study.run(measure, budget=100, n_workers=3)
    assert 1 < most <= 3


def test_a_call_that_raises_is_repeated_and_then_counts_as_failed(study):
    calls = {}

    def measure(row, column):
        calls[row, column] = calls.get((row, column), 0) + 1
        if (row + column) % 7 == 0 or (calls[row, column] == 1 and column % 2):
            raise TimeoutError("the robot is busy")
        return 1.0 + row

    status = study.run(measure, budget=200, n_workers=1, n_retries=2, wait=0.0)
    records = study.records()
    failed = records[records["value"].isna()]
    assert status.n_values + status.n_failed == 200
    assert set(failed["note"]) == {"TimeoutError: the robot is busy"}
    assert {calls[pair] for pair in failed[["row", "column"]].itertuples(index=False)} == {3}
    assert ((failed["row"] + failed["column"]) % 7 == 0).all()


@pytest.mark.parametrize("nothing", [None, math.nan, math.inf])
def test_none_and_nan_are_failed_measurements(study, nothing):
    status = study.run(lambda row, column: nothing if row % 2 else 1.0 + row * column, budget=100)
    assert status.n_failed > 0
    assert status.n_values + status.n_failed == 100


def test_a_broken_function_stops_the_run_and_costs_nothing(study):
    def broken(row, column):
        raise KeyError("typo")

    with pytest.raises(SourceError, match="failed for 10 cells in a row, the last time with KeyError: 'typo'"):
        study.run(broken, budget=100, n_retries=0)
    status = study.status()
    assert (status.n_failed, status.spent) == (0, 0)
    assert study.run(lambda row, column: 1.0, budget=status.n_pending).n_values == status.n_pending


def test_a_run_ends_when_the_error_is_small_enough(tmp_path, full_rank):
    truth = full_rank((150, 100), rank=2, noise=0.1)
    study = Study.create(tmp_path / "b.study", rows=150, columns=100)
    status = study.run(lambda row, column: truth[row, column], tol=0.2, n_workers=32)
    assert status.rounds[-1].high <= 0.2
    assert status.n_values < truth.size
    error = np.linalg.norm(study.predict()["value"].to_numpy().reshape(truth.shape) - truth)
    assert error < 0.2 * np.linalg.norm(truth)


def test_a_run_keeps_to_the_budget_of_the_study(tmp_path):
    study = Study.create(tmp_path / "c.study", rows=30, columns=20, budget=50)
    with pytest.raises(InvalidArgumentError, match="would spend 60 in all, and the study has a budget of 50"):
        study.run(lambda row, column: 1.0, budget=60)
    assert study.run(lambda row, column: 1.0 + row).spent == 50


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "neither budget nor tol"),
        ({"tol": 2.0}, "tol=2.0 is no relative error"),
        ({"budget": 10, "n_workers": 0}, "n_workers=0"),
    ],
)
def test_a_run_needs_to_know_when_to_end(study, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        study.run(lambda row, column: 1.0, **options)
    with pytest.raises(InvalidArgumentError, match="cannot be called"):
        study.run(3, budget=10)


@pytest.mark.parametrize("value", [None, float("inf")])
def test_a_function_that_never_returns_a_number_is_stopped(tmp_path, value):
    with Study.create(tmp_path / "a.study", rows=20, columns=15, budget=200) as study:
        with pytest.raises(SourceError, match="no finite number"):
            study.run(lambda row, column: value)
        assert study.status().n_failed == 0
