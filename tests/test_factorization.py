import array_api_strict
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator, lsqr, svds

import curplus
from curplus.exceptions import InvalidArgumentError, RankTooLargeError, SpanError
from tests.strategies import FIELDS, adjoint, fields, gaussian


@pytest.fixture(params=FIELDS)
def field(request):
    """Every sentence here holds for real and for complex matrices."""
    return request.param


def check_acts_like(approx, dense, rtol=1e-12):
    """What it means to stand for the matrix ``dense``."""
    n, m = dense.shape
    scale = rtol * max(np.abs(dense).max(initial=0), 1e-300)
    rng = np.random.default_rng(0)
    field = FIELDS[np.iscomplexobj(dense)]
    x, y, X = gaussian(rng, m, field), gaussian(rng, n, field), gaussian(rng, (m, 3), field)
    i, j = rng.integers(n, size=20), rng.integers(m, size=20)

    def same(ours, theirs):
        assert ours.shape == theirs.shape
        assert np.allclose(np.asarray(ours), theirs, rtol=0, atol=scale * 10 * np.sqrt(n * m))

    assert approx.shape == (n, m)
    same(approx.to_array(), dense)
    same(approx.H.to_array(), adjoint(dense))
    same(approx @ x, dense @ x)
    same(approx @ X, dense @ X)
    same(y @ approx, y @ dense)
    same(X.T @ approx.H, X.T @ adjoint(dense))
    same(approx.entries(i, j), dense[i, j])
    same(approx.rows(i), dense[i])
    same(approx.columns(j), dense[:, j])
    same(aslinearoperator(approx).rmatvec(y), adjoint(dense) @ y)
    U, s, Vh = approx.svd()
    same(U * s @ Vh, dense)
    assert np.all(np.diff(s) <= 0)


def check_is_factorization(approx, dense, rtol=1e-12):
    """The same, for one that is made of sampled columns and rows."""
    check_acts_like(approx, dense, rtol)
    n, m = dense.shape
    C, middle, R, column_index, row_index = approx.cur()
    assert C.shape == (n, len(column_index))
    assert R.shape == (len(row_index), m)
    scale = rtol * max(np.abs(dense).max(initial=0), 1e-300)
    np.testing.assert_allclose(C @ middle @ R, dense, rtol=0, atol=scale * 10 * np.sqrt(n * m))


@pytest.fixture
def approx(full_rank):
    M = full_rank((40, 30), rank=4)
    seen = curplus.observe(M, n_columns=7, n_rows=6, n_entries=300, rng=1)
    return curplus.cur_plus(seen, rank=5)


def test_acts_like_the_matrix_it_stands_for(approx):
    left, Z, right = approx.left.vectors, approx.core.Z, approx.right.vectors
    check_is_factorization(approx, left @ Z @ adjoint(right))


@given(field=fields, seed=st.integers(0, 10**6), n=st.integers(1, 15), m=st.integers(1, 15), data=st.data())
def test_acts_like_the_matrix_at_any_size(field, seed, n, m, data):
    rng = np.random.default_rng(seed)
    M = gaussian(rng, (n, m), field)
    d1, d2 = data.draw(st.integers(1, m)), data.draw(st.integers(1, n))
    seen = curplus.observe(M, n_columns=d1, n_rows=d2, n_entries=n * m, rng=seed)
    answer = curplus.cur_plus(seen, data.draw(st.integers(1, min(d1, d2))))
    check_is_factorization(answer, answer.left.vectors @ answer.core.Z @ adjoint(answer.right.vectors), rtol=1e-10)


def test_scipy_takes_it_as_an_operator(approx):
    dense = approx.to_array()
    assert svds(approx, k=3)[1] == pytest.approx(svds(dense, k=3)[1])
    b = dense @ np.ones(30)
    assert np.linalg.norm(dense @ lsqr(approx, b, atol=1e-12, btol=1e-12)[0] - b) < 1e-8 * np.linalg.norm(b)


def test_multiplies_lists_and_sparse_matrices(approx):
    dense = approx.to_array()
    S = scipy.sparse.random_array((30, 4), density=0.3, rng=0)
    assert np.allclose(approx @ S, dense @ S.toarray())
    assert np.allclose(approx @ ([1.0] * 30), dense.sum(axis=1))
    assert np.allclose([1.0] * 40 @ approx, dense.sum(axis=0))


def test_truncating_gives_the_closest_matrix_of_that_rank(approx):
    U, s, Vt = np.linalg.svd(approx.to_array())
    check_is_factorization(approx.truncate(2), (U[:, :2] * s[:2]) @ Vt[:2])
    assert approx.truncate(2).rank == 2
    check_is_factorization(approx.truncate(99), approx.to_array())


@pytest.mark.parametrize("condition", [1, 1e3, 1e6])
@pytest.mark.parametrize("spare", [0, 10])
def test_cur_form_equals_uzv_form_for_ill_conditioned_samples(rng, field, condition, spare):
    n, m, r = 300, 200, 12
    s = np.logspace(0, -np.log10(condition), r)
    left, right = (np.linalg.qr(gaussian(rng, (size, r), field)).Q for size in (n, m))
    M = (left * s) @ adjoint(right)
    for seed in range(10):
        seen = curplus.observe(M, n_columns=r + spare, n_rows=r + spare, n_entries=8 * r * r, rng=seed)
        answer = curplus.cur_plus(seen, r)
        C, U, R, *_ = answer.cur()
        dense = answer.to_array()
        worst = max(s[0] / s[r - 1] for s in (np.linalg.svd(C, compute_uv=False), np.linalg.svd(R, compute_uv=False)))
        assert np.linalg.norm(C @ U @ R - dense) < 1e-10 * max(1, worst / 1e6) * np.linalg.norm(dense)


def test_cur_form_holds_the_sampled_columns_and_rows_themselves(full_rank):
    M = full_rank((40, 30))
    seen = curplus.observe(M, n_columns=7, n_rows=6, n_entries=300, rng=1)
    C, _, R, column_index, row_index = curplus.cur_plus(seen, 3).cur()
    assert np.array_equal(C, M[:, column_index])
    assert np.array_equal(R, M[row_index])


def test_an_answer_outside_the_samples_has_no_cur_form(approx):
    free = curplus.Factorization(curplus.factorization.Basis(approx.left.vectors), approx.core, approx.right)
    with pytest.raises(SpanError, match="does not lie in the span of the sampled columns and rows"):
        free.cur()
    assert free.column_index.size == 0
    assert "columns and" not in repr(free)


def test_a_matrix_of_zeros_is_approximated_by_zeros():
    seen = curplus.observe(np.zeros((8, 6)), n_columns=3, n_rows=3, n_entries=20, rng=0)
    answer = curplus.cur_plus(seen, 2)
    assert answer.core.Z.shape == (0, 0)
    check_is_factorization(answer, np.zeros((8, 6)))
    assert len(answer.core.notes) == 2
    assert "the rank of the sampled columns is only 0" in answer.core.notes[0]


@pytest.mark.parametrize("index", [[30], [-1], [0.5], [[1]]])
def test_positions_outside_are_refused(approx, index):
    with pytest.raises(InvalidArgumentError, match=r"out of range|whole numbers|one-dimensional"):
        approx.columns(index)


def test_entries_come_in_pairs(approx):
    with pytest.raises(InvalidArgumentError, match="i has 2 positions and j has 1"):
        approx.entries([1, 2], [3])
    assert approx.entries([], []).shape == (0,)


def test_a_product_of_unfitting_shapes_is_refused(approx):
    with pytest.raises(InvalidArgumentError, match=r"\(40, 30\) matrix cannot multiply an array of shape \(40,\)"):
        approx @ np.ones(40)


@pytest.mark.parametrize("rank", [0, -1, 1.5])
def test_truncation_needs_a_positive_rank(approx, rank):
    with pytest.raises(InvalidArgumentError, match="rank="):
        approx.truncate(rank)


def test_representations_are_short_and_informative(low_rank):
    frame = curplus.as_source(low_rank((9, 8), 2), column_names=[f"<gene {k}>" for k in range(8)])
    seen = curplus.observe(frame, n_columns=3, n_rows=2, n_entries=30, rng=0)
    answer = curplus.cur_plus(seen, 2)
    assert repr(answer) == "<Factorization of a 9 x 8 matrix: rank 2, from 3 columns and 2 rows, by LeastSquares>"
    page = answer._repr_html_()
    assert "&lt;gene" in page
    assert "<gene" not in page
    stopped = curplus.cur_plus(seen, 2, solver=curplus.solvers.ConjugateGradient(max_iter=1))
    assert "not converged" in repr(stopped)
    assert "not converged" in stopped._repr_html_()


def test_names_say_which_columns_and_rows_were_picked(low_rank):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(low_rank((9, 8), 2).real, index=list("abcdefghi"), columns=[f"gene{k}" for k in range(8)])
    seen = curplus.observe(frame, n_columns=3, n_rows=2, n_entries=30, rng=0)
    answer = curplus.cur_plus(seen, 2)
    assert list(answer.sampled_column_names) == list(frame.columns[answer.column_index])
    assert list(answer.sampled_row_names) == list(frame.index[answer.row_index])
    assert list(answer.T.sampled_column_names) == list(answer.sampled_row_names)
    assert list(answer.truncate(1).sampled_row_names) == list(answer.sampled_row_names)


def test_arrays_of_another_library_stay_there(full_rank):
    M = full_rank((20, 15))
    strict = array_api_strict.asarray(M)
    ours, theirs = (
        curplus.cur_plus(curplus.observe(X, n_columns=5, n_rows=6, n_entries=90, rng=3), 3) for X in (M, strict)
    )
    dense = ours.to_array()
    for result, expected in (
        (theirs.to_array(), dense),
        (theirs @ array_api_strict.ones(15), dense.sum(axis=1)),
        (theirs.entries([1, 2], [3, 4]), dense[[1, 2], [3, 4]]),
        (theirs.rows([5]), dense[[5]]),
        (theirs.columns([5]), dense[:, [5]]),
        (theirs.svd().s, ours.svd().s),
        (theirs.truncate(2).to_array(), ours.truncate(2).to_array()),
        (theirs.cur().U, ours.left.coefficients @ ours.core.Z @ adjoint(ours.right.coefficients)),
        (curplus.cur_unbiased(curplus.observe(strict, n_columns=5, n_rows=6, n_entries=90, rng=3)).to_array(),
         curplus.cur_unbiased(curplus.observe(M, n_columns=5, n_rows=6, n_entries=90, rng=3)).to_array()),
    ):  # fmt: skip
        assert type(result) is type(strict)
        assert np.allclose(np.asarray(result), expected, atol=1e-9)


def test_rank_is_checked_before_anything_is_computed(full_rank):
    seen = curplus.observe(full_rank((20, 15)), n_columns=5, n_rows=3, n_entries=90, rng=3)
    with pytest.raises(RankTooLargeError, match=r"rank=4 but only 3 rows were sampled.*n_rows=4.*use rank=3"):
        curplus.cur_plus(seen, 4)


def test_a_number_is_no_matrix_to_multiply(approx):
    for wrong in (3, np.float64(3)):
        with pytest.raises(InvalidArgumentError, match="cannot multiply"):
            approx @ wrong


def test_a_truncated_answer_does_not_claim_the_residual_of_the_whole(approx):
    assert np.isnan(approx.truncate(2).core.residual_norm)


def test_an_answer_of_a_solver_that_speaks_numpy_can_be_saved(approx, tmp_path):
    core = approx.core._replace(residual_norm=np.float32(1.5), iterations=np.int64(3), converged=np.bool_(True))
    curplus.Factorization(approx.left, core, approx.right).save(tmp_path / "answer.npz")
    assert curplus.load(tmp_path / "answer.npz").core.iterations == 3
