"""The recommended answer made of sampled columns and rows."""

import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus.exceptions import InvalidArgumentError, SpanError
from curplus.methods.form import check_form
from tests.strategies import observed, plans, seeds


def relative_difference(x, y):
    return np.linalg.norm(x - y) / np.linalg.norm(y)


def with_condition(shape, condition, rng, rank=20):
    """A matrix whose singular values fall evenly from 1 to 1 / condition."""
    U, V = (np.linalg.qr(rng.standard_normal((side, rank))).Q for side in shape)
    return (U * np.logspace(0, -np.log10(condition), rank)) @ V.T


def dense_projection(free, seen):
    """The free answer between the orthogonal projectors on the samples."""
    C, R = seen.columns, seen.rows
    return C @ np.linalg.pinv(C, rcond=1e-8) @ free.to_array() @ np.linalg.pinv(R, rcond=1e-8) @ R


def test_is_the_free_answer_projected_on_both_spans(full_rank):
    seen = curplus.observe(full_rank((60, 50), noise=0.5), n_columns=12, n_rows=15, n_entries=300, rng=0)
    free, made = curplus.approximate(seen, 4), curplus.approximate(seen, 4, form="cur")
    expected = dense_projection(free, seen)
    assert relative_difference(made.to_array(), expected) < 1e-12
    left_out = 1 - np.sum(expected**2) / np.sum(free.to_array() ** 2)
    assert made.report.outside_span == pytest.approx(left_out)
    assert made.rank == 4


def test_is_made_of_the_sampled_columns_and_rows(full_rank):
    M = full_rank((60, 50))
    seen = curplus.observe(M, n_columns=12, n_rows=15, n_entries=300, rng=0)
    approx = curplus.approximate(seen, 4, form="cur")
    C, U, R, column_index, row_index = approx.cur()
    assert np.array_equal(C, M[:, column_index])
    assert np.array_equal(R, M[row_index])
    assert np.array_equal(column_index, seen.column_index)
    assert np.array_equal(approx.sampled_row_names, seen.row_index)
    assert relative_difference(C @ U @ R, approx.to_array()) < 1e-12


@pytest.mark.parametrize("condition", [1e3, 1e6, 1e12])
def test_the_stored_form_keeps_its_digits_on_ill_conditioned_samples(rng, condition):
    M = with_condition((200, 150), condition, rng)
    for seed in range(3):
        seen = curplus.observe(M, n_columns=40, n_rows=40, n_entries=500, rng=seed)
        approx = curplus.approximate(seen, 20, form="cur")
        C, U, R, *_ = approx.cur()
        assert relative_difference(C @ U @ R, approx.to_array()) < (1e-10 if condition <= 1e6 else 1e-7)
        assert relative_difference(approx.to_array(), M) < 1e-5


def test_repeated_columns_and_rows_do_no_harm(low_rank):
    M = low_rank((80, 60), 3)
    M = np.vstack([M, M[:20]])
    M = np.hstack([M, M[:, :20] * (1 + 1e-13)])
    seen = curplus.observe(M, n_columns=40, n_rows=50, n_entries=0, rng=0)
    approx = curplus.approximate(seen, form="cur")
    C, U, R, *_ = approx.cur()
    assert approx.rank == 3
    assert relative_difference(C @ U @ R, M) < 1e-10
    assert np.linalg.norm(U) < 1e3 / np.linalg.norm(M)


def test_a_matrix_of_zeros_is_zero():
    approx = curplus.approximate(
        curplus.observe(np.zeros((9, 8)), n_columns=3, n_rows=3, n_entries=5, rng=0), form="cur"
    )
    assert not approx.to_array().any()
    assert not approx.cur().U.any()


@given(st.data(), seeds, st.sampled_from([np.float32, np.float64]), st.integers(-30, 30))
def test_c_u_r_equals_the_approximation_for_any_sample(data, seed, dtype, power):
    M = (10.0 ** (power / 3) * np.random.default_rng(seed).standard_normal((9, 8))).astype(dtype)
    plan = data.draw(plans(M.shape).filter(lambda plan: len(plan.column_index) and len(plan.row_index)))
    approx = curplus.approximate(observed(M, plan), 4, form="cur")
    C, U, R, *_ = approx.cur()
    assert approx.dtype == U.dtype == dtype
    size = np.linalg.norm(approx.to_array())
    assert np.linalg.norm(C @ U @ R - approx.to_array()) <= (1e-7 if dtype == np.float64 else 0.02) * size


def test_is_nearly_as_good_as_with_the_whole_matrix_in_sight():
    rng = np.random.default_rng(0)
    U, V = np.linalg.qr(rng.standard_normal((500, 400))).Q, np.linalg.qr(rng.standard_normal((400, 400))).Q
    M = (U / np.arange(1, 401)) @ V.T
    for read in (curplus.observe, curplus.acquire):
        seen = read(M, n_columns=50, n_rows=250, n_entries=1000, rng=0)
        ours, best = curplus.approximate(seen, 10, form="cur"), curplus.cur_full(M, seen).truncate(10)
        assert np.linalg.norm(ours.to_array() - M) < 1.05 * np.linalg.norm(best.to_array() - M)


def test_turning_cutting_saving_and_certifying_work(full_rank, tmp_path):
    M = full_rank((120, 90))
    seen = curplus.observe(M, n_columns=15, n_rows=20, n_entries=6000, rng=0)
    approx = curplus.approximate(seen, 5, form="cur")
    C, U, R, *_ = approx.T.cur()
    assert np.allclose(C @ U @ R, approx.to_array().T)
    assert np.array_equal(approx.T.column_index, seen.row_index)
    P, s, Qt = np.linalg.svd(approx.to_array())
    C, U, R, *_ = approx.truncate(2).cur()
    assert np.allclose(C @ U @ R, (P[:, :2] * s[:2]) @ Qt[:2])
    approx.save(tmp_path / "approx.npz")
    again = curplus.load(tmp_path / "approx.npz")
    assert again.provenance.method == approx.provenance.method
    assert np.array_equal(again.cur().U, approx.cur().U)
    low, high = curplus.certify(again, seen).interval
    assert low < np.linalg.norm(M - approx.to_array()) < high


def test_is_certified_by_rows_that_are_left_out_of_the_same_form(full_rank):
    M = full_rank((400, 90))
    seen = curplus.observe(M, n_columns=20, n_rows=150, n_entries=0, rng=0)
    approx = curplus.approximate(seen, 3, form="cur")
    certificate = curplus.certify(approx, seen)
    assert certificate.evidence == "left-out rows"
    assert certificate.error == pytest.approx(np.linalg.norm(M - approx.to_array()), rel=0.1)


def test_the_transposed_observation_gives_the_transposed_answer(full_rank):
    """Up to which rows and columns are left out together, which decides the weights of the models."""
    seen = curplus.observe(full_rank((60, 50), noise=0.5), n_columns=12, n_rows=15, n_entries=0, rng=0)
    approx, turned = (curplus.approximate(x, 4, form="cur").to_array() for x in (seen, seen.T))
    assert relative_difference(turned.T, approx) < 0.05


@pytest.mark.parametrize("counts", [(0, 5), (5, 0), (0, 0)])
def test_needs_rows_and_columns(full_rank, counts):
    seen = curplus.observe(full_rank(), n_columns=counts[0], n_rows=counts[1], n_entries=200, rng=0)
    with pytest.raises(InvalidArgumentError, match=f"{counts[0]} columns and {counts[1]} rows"):
        curplus.approximate(seen, 2, form="cur")


def test_a_form_that_is_not_known_is_refused(full_rank):
    seen = curplus.observe(full_rank(), n_columns=5, n_rows=5, n_entries=0, rng=0)
    with pytest.raises(InvalidArgumentError, match=r"form='best' is unknown\. Give one of 'free', 'cur'"):
        curplus.approximate(seen, form="best")


def test_samples_with_gaps_are_refused():
    gappy = types.SimpleNamespace(n_columns=3, n_rows=3, has_gaps=True)
    with pytest.raises(InvalidArgumentError, match="have gaps"):
        check_form("cur", gappy)
    assert check_form("free", gappy) == "free"


def test_a_free_answer_names_the_form_that_it_lacks(full_rank):
    seen = curplus.observe(full_rank(), n_columns=5, n_rows=5, n_entries=0, rng=0)
    with pytest.raises(SpanError, match='form="cur"'):
        curplus.approximate(seen, 2).cur()
