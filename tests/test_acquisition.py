"""Reading in rounds: exactly the budget, nothing twice, nothing else; and the right places."""

import dataclasses
import re

import array_api_strict
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import Observation, observe
from curplus._arrays import to_numpy
from curplus.acquisition import ENTRY_STRATEGIES, STRATEGIES, Adaptive, Pivoted, ProductLeverage, Uniform
from curplus.exceptions import InconsistentObservationError, InvalidArgumentError
from curplus.observation import SamplingDesign
from tests.conftest import RecordingSource
from tests.strategies import counts, low_rank_matrices, seeds
from tests.test_observation import assert_same

EVERY = [*STRATEGIES, "product_leverage"]
every_strategy = pytest.mark.parametrize("strategy", EVERY)
adaptive_strategies = pytest.mark.parametrize("strategy", [name for name in EVERY if name != "uniform"])


def acquire(source, *, strategy="auto", **options):
    """``curplus.acquire``, which also takes a strategy for entries, or a pair of both, as its strategy."""
    if isinstance(strategy, str) and strategy in ENTRY_STRATEGIES and strategy not in STRATEGIES:
        strategy = ("auto", strategy)
    if isinstance(strategy, tuple):
        strategy, options["entry_strategy"] = strategy
    return curplus.acquire(source, strategy=strategy, **options)


class CountingSource(RecordingSource):
    """Counts how often each row, column and entry was asked for, besides what was seen."""

    def __init__(self, matrix):
        super().__init__(matrix)
        self.n_row, self.n_column = np.zeros(self.shape[0], dtype=int), np.zeros(self.shape[1], dtype=int)
        self.n_entry = np.zeros(self.shape, dtype=int)

    def rows(self, index):
        np.add.at(self.n_row, index, 1)
        return super().rows(index)

    def columns(self, index):
        np.add.at(self.n_column, index, 1)
        return super().columns(index)

    def entries(self, i, j):
        np.add.at(self.n_entry, (i, j), 1)
        return super().entries(i, j)


def places(seen):
    """Mask of all positions that an observation knows."""
    mask = np.zeros(seen.shape, dtype=bool)
    mask[seen.row_index] = mask[:, seen.column_index] = mask[seen.i, seen.j] = True
    return mask


def assert_true_to(M, seen):
    """Everything in the observation is what the matrix has there."""
    np.testing.assert_array_equal(seen.columns, M[:, seen.column_index])
    np.testing.assert_array_equal(seen.rows, M[seen.row_index])
    np.testing.assert_array_equal(seen.values, M[seen.i, seen.j])


# The budget


@every_strategy
@given(st.data(), low_rank_matrices(), seeds)
def test_reads_exactly_the_budget_and_nothing_twice(strategy, data, M, seed):
    how_many = data.draw(counts(M.shape))
    source = CountingSource(M)
    seen = acquire(source, **how_many, strategy=strategy, rng=seed)
    assert {name: getattr(seen, name) for name in how_many} == how_many
    assert_true_to(M, seen)
    np.testing.assert_array_equal(source.seen, places(seen))
    assert source.n_row.max() <= 1
    assert source.n_column.max() <= 1
    assert source.n_entry.max() <= 1
    source.n_entry[seen.i[seen.steering], seen.j[seen.steering]] = 0  # read before the rows and columns were chosen
    assert not source.n_entry[seen.row_index].any()
    assert not source.n_entry[:, seen.column_index].any()


@every_strategy
@given(st.data(), low_rank_matrices(), seeds)
def test_goes_on_from_what_is_there(strategy, data, M, seed):
    first, total = data.draw(counts(M.shape)), data.draw(counts(M.shape))
    less, more = ({name: f(first[name], total[name]) for name in first} for f in (min, max))
    start = acquire(M, **less, strategy=strategy, rng=seed)
    source = CountingSource(M)
    seen = acquire(source, **more, strategy=strategy, start=start, rng=seed)
    assert {name: getattr(seen, name) for name in more} == more
    assert_true_to(M, seen)
    for name in ("column_index", "row_index", "i", "j", "values"):
        np.testing.assert_array_equal(getattr(seen, name)[: len(getattr(start, name))], getattr(start, name))
    assert not source.n_row[start.row_index].any()
    assert not source.n_column[start.column_index].any()
    np.testing.assert_array_equal(source.seen | places(start), places(seen))


@every_strategy
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (6, 5)], ids=str)
@pytest.mark.parametrize("everything", [False, True])
def test_tiny_matrices_of_zeros_can_be_read_in_part_and_whole(strategy, shape, everything):
    n, m = shape
    how_many = (m, n, n * m) if everything else (m // 2, n // 2, n * m // 2)
    seen = acquire(np.zeros(shape), **dict(zip(("n_columns", "n_rows", "n_entries"), how_many, strict=True)),
                   strategy=strategy, rng=0)  # fmt: skip
    assert (seen.n_columns, seen.n_rows, seen.n_entries) == how_many


@given(st.data(), low_rank_matrices(), seeds)
def test_uniform_equals_observe(data, M, seed):
    how_many = data.draw(counts(M.shape))
    for strategy in ("uniform", Uniform()):
        assert_same(acquire(M, **how_many, strategy=strategy, rng=seed), observe(M, **how_many, rng=seed))


@every_strategy
def test_same_seed_same_bits(full_rank, strategy):
    M = full_rank((40, 30))
    for same, different in ((3, 4), (np.random.default_rng, None)):
        seeds = (same, same, different) if different else (same(3), same(3), same(4))
        first, second, other = (
            acquire(M, n_columns=9, n_rows=11, n_entries=50, strategy=strategy, rng=seed) for seed in seeds
        )
        assert_same(first, second)
        assert not np.array_equal(first.row_index, other.row_index)


def test_a_position_is_never_drawn_twice_by_a_uniform_continuation(full_rank):
    M = full_rank((12, 10))
    seen = observe(M, n_columns=0, n_rows=0, n_entries=20, rng=0)
    for total in (50, 90, 120):
        seen = acquire(M, n_columns=0, n_rows=0, n_entries=total, start=seen, rng=1)
    assert len(np.unique(seen.i * 10 + seen.j)) == 120


def test_a_uniform_continuation_is_uniform(rng):
    hits = np.zeros(15)
    for _ in range(500):
        start = observe(np.zeros((15, 3)), n_columns=0, n_rows=3, n_entries=0, rng=rng)
        seen = acquire(np.zeros((15, 3)), n_columns=0, n_rows=6, n_entries=0, strategy="uniform", start=start, rng=rng)
        hits[seen.row_index] += 1
    assert np.all(np.abs(hits - 200) < 4 * np.sqrt(200))


def test_values_on_known_rows_and_columns_are_not_asked_for_again(full_rank):
    source = CountingSource(full_rank((20, 15)))
    seen = acquire(source, n_columns=5, n_rows=6, n_entries=300, strategy="pivoted", rng=0)
    assert source.n_entry.sum() == 14 * 10
    assert seen.n_entries == 300


def test_rounds_say_how_often_the_source_is_read(full_rank):
    source = RecordingSource(full_rank((60, 50)))
    acquire(source, n_columns=20, n_rows=20, n_entries=0, strategy=Pivoted(rounds=3), rng=0)
    assert source.n_calls == 2 + 2 * 3  # pilots and rounds of both kinds


# What is recorded about the draw


@pytest.mark.parametrize(
    ("strategy", "how_many", "drawn"),
    [
        ("uniform", (5, 6, 7), ("uniform", "uniform", "uniform")),
        ("auto", (5, 6, 7), ("adaptive", "adaptive", "uniform")),
        ("pivoted", (5, 1, 7), ("adaptive", "uniform", "uniform")),
        ("leverage", (1, 6, 7), ("uniform", "adaptive", "uniform")),
        ("auto", (0, 6, 7), ("uniform", "uniform", "uniform")),
        ("auto", (5, 0, 7), ("uniform", "uniform", "uniform")),
        ("product_leverage", (5, 6, 7), ("adaptive", "adaptive", "adaptive")),
        (("uniform", ProductLeverage()), (5, 6, 7), ("uniform", "uniform", "adaptive")),
        (("uniform", ProductLeverage()), (5, 6, 0), ("uniform", "uniform", "uniform")),
        ("auto", (0, 0, 0), ("uniform", "uniform", "uniform")),
    ],
    ids=str,
)
def test_says_which_parts_are_uniform(full_rank, strategy, how_many, drawn):
    d1, d2, size = how_many
    seen = acquire(full_rank(), n_columns=d1, n_rows=d2, n_entries=size, strategy=strategy, rng=0)
    assert seen.design == SamplingDesign(*drawn)


def test_a_part_stays_what_it_was_if_nothing_is_added(full_rank):
    M = full_rank()
    start = Observation(shape=M.shape, row_index=[4, 2], rows=M[[4, 2]], i=[1], j=[1], values=[M[1, 1]])
    kept = acquire(M, n_columns=3, n_rows=2, n_entries=1, strategy="uniform", start=start, rng=0)
    assert kept.design == SamplingDesign("uniform", "given", "given")
    more = acquire(M, n_columns=3, n_rows=3, n_entries=2, strategy="uniform", start=start, rng=0)
    assert more.design == SamplingDesign("uniform", "given", "given")


def test_probabilities_of_product_leverage_are_exact(full_rank):
    M = full_rank((30, 20))
    seen = acquire(M, n_columns=4, n_rows=5, n_entries=50, strategy="product_leverage", rng=0)
    U, V = np.linalg.qr(seen.columns)[0], np.linalg.qr(seen.rows.T)[0]
    expected = np.outer(np.sum(U**2, axis=1) / 4, np.sum(V**2, axis=1) / 5)
    assert expected.sum() == pytest.approx(1)
    np.testing.assert_allclose(seen.probabilities, expected[seen.i, seen.j], rtol=1e-10)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_weighing_by_probabilities_removes_the_bias(full_rank, rng, share):
    M = full_rank((15, 12), rank=2, noise=0.2)
    strategy = ("uniform", ProductLeverage(uniform_share=share))
    start = observe(M, n_columns=3, n_rows=3, n_entries=0, rng=0)
    seen = acquire(M, n_columns=3, n_rows=3, n_entries=180, strategy=strategy, start=start, rng=rng)
    for _ in range(60):
        more = acquire(M, n_columns=3, n_rows=3, n_entries=180, strategy=strategy, start=start, rng=rng)
        seen = Observation(
            shape=M.shape,
            **{k: np.concatenate([getattr(seen, k), getattr(more, k)]) for k in ("i", "j", "values", "probabilities")},
        )
    terms = seen.values**2 / seen.probabilities
    assert abs(terms.mean() - np.sum(M**2)) < 5 * terms.std() / np.sqrt(len(terms))


def test_old_and_new_chances_stand_side_by_side(full_rank):
    M = full_rank((10, 8))
    uniform = observe(M, n_columns=3, n_rows=3, n_entries=6, rng=0)
    both = acquire(M, n_columns=3, n_rows=3, n_entries=15, strategy="product_leverage", start=uniform, rng=0)
    np.testing.assert_allclose(both.probabilities[:6], 1 / 80)
    assert both.design.entries == "adaptive"
    again = acquire(M, n_columns=3, n_rows=3, n_entries=20, strategy="uniform", start=both, rng=0)
    np.testing.assert_array_equal(again.probabilities[:15], both.probabilities)
    np.testing.assert_allclose(again.probabilities[15:], 1 / 80)
    assert again.design.entries == "adaptive"


# The right places


@adaptive_strategies
def test_finds_the_heavy_rows_and_columns_that_uniform_misses(rng, strategy):
    M = 0.01 * rng.standard_normal((400, 300))
    rows, columns = [7, 120, 333], [20, 250]
    M[rows] += rng.standard_normal((3, 300))
    M[:, columns] += 2 * rng.standard_normal((400, 2))
    blind = observe(M, n_columns=20, n_rows=30, n_entries=0, rng=0)
    seen = acquire(M, n_columns=20, n_rows=30, n_entries=0, strategy=strategy, rng=0)
    assert not set(columns) & set(blind.column_index.tolist())
    assert set(rows) <= set(seen.row_index.tolist())
    assert set(columns) <= set(seen.column_index.tolist())


def test_auto_finds_the_groups_that_pivoting_misses(rng):
    """Ten groups of thirty columns that are nearly alike, and forty loners that stick out further."""
    groups, loners = rng.standard_normal((300, 10)), rng.standard_normal((300, 40))
    M = np.hstack([np.repeat(groups, 30, axis=1), 3 * loners]) + 0.1 * rng.standard_normal((300, 340))

    def groups_found(strategy):
        seen = acquire(M, n_columns=25, n_rows=60, n_entries=0, strategy=strategy, rng=0)
        return len({int(j) // 30 for j in seen.column_index if j < 300})

    assert groups_found("auto") == 10
    assert groups_found("pivoted") < 10


@every_strategy
@pytest.mark.parametrize("rank", [1, 3, 8])
def test_recovers_a_matrix_of_rank_r_from_r_rows_and_columns(low_rank, strategy, rank):
    M = low_rank((50, 40), rank=rank)
    seen = acquire(M, n_columns=rank, n_rows=rank, n_entries=0, strategy=strategy, rng=0)
    W = seen.rows[:, seen.column_index]
    np.testing.assert_allclose(seen.columns @ np.linalg.solve(W, seen.rows), M, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(curplus.cur_full(M, seen).to_array(), M, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("strategy", ["auto", "pivoted"])
def test_recovers_a_coherent_matrix_of_low_rank(rng, strategy):
    """Almost all of the signal sits in 12 of 300 rows and 10 of 200 columns."""
    left, right = 1e-3 * rng.standard_normal((300, 4)), 1e-3 * rng.standard_normal((200, 4))
    left[rng.choice(300, 12, replace=False)] = rng.standard_normal((12, 4))
    right[rng.choice(200, 10, replace=False)] = rng.standard_normal((10, 4))
    M = left @ right.T
    for seed in range(5):
        seen = acquire(M, n_columns=6, n_rows=6, n_entries=0, strategy=strategy, rng=seed)
        W = seen.rows[:, seen.column_index]
        np.testing.assert_allclose(seen.columns @ np.linalg.pinv(W, rcond=1e-10) @ seen.rows, M, atol=1e-8)


@pytest.mark.parametrize("shape", [(400, 150), (150, 400)], ids=str)
def test_choosing_well_beats_choosing_blindly_lying_or_standing(rng, shape):
    n, m = shape
    M = np.exp(1.5 * rng.standard_normal((n, 1))) * rng.standard_normal((n, 6)) @ rng.standard_normal((6, m))
    M = (M + 0.3 * rng.standard_normal(shape)) * np.exp(1.5 * rng.standard_normal(m))
    how_many = {"n_columns": 15 if n > m else 40, "n_rows": 40 if n > m else 15, "n_entries": 0}

    def error(strategy):
        answers = (curplus.cur_full(M, acquire(M, **how_many, strategy=strategy, rng=s)) for s in range(4))
        return np.mean([np.linalg.norm(M - answer.to_array()) for answer in answers])

    assert error("auto") < 0.5 * error("uniform")


def test_auto_keeps_what_was_promised_on_dexter(data_dir):
    M = scipy.sparse.load_npz(data_dir / "dexter.npz").astype(float).tocsr()
    target = curplus.metrics.ReferenceMatrix(M)
    seen = acquire(M, n_columns=50, n_rows=250, n_entries=20_000, rng=0)
    answer = curplus.approximate(seen, 10)
    assert curplus.metrics.relative_spectral_error(target, answer, 10, tol=1e-3) < 1.9


# Symmetric matrices


@every_strategy
@given(st.data(), low_rank_matrices(), seeds)
def test_a_symmetric_matrix_is_read_by_columns_only(strategy, data, M, seed):
    M = (M @ M.T).astype(M.dtype)
    M = np.tril(M) + np.tril(M, -1).T
    d, size = data.draw(st.integers(0, len(M))), data.draw(st.integers(0, M.size))
    source = CountingSource(M)
    seen = acquire(source, n_columns=d, n_rows=d, n_entries=size, strategy=strategy, symmetric=True, rng=seed)
    np.testing.assert_array_equal(seen.row_index, seen.column_index)
    assert_true_to(M, seen)
    assert source.n_row.sum() == 0
    assert source.n_column.sum() == d
    assert source.n_column.max() <= 1
    more = acquire(source, n_columns=len(M), n_rows=len(M), n_entries=size, start=seen, symmetric=True, rng=seed)
    assert_true_to(M, more)
    assert source.n_column.max() == 1


def test_rows_that_are_the_columns_are_no_independent_sample(full_rank):
    M = full_rank((20, 20))
    seen = acquire(M + M.T, n_columns=4, n_rows=4, n_entries=9, strategy="uniform", symmetric=True, rng=0)
    assert seen.design == SamplingDesign("adaptive", "adaptive", "uniform")


def test_a_broken_promise_of_symmetry_is_reported(full_rank):
    with pytest.raises(InconsistentObservationError, match=re.escape("symmetric=True states M = M.T")):
        acquire(full_rank((20, 20)), n_columns=4, n_rows=4, n_entries=0, symmetric=True, rng=0)


# Any kind of matrix


@every_strategy
@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, pd.DataFrame, np.asfortranarray, np.ndarray.tolist], ids=str)
def test_every_kind_of_matrix_is_read_alike(coherent, kind, strategy):
    M = coherent((30, 25), density=0.3)
    expected = acquire(M, n_columns=6, n_rows=8, n_entries=40, strategy=strategy, rng=1)
    seen = acquire(kind(M), n_columns=6, n_rows=8, n_entries=40, strategy=strategy, rng=1)
    np.testing.assert_array_equal(seen.row_index, expected.row_index)
    np.testing.assert_array_equal(seen.column_index, expected.column_index)
    np.testing.assert_allclose(seen.values, expected.values)


@every_strategy
def test_what_was_read_stays_in_its_library_and_type(full_rank, xp, strategy):
    M = full_rank(dtype=np.float32)
    expected = acquire(M, n_columns=5, n_rows=6, n_entries=30, strategy=strategy, rng=1)
    start = acquire(xp.asarray(M), n_columns=2, n_rows=3, n_entries=4, strategy=strategy, rng=0)
    for options in ({}, {"start": start}):
        seen = acquire(xp.asarray(M), n_columns=5, n_rows=6, n_entries=30, strategy=strategy, rng=1, **options)
        assert {type(part) for part in (seen.columns, seen.rows, seen.values)} == {type(xp.asarray(M))}
        assert seen.dtype == xp.float32
        assert_true_to(M, dataclasses.replace(seen, columns=to_numpy(seen.columns), rows=to_numpy(seen.rows),
                                              values=to_numpy(seen.values)))  # fmt: skip
    assert expected.dtype == np.float32


def test_names_travel(rng):
    frame = pd.DataFrame(rng.standard_normal((4, 3)), index=list("abcd"), columns=list("xyz"))
    seen = acquire(frame, n_columns=2, n_rows=2, n_entries=2, rng=0)
    np.testing.assert_array_equal(seen.row_names, list("abcd"))
    bare = observe(frame.to_numpy(), n_columns=1, n_rows=1, n_entries=0, rng=0)
    np.testing.assert_array_equal(
        acquire(frame, n_columns=2, n_rows=2, n_entries=2, start=bare, rng=0).column_names, list("xyz")
    )


@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("strategy", ["auto", "pivoted", "residual_norm", "leverage"])
def test_the_scale_of_the_matrix_does_not_matter(full_rank, strategy, scale):
    M = full_rank((30, 25), rank=25, noise=1.0)
    how_many = {"n_columns": 8, "n_rows": 12, "n_entries": 0}
    first, second = (acquire(x, **how_many, strategy=strategy, rng=0) for x in (M, scale * M))
    np.testing.assert_array_equal(first.row_index, second.row_index)
    np.testing.assert_array_equal(first.column_index, second.column_index)


# Someone else's strategy


class FirstOnes:
    """Reads from the left and from the top."""

    rounds = 2

    def choose(self, candidates, count, rng):
        return candidates.available[:count]


class Greedy(FirstOnes):
    """Wants more than its share."""

    def choose(self, candidates, count, rng):
        return candidates.available[: count + 1]


class Forgetful(FirstOnes):
    """Wants what it has."""

    def choose(self, candidates, count, rng):
        return np.resize(candidates.taken, count)


def test_any_object_that_chooses_is_a_strategy(full_rank):
    seen = acquire(full_rank((30, 20)), n_columns=5, n_rows=5, n_entries=3, strategy=FirstOnes(), rng=0)
    assert {0, 1, 2, 3} <= set(seen.column_index.tolist())
    acquire(full_rank(), n_columns=5, n_rows=5, n_entries=3, strategy=(FirstOnes(), ProductLeverage()), rng=0)


@pytest.mark.parametrize("strategy", [Greedy(), Forgetful()])
def test_no_strategy_can_break_the_budget(full_rank, strategy):
    source = RecordingSource(full_rank((30, 20)))
    with pytest.raises(InvalidArgumentError, match="was asked for 2 distinct candidates that are not taken"):
        acquire(source, n_columns=5, n_rows=5, n_entries=3, strategy=strategy, rng=0)


# Errors

START = Observation(shape=(30, 20), column_index=[1, 2], columns=np.ones((30, 2)), i=[0], j=[0], values=[1.0])
WEIGHED = Observation(shape=(30, 20), i=[0], j=[0], values=[1.0], weights=[2.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_columns": 21}, "n_columns=21 but the matrix has only 20 columns"),
        ({"n_rows": -1}, "n_rows=-1 is too small"),
        ({"n_entries": 601}, "n_entries=601 but the matrix has only 600 entries"),
        ({"strategy": "best"}, "strategy='best' is unknown. Use one of auto, uniform, "),
        ({"strategy": 3}, "strategy=3 has no method choose"),
        ({"entry_strategy": "auto"}, "entry_strategy='auto' is unknown. Use one of uniform, product_leverage"),
        ({"entry_strategy": Pivoted()}, "has no method draw"),
        ({"strategy": Adaptive(rounds=-1)}, "rounds=-1 is too small"),
        ({"strategy": Adaptive(rounds=1.5)}, "rounds=1.5 is not a whole number"),
        ({"symmetric": True}, "symmetric=True but the matrix is 30 x 20, not square"),
        ({"start": START, "n_columns": 1}, "start has 2 columns but n_columns=1 is the total, start included"),
        ({"start": START, "n_entries": 0}, "start has 1 entries but n_entries=0 is the total"),
        ({"start": START.T}, r"start is of a matrix of shape \(20, 30\) but the source has shape \(30, 20\)"),
        ({"start": WEIGHED}, "start has a weight for each of its 1 entries, and those of the 6 to be read"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_read(options, message):
    source = RecordingSource(np.ones((30, 20)))
    with pytest.raises(InvalidArgumentError, match=message):
        acquire(source, **{"n_columns": 5, "n_rows": 6, "n_entries": 7, "rng": 0} | options)
    assert not source.seen.any()


def test_symmetric_means_as_many_rows_as_columns():
    M = np.ones((5, 5))
    with pytest.raises(InvalidArgumentError, match="n_columns=2 and n_rows=3, but with symmetric=True"):
        acquire(M, n_columns=2, n_rows=3, n_entries=0, symmetric=True)
    start = observe(M, n_columns=1, n_rows=2, n_entries=0, rng=0)
    with pytest.raises(InvalidArgumentError, match="symmetric=True needs the same rows and columns"):
        acquire(M, n_columns=3, n_rows=3, n_entries=0, symmetric=True, start=start)


def test_weights_may_stay_if_no_entry_is_added():
    seen = acquire(np.ones((30, 20)), n_columns=2, n_rows=2, n_entries=1, start=WEIGHED, rng=0)
    np.testing.assert_array_equal(seen.weights, [2.0])


def test_a_matrix_with_too_many_entries_to_number_is_refused():
    with pytest.raises(InvalidArgumentError, match=r"more than 2\*\*63 - 1 cells"):
        curplus.CallableSource(lambda i, j: 0.0 * i, shape=(2**32, 2**32))


def test_a_value_that_is_not_finite_stops_the_reading(full_rank):
    M = full_rank()
    M[:, 3] = np.nan
    with pytest.raises(InvalidArgumentError, match="must be finite"):
        acquire(M, n_columns=10, n_rows=10, n_entries=0, rng=0)


def test_a_start_from_another_library_is_refused(full_rank):
    start = observe(full_rank(), n_columns=2, n_rows=2, n_entries=0, rng=0)
    with pytest.raises(InvalidArgumentError, match="arrays of different libraries"):
        acquire(array_api_strict.asarray(full_rank()), n_columns=5, n_rows=5, n_entries=0, start=start, rng=0)
