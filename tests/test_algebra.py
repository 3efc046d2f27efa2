"""Sums, multiples and norms of approximations are those of the matrices they stand for."""

import array_api_strict
import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, aslinearoperator, eigsh, gmres, svds

import curplus
from curplus.exceptions import InvalidArgumentError
from curplus.factorization import Basis, Core, Factorization
from tests.strategies import FIELDS, adjoint, gaussian
from tests.test_factorization import check_acts_like


def general(rng, n=30, m=20, rank=4, dtype=np.float64, **names):
    """An approximation of random factors."""
    field = FIELDS[np.issubdtype(dtype, np.complexfloating)]
    left, right = (np.linalg.qr(gaussian(rng, (size, rank), field)).Q.astype(dtype) for size in (n, m))
    Z = gaussian(rng, (rank, rank), field).astype(dtype)
    return Factorization(Basis(left), Core(Z, "made up"), Basis(right), **names)


def symmetric(rng, values, n=30, dtype=np.float64):
    """An approximation with given eigenvalues, Hermitian if it is complex."""
    field = FIELDS[np.issubdtype(dtype, np.complexfloating)]
    basis = Basis(np.linalg.qr(gaussian(rng, (n, len(values)), field)).Q)
    return Factorization(basis, Core(np.diag(np.asarray(values, dtype=dtype)), "made up"), basis)


both_kinds = pytest.mark.parametrize("dtype", [np.float64, np.complex128])


@both_kinds
@pytest.mark.parametrize(("n", "m", "ranks"), [(30, 20, (4, 3)), (6, 9, (4, 5)), (5, 5, (0, 3)), (4, 7, (0, 0))])
def test_sums_and_multiples_are_those_of_the_matrices(rng, n, m, ranks, dtype):
    a, b = (general(rng, n, m, rank, dtype) for rank in ranks)
    A, B = a.to_array(), b.to_array()
    for ours, theirs in (
        (a + b, A + B),
        (a - b, A - B),
        (-a, -A),
        (2 * a, 2 * A),
        (a * np.float32(0.5), A / 2),
        (np.float64(3.0) * a, 3 * A),
        (0 * a, 0 * A),
        (a / 4, A / 4),
        (2 * a - b + a, 3 * A - B),
        (a.H, adjoint(A)),
        (a.T, A.T),
        (a.conj(), A.conj()),
        ((1 - 2j) * a, (1 - 2j) * A),
        (a / 2j + b, A / 2j + B),
    ):
        check_acts_like(ours, theirs)
    assert (a + b).rank <= min(n, m, sum(ranks))


def test_what_is_added_and_taken_away_again_leaves_the_rank_as_it_was(rng):
    a, b = general(rng, rank=4), general(rng, rank=7)
    assert ((a + b) - b).rank == 4
    assert (a - a).rank == 0
    assert (a - a).norm() == 0


def test_a_multiple_completes_new_rows_in_its_own_units(full_rank, rng):
    M = full_rank((40, 12), rank=3, noise=0.2) + 5
    approx = curplus.approximate(curplus.Observation(shape=M.shape, row_index=range(40), rows=M))
    rows = np.where(rng.random((6, 12)) < 0.5, M[:6], np.nan)
    np.testing.assert_allclose((-3 * approx).complete_rows(-3 * rows), -3 * approx.complete_rows(rows))
    assert (-3 * approx).provenance.model.noise == pytest.approx(3 * approx.provenance.model.noise)


def test_norms_are_those_of_the_matrix(rng):
    a = general(rng)
    for ord in ("fro", "nuc", 2):
        assert a.norm(ord) == pytest.approx(np.linalg.norm(a.to_array(), ord), rel=1e-13)
    assert a.norm() == a.norm("fro")
    assert (1e-200 * a).norm() == pytest.approx(1e-200 * a.norm(), rel=1e-12)
    assert (1e200 * a).norm() == pytest.approx(1e200 * a.norm(), rel=1e-12)
    with pytest.raises(InvalidArgumentError, match="ord='inf' is not a norm"):
        a.norm("inf")


@pytest.mark.parametrize("size", [1e-3, 1e-7, 1e-11, 1e-13])
def test_the_norm_of_a_difference_is_right_where_two_approximations_nearly_cancel(rng, size):
    a, change = general(rng, n=300, m=200, rank=20), general(rng, n=300, m=200, rank=20)
    change = (size * a.norm() / change.norm()) * change
    found = ((a + change) - a).norm()
    assert found == pytest.approx(size * a.norm(), abs=2e-14 * a.norm())


@both_kinds
def test_sums_of_symmetric_approximations_are_symmetric_to_the_last_bit(rng, dtype):
    a, b = symmetric(rng, [3.0, 2.0, 1e-3], dtype=dtype), symmetric(rng, [5.0, -1.0], dtype=dtype)
    i, j = rng.integers(30, size=(2, 200))
    for answer in (a + b, a - b, 2 * a, -b, a + b - b, (a + b).truncate(2), a.H):
        assert answer.is_symmetric
        np.testing.assert_array_equal(answer.entries(i, j), answer.entries(j, i).conj())
        np.testing.assert_array_equal(answer.to_array(), adjoint(answer.to_array()))
    np.testing.assert_allclose((a + b).to_array(), a.to_array() + b.to_array(), atol=1e-14)
    assert not (a + general(rng, 30, 30)).is_symmetric


@both_kinds
def test_sums_of_psd_approximations_are_psd(rng, dtype):
    for _ in range(20):
        a = symmetric(rng, np.logspace(0, -18, 12), dtype=dtype)
        b = symmetric(rng, np.logspace(-3, -20, 25), dtype=dtype)
        assert np.diagonal((a + b + a).core.Z).real.min() > 0


def test_the_transpose_of_a_hermitian_approximation_is_refused(rng):
    a = symmetric(rng, [3.0, 2.0], dtype=np.complex128)
    with pytest.raises(InvalidArgumentError, match=r"transpose of a complex Hermitian matrix .* Use \.H"):
        _ = a.T
    np.testing.assert_array_equal(a.conj().to_array(), a.to_array().conj())
    assert not (1j * a).is_symmetric


def test_names_come_with_sums_and_must_agree(rng):
    names = {"row_names": np.array([f"r{i}" for i in range(30)]), "column_names": np.arange(20) * 2}
    a, b = general(rng, **names), general(rng)
    for answer in (a + b, b + a, 2 * a, a - a):
        assert answer.row_names[3] == "r3"
        assert answer.column_names[3] == 6
    turned = general(rng, row_names=names["row_names"][::-1].copy())
    with pytest.raises(InvalidArgumentError, match="the row_names of two approximations differ"):
        a + turned


def test_what_cannot_be_added_or_multiplied_is_refused(rng):
    a = general(rng)
    with pytest.raises(InvalidArgumentError, match=r"shapes \(30, 20\) and \(20, 30\) cannot be added"):
        a + a.T
    with pytest.raises(InvalidArgumentError, match="a ndarray cannot be added"):
        a + np.ones((30, 20))
    with pytest.raises(InvalidArgumentError, match="cannot be multiplied by nan"):
        a * np.nan
    with pytest.raises(InvalidArgumentError, match="@ for a product"):
        a * a
    for divisor in (0, a):
        with pytest.raises(InvalidArgumentError, match="cannot be divided by"):
            a / divisor


def test_sums_stay_in_their_library_and_type(rng):
    a, b = general(rng, dtype=np.float32), general(rng, dtype=np.float32)
    strict = [
        Factorization(
            *(part._replace(vectors=array_api_strict.asarray(part.vectors)) for part in (x.left,)),
            x.core._replace(Z=array_api_strict.asarray(x.core.Z)),
            x.right._replace(vectors=array_api_strict.asarray(x.right.vectors)),
        )
        for x in (a, b)
    ]
    for ours, theirs in ((strict[0] + strict[1], a + b), (2 * strict[0] - strict[1], 2 * a - b)):
        assert type(ours.left.vectors) is type(strict[0].left.vectors)
        assert ours.dtype == array_api_strict.float32
        assert theirs.dtype == np.float32
        np.testing.assert_allclose(np.asarray(ours.to_array()), theirs.to_array(), atol=1e-5)


@both_kinds
def test_scipy_solves_with_it_and_finds_its_eigenvalues(rng, dtype):
    a = symmetric(rng, [5.0, -3.0, 1.0], n=40, dtype=dtype)
    values = eigsh(aslinearoperator(a), k=3, return_eigenvectors=False)
    np.testing.assert_allclose(np.sort(values), [-3, 1, 5], atol=1e-12)
    b = general(rng, 40, 40, dtype=dtype)
    assert svds(aslinearoperator(b), k=2)[1].max() == pytest.approx(b.norm(2))
    second_kind = LinearOperator(b.shape, matvec=lambda x: x + b @ x, dtype=dtype)
    right = rng.standard_normal(40)
    x, failed = gmres(second_kind, right, rtol=1e-12, restart=20)
    assert not failed
    np.testing.assert_allclose((np.eye(40) + b.to_array()) @ x, right, atol=1e-10)


def test_sum_adds_up_a_list(rng):
    a, b = general(rng), general(rng)
    np.testing.assert_array_equal(sum([a, b]).to_array(), (a + b).to_array())
    assert sum([a]) is a
    with pytest.raises(InvalidArgumentError, match="cannot be added"):
        1 + a
