"""Systems with an approximation plus a shift are solved to rounding, however small the shift is."""

import array_api_strict
import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator, cg, gmres

import curplus
from curplus.exceptions import InvalidArgumentError
from curplus.factorization import Factorization
from tests.strategies import FIELDS, adjoint, gaussian
from tests.test_algebra import both_kinds, general, symmetric

EXACT, EXACT_COMPLEX = np.longdouble, np.clongdouble


def backward_error(approx, shift, x, b):
    """Of a solution of the system with the very factors of the approximation, in more digits."""
    kind = EXACT_COMPLEX if np.iscomplexobj(x) else EXACT
    left, Z, right = (part.astype(kind) for part in (approx.left.vectors, approx.core.Z, approx.right.vectors))
    dense = left @ Z @ adjoint(right) + kind(shift) * np.eye(len(left), dtype=kind)
    residual = np.linalg.norm((dense @ x.astype(kind) - b).astype(x.dtype))
    return residual / (np.linalg.norm(dense.astype(x.dtype), 2) * np.linalg.norm(x) + np.linalg.norm(b))


def kernel(n=300, width=0.3):
    points = np.random.default_rng(0).random((n, 2))
    return np.exp(-np.sum((points[:, None] - points) ** 2, axis=2) / width)


def right_hand_sides(approx, rng):
    """At random, in the span of the leading vector, in the whole span, and outside it."""
    b, V = rng.standard_normal(approx.shape[0]), approx.left.vectors
    return b, V[:, 0], V @ (V.T @ b), b - V @ (V.T @ b)


@pytest.mark.parametrize("form", ["free", "cur"])
@pytest.mark.parametrize("shift", [1.0, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15])
def test_the_backward_error_is_rounding_however_small_the_shift(rng, shift, form):
    approx = curplus.approximate(curplus.acquire(kernel(), n_columns=50, psd=True, rng=0), form=form)
    shift *= approx.norm(2)
    for b in right_hand_sides(approx, rng):
        assert backward_error(approx, shift, approx.solve(b, shift=shift), b) < 1e-14


@both_kinds
@pytest.mark.parametrize("phase", [1.0, np.exp(0.7j)])
@pytest.mark.parametrize("form", ["psd", "indefinite", "unsymmetric"])
@pytest.mark.parametrize("condition", [1e2, 1e6])
def test_solutions_are_those_of_the_dense_matrix_to_the_digits_that_its_condition_leaves(
    rng, form, condition, phase, dtype
):
    values = np.logspace(0, -8, 20) if form != "indefinite" else np.linspace(-1, 1, 20)
    approx = general(rng, 60, 60, 20, dtype) if form == "unsymmetric" else symmetric(rng, values, 60, dtype)
    shift = approx.norm(2) / condition * phase
    dense = approx.to_array() + shift * np.eye(60)
    for x in gaussian(rng, (3, 60), FIELDS[np.iscomplexobj(dense)]):
        found = approx.solve(dense @ x, shift=shift)
        assert np.linalg.norm(found - x) < 1e-8 * np.linalg.norm(x)
        assert backward_error(approx, shift, found, dense @ x) < 1e-13
        turned = approx.H.solve(adjoint(dense) @ x, shift=np.conj(shift))
        assert np.linalg.norm(turned - x) < 1e-8 * np.linalg.norm(x)


def logdet_in_more_digits(dense):
    """By the pivots of elimination."""
    left, total = dense.astype(EXACT), EXACT(0)
    for k in range(len(left)):
        total += np.log(left[k, k])
        left[k + 1 :] -= np.outer(left[k + 1 :, k] / left[k, k], left[k])
    return total


@pytest.mark.parametrize("condition", [1e2, 1e6, 1e10])
def test_the_logarithm_of_the_determinant_has_eight_digits(condition):
    approx = curplus.approximate(curplus.acquire(kernel(120), n_columns=30, psd=True, rng=0))
    shift = approx.norm(2) / condition
    V, values = approx.left.vectors.astype(EXACT), np.diagonal(approx.core.Z).astype(EXACT)
    expected = logdet_in_more_digits((V * values) @ V.T + EXACT(shift) * np.eye(120, dtype=EXACT))
    assert approx.logdet(shift=shift) == pytest.approx(float(expected), rel=1e-8)


def test_several_right_hand_sides_are_solved_at_once_and_may_be_lists(rng):
    approx = symmetric(rng, [3.0, 2.0, 1.0])
    B = rng.standard_normal((30, 4))
    X = approx.solve(B, shift=0.5)
    for k in range(4):
        np.testing.assert_allclose(approx.solve(B[:, k].tolist(), shift=0.5), X[:, k], rtol=1e-12)
    np.testing.assert_allclose((approx.to_array() + 0.5 * np.eye(30)) @ X, B, atol=1e-13)


@both_kinds
@pytest.mark.parametrize("shape", [(30, 20), (20, 30), (25, 25)])
def test_without_a_shift_the_solution_is_that_of_least_squares_and_least_norm(rng, shape, dtype):
    approx = general(rng, *shape, 4, dtype)
    for b in (rng.standard_normal(shape[0]), rng.standard_normal((shape[0], 3))):
        expected = np.linalg.pinv(approx.to_array(), rcond=1e-10) @ b
        np.testing.assert_allclose(approx.solve(b), expected, atol=1e-10)


def test_an_approximation_of_rank_zero_is_its_shift(rng):
    approx = symmetric(rng, [])
    b = rng.standard_normal(30)
    np.testing.assert_allclose(approx.solve(b, shift=2.0), b / 2)
    assert approx.logdet(shift=2.0) == pytest.approx(30 * np.log(2))


def test_scipy_takes_it_as_a_preconditioner(rng):
    K, shift = kernel(), 1e-5 * 300
    approx = curplus.approximate(curplus.acquire(K, n_columns=40, psd=True, rng=0))
    M = approx.as_preconditioner(shift=shift)
    assert M.shape == (300, 300)
    assert M.dtype == np.float64
    b, counts = rng.standard_normal(300), []
    for preconditioner in (None, M):
        steps = []
        system = aslinearoperator(K + shift * np.eye(300))
        x, failed = cg(system, b, M=preconditioner, rtol=1e-10, callback=steps.append)
        assert not failed
        assert np.linalg.norm(K @ x + shift * x - b) < 1e-9 * np.linalg.norm(b)
        counts.append(len(steps))
    assert counts[1] < counts[0] / 3


@both_kinds
@pytest.mark.parametrize("shift", [0.1, 0.1 - 0.3j])
def test_scipy_takes_the_inverse_of_a_general_approximation(rng, dtype, shift):
    G, b = general(rng, 50, 50, 5, dtype), rng.standard_normal(50)
    inverse = aslinearoperator(G.as_preconditioner(shift=shift))
    dense = G.to_array() + shift * np.eye(50)
    assert inverse.dtype == dense.dtype
    np.testing.assert_allclose(inverse.matmat(dense), np.eye(50), atol=1e-11)
    np.testing.assert_allclose(inverse.rmatmat(adjoint(dense)), np.eye(50), atol=1e-11)
    x, failed = gmres(dense, b, M=inverse, rtol=1e-12)
    assert not failed
    np.testing.assert_allclose(dense @ x, b, atol=1e-9)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("make", [general, symmetric])
def test_solves_stay_in_their_library_and_type(rng, kind, make):
    approx = general(rng, 40, 40, 5) if make is general else symmetric(rng, [4.0, 2.0, 1.0], n=40)
    left, right = (array_api_strict.asarray(x.vectors.astype(kind)) for x in (approx.left, approx.right))
    left = approx.left._replace(vectors=left)
    right = left if make is symmetric else approx.right._replace(vectors=right)
    core = approx.core._replace(Z=array_api_strict.asarray(approx.core.Z.astype(kind)))
    strict, b = Factorization(left, core, right), rng.standard_normal(40).astype(kind)
    digits = 1e-4 if kind == np.float32 else 1e-10
    for ours, theirs in (
        (strict.solve(array_api_strict.asarray(b), shift=0.5), approx.solve(b, shift=0.5)),
        (strict.solve(b, shift=0.5), approx.solve(b, shift=0.5)),
        (strict.solve(b), approx.solve(b)),
    ):
        assert type(ours) is type(strict.left.vectors)
        assert ours.dtype == strict.dtype
        np.testing.assert_allclose(np.asarray(ours), theirs, atol=digits)
    if make is symmetric:
        assert strict.logdet(shift=0.5) == pytest.approx(approx.logdet(shift=0.5), rel=digits)


@pytest.mark.parametrize("shift", [0, 0.0, np.nan, np.inf, "1", None])
def test_a_shift_is_a_number_other_than_zero(rng, shift):
    with pytest.raises(InvalidArgumentError, match="is not a number other than zero"):
        symmetric(rng, [1.0]).as_preconditioner(shift=shift)


def test_what_cannot_be_solved_is_refused(rng):
    approx = symmetric(rng, [2.0, -1.0, 0.5])
    with pytest.raises(InvalidArgumentError, match=r"shift=1 needs a square matrix, and this is one of 30 x 20"):
        general(rng).solve(np.ones(30), shift=1)
    with pytest.raises(InvalidArgumentError, match=r"b has shape \(29,\) and the matrix \(30, 30\)"):
        approx.solve(np.ones(29), shift=1.0)
    with pytest.raises(InvalidArgumentError, match="shift 1 is singular to rounding"):
        approx.solve(np.ones(30), shift=1.0)
    with pytest.raises(InvalidArgumentError, match=r"has an eigenvalue of -0\.5"):
        approx.logdet(shift=0.5)
    with pytest.raises(InvalidArgumentError, match="is not symmetric"):
        general(rng, 30, 30).logdet(shift=0.5)
    with pytest.raises(InvalidArgumentError, match="shift=None is not a number other than zero"):
        general(rng, 30, 30).logdet()
    with pytest.raises(InvalidArgumentError, match="only a square matrix has an inverse or a determinant"):
        general(rng).logdet()


def test_an_inverse_is_shown_in_one_line(rng):
    inverse = symmetric(rng, [2.0, 1.0]).as_preconditioner(shift=0.5)
    assert repr(inverse) == "<ShiftedInverse of a 30 x 30 matrix of rank 2, shift 0.5>"
