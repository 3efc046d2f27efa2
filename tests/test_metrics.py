import math

import array_api_strict
import numpy as np
import pytest
import scipy.sparse

import curplus
from curplus import metrics
from curplus.exceptions import InvalidArgumentError
from tests.strategies import FIELDS, in_field

KINDS = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "float32": lambda M: M.astype(in_field(np.float32, FIELDS[np.iscomplexobj(M)])),
    "csr": scipy.sparse.csr_array,
    "coo": scipy.sparse.coo_matrix,
    "strict": array_api_strict.asarray,
}
both_fields = pytest.mark.parametrize("field", FIELDS)
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def answers(M):
    seen = curplus.observe(M, n_columns=9, n_rows=8, n_entries=400, rng=0)
    return [curplus.cur_plus(seen, 4), curplus.cur_full(M, seen), curplus.cur_unbiased(seen, 4)]


@both_fields
@every_kind
@pytest.mark.parametrize("shape", [(60, 50), (50, 60), (70, 9), (9, 70)])
def test_errors_equal_the_dense_computation(full_rank, kind, shape):
    M = full_rank(shape, rank=3, noise=0.5)
    target, s = metrics.ReferenceMatrix(kind(M)), np.linalg.svd(M, compute_uv=False)
    rtol = 1e-5 if kind is KINDS["float32"] else 1e-7
    for approx in answers(M):
        E = M - approx.to_array()
        assert metrics.spectral_error(target, approx) == pytest.approx(np.linalg.norm(E, 2), rel=rtol)
        assert metrics.frobenius_error(target, approx) == pytest.approx(np.linalg.norm(E), rel=rtol)
        l_s, l_f = np.linalg.norm(E, 2) / s[4], np.linalg.norm(E) / np.linalg.norm(s[4:])
        assert metrics.relative_spectral_error(target, approx, 4) == pytest.approx(l_s, rel=rtol)
        assert metrics.relative_frobenius_error(target, approx, 4) == pytest.approx(l_f, rel=rtol)


@both_fields
def test_the_best_approximation_has_relative_error_one(full_rank):
    M = full_rank((60, 50), noise=0.5)
    U, s, Vt = np.linalg.svd(M)
    core = curplus.factorization.Core(np.diag(s[:5]), "svd")
    best = curplus.Factorization(
        curplus.factorization.Basis(U[:, :5]), core, curplus.factorization.Basis(Vt[:5].conj().T)
    )
    assert metrics.relative_spectral_error(M, best, 5) == pytest.approx(1, rel=1e-12)
    assert metrics.relative_frobenius_error(M, best, 5) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_leading_singular_values_by_iteration_are_those_of_the_svd(rng, monkeypatch, kind):
    monkeypatch.setattr(metrics, "MOST_DENSE", 0)
    M = rng.standard_normal((90, 80)) * np.logspace(0, -3, 80)
    target = metrics.ReferenceMatrix(kind(M))
    s = np.linalg.svd(M, compute_uv=False)
    assert target.singular_values(6) == pytest.approx(s[:6], rel=1e-10)
    assert target.best_spectral_error(5) == pytest.approx(s[5], rel=1e-10)
    assert target.best_frobenius_error(5) == pytest.approx(np.linalg.norm(s[5:]), rel=1e-6)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("shape", [(70, 50), (50, 70)])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("large", [False, True])
def test_all_singular_values_are_those_of_the_dense_matrix(coherent, monkeypatch, kind, shape, scale, large):
    """Those of a large sparse matrix come from its Gram matrix."""
    if large:
        monkeypatch.setattr(metrics, "MOST_DENSE", 0)
        monkeypatch.setattr(scipy.sparse.csr_array, "toarray", None)
    M = coherent(shape, density=0.2) * scale
    target = metrics.ReferenceMatrix(kind(M))
    s = np.linalg.svd(M, compute_uv=False)
    assert np.allclose(target.singular_values(50), s, rtol=0, atol=1e-7 * s[0])
    for rank in (0, 3, 50):
        assert target.best_spectral_error(rank) == pytest.approx([*s, 0][rank], abs=1e-7 * s[0])
        norm = np.linalg.norm(s[rank:] / scale) * scale
        assert target.best_frobenius_error(rank) == pytest.approx(norm, abs=1e-7 * s[0])


@both_fields
def test_one_matrix_has_its_spectrum_computed_once(full_rank, monkeypatch):
    target = metrics.ReferenceMatrix(full_rank((60, 50)))
    calls = []
    original = metrics.ReferenceMatrix._all_singular_values
    monkeypatch.setattr(metrics.ReferenceMatrix, "_all_singular_values", lambda self: calls.append(1) or original(self))
    for rank in (3, 10, 2):
        target.best_spectral_error(rank)
        target.best_frobenius_error(rank)
    assert len(calls) == 1


@both_fields
@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_is_defined_for_a_matrix_of_rank_at_most_r(low_rank, kind):
    M = low_rank((60, 50), 3)
    exact = curplus.cur_plus(curplus.observe(M, n_columns=6, n_rows=6, n_entries=60, rng=0), 3)
    wrong = curplus.cur_unbiased(curplus.observe(M, n_columns=6, n_rows=6, n_entries=60, rng=0))
    for rank in (3, 5, 50, 60):
        assert metrics.relative_spectral_error(kind(M), exact, rank) < 10
        assert math.isfinite(metrics.relative_spectral_error(kind(M), wrong, rank))
        assert metrics.relative_spectral_error(kind(M), wrong, rank) > 1e6
        assert metrics.relative_frobenius_error(M, exact, rank) < 10


def test_is_defined_for_a_matrix_of_zeros(full_rank):
    Z = np.zeros((60, 50))
    zero = curplus.cur_plus(curplus.observe(Z, n_columns=6, n_rows=6, n_entries=60, rng=0), 3)
    other = answers(full_rank((60, 50)))[0]
    assert metrics.relative_spectral_error(Z, zero, 2) == metrics.relative_frobenius_error(Z, zero, 2) == 0
    assert metrics.relative_spectral_error(Z, other, 2) == metrics.relative_frobenius_error(Z, other, 2) == math.inf


@both_fields
@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100, 1e200])
@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_scale_does_not_matter(full_rank, kind, scale):
    M = full_rank((60, 50), noise=0.5)
    plain, scaled = answers(M)[0], answers(M * scale)[0]
    for measure in (metrics.relative_spectral_error, metrics.relative_frobenius_error):
        assert measure(kind(M * scale), scaled, 4) == pytest.approx(measure(kind(M), plain, 4), rel=1e-8)


@both_fields
def test_small_errors_are_resolved_to_rounding_for_dense_and_1e8_for_sparse(low_rank):
    M = low_rank((60, 50), 3)
    approx = curplus.cur_plus(curplus.observe(M, n_columns=6, n_rows=6, n_entries=60, rng=0), 3)
    norm = np.linalg.norm(M)
    assert metrics.frobenius_error(M, approx) < 1e-12 * norm
    assert metrics.frobenius_error(scipy.sparse.csr_array(M), approx) < 1e-7 * norm


def test_nothing_of_the_size_of_the_matrix_is_formed(rng, monkeypatch):
    n, m = 3000, 2000
    M = scipy.sparse.random_array((n, m), density=1e-3, rng=0, format="csr")
    approx = answers(M)[0]
    monkeypatch.setattr(curplus.Factorization, "to_array", None)
    import tracemalloc

    tracemalloc.start()
    metrics.relative_spectral_error(M, approx, 4)
    metrics.relative_frobenius_error(M, approx, 4)
    assert tracemalloc.get_traced_memory()[1] < n * m * 8 / 10
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((3, 4)), r"shape \(3, 4\) and the approximation \(60, 50\)"),
        (np.full((60, 50), np.nan), "NaN or inf"),
        (np.ones(60), "two-dimensional"),
        (np.full((60, 50), "a"), "not numeric"),
    ],
)
def test_a_matrix_that_does_not_fit_is_refused(full_rank, matrix, message):
    approx = answers(full_rank((60, 50)))[0]
    with pytest.raises(InvalidArgumentError, match=message):
        metrics.frobenius_error(matrix, approx)


@pytest.mark.parametrize("seed", range(8))
def test_an_exact_answer_has_a_small_relative_error_for_sparse_matrices_too(seed):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 60))
    exact = curplus.cur_plus(curplus.observe(M, n_columns=6, n_rows=6, n_entries=60, rng=seed), 3)
    assert metrics.relative_frobenius_error(scipy.sparse.csr_array(M), exact, 3) < 10


def test_nothing_below_the_resolution_counts_as_better_than_the_best(low_rank, monkeypatch):
    monkeypatch.setattr(metrics, "MOST_DENSE", 0)
    M = low_rank((90, 80), 3)
    exact = curplus.cur_plus(curplus.observe(M, n_columns=6, n_rows=6, n_entries=60, rng=0), 3)
    target = metrics.ReferenceMatrix(M)
    assert metrics.relative_frobenius_error(target, exact, 3) < 1
    wrong = curplus.Factorization(exact.left, exact.core._replace(Z=1.001 * exact.core.Z), exact.right)
    assert metrics.relative_frobenius_error(target, wrong, 3) > 1e4


def test_single_precision_sparse_errors_are_those_of_double_precision(low_rank, rng):
    M = (low_rank((300, 200), 5) + 1e-3 * rng.standard_normal((300, 200))).astype(np.float32)
    approx = curplus.cur_plus(curplus.observe(M, n_columns=15, n_rows=15, n_entries=200, rng=0), 5)
    truth = np.linalg.norm(M.astype(float) - approx.left.vectors.astype(float) @ approx.core.Z @ approx.right.vectors.T)
    error = metrics.frobenius_error(scipy.sparse.csr_array(M), approx)
    assert type(error) is float
    assert error == pytest.approx(truth, rel=1e-2)
