"""Columns that stand for the others: distinct, as many as asked for, and good ones."""

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from curplus.acquisition import RULES, score, select_columns
from curplus.acquisition.score import ResidualColumns, squared_norms, weighted_draw
from curplus.exceptions import InvalidArgumentError
from tests.strategies import FIELDS, gaussian, low_rank_matrices, seeds

every_method = pytest.mark.parametrize("method", RULES)
GREEDY = ["qdeim", "pivoted", "explaining"]


@pytest.fixture(params=FIELDS)
def field(request):
    """Every sentence on matrices of a given rank holds for real and for complex ones."""
    return request.param


def left_out_error(M, index):
    """Share of the energy of M outside the span of the chosen columns."""
    Q = scipy.linalg.orth(M[:, index])
    return np.linalg.norm(M - Q @ (Q.conj().T @ M)) ** 2 / np.linalg.norm(M) ** 2


# Distinct, whatever the matrix


@every_method
@given(st.data(), low_rank_matrices(), seeds)
def test_as_many_distinct_columns_as_asked_for_even_beyond_the_rank(method, data, M, seed):
    k = data.draw(st.integers(0, M.shape[1]))
    rank = data.draw(st.none() | st.integers(1, min(M.shape)))
    chosen = select_columns(M, k, method=method, rng=seed, rank=rank)
    assert chosen.dtype == np.int64
    assert chosen.shape == (k,)
    assert len(set(chosen.tolist())) == k
    assert np.all((chosen >= 0) & (chosen < M.shape[1]))


@every_method
@pytest.mark.parametrize("shape", [(1, 7), (7, 1), (6, 9), (9, 6)], ids=str)
def test_a_matrix_of_zeros_is_no_failure(method, shape):
    for M in (np.zeros(shape), scipy.sparse.csr_array(shape)):
        chosen = select_columns(M, shape[1], method=method, rng=0)
        np.testing.assert_array_equal(np.sort(chosen), np.arange(shape[1]))


@pytest.mark.parametrize("method", GREEDY)
def test_copies_of_one_column_are_taken_only_when_nothing_else_is_left(method, rng):
    M = np.repeat(rng.standard_normal((20, 3)), 5, axis=1)
    chosen = select_columns(M, 15, method=method, rng=0)
    assert {int(j) // 5 for j in chosen[:3]} == {0, 1, 2}
    np.testing.assert_array_equal(np.sort(chosen), np.arange(15))


@pytest.mark.parametrize("method", [method for method in RULES if method != "uniform"])
def test_columns_of_zeros_come_last(method, rng):
    M = np.zeros((10, 8))
    M[:, [1, 4, 6]] = rng.standard_normal((10, 3))
    assert set(select_columns(M, 3, method=method, rng=0).tolist()) == {1, 4, 6}


# Good ones


@pytest.mark.parametrize("method", GREEDY)
def test_as_many_columns_as_the_rank_span_the_matrix(low_rank, method):
    M = low_rank((40, 30), rank=5)
    assert left_out_error(M, select_columns(M, 5, method=method, rng=0)) < 1e-20


@pytest.mark.parametrize("method", [*GREEDY, "leverage"])
def test_finds_the_few_columns_that_matter(rng, method):
    M = 1e-3 * rng.standard_normal((60, 200))
    M[:, [17, 90, 155]] = rng.standard_normal((60, 3))
    assert {17, 90, 155} <= set(select_columns(M, 6, method=method, rng=0, rank=3).tolist())


def test_pivoted_agrees_with_lapack(full_rank):
    M = full_rank((25, 40), rank=25, noise=1.0)
    expected = scipy.linalg.qr(M, mode="r", pivoting=True)[1][:20]
    np.testing.assert_array_equal(select_columns(M, 20, method="pivoted"), expected)
    np.testing.assert_array_equal(select_columns(scipy.sparse.coo_array(M), 20, method="pivoted"), expected)


def test_qdeim_is_pivoted_qr_of_the_singular_vectors(full_rank):
    M = full_rank((30, 25), noise=1.0)
    Vt = np.linalg.svd(M)[2][:6]
    np.testing.assert_array_equal(
        select_columns(M, 6, method="qdeim"), scipy.linalg.qr(Vt, mode="r", pivoting=True)[1][:6]
    )


@every_method
def test_phases_of_rows_and_columns_change_no_choice(rng, method):
    M = gaussian(rng, (40, 6), "complex") @ gaussian(rng, (6, 30), "complex")
    turned = np.exp(1j * rng.random((40, 1))) * M * np.exp(1j * rng.random(30))
    for kind in (np.asarray, scipy.sparse.csr_array):
        np.testing.assert_array_equal(*(select_columns(kind(x), 6, method=method, rng=0) for x in (M, turned)))


def test_imaginary_parts_count_as_much_as_real_ones(rng):
    M = rng.standard_normal((20, 8)) + 100j * (np.arange(8) == 5) * rng.standard_normal((20, 1))
    assert select_columns(M, 1, method="pivoted")[0] == 5


def test_explaining_prefers_one_of_many_alike_to_a_lone_long_one(rng):
    group, lone = rng.standard_normal(50), rng.standard_normal(50)
    M = np.column_stack([lone * 3 / np.linalg.norm(lone), *[group / np.linalg.norm(group)] * 40])
    M += 1e-3 * rng.standard_normal(M.shape)
    assert select_columns(M, 1, method="pivoted")[0] == 0
    assert select_columns(M, 1, method="explaining", rank=2)[0] != 0


def test_explaining_is_the_best_single_step(full_rank):
    M = full_rank((12, 15), noise=1.0)
    chosen = [int(j) for j in select_columns(M, 4, method="explaining", rank=12)]
    for t in range(4):
        gains = {j: left_out_error(M, [*chosen[:t], j]) for j in range(15) if j not in chosen[:t]}
        assert min(gains, key=gains.get) == chosen[t]


def test_leverage_draws_in_proportion_to_the_scores(rng):
    M = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 12))
    V = np.linalg.svd(M)[2][:3].T
    hits = np.bincount([select_columns(M, 1, method="leverage", rng=rng, rank=3)[0] for _ in range(3000)], minlength=12)
    expected = 3000 * np.sum(V**2, axis=1) / 3
    assert np.all(np.abs(hits - expected) < 5 * np.sqrt(expected))


# Any kind of matrix


@every_method
def test_sparse_and_dense_matrices_give_the_same_columns(coherent, method, monkeypatch):
    M = coherent((60, 40), density=0.2)
    dense = select_columns(M, 8, method=method, rng=3)
    np.testing.assert_array_equal(select_columns(scipy.sparse.csr_matrix(M), 8, method=method, rng=3), dense)
    monkeypatch.setattr(score, "SMALL", 0)  # singular vectors by Lanczos
    np.testing.assert_array_equal(select_columns(scipy.sparse.coo_array(M), 8, method=method, rng=3), dense)


@every_method
def test_same_seed_same_columns(full_rank, method):
    M = full_rank()
    first, second = (select_columns(M, 7, method=method, rng=5) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("method", GREEDY)
def test_scale_does_not_matter(full_rank, method, scale):
    M = full_rank()
    np.testing.assert_array_equal(
        select_columns(M * scale, 9, method=method, rank=15), select_columns(M, 9, method=method, rank=15)
    )


def test_tables_lists_integers_and_other_libraries_are_taken(rng, xp):
    M = rng.integers(0, 9, size=(6, 5))
    expected = select_columns(M.astype(float), 3, method="pivoted")
    for same in (M, M.tolist(), pd.DataFrame(M), scipy.sparse.csr_array(M.astype(np.uint8)), xp.asarray(M)):
        np.testing.assert_array_equal(select_columns(same, 3, method="pivoted"), expected)


@every_method
def test_the_matrix_is_left_unchanged(rng, method):
    M = rng.standard_normal((8, 6))
    S = scipy.sparse.csc_array(M)
    for x, values in ((M, M), (S, S.data)):
        before = values.copy()
        select_columns(x, 4, method=method, rng=0)
        np.testing.assert_array_equal(values, before)


# Errors


@pytest.mark.parametrize(
    ("k", "options", "message"),
    [
        (21, {}, "k=21 but the matrix has only 20 columns"),
        (-1, {}, "k=-1 is too small"),
        (2.0, {}, "k=2.0 is not a whole number"),
        (3, {"rank": 0}, "rank=0 is too small"),
        (3, {"rank": 21}, "rank=21 but the matrix has only 20 singular vectors"),
        (3, {"method": "best"}, "method='best' is unknown. Use one of leverage, "),
    ],
)
def test_what_cannot_work_is_refused(full_rank, k, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        select_columns(full_rank((30, 20)), k, **options)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_values_that_are_not_finite_are_refused(kind):
    with pytest.raises(InvalidArgumentError, match="must be finite"):
        select_columns(kind(np.array([[1.0, np.nan], [0.0, 2.0]])), 1)


# What the methods are made of


def test_a_remainder_is_what_projection_leaves(full_rank):
    A = full_rank((10, 25), rank=10, noise=1.0)
    taken = np.array([3, 8])
    residual = ResidualColumns(A, taken)
    more = residual.pick(3, residual.explained) + residual.pick(2, residual.norms)
    Q = scipy.linalg.orth(A[:, [*taken, *more]])
    E = A - Q @ (Q.conj().T @ A)
    rest = residual.selectable
    np.testing.assert_allclose(residual.norms()[rest], squared_norms(E)[rest], rtol=1e-9)
    np.testing.assert_allclose(
        residual.explained()[rest], (squared_norms(E.conj().T @ E) / squared_norms(E))[rest], rtol=1e-9
    )
    assert len({*taken.tolist(), *more}) == 7


def test_picking_ends_when_nothing_is_left(low_rank):
    residual = ResidualColumns(low_rank((10, 25), rank=4), excluded=np.array([0]))
    picked = residual.pick(25, residual.norms)
    assert len(picked) == 4
    assert 0 not in picked
    assert not residual.selectable.any()


def test_heavy_draws_follow_the_weights_and_take_zeros_last(rng):
    weights = np.array([0.0, 1.0, 2.0, 0.0, 5.0])
    first = np.bincount([weighted_draw(weights, 1, rng)[0] for _ in range(4000)], minlength=5) / 4000
    np.testing.assert_allclose(first, weights / 8, atol=0.04)
    assert set(weighted_draw(weights, 3, rng).tolist()) == {1, 2, 4}
    assert len(weighted_draw(weights, 5, rng)) == 5


# For the mean of a new row


def test_columns_for_the_mean_are_as_many_as_asked_for(rng):
    M = rng.standard_normal((30, 40)) + rng.standard_normal((30, 1))
    for k in (0, 1, 12, 40):
        assert len(set(select_columns(M, k, goal="mean", rng=0).tolist())) == k
    sparse = select_columns(scipy.sparse.csr_array(M), 12, goal="mean", rng=0)
    np.testing.assert_array_equal(sparse, select_columns(M, 12, goal="mean", rng=0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"goal": "mean", "method": "qdeim"}, "method='qdeim' were given"),
        ({"goal": "mean", "rank": 3}, "rank=3 were given"),
        ({"goal": "sum"}, "goal='sum' is unknown"),
    ],
)
def test_a_goal_is_known_and_stands_alone(rng, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        select_columns(rng.standard_normal((9, 8)), 3, **options)
