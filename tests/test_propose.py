"""Proposing is pure: the seed and what is known decide what is read next, and an acquisition can go on at any round."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import Observation, acquire, propose, read
from curplus.acquisition import ENTRY_STRATEGIES, STRATEGIES, EntryDraws, Pivoted
from curplus.exceptions import InvalidArgumentError, SourceError
from tests.conftest import RecordingSource, effort
from tests.strategies import counts, low_rank_matrices, seeds
from tests.test_observation import assert_same

WAYS = [{"strategy": name} for name in STRATEGIES] + [{"entry_strategy": name} for name in ENTRY_STRATEGIES]
every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way.values()))
TOTALS = {"n_columns": 12, "n_rows": 15, "n_entries": 60}


class Fails(Exception):
    """What a source of somebody else raises."""


class Failing:
    """A matrix whose reading fails at one of its calls."""

    def __init__(self, matrix, call):
        self.matrix, self.left = matrix, call
        self.shape, self.dtype = matrix.shape, matrix.dtype

    def _answer(self, values):
        self.left -= 1
        if self.left == 0:
            raise Fails("the instrument is off")
        return values

    def rows(self, index):
        return self._answer(self.matrix[index])

    def columns(self, index):
        return self._answer(self.matrix[:, index])

    def entries(self, i, j):
        return self._answer(self.matrix[i, j])


@every_way
@given(st.data(), low_rank_matrices(), seeds)
def test_acquire_is_the_loop_over_propose(way, data, M, seed):
    totals = data.draw(counts(M.shape))
    seen = Observation(shape=M.shape)
    while (plan := propose(seen, **totals, **way, rng=seed)) is not None:
        seen = seen.extend(read(M, plan, known=seen))
    acquired = acquire(M, **totals, **way, rng=seed)
    for name in ("column_index", "row_index", "i", "j", "columns", "rows", "values", "probabilities"):
        np.testing.assert_array_equal(getattr(seen, name), getattr(acquired, name))


@every_way
def test_the_same_seed_and_knowledge_give_the_same_plan(full_rank, way):
    M = full_rank((50, 40))
    seen = curplus.observe(M, n_columns=5, n_rows=6, n_entries=0, rng=0)
    first, second, other = (propose(seen, **TOTALS, **way, rng=seed) for seed in (7, 7, 8))
    for name in ("column_index", "row_index", "i", "j"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert first.reasons
    assert len(first.column_index) + len(first.row_index) + len(first.i) > 0
    assert len(other.column_index) == len(first.column_index)


@every_way
@pytest.mark.parametrize("call", effort([1, 2, 4, -2, -1], range(1, 40)))
def test_going_on_after_a_failure_gives_the_bits_of_an_undisturbed_run(full_rank, way, call):
    M = full_rank((50, 40))
    undisturbed = acquire(M, **TOTALS, **way, rng=5)
    rounds = []
    acquire(M, **TOTALS, **way, rng=5, on_round=rounds.append)
    last = len(rounds) + 1  # the pilots take two calls, the others one each
    call = max(last + 1 + call, 1) if call < 0 else 1 + (call - 1) % last
    with pytest.raises(SourceError, match="rng=5") as failure:
        acquire(Failing(M, call), **TOTALS, **way, rng=5)
    assert isinstance(failure.value.__cause__, Fails)
    known = failure.value.observation
    assert known.n_values_read < undisturbed.n_values_read
    assert_same(acquire(M, **TOTALS, **way, start=known, rng=5), undisturbed)


def test_an_error_in_the_values_carries_what_was_read_too(full_rank):
    M = full_rank((50, 40))
    undisturbed = acquire(M, **TOTALS, rng=0)
    M[:, undisturbed.column_index[-1]] = np.nan
    with pytest.raises(InvalidArgumentError, match="must be finite") as failure:
        acquire(M, **TOTALS, rng=0)
    assert failure.value.observation.n_columns < 12


def test_every_round_is_reported(full_rank):
    sizes = []
    seen = acquire(full_rank((50, 40)), **TOTALS, strategy=Pivoted(rounds=3), rng=0,
                   on_round=lambda seen: sizes.append(seen.counts))  # fmt: skip
    assert len(sizes) == 1 + 2 * 3 + 1  # pilots, rounds of both kinds, entries
    assert sizes == sorted(sizes)
    assert sizes[-1] == seen.counts


def test_nothing_is_proposed_once_the_totals_are_reached(full_rank):
    seen = acquire(full_rank((50, 40)), **TOTALS, rng=0)
    assert propose(seen, **TOTALS, rng=0) is None
    assert propose(Observation(shape=(5, 4)), n_columns=0, n_rows=0, n_entries=0) is None


def test_proposing_reads_nothing_and_changes_nothing(full_rank):
    seen = curplus.observe(full_rank((50, 40)), n_columns=5, n_rows=6, n_entries=0, rng=0)
    before = [np.array(getattr(seen, name)) for name in ("columns", "rows", "column_index")]
    propose(seen, **TOTALS, rng=0)
    for name, old in zip(("columns", "rows", "column_index"), before, strict=True):
        np.testing.assert_array_equal(getattr(seen, name), old)


def test_a_strategy_for_entries_may_be_anyones(full_rank):
    class Corner:
        def draw(self, observation, count, rng):
            return EntryDraws(np.arange(count), np.arange(count), np.full(count, 0.5))

    M = full_rank((50, 40))
    seen = acquire(M, n_columns=3, n_rows=3, n_entries=10, entry_strategy=Corner(), rng=0)
    np.testing.assert_array_equal(seen.values, np.diag(M)[:10])
    assert seen.design.entries == "adaptive"


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda count: EntryDraws(np.arange(0), np.arange(0)), "was asked for EntryDraws of 10 positions"),
        (lambda count: EntryDraws(np.arange(count + 3), np.arange(count + 3)), "was asked for EntryDraws of 10"),
        (lambda count: (np.arange(count), np.arange(count)), "was asked for EntryDraws of 10"),
        (lambda count: EntryDraws(np.full(count, 99), np.arange(count)), "is out of range"),
    ],
)
def test_no_strategy_for_entries_can_break_the_totals(full_rank, draw, message):
    class Broken:
        def draw(self, observation, count, rng):
            return draw(count)

    with pytest.raises(InvalidArgumentError, match=message):
        acquire(full_rank((50, 40)), n_columns=3, n_rows=3, n_entries=10, entry_strategy=Broken(), rng=0)


def test_entries_of_somebody_elses_choice_do_not_call_themselves_uniform(full_rank):
    class Diagonal:
        def draw(self, observation, count, rng):
            return EntryDraws(np.arange(count), np.arange(count))

    seen = acquire(full_rank((50, 40)), n_columns=3, n_rows=3, n_entries=10, entry_strategy=Diagonal(), rng=0)
    assert seen.design.entries == "adaptive"


@pytest.mark.parametrize("seed", ["x", -1, 2.5])
def test_what_cannot_be_a_seed_is_refused_in_words(seed):
    for call in (
        lambda: acquire(np.ones((5, 4)), n_columns=1, n_rows=1, n_entries=1, rng=seed),
        lambda: curplus.observe(np.ones((5, 4)), n_columns=1, n_rows=1, n_entries=1, rng=seed),
        lambda: propose(Observation(shape=(5, 4)), n_columns=1, n_rows=1, n_entries=1, rng=seed),
    ):
        with pytest.raises(InvalidArgumentError, match="cannot seed a generator"):
            call()


def test_a_strategy_for_entries_is_no_strategy_for_rows():
    with pytest.raises(InvalidArgumentError, match="Use entry_strategy='product_leverage'"):
        acquire(np.ones((5, 4)), n_columns=1, n_rows=1, n_entries=1, strategy="product_leverage")


class Passes(RecordingSource):
    """A matrix of which each round is a pass through a file."""

    a_round_is_a_pass = True


@every_way
def test_few_rounds_are_three_and_reach_the_totals(rng, way):
    rounds = []
    seen = acquire(Passes(rng.standard_normal((60, 50))), **TOTALS, **way, on_round=rounds.append, rng=0)
    assert len(rounds) <= 3
    assert seen.counts == tuple(TOTALS.values())


@pytest.mark.parametrize("budget", [0.2, 0.5])
def test_few_rounds_stay_within_a_budget(rng, budget):
    M, rounds = rng.standard_normal((60, 50)), []
    seen = acquire(Passes(M), budget=budget, on_round=rounds.append, rng=0)
    assert 0.9 * budget * M.size < seen.n_values_read <= budget * M.size
    assert len(rounds) < 8
