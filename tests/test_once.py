"""No position is asked for twice, and nothing that is known is asked for at all."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import Observation, acquire, observe, read
from curplus.exceptions import InconsistentObservationError, SourceError
from tests.strategies import counts, low_rank_matrices, observed, plans, seeds
from tests.test_acquisition import assert_true_to, places
from tests.test_observation import assert_same


class Counted:
    """A function of the position that counts how often each was asked for, and may be noisy, or fail at a call."""

    def __init__(self, M, noise=0.0, fails_at=0):
        self.M, self.noise, self.fails_at = M, noise, fails_at
        self.n_asked = np.zeros(M.shape, dtype=int)
        self.n_calls = 0
        self.rng = np.random.default_rng(0)

    def __call__(self, i, j):
        self.n_calls += 1
        if self.n_calls == self.fails_at:
            raise ConnectionError("the server does not answer")
        np.add.at(self.n_asked, (i, j), 1)
        return self.M[i, j] + self.noise * self.rng.standard_normal(len(i))

    def source(self, **options):
        return curplus.CallableSource(self, self.M.shape, **{"block_size": 7, "dtype": self.M.dtype} | options)


@given(low_rank_matrices(), st.data(), seeds)
def test_observing_a_function_asks_for_each_position_once(M, data, seed):
    how_many, function = data.draw(counts(M.shape)), Counted(M)
    seen = observe(function.source(), **how_many, rng=seed)
    assert_same(seen, observe(M, **how_many, rng=seed))
    np.testing.assert_array_equal(function.n_asked, places(seen))


@pytest.mark.parametrize("entry_strategy", ["uniform", "product_leverage"])
@given(low_rank_matrices(), st.data(), seeds)
def test_acquiring_asks_for_each_position_once_and_for_nothing_known(entry_strategy, M, data, seed):
    first, total = data.draw(counts(M.shape)), data.draw(counts(M.shape))
    less, more = ({name: f(first[name], total[name]) for name in first} for f in (min, max))
    function = Counted(M)
    how = {"entry_strategy": entry_strategy, "rng": seed}
    start = acquire(function.source(), **less, **how)
    np.testing.assert_array_equal(function.n_asked, places(start))
    seen = acquire(function.source(), **more, **how, start=start)
    assert_true_to(M, seen)
    np.testing.assert_array_equal(function.n_asked, places(seen))


@given(low_rank_matrices(), st.data(), seeds)
def test_entries_of_a_start_are_not_asked_for_again_on_new_rows_and_columns(M, data, seed):
    plan = data.draw(plans(M.shape))
    i, j = np.divmod(np.unique(plan.i * M.shape[1] + plan.j), M.shape[1])
    start, function = observed(M, plan._replace(i=i, j=j)), Counted(M)
    totals = {name: max(getattr(start, name), k) for name, k in data.draw(counts(M.shape)).items()}
    seen = acquire(function.source(), **totals, start=start, rng=seed)
    np.testing.assert_array_equal(function.n_asked, places(seen) & ~places(start))


@given(low_rank_matrices(), st.data(), seeds)
def test_a_symmetric_function_is_asked_for_each_position_once(M, data, seed):
    M = (M @ M.T).astype(M.dtype)
    M = np.tril(M) + np.tril(M, -1).T
    d, size = data.draw(st.integers(0, len(M))), data.draw(st.integers(0, M.size))
    function = Counted(M)
    seen = acquire(function.source(), n_columns=d, n_rows=d, n_entries=size, symmetric=True, rng=seed)
    assert_true_to(M, seen)
    assert function.n_asked.max() <= 1
    assert not (function.n_asked & ~places(seen)).any()


@given(low_rank_matrices(), st.data())
def test_a_plan_is_read_with_what_is_known(M, data):
    known, plan = observed(M, data.draw(plans(M.shape))), data.draw(plans(M.shape))
    function = Counted(M)
    new = read(function.source(), plan, known=known)
    assert_same(new, observed(M, plan))
    np.testing.assert_array_equal(function.n_asked, places(new) & ~places(known))


def test_a_position_that_a_plan_repeats_is_asked_for_again(full_rank):
    function = Counted(full_rank(), noise=0.1)
    plan = curplus.SamplePlan((30, 20), [3], [4], np.array([1, 1, 4, 4, 1]), np.array([2, 2, 5, 5, 3]))
    seen = read(function.source(noise=0.1), plan)
    assert function.n_asked[1, 2] == 2
    assert function.n_asked[4, 5] == function.n_asked[1, 3] == 1
    assert seen.values[0] != seen.values[1]
    assert seen.noise_estimate == pytest.approx(abs(seen.values[0] - seen.values[1]) / math.sqrt(2))  # of this pair


@pytest.mark.parametrize("noise", [0.1, "unknown"])
@pytest.mark.parametrize("entry_strategy", ["uniform", "product_leverage"])
def test_a_noisy_live_function_can_be_read(full_rank, noise, entry_strategy):
    M = full_rank((40, 30))
    function = Counted(M, noise=0.1)
    counts = {"n_columns": 8, "n_rows": 9, "n_entries": 300}
    source = function.source(noise=noise)
    seen = observe(source, **counts, rng=0)
    np.testing.assert_array_equal(function.n_asked, places(seen))
    assert seen.noise == noise
    assert np.isnan(seen.noise_estimate)  # no place was read twice
    function.n_asked[:] = 0
    seen = acquire(source, **counts, entry_strategy=entry_strategy, rng=0)
    np.testing.assert_array_equal(function.n_asked, places(seen))
    assert np.isnan(seen.noise_estimate)
    assert np.abs(seen.rows - M[seen.row_index]).max() < 0.6
    assert acquire(function.source(), **counts, rng=0).noise is None  # nothing was read twice, so nothing disagrees


def test_a_noisy_symmetric_function_can_be_read(full_rank):
    M = full_rank((30, 30))
    function = Counted(M + M.T, noise=0.1)
    counts = {"n_columns": 8, "n_rows": 8, "n_entries": 50, "symmetric": True, "rng": 0}
    with pytest.raises(InconsistentObservationError, match=r"states M = M\.T"):
        acquire(function.source(), **counts)
    seen = acquire(function.source(noise=0.1), **counts)
    np.testing.assert_array_equal(seen.rows, seen.columns.T)
    assert seen.noise_estimate == pytest.approx(0.1, rel=0.3)


def test_noisy_entries_of_a_start_are_averaged_with_nothing_and_asked_for_once(rng):
    M = rng.standard_normal((20, 15))
    i, j = np.divmod(rng.choice(300, 80, replace=False), 15)
    start = Observation(shape=M.shape, i=i, j=j, values=M[i, j] + 0.1 * rng.standard_normal(80), noise=0.1)
    function = Counted(M, noise=0.1)
    seen = acquire(function.source(noise=0.1), n_columns=5, n_rows=5, n_entries=80, start=start, rng=0)
    np.testing.assert_array_equal(seen.values, start.values)
    assert not function.n_asked[i, j].any()
    assert function.n_asked.max() == 1


@pytest.mark.parametrize("call", [1, 4, 9, 30])
def test_what_a_function_returned_before_it_failed_is_not_asked_for_again(full_rank, call):
    M = full_rank((40, 30))
    totals = {"n_columns": 6, "n_rows": 7, "n_entries": 60, "rng": 0}
    function = Counted(M, fails_at=call)
    source = function.source()
    with pytest.raises(SourceError, match="the server does not answer") as failure:
        acquire(source, **totals)
    seen = acquire(source, **totals, start=failure.value.observation)
    assert_same(seen, acquire(M, **totals))
    np.testing.assert_array_equal(function.n_asked, places(seen))
