import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curplus._arrays import to_numpy
from curplus.factorization import basis as basis_module
from curplus.factorization import leading_basis


def sample_of_condition(rng, n, d, condition):
    """An n x d matrix with singular values from 1 down to 1 / condition."""
    k = min(n, d)
    left, right = np.linalg.qr(rng.standard_normal((n, k))).Q, np.linalg.qr(rng.standard_normal((d, k))).Q
    return (left * np.logspace(0, -np.log10(condition), k)) @ right.T


def orthogonality_error(vectors):
    return np.abs(vectors.T @ vectors - np.eye(vectors.shape[1])).max(initial=0)


@pytest.mark.parametrize("condition", [1, 9, 11, 1e3, 1e6, 1e12, 1e15])
@pytest.mark.parametrize(("n", "d", "rank"), [(400, 40, 20), (400, 40, 40), (400, 1, 1), (30, 50, 20), (40, 40, None)])
def test_is_orthonormal_at_any_condition(rng, n, d, rank, condition):
    basis = leading_basis(sample_of_condition(rng, n, d, condition), rank)
    assert orthogonality_error(basis.vectors) < 1e-12


@pytest.mark.parametrize("condition", [1.5, 9, 11, 1e3, 1e6])
@pytest.mark.parametrize(("n", "d", "rank"), [(300, 40, 20), (300, 40, 40), (30, 50, 10)])
def test_spans_the_leading_singular_vectors(rng, n, d, rank, condition):
    A = sample_of_condition(rng, n, d, condition)
    basis = leading_basis(A, rank)
    U = np.linalg.svd(A, full_matrices=False)[0][:, :rank]
    assert np.linalg.norm(U - basis.vectors @ (basis.vectors.T @ U)) < 1e-11 * condition


@pytest.mark.parametrize("condition", [1.5, 11, 1e6])
def test_vectors_are_the_sample_times_the_coefficients(rng, condition):
    A = sample_of_condition(rng, 300, 40, condition)
    basis = leading_basis(A, 20)
    assert np.linalg.norm(A @ basis.coefficients - basis.vectors) < 1e-14 * condition * np.sqrt(300)


@pytest.mark.parametrize("rank", [1, 5, 8])
def test_a_deficient_sample_gives_a_narrower_basis(rng, rank):
    A = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 8))
    basis = leading_basis(A, rank)
    assert basis.rank == min(rank, 3)
    assert orthogonality_error(basis.vectors) < 1e-12


@pytest.mark.parametrize("shape", [(10, 3), (3, 10), (10, 0)])
def test_a_sample_of_zeros_spans_nothing(shape):
    basis = leading_basis(np.zeros(shape), min(shape))
    assert basis.vectors.shape == (shape[0], 0)
    assert basis.coefficients.shape == (shape[1], 0)


@pytest.mark.parametrize("exponent", [-300, -200, -100, 100, 200, 300])
def test_scale_does_not_matter(rng, exponent):
    A = rng.standard_normal((50, 12))
    plain, scaled = (leading_basis(x, 5) for x in (A, A * 10.0**exponent))
    assert np.linalg.norm(plain.vectors @ plain.vectors.T - scaled.vectors @ scaled.vectors.T) < 1e-12
    back = (A * 10.0**exponent) @ scaled.coefficients
    assert np.linalg.norm(back - scaled.vectors) < 1e-12


@pytest.mark.parametrize("condition", [1.5, 1e3])
def test_single_precision_keeps_its_own_digits(rng, condition):
    A = sample_of_condition(rng, 300, 40, condition).astype(np.float32)
    basis = leading_basis(A, 20)
    assert basis.vectors.dtype == np.float32
    assert orthogonality_error(basis.vectors) < 1e-4


SPECTRA = {
    "slow decay": 1.2 ** -np.arange(60.0),
    "powers": np.arange(1, 61.0) ** -3,
    "low rank": np.append(np.logspace(0, -5, 30), np.zeros(30)),
    "a cliff behind the last": np.append(np.logspace(0, -5, 30), np.full(30, 1e-9)),
}


@pytest.mark.parametrize("name", SPECTRA)
def test_many_digits_between_directions_need_no_orthogonal_factorization(rng, xp, name, monkeypatch):
    monkeypatch.setattr(basis_module, "_by_qr", None)  # it would take several times as long
    left, right = np.linalg.qr(rng.standard_normal((500, 60))).Q, np.linalg.qr(rng.standard_normal((60, 60))).Q
    A = (left * SPECTRA[name]) @ right.T
    basis, U = leading_basis(xp.asarray(A), 30), np.linalg.svd(A, full_matrices=False)[0][:, :30]
    vectors = to_numpy(basis.vectors)
    assert SPECTRA[name][0] / SPECTRA[name][29] > 100
    assert orthogonality_error(vectors) < 1e-14
    assert np.linalg.norm(U - vectors @ (vectors.T @ U), 2) < 1e-10
    assert np.linalg.norm(A @ to_numpy(basis.coefficients) - vectors) < 1e-15 / SPECTRA[name][29]


def test_both_array_libraries_give_the_same_subspace(rng, xp):
    A = rng.standard_normal((40, 10))
    ours, reference = leading_basis(xp.asarray(A), 6), np.linalg.svd(A, full_matrices=False)[0][:, :6]
    vectors = to_numpy(ours.vectors)
    assert type(ours.vectors) is type(xp.asarray(A))
    assert np.linalg.norm(vectors @ vectors.T - reference @ reference.T) < 1e-12


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 30), st.floats(0, 14))
def test_any_sample_has_an_orthonormal_basis_of_its_span(seed, n, d, digits):
    A = sample_of_condition(np.random.default_rng(seed), n, d, 10**digits)
    vectors = leading_basis(A).vectors
    assert orthogonality_error(vectors) < 1e-12
    assert np.linalg.norm(A - vectors @ (vectors.T @ A)) < 1e-12 * np.linalg.norm(A)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("condition", [1, 9, 11, 300, 600, 800, 1e4])
def test_the_basis_is_orthonormal_on_both_sides_of_every_shortcut(rng, condition, dtype):
    A = sample_of_condition(rng, 200, 12, condition).astype(dtype)
    basis = leading_basis(A, 12)
    V, eps = basis.vectors.astype(np.float64), np.finfo(dtype).eps
    assert np.abs(V.T @ V - np.eye(12)).max() < max(20 * eps, 2e-14)
    assert np.abs(A.astype(np.float64) @ basis.coefficients - V).max() < 20 * eps * condition


@pytest.mark.parametrize("rank", [5, 30, 100])
@pytest.mark.parametrize(
    "sizes", [np.r_[np.linspace(50, 100, 30), np.ones(490)], 0.9 ** np.arange(520), np.linspace(1, 2, 520)]
)
def test_few_eigenvectors_of_many_are_those_of_the_whole_decomposition(rng, sizes, rank):
    """With a gap, falling off, and too close for Lanczos iteration."""
    Q = np.linalg.qr(rng.standard_normal((520, 520))).Q
    gram = (Q * sizes) @ Q.T
    gram = (gram + gram.T) / 2
    squares, W = (x[..., :rank] for x in basis_module._eigenvectors(gram, rank))
    np.testing.assert_allclose(squares, np.sort(sizes)[::-1][:rank], rtol=0, atol=1e-12 * sizes.max())
    assert orthogonality_error(W) < 1e-12
    assert np.linalg.norm(gram @ W - W * squares) < 1e-11 * sizes.max()


@pytest.mark.parametrize("noise", [0.1, 3.0])
def test_few_eigenvectors_of_very_many_are_those_of_all(rng, noise, monkeypatch):
    """By blocks where there is a gap behind them, and otherwise not."""
    monkeypatch.setattr(basis_module, "HUGE", 600)
    A = rng.standard_normal((900, 20)) @ rng.standard_normal((20, 640)) + noise * rng.standard_normal((900, 640))
    gram = A.T @ A
    by_blocks = basis_module._by_blocks(gram, 20)
    squares, W = (x[..., :20] for x in basis_module._eigenvectors(gram, 20))
    expected, V = np.linalg.eigh(gram)
    assert (by_blocks is not None) == (noise < 1)
    np.testing.assert_allclose(squares, expected[:-21:-1], rtol=1e-12)
    assert np.linalg.norm(V[:, -20:] - W @ (W.T @ V[:, -20:]), 2) < 1e-12


@pytest.mark.parametrize(("n", "d"), [(40_000, 30), (16_001, 70)])
def test_a_tall_sample_of_any_condition_is_factorized_in_blocks(rng, n, d):
    left, right = (np.linalg.qr(rng.standard_normal((k, d)))[0] for k in (n, d))
    A = (left * np.logspace(0, -10, d)) @ right
    found = leading_basis(A)
    assert found.rank == d
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(d), atol=1e-13)
    np.testing.assert_allclose(found.vectors @ (found.vectors.T @ A), A, atol=1e-13)
