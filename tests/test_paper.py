"""Each statement of the paper as a test, at sizes where it must hold.

Everything is computed densely here and without the library's own decomposition, except where a test says "library":
those compare the two. Matrices have bases of cosines or signs, which are as incoherent as the theorems need.
"""

import math
from typing import NamedTuple

import numpy as np
import pytest
from scipy.fft import dct
from scipy.linalg import hadamard

import curplus
from curplus import theory
from curplus.paper.entries_needed import spread_bound


class Sample(NamedTuple):
    columns: np.ndarray  # (d,) positions
    rows: np.ndarray  # (d,)
    i: np.ndarray  # (k,)
    j: np.ndarray  # (k,)


class Bases(NamedTuple):
    U: np.ndarray  # (n, r)
    V: np.ndarray  # (m, r)


def signs(n):
    return hadamard(n) / math.sqrt(n)


def cosines(n):
    return dct(np.eye(n), norm="ortho").T


def make_svd(kind, shape, singular_values):
    """Singular vectors in random order and with rows permuted; few rows of them look alike."""
    rng, k = np.random.default_rng(42), len(singular_values)
    U, V = (rng.permutation(kind(size))[:, 1 + rng.permutation(size - 1)[:k]] for size in shape)
    return U, np.asarray(singular_values, dtype=float), V


def sample_uniformly(shape, d, n_entries, seed):
    rng = np.random.default_rng(seed)
    n, m = shape
    columns, rows = rng.choice(m, d, replace=False), rng.choice(n, d, replace=False)
    return Sample(columns, rows, *np.divmod(rng.choice(n * m, n_entries, replace=False), m))


def leading(A, rank):
    return np.linalg.svd(A, full_matrices=False)[0][:, :rank]


def bases_of(M, columns, rows, rank):
    return Bases(leading(M[:, columns], rank), leading(M[rows].T, rank))


def make_design(U, V, i, j):
    return np.einsum("tp,tq->tpq", U[i], V[j]).reshape(len(i), -1)


def solve_core(M, U, V, i, j):
    z = np.linalg.lstsq(make_design(U, V, i, j), M[i, j], rcond=None)[0]
    return z.reshape(U.shape[1], V.shape[1])


def dense_cur_plus(M, columns, rows, i, j, rank):
    """CUR+ exactly as in Section 3.1, from positions of columns, rows and entries."""
    U, V = bases_of(M, columns, rows, rank)
    return U @ solve_core(M, U, V, i, j) @ V.T


def projection(M, U, V):
    return U @ (U.T @ M @ V) @ V.T


def spectral(E):
    return np.linalg.norm(E, 2)


# Theorem 1


LOW_RANK = [(signs, (256, 256), 4, 5.0), (signs, (512, 256), 2, 6.0), (cosines, (450, 300), 3, 5.0)]


@pytest.mark.parametrize(("kind", "shape", "rank", "t"), LOW_RANK)
def test_theorem_1_recovers_a_matrix_of_rank_r_from_what_it_asks_for(kind, shape, rank, t):
    U, s, V = make_svd(kind, shape, np.linspace(3, 1, rank))
    M = (U * s) @ V.T
    promise = theory.theorem_1(shape=shape, rank=rank, mu=theory.incoherence(U, V), t=t)
    assert not promise.vacuous
    for seed in range(8):
        sample = sample_uniformly(shape, promise.n_columns, promise.n_entries, seed)
        assert spectral(M - dense_cur_plus(M, *sample, rank)) <= 1e-11 * s[0]


@pytest.mark.parametrize(("kind", "shape", "rank", "t"), LOW_RANK)
def test_the_library_recovers_what_theorem_1_promises(kind, shape, rank, t):
    U, s, V = make_svd(kind, shape, np.linspace(3, 1, rank))
    M = (U * s) @ V.T
    promise = theory.theorem_1(shape=shape, rank=rank, mu=theory.incoherence(U, V), t=t)
    for seed in range(3):
        assert spectral(M - library_cur_plus(M, promise.n_columns, promise.n_entries, rank, seed)[1]) <= 1e-11 * s[0]


def test_sampled_bases_of_a_matrix_of_rank_r_are_as_incoherent_as_its_own():
    U, s, V = make_svd(cosines, (450, 300), [3.0, 2.0, 1.0])
    mu = theory.incoherence(U, V)
    d = theory.theorem_1(shape=(450, 300), rank=3, mu=mu, t=4.0).n_columns
    sample = sample_uniformly((450, 300), d, 1, seed=0)
    sampled = bases_of((U * s) @ V.T, sample.columns, sample.rows, 3)
    assert theory.incoherence(*sampled) == pytest.approx(mu, rel=1e-10)


def test_theorem_1_fails_when_the_rank_is_smaller_than_r_and_the_surplus_vectors_are_coherent():
    """A slip of the paper: any vector is an eigenvector of A A^T to eigenvalue 0, a coordinate vector as well."""
    n, surplus = 256, np.eye(256)[:, :1]
    (u,), _, (v,) = (np.moveaxis(part, -1, 0)[:1] for part in make_svd(signs, (n, n), [1.0]))
    M, U, V = np.outer(u, v), np.linalg.qr(np.c_[u, surplus]).Q, np.linalg.qr(np.c_[v, surplus]).Q
    promise = theory.theorem_1(shape=(n, n), rank=2, mu=1.0, t=4.0)
    assert not promise.vacuous
    lost = 0
    for seed in range(20):
        sample = sample_uniformly((n, n), promise.n_columns, promise.n_entries, seed)
        lost += spectral(M - U @ solve_core(M, U, V, sample.i, sample.j) @ V.T) > 1e-3
    assert lost / 20 > 1 - promise.probability


# Theorem 2 and the three statements it is made of


FULL_RANK = {
    "a gap": (signs, (256, 128), [2.0, 1.0] + [0.01] * 126),
    "no gap": (signs, (256, 256), 0.99 ** np.arange(256)),
    "a long tail": (cosines, (300, 250), 1 / np.arange(1.0, 251)),
    "almost low rank": (cosines, (300, 250), np.r_[2.0, 1.0, np.full(248, 1e-7)]),
}
full_rank = pytest.mark.parametrize("name", FULL_RANK)


def full_rank_case(name, *, rank=2, t=3.0):
    """The matrix, its next singular value, what Theorem 2 knows beforehand, and d."""
    kind, shape, values = FULL_RANK[name]
    U, s, V = make_svd(kind, shape, values[: min(shape) - 1])
    known = {"shape": shape, "rank": rank, "mu": theory.incoherence(U[:, :rank], V[:, :rank]), "t": t}
    d = theory.theorem_1(**known).n_columns
    assert d <= min(shape)
    return (U * s) @ V.T, known | {"sigma_next": s[rank], "n_columns": d}


@full_rank
def test_theorem_2_bounds_the_error_of_a_matrix_of_full_rank(name):
    M, known = full_rank_case(name)
    for seed in range(4):
        sample = sample_uniformly(M.shape, known["n_columns"], 1, seed)
        mu_hat = theory.incoherence(*bases_of(M, sample.columns, sample.rows, known["rank"]))
        promise = theory.theorem_2(mu_hat=mu_hat, **known)
        assert not promise.vacuous
        entries = sample_uniformly(M.shape, 1, promise.n_entries, seed + 100)
        error = spectral(M - dense_cur_plus(M, sample.columns, sample.rows, entries.i, entries.j, known["rank"]))
        assert known["sigma_next"] * (1 - 1e-6) <= error <= promise.bound


def test_theorem_2_says_more_than_the_zero_matrix_only_when_the_tail_is_tiny():
    bounds = {}
    for name in ("a long tail", "almost low rank"):
        M, known = full_rank_case(name)
        bounds[name] = theory.theorem_2(mu_hat=2.0, **known).bound / spectral(M)
    assert bounds["a long tail"] > 100
    assert bounds["almost low rank"] < 0.01


@full_rank
def test_the_sampled_bases_miss_no_more_than_the_appendix_allows(name):
    M, known = full_rank_case(name)
    (n, m), d = M.shape, known["n_columns"]
    for seed in range(8):
        sample = sample_uniformly(M.shape, d, 1, seed)
        U, V = bases_of(M, sample.columns, sample.rows, known["rank"])
        left, right = spectral(M - U @ (U.T @ M)), spectral(M - (M @ V) @ V.T)
        assert left <= known["sigma_next"] * math.sqrt(1 + 2 * m / d)
        assert right <= known["sigma_next"] * math.sqrt(1 + 2 * n / d)
        both = spectral(M - projection(M, U, V))
        assert both <= math.hypot(left, right) * (1 + 1e-9)
        assert both <= theory.projection_bound(**known).bound


def test_the_repaired_bound_is_less_than_twice_the_printed_one():
    ratio = np.linspace(2, 1e4)  # (m + n) / d is at least 2
    assert np.all(2 * (1 + 4 * ratio) < 2 * 4 * (1 + ratio))


def test_the_objective_is_as_convex_as_the_appendix_says():
    M, known = full_rank_case("a long tail")
    sample = sample_uniformly(M.shape, known["n_columns"], 1, seed=0)
    U, V = bases_of(M, sample.columns, sample.rows, known["rank"])
    k = theory.theorem_2(mu_hat=theory.incoherence(U, V), **known).n_entries
    smallest = []
    for seed in range(200):
        entries = sample_uniformly(M.shape, 1, k, seed)
        smallest.append(np.linalg.svd(make_design(U, V, entries.i, entries.j), compute_uv=False)[-1] ** 2)
    assert np.mean(np.array(smallest) < k / (2 * M.size)) <= math.exp(-known["t"])


@full_rank
def test_projection_error_and_convexity_bound_the_error_of_any_sample(name):
    M, known = full_rank_case(name)
    for seed in range(4):
        sample = sample_uniformly(M.shape, 6, 40, seed)
        U, V = bases_of(M, sample.columns, sample.rows, known["rank"])
        convexity = np.linalg.svd(make_design(U, V, sample.i, sample.j), compute_uv=False)[-1] ** 2
        missed, gamma = spectral(M - projection(M, U, V)) ** 2, convexity / 40
        assert spectral(M - dense_cur_plus(M, *sample, known["rank"])) ** 2 <= 2 * missed * (1 + 1 / gamma)


# Lemmas 1 and 2, with the matrix kept as U diag(s) V^T


@pytest.mark.parametrize("coherence", [None, 0.5])
@pytest.mark.parametrize("d", [60, 120, 240])
def test_the_bound_on_sampled_incoherence_does_not_contain_the_number_of_columns(coherence, d):
    """If columns and rows have half of their share of the leading directions, which Theorem 2 assumes as well."""
    n, rank = 300, 3
    values = np.where(np.arange(n) < rank, 1.0, rank / (2 * np.arange(1, n + 1)))
    M = curplus.datasets.make_spectrum((n, n), values, coherence=coherence, rng=0).columns(np.arange(n))
    U, s, Vt = np.linalg.svd(M)
    V = Vt.T
    columns, rows, _, _ = sample_uniformly((n, n), d, 1, seed=d)
    shares = [np.linalg.eigvalsh(Q[index, :rank].T @ Q[index, :rank])[0] for Q, index in ((V, columns), (U, rows))]
    of_half = 2 * n * min(shares) / d
    assert rank * theory.incoherence(*bases_of(M, columns, rows, rank)) <= spread_bound(M, s[rank - 1]) / of_half


def spectral_measures(U, s, V, rank):
    shape, eta = (len(U), len(V)), s[rank - 1] ** 2 / (len(U) * len(V))
    return {
        "mu_eta": theory.generalized_incoherence(U, s, V, eta=eta),
        "rank_eta": theory.numerical_rank(s, shape, eta=eta),
    }


@pytest.mark.parametrize("kind", [signs, cosines, np.eye])
@pytest.mark.parametrize("decay", [0.0, 1.0, 3.0])
def test_lemma_1_bounds_incoherence_by_its_generalisation(kind, decay):
    U, s, V = make_svd(kind, (128, 64), np.arange(1.0, 41) ** -decay)
    for rank in (1, 5, 40):
        actual = rank * theory.incoherence(U[:, :rank], V[:, :rank])
        assert actual <= theory.lemma_1(**spectral_measures(U, s, V, rank)) * (1 + 1e-12)


LEMMA_2 = {"rank one": (1, np.r_[1.0, np.full(19, 0.05)]), "rank two": (2, np.r_[1.0, 1.0, np.full(18, 0.05)])}


def lemma_2_case(name, n=2048, d=1900, t=2.5):
    rank, s = LEMMA_2[name]
    U, s, V = make_svd(signs, (n, n), s)
    gap = {"sigma_rank": s[rank - 1], "sigma_next": s[rank]}
    return (U, s, V), rank, {"shape": (n, n), "n_columns": d, "t": t, **spectral_measures(U, s, V, rank), **gap}


@pytest.mark.parametrize("name", LEMMA_2)
def test_lemma_2_bounds_the_incoherence_of_sampled_bases(name):
    (U, s, V), rank, known = lemma_2_case(name)
    promise = theory.lemma_2(**known)
    assert not promise.vacuous
    for seed in range(10):
        sample = sample_uniformly(known["shape"], known["n_columns"], 1, seed)
        left, right = U @ leading(s[:, None] * V[sample.columns].T, rank), V @ leading((U[sample.rows] * s).T, rank)
        assert rank * theory.incoherence(left, right) <= promise.bound
        delta = math.sqrt(
            (promise.bound - theory.lemma_1(mu_eta=known["mu_eta"], rank_eta=known["rank_eta"])) / 18 / 2048
        )
        assert theory.sin_theta(left, U[:, :rank])[0] <= 3 * math.sqrt(2) * delta


@pytest.mark.parametrize("name", LEMMA_2)
def test_sampled_columns_preserve_the_regularised_second_moment(name):
    """The theorem behind Lemma 2. Off the range of M both moments are eta I, so only the range needs a look."""
    (_, s, V), rank, known = lemma_2_case(name)
    m, d = len(V), known["n_columns"]
    x = known["mu_eta"] * known["rank_eta"]
    delta = math.sqrt(4 / d * (x + 1) * (known["t"] + math.log(m)))
    scale = 1 / np.sqrt(s**2 + s[rank - 1] ** 2)
    for seed in range(10):
        J = sample_uniformly((m, m), d, 1, seed).columns
        moment = m / d * (s[:, None] * V[J].T @ V[J] * s) + s[rank - 1] ** 2 * np.eye(len(s))
        eigenvalues = np.linalg.eigvalsh(scale[:, None] * moment * scale)
        assert 1 - delta <= eigenvalues[0] <= eigenvalues[-1] <= 1 + delta


# Theorem 3: it needs so large a matrix that rows and columns are counted by kind


class KindsMatrix(NamedTuple):
    """M = U diag(s) V^T with signs for U, V: rows of one sign pattern are alike, so a small table says it all."""

    size: int  # n = m
    values: np.ndarray  # (k,) singular values

    @property
    def patterns(self):
        k = len(self.values)
        return 1 - 2 * (np.arange(2**k)[:, None] >> np.arange(k) & 1)

    @property
    def table(self):
        return (self.patterns * self.values / self.size) @ self.patterns.T

    @property
    def per_kind(self):
        return self.size // len(self.patterns)

    def dense(self):
        return np.kron(self.table, np.ones((self.per_kind, self.per_kind)))

    def measures(self):
        w = self.values**2 / (self.values**2 + self.values[0] ** 2)  # every row of U has squares 1 / n
        return {"mu_eta": 1.0, "rank_eta": float(w.sum())}

    def cur_plus_error(self, column_counts, row_counts, entry_counts, rank):
        """Spectral error of CUR+ when that many columns, rows, entries of each kind are in the sample."""
        U = leading(self.table * np.sqrt(column_counts), rank)
        V = leading(self.table.T * np.sqrt(row_counts), rank)
        weight = np.sqrt(entry_counts).ravel()
        i, j = np.indices(self.table.shape).reshape(2, -1)
        design, target = make_design(U, V, i, j) * weight[:, None], self.table.ravel() * weight
        Z = np.linalg.lstsq(design, target, rcond=None)[0].reshape(rank, rank)
        return self.per_kind * spectral(self.table - U @ Z @ V.T)

    def random_counts(self, d, n_entries, rng):
        kinds, total = len(self.patterns), self.per_kind
        columns, rows = (rng.multivariate_hypergeometric([total] * kinds, d) for _ in range(2))
        entries = rng.multivariate_hypergeometric([total**2] * kinds**2, n_entries)
        return columns, rows, entries.reshape(kinds, kinds)


def test_counting_by_kind_agrees_with_the_dense_algorithm():
    M = KindsMatrix(32, np.array([1.0, 0.3, 0.1]))
    sample = sample_uniformly((32, 32), 10, 60, seed=0)
    entries = np.zeros((8, 8))
    np.add.at(entries, (sample.i // 4, sample.j // 4), 1)
    counts = [np.bincount(index // 4, minlength=8) for index in (sample.columns, sample.rows)]
    expected = spectral(M.dense() - dense_cur_plus(M.dense(), *sample, 1))
    assert M.cur_plus_error(*counts, entries, 1) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("tail", [0.1, 1e-7])
def test_theorem_3_bounds_the_error_without_knowing_the_sample(tail):
    M, d = KindsMatrix(16_384, np.array([1.0, tail, tail / 2])), 8192
    known = M.measures() | {"rank": 1, "sigma_rank": 1.0, "sigma_next": tail}
    promise = theory.theorem_3(shape=(M.size, M.size), n_columns=d, t=4.0, **known)
    assert not promise.vacuous, promise.reason
    rng = np.random.default_rng(0)
    errors = [M.cur_plus_error(*M.random_counts(d, promise.n_entries, rng), 1) for _ in range(50)]
    assert np.mean(np.array(errors) > promise.bound) <= 1 - promise.probability


def test_theorem_3_promises_nothing_when_a_side_is_shorter_than_4095():
    best = {"rank": 1, "mu_eta": 1.0, "rank_eta": 0.5, "sigma_rank": 1.0, "sigma_next": 0.0, "t": math.log(7) + 1e-9}
    assert theory.theorem_3(shape=(4094, 4094), n_columns=4094, **best).vacuous
    assert not theory.theorem_3(shape=(4095, 4095), n_columns=4095, **best).vacuous
    assert all(theory.theorem_3(shape=(n, 4094), n_columns=4094, **best).vacuous for n in range(4095, 20_000, 500))


def test_the_bound_of_theorem_3_holds_even_where_it_promises_nothing():
    U, s, V = make_svd(signs, (512, 256), np.r_[2.0, 1.5, np.full(100, 0.05)])
    M = (U * s) @ V.T
    known = {"rank": 2, "sigma_rank": s[1], "sigma_next": s[2], **spectral_measures(U, s, V, 2)}
    promise = theory.theorem_3(shape=M.shape, n_columns=60, t=3.0, **known)
    assert promise.vacuous
    for seed in range(5):
        sample = sample_uniformly(M.shape, 60, 500, seed)
        assert spectral(M - dense_cur_plus(M, *sample, 2)) <= promise.bound


# The sharper bound in Frobenius norm


def heavy_tailed_case(seed=0):
    """A matrix with a few large errors, its sampled bases, and what the bound is told about them."""
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((400, 2)) @ rng.standard_normal((2, 300)) + 0.3 * rng.standard_t(3, (400, 300))
    U, V = bases_of(M, rng.choice(300, 60, replace=False), rng.choice(400, 60, replace=False), 2)
    known = {"shape": M.shape, "rank": 2, "mu_hat": theory.incoherence(U, V), "t": 3.0, "delta": 0.2}
    known["projection_error"] = float(np.linalg.norm(M - projection(M, U, V)))
    return M, U, V, known


def core_errors(M, U, V, n_entries, draws=300):
    """Distances of the solved core from the best one, over draws of the entries."""
    samples = (sample_uniformly(M.shape, 1, n_entries, seed) for seed in range(draws))
    return np.array([np.linalg.norm(solve_core(M, U, V, k.i, k.j) - U.T @ M @ V) for k in samples])


def test_the_frobenius_bound_fails_no_more_often_than_it_says():
    M, U, V, known = heavy_tailed_case()
    k = theory.frobenius_bound(n_entries=1, **known).n_entries
    promise = theory.frobenius_bound(n_entries=k, **known)
    assert not promise.vacuous
    assert k < M.size / 10  # a small part of the matrix
    errors = np.hypot(known["projection_error"], core_errors(M, U, V, k))
    assert np.mean(errors > promise.bound) <= 0.2 + math.exp(-3)
    assert np.all(errors >= known["projection_error"])


def test_the_noise_in_the_entries_has_the_size_that_the_frobenius_bound_assumes():
    M, U, V, known = heavy_tailed_case()
    k, missed = 2000, M - projection(M, U, V)
    noise = []
    for seed in range(300):
        entries = sample_uniformly(M.shape, 1, k, seed)
        g = M.size / k * make_design(U, V, entries.i, entries.j).T @ missed[entries.i, entries.j]
        noise.append(g @ g)
    assert np.mean(noise) <= (known["mu_hat"] * 2) ** 2 / k * known["projection_error"] ** 2


def test_the_frobenius_bound_is_far_below_that_of_theorem_2():
    M, known = full_rank_case("a gap")
    sample = sample_uniformly(M.shape, known["n_columns"], 1, seed=0)
    U, V = bases_of(M, sample.columns, sample.rows, known["rank"])
    shared = {"shape": M.shape, "rank": known["rank"], "mu_hat": theory.incoherence(U, V), "t": known["t"]}
    missed = float(np.linalg.norm(M - projection(M, U, V)))
    sharper = theory.frobenius_bound(n_entries=2000, delta=0.1, projection_error=missed, **shared)
    assert not sharper.vacuous
    assert sharper.bound < theory.theorem_2(mu_hat=shared["mu_hat"], **known).bound / 100


# The library against the dense reference


def library_cur_plus(M, d, n_entries, rank, seed):
    observation = curplus.observe(M, n_columns=d, n_rows=d, n_entries=n_entries, rng=seed)
    return observation, curplus.cur_plus(observation, rank).to_array()


@full_rank
def test_the_library_agrees_with_the_dense_algorithm(name):
    M, known = full_rank_case(name)
    for seed in range(3):
        seen, approximation = library_cur_plus(M, known["n_columns"], 300, known["rank"], seed)
        expected = dense_cur_plus(M, seen.column_index, seen.row_index, seen.i, seen.j, known["rank"])
        np.testing.assert_allclose(approximation, expected, atol=1e-10 * spectral(M))


@full_rank
def test_the_library_stays_within_theorem_2(name):
    M, known = full_rank_case(name)
    for seed in range(3):
        seen, approximation = library_cur_plus(M, known["n_columns"], 9000, known["rank"], seed)
        mu_hat = theory.incoherence(*bases_of(M, seen.column_index, seen.row_index, known["rank"]))
        promise = theory.theorem_2(mu_hat=mu_hat, **known)
        assert promise.n_entries <= 9000
        assert spectral(M - approximation) <= promise.bound
