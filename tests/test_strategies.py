"""Ways to choose: distinct candidates, never one taken, and each by its own rule."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curplus.acquisition import ENTRY_STRATEGIES, STRATEGIES, Adaptive, Candidates, EntryStrategy, ProductLeverage
from curplus.acquisition.strategies import (
    Leverage,
    Pivoted,
    ResidualNorm,
    Strategy,
)
from curplus.exceptions import InvalidArgumentError
from curplus.observation.plan import distinct_others
from tests.strategies import indices, low_rank_matrices, seeds

every_strategy = pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=lambda s: type(s).__name__)


@every_strategy
@given(st.data(), low_rank_matrices(), st.booleans(), seeds)
def test_chooses_distinct_candidates_that_are_not_taken(strategy, data, sample, wanted_more, seed):
    size = sample.shape[1]
    taken = data.draw(indices(size, unique=True))
    count = data.draw(st.integers(0, size - len(taken)))
    candidates = Candidates(sample.astype(np.float64), taken, wanted_more)
    chosen = strategy.choose(candidates, count, np.random.default_rng(seed))
    assert chosen.shape == (count,)
    assert len(set(chosen.tolist())) == count
    assert set(chosen.tolist()) <= set(candidates.available.tolist())


@every_strategy
def test_strategies_are_values(strategy):
    assert isinstance(strategy, Strategy)
    assert strategy == type(strategy)()
    assert hash(strategy) == hash(type(strategy)())
    with pytest.raises(dataclasses.FrozenInstanceError):
        strategy.rank = 3


@pytest.mark.parametrize("strategy", ENTRY_STRATEGIES.values(), ids=lambda s: type(s).__name__)
def test_strategies_for_entries_are_values(strategy):
    assert isinstance(strategy, EntryStrategy)
    assert strategy == type(strategy)()


def test_auto_is_the_adaptive_strategy():
    assert STRATEGIES["auto"] == Adaptive()


@pytest.mark.parametrize("strategy", [Adaptive(), Pivoted(), ResidualNorm()], ids=repr)
def test_what_is_known_already_is_not_chosen_while_there_is_news(rng, strategy):
    """The candidates are copies of four columns, and two of the four are taken."""
    sample = np.repeat(rng.standard_normal((6, 4)), 5, axis=1)
    chosen = strategy.choose(Candidates(sample, np.array([0, 5]), False), 2, rng)
    groups = {int(j) // 5 for j in chosen}
    assert groups <= {2, 3}
    assert groups == {2, 3} or strategy == ResidualNorm()


def test_pivoted_starts_a_new_sweep_when_all_is_spanned(rng):
    sample = np.repeat(rng.standard_normal((6, 3)), 2, axis=1)
    chosen = Pivoted().choose(Candidates(sample, np.empty(0, dtype=np.int64), False), 6, rng)
    assert [len({int(j) // 2 for j in part}) for part in (chosen[:3], chosen[3:])] == [3, 3]


def test_residual_norms_are_the_chances(rng):
    sample = np.array([[3.0, 3.0, 3.0, 3.0], [0.0, 1.0, 2.0, 0.0]])
    candidates = Candidates(sample, np.array([0]), False)
    first = np.bincount([ResidualNorm().choose(candidates, 1, rng)[0] for _ in range(2000)], minlength=4) / 2000
    np.testing.assert_allclose(first, [0.0, 0.2, 0.8, 0.0], atol=0.05)


def test_leverage_counts_only_the_leading_directions(rng):
    sample = np.diag([10.0, 5.0, 0.1, 0.1])
    chosen = {int(Leverage(rank=2).choose(Candidates(sample, np.array([0]), False), 1, rng)[0]) for _ in range(30)}
    assert chosen == {1}


def test_heavy_ones_are_added_where_more_are_wanted(rng):
    """Known in one row only, three of them heavy: one is new, the others are heavy."""
    sample = np.ones((1, 500))
    sample[0, [40, 41, 42]] = 20.0
    chosen = Adaptive().choose(Candidates(sample, np.empty(0, dtype=np.int64), True), 3, rng)
    assert set(chosen.tolist()) == {40, 41, 42}


@given(st.data(), st.integers(1, 60), seeds)
def test_others_are_distinct_sorted_and_not_taken(data, size, seed):
    taken = data.draw(indices(size, unique=True))
    count = data.draw(st.integers(0, size - len(taken)))
    others = distinct_others(np.random.default_rng(seed), size, count, taken)
    assert others.shape == (count,)
    assert np.all(np.diff(others) > 0)
    assert not np.intersect1d(others, taken).size
    assert np.all((others >= 0) & (others < size))


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_is_between_nothing_and_all(share):
    with pytest.raises(InvalidArgumentError, match="is not a share"):
        ProductLeverage(uniform_share=share)


@pytest.mark.parametrize("kind", [Leverage, ProductLeverage])
@pytest.mark.parametrize("rank", [0, -1, 2.5])
def test_a_rank_is_a_positive_whole_number(kind, rank):
    with pytest.raises(InvalidArgumentError, match="rank="):
        kind(rank=rank)
