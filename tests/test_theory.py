"""What is promised: measures of spread, and what each theorem requires."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import hadamard

from curplus import theory
from curplus.exceptions import InvalidArgumentError
from curplus.theory.complexity import SAMPLE_COMPLEXITIES

seeds = st.integers(0, 2**32 - 1)
BIG = {"shape": (1000, 800), "t": 4.0}
SPECTRUM = {"mu_eta": 1.0, "rank_eta": 0.5, "sigma_rank": 1.0, "sigma_next": 0.1}


def random_basis(rng, n, r):
    """Orthonormal, and as likely as not coherent: some coordinates weigh far more than others."""
    heavy_tailed = rng.standard_normal((n, r)) * np.exp(rng.uniform(0, 4) * rng.standard_normal((n, 1)))
    return np.linalg.qr(heavy_tailed).Q


def flat_basis(n, r):
    """Orthonormal, every entry of size 1 / sqrt(n)."""
    return hadamard(n)[:, :r] / math.sqrt(n)


@st.composite
def decompositions(draw):
    """Thin SVDs of coherent and incoherent matrices, with quickly and slowly decaying spectra."""
    rng = np.random.default_rng(draw(seeds))
    m = draw(st.integers(1, 12))
    n = draw(st.integers(m, 30))
    s = np.sort(np.exp(draw(st.floats(0, 10)) * rng.standard_normal(m)))[::-1]
    return random_basis(rng, n, m), s, random_basis(rng, m, m)


# Incoherence


def test_flat_bases_have_incoherence_one():
    assert theory.incoherence(flat_basis(32, 3), flat_basis(16, 3)) == pytest.approx(1)


def test_a_coordinate_vector_has_the_largest_incoherence_there_is():
    assert theory.incoherence(np.eye(20)[:, :4], flat_basis(8, 4)) == pytest.approx(20 / 4)


def test_each_side_of_incoherence_uses_its_own_width():
    assert theory.incoherence(np.eye(12)[:, :2], np.eye(15)[:, :3]) == pytest.approx(6)
    assert theory.incoherence(np.eye(12)[:, :4], np.eye(15)[:, :3]) == pytest.approx(5)


def test_phases_do_not_change_incoherence_and_angles(rng):
    X, Y = (random_basis(rng, 20, 3) for _ in range(2))
    phases = np.exp(1j * rng.random((20, 1)))
    assert theory.incoherence(X * phases, Y * phases) == pytest.approx(theory.incoherence(X, Y))
    assert theory.generalized_incoherence(X * phases, [3, 2, 1], Y, eta=0.1) == pytest.approx(
        theory.generalized_incoherence(X, [3, 2, 1], Y, eta=0.1)
    )
    np.testing.assert_allclose(theory.sin_theta(X * phases, Y * phases), theory.sin_theta(X, Y))


@given(seeds, st.integers(1, 5), st.integers(1, 5))
def test_incoherence_lies_between_one_and_its_largest_value(seed, r1, r2):
    rng = np.random.default_rng(seed)
    mu = theory.incoherence(random_basis(rng, 30, r1), random_basis(rng, 20, r2))
    assert 1 - 1e-12 <= mu <= max(30 / r1, 20 / r2) + 1e-9


@given(seeds, st.integers(1, 6))
def test_incoherence_does_not_depend_on_the_basis(seed, r):
    rng = np.random.default_rng(seed)
    U, V, Q = random_basis(rng, 30, r), random_basis(rng, 20, r), random_basis(rng, r, r)
    assert theory.incoherence(U @ Q, V @ Q.T) == pytest.approx(theory.incoherence(U, V), rel=1e-10)


def test_incoherence_accepts_bases_in_single_precision():
    assert theory.incoherence(flat_basis(64, 5).astype("f4"), flat_basis(64, 5)) == pytest.approx(1, rel=1e-6)


# Numerical rank


def test_numerical_rank_counts_what_stands_out_from_the_floor():
    assert theory.numerical_rank([10.0, 10.0, 0.01], shape=(20, 20), eta=1e-3) == pytest.approx(2, abs=0.01)
    assert theory.numerical_rank([3.0], shape=(3, 3), eta=1.0) == pytest.approx(1 / 2)


@given(decompositions(), st.floats(1e-12, 1e12))
def test_numerical_rank_is_below_the_rank_and_falls_with_eta(svd, eta):
    U, s, V = svd
    ranks = [theory.numerical_rank(s, (len(U), len(V)), eta=floor) for floor in (0.0, eta, 2 * eta)]
    assert s.size == ranks[0] >= ranks[1] >= ranks[2] >= 0


def test_numerical_rank_tends_to_the_rank_as_eta_vanishes():
    ranks = [theory.numerical_rank([5.0, 1.0, 1e-3, 0.0], (9, 4), eta=eta) for eta in (1e-4, 1e-8, 1e-12, 0.0)]
    assert ranks == sorted(ranks)
    assert ranks[-1] == 3
    assert ranks[-2] == pytest.approx(3, abs=1e-4)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_numerical_rank_survives_values_whose_squares_overflow(scale):
    assert theory.numerical_rank([scale], (1, 1), eta=0.0) == 1
    assert theory.numerical_rank([scale], (1, 1), eta=1.0) == pytest.approx(float(scale > 1))


# Generalised incoherence


@given(decompositions(), st.floats(0, 1e6))
def test_generalised_incoherence_is_at_least_one(svd, eta):
    assert theory.generalized_incoherence(*svd, eta=eta) >= 1 - 1e-9


@given(decompositions())
def test_generalised_incoherence_without_a_floor_is_the_incoherence_of_the_whole_range(svd):
    U, _, V = svd
    assert theory.generalized_incoherence(*svd, eta=0.0) == pytest.approx(theory.incoherence(U, V), rel=1e-9)


def test_generalised_incoherence_follows_its_formula():
    rng = np.random.default_rng(3)
    U, V, s, eta = random_basis(rng, 7, 4), random_basis(rng, 5, 4), np.array([4.0, 2.0, 1.0, 0.5]), 0.02
    w = s**2 / (s**2 + 35 * eta)
    rows = [7 * sum(w[k] * U[i, k] ** 2 for k in range(4)) / w.sum() for i in range(7)]
    columns = [5 * sum(w[k] * V[j, k] ** 2 for k in range(4)) / w.sum() for j in range(5)]
    assert theory.generalized_incoherence(U, s, V, eta=eta) == pytest.approx(max(rows + columns), rel=1e-12)


@given(decompositions(), st.data())
def test_lemma_1_holds_for_any_spectrum_and_any_bases(svd, data):
    U, s, V = svd
    r = data.draw(st.integers(1, s.size))
    shape, eta = (len(U), len(V)), s[r - 1] ** 2 / (len(U) * len(V))
    mu_eta, rank_eta = theory.generalized_incoherence(U, s, V, eta=eta), theory.numerical_rank(s, shape, eta=eta)
    actual = r * theory.incoherence(U[:, :r], V[:, :r])
    assert actual <= theory.lemma_1(mu_eta=mu_eta, rank_eta=rank_eta) * (1 + 1e-9)


# Angles


@pytest.mark.parametrize("angle", [1e-14, 1e-10, 1e-5, 0.3, math.pi / 2])
def test_sines_of_angles_are_as_accurate_as_the_angles(angle):
    first = np.eye(6)[:, :2]
    second = np.eye(6)[:, :2]
    second[[0, 2], 0] = math.cos(angle), math.sin(angle)
    second[[1, 3], 1] = math.cos(angle / 2), math.sin(angle / 2)
    expected = [math.sin(angle), math.sin(angle / 2)]
    np.testing.assert_allclose(theory.sin_theta(first, second), expected, rtol=1e-6, atol=1e-20)


def test_tiny_angles_survive_a_rotation_of_space():
    rng = np.random.default_rng(0)
    Q = random_basis(rng, 50, 50)
    first, second = Q[:, :3], Q[:, :3] + 1e-10 * Q[:, 3:6] * [1.0, 2.0, 3.0]
    np.testing.assert_allclose(theory.sin_theta(first, second), [3e-10, 2e-10, 1e-10], rtol=1e-4)


@given(seeds)
def test_angles_are_symmetric_descending_and_blind_to_the_basis(seed):
    rng = np.random.default_rng(seed)
    X, Y, mix = rng.standard_normal((12, 3)), rng.standard_normal((12, 2)), rng.standard_normal((3, 3)) + 4 * np.eye(3)
    sines = theory.sin_theta(X, Y)
    assert sines.shape == (2,)
    assert 0 <= sines[1] <= sines[0] <= 1
    np.testing.assert_allclose(theory.sin_theta(Y, X @ mix), sines, rtol=1e-7)


def test_the_largest_sine_is_the_distance_between_the_projections():
    rng = np.random.default_rng(1)
    X, Y = random_basis(rng, 9, 3), random_basis(rng, 9, 3)
    assert theory.sin_theta(X, Y)[0] == pytest.approx(np.linalg.norm(X @ X.T - Y @ Y.T, 2))


# What the theorems ask for


def test_theorem_1_asks_for_what_is_printed():
    promise = theory.theorem_1(rank=5, mu=1.5, **BIG)
    assert promise.n_columns == math.ceil(7 * 1.5 * 5 * (4 + math.log(5)))
    assert promise.n_entries == math.ceil(7 * 1.5**2 * 25 * (4 + 2 * math.log(5)))
    assert promise.probability == pytest.approx(1 - 5 * math.exp(-4))
    assert (promise.bound, promise.vacuous, promise.reason) == (0, False, "")


def test_theorem_2_asks_and_promises_what_is_printed():
    promise = theory.theorem_2(rank=5, mu=1.5, mu_hat=2.0, sigma_next=0.1, n_columns=400, **BIG)
    assert promise.n_columns == math.ceil(7 * 1.5 * 5 * (4 + math.log(5)))
    assert promise.n_entries == math.ceil(7 * 4 * 25 * (4 + 2 * math.log(5)))
    assert promise.probability == pytest.approx(1 - 3 * math.exp(-4))
    assert promise.bound**2 == pytest.approx(8 * 0.01 * (1 + 2 * 800_000) * (1 + 1800 / 400))
    assert not promise.vacuous


def test_theorem_3_asks_and_promises_what_is_printed():
    promise = theory.theorem_3(shape=(40_000, 30_000), rank=2, n_columns=20_000, t=3.0, **SPECTRUM)
    need = 1.5 * (3 + math.log(40_000))
    assert promise.n_columns == math.ceil(16 * need)
    assert promise.n_entries == math.ceil(7 * (1 + 72 * 2 * need) ** 2 * (3 + 2 * math.log(2)))
    assert promise.probability == pytest.approx(1 - 7 * math.exp(-3))
    assert promise.bound**2 == pytest.approx(8 * 0.01 * (1 + 2 * 1.2e9) * (1 + 7 / 2))
    assert not promise.vacuous


def test_lemma_2_bounds_without_dividing_by_the_rank():
    promise = theory.lemma_2(shape=(40_000, 30_000), n_columns=20_000, t=3.0, **SPECTRUM)
    delta_squared = 4 / 20_000 * 1.5 * (3 + math.log(40_000))
    assert promise.bound == pytest.approx(1 + 18 * 40_000 * delta_squared)
    assert promise.probability == pytest.approx(1 - 4 * math.exp(-3))
    assert not promise.vacuous


def test_projection_bound_promises_what_is_printed():
    promise = theory.projection_bound(rank=5, mu=1.5, sigma_next=0.1, n_columns=400, **BIG)
    assert promise.bound**2 == pytest.approx(4 * 0.01 * (1 + 1800 / 400))
    assert promise.n_columns == theory.theorem_1(rank=5, mu=1.5, **BIG).n_columns
    assert promise.probability == pytest.approx(1 - 2 * math.exp(-4))


def test_frobenius_bound_tends_to_the_projection_error_as_entries_are_added():
    known = {"rank": 2, "mu_hat": 1.5, "projection_error": 3.0, "delta": 0.1, **BIG}
    promises = [theory.frobenius_bound(n_entries=k, **known) for k in (1000, 10_000, 100_000)]
    assert [p.bound for p in promises] == [pytest.approx(3 * math.sqrt(1 + 360 / k)) for k in (1000, 10_000, 100_000)]
    assert all(p.probability == pytest.approx(0.9 - math.exp(-4)) and not p.vacuous for p in promises)
    assert promises[0].n_entries == math.ceil(7 * 9 * (4 + 2 * math.log(2)))


def test_the_fewest_columns_are_assumed_when_none_are_given():
    known = {"rank": 2, "mu": 1.0, "sigma_next": 1.0, **BIG}
    fewest = theory.projection_bound(**known)
    assert fewest == theory.projection_bound(n_columns=fewest.n_columns, **known)


def test_the_longer_side_plays_n_whichever_it_is():
    tall = theory.theorem_3(shape=(9000, 8000), rank=1, n_columns=6000, t=3.0, **SPECTRUM)
    assert tall == theory.theorem_3(shape=(8000, 9000), rank=1, n_columns=6000, t=3.0, **SPECTRUM)


@given(st.floats(1, 50), st.floats(0.1, 9), st.integers(1, 20))
def test_more_confidence_never_asks_for_less(mu, t, rank):
    first, second = (theory.theorem_1(shape=(99, 99), rank=rank, mu=mu, t=t * factor) for factor in (1, 1.5))
    assert first.n_columns <= second.n_columns
    assert first.n_entries <= second.n_entries
    assert first.probability <= second.probability


# When nothing is promised


@pytest.mark.parametrize(
    ("promise", "reason"),
    [
        (theory.theorem_1(shape=(90, 80), rank=9, mu=1.0, t=4.0), "requires 391 columns and rows of a 90 x 80"),
        (theory.theorem_1(shape=(60, 60), rank=9, mu=1.0, t=4.0), "requires 4760 entries of the 3600"),
        (theory.theorem_1(rank=5, mu=1.5, **BIG | {"t": 1.0}), "chance of failing is 1.84, not below 1; increase t"),
        (theory.theorem_1(rank=5, mu=1.5, n_columns=7, **BIG), "n_columns=7 is fewer than the 295 required"),
        (
            theory.theorem_2(rank=5, mu=1.5, mu_hat=99.0, sigma_next=1.0, **BIG),
            "requires 12381636 entries of the 800000 there are",
        ),
        (
            theory.lemma_2(shape=(900, 900), n_columns=300, t=3.0, **SPECTRUM),
            "never exceeds 900 anyway; less takes n_columns > 1058.7",
        ),
        (
            theory.theorem_3(shape=(9000, 9000), rank=1, n_columns=6000, t=3.0, **SPECTRUM | {"sigma_next": 0.9}),
            "sigma_rank=1 is below sqrt(2) * sigma_next = 1.27279",
        ),
        (
            theory.theorem_3(shape=(9000, 9000), rank=1, n_columns=1200, t=3.0, **SPECTRUM),
            "n_columns=1200 is not above 72 * (mu_eta * rank_eta + 1) * (t + ln n) = 1307.3",
        ),
        (
            theory.frobenius_bound(rank=2, mu_hat=1.5, projection_error=1.0, delta=0.1, n_entries=9, **BIG),
            "n_entries=9 is fewer than the 340 required",
        ),
        (
            theory.frobenius_bound(
                rank=2, mu_hat=1.5, projection_error=1.0, delta=0.9, n_entries=999, **BIG | {"t": 1.0}
            ),
            "chance of failing is 1.27",
        ),
    ],
)
def test_a_vacuous_guarantee_says_why_with_the_numbers(promise, reason):
    assert promise.vacuous
    assert reason in promise.reason
    assert promise.probability >= 0
    assert promise.bound >= 0


@given(st.floats(0.5, 40), st.floats(0.1, 20), st.integers(1, 5000), st.integers(1, 40), st.integers(0, 5000))
def test_below_the_72_of_theorem_3_the_demanded_entries_exceed_the_matrix(x, t, d, rank, extra):
    shape = (max(d, rank) + extra, max(d, rank))
    promise = theory.theorem_3(
        shape=shape, rank=rank, mu_eta=1.0, rank_eta=x, sigma_rank=1.0, sigma_next=0.0, n_columns=d, t=t
    )
    if d <= 72 * (x + 1) * (t + math.log(shape[0])) and t >= 1 / 7:
        assert promise.n_entries > shape[0] * shape[1]
        assert promise.vacuous


# Arguments that cannot work


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.theorem_1(shape=(9, 9), rank=0, mu=1.0, t=1.0), "rank=0 is too small. Give at least 1"),
        (lambda: theory.theorem_1(shape=(9, 8), rank=9, mu=1.0, t=1.0), "rank=9 but the matrix has only 8"),
        (lambda: theory.theorem_1(shape=(9, 9), rank=2, mu=0.5, t=1.0), "mu=0.5, which by its definition"),
        (lambda: theory.theorem_1(shape=(9, 9), rank=2, mu=math.nan, t=1.0), "mu=nan, which by its definition"),
        (lambda: theory.theorem_1(shape=(9, 9), rank=2, mu=1.0, t=0.0), "t=0.0, but only positive finite"),
        (lambda: theory.theorem_1(shape=(9, 9), rank=2, mu=1.0, t=1.0, n_columns=10), "n_columns=10 but"),
        (lambda: theory.lemma_1(mu_eta=1.0, rank_eta=0.0), "rank_eta=0.0, but only positive"),
        (lambda: theory.projection_bound(rank=2, mu=1.0, sigma_next=-1.0, **BIG), "sigma_next=-1.0, which by"),
        (
            lambda: theory.frobenius_bound(rank=1, mu_hat=1.0, projection_error=1.0, n_entries=9, delta=1.0, **BIG),
            "delta=1.0 is not a chance of failing",
        ),
        (lambda: theory.numerical_rank([1.0, -1.0], (2, 2), eta=0.1), "finite numbers, none negative"),
        (lambda: theory.numerical_rank([[1.0]], (2, 2), eta=0.1), "must be one list of finite numbers"),
        (lambda: theory.numerical_rank([1.0], (2, 2), eta=-0.1), "eta=-0.1, which by its definition"),
        (lambda: theory.generalized_incoherence(np.eye(3), [1.0, 1.0], np.eye(3), eta=0.1), "left has 3 columns"),
        (lambda: theory.generalized_incoherence(np.eye(1), [0.0], np.eye(1), eta=0.1), "all singular values are 0"),
        (lambda: theory.incoherence(np.ones((3, 1)), np.eye(3)), "left.conj().T @ left differs from the identity by 2"),
        (lambda: theory.incoherence(np.eye(3), np.zeros((3, 0))), "right has shape (3, 0)"),
        (lambda: theory.sin_theta(np.ones((3, 1)), np.ones((4, 1))), "first has 3 rows and second 4"),
        (lambda: theory.sin_theta(np.ones((3, 1)), np.zeros((3, 1))), "a matrix of zeros spans nothing"),
        (lambda: theory.sin_theta([[math.nan]], [[1.0]]), "first has shape (1, 1) and 1 values that are not finite"),
        (lambda: theory.sample_complexity("magic", n=9, rank=2), "'magic' is not in Table 1. Give one of 'CUR+', 'K"),
        (lambda: theory.distinct_entries((9, 8), n_columns=9, n_rows=1, n_entries=0), "n_columns=9 but"),
    ],
)
def test_a_bad_argument_is_named_with_its_value(call, message):
    with pytest.raises(InvalidArgumentError, match=re.escape(message)):
        call()


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda: theory.theorem_1(shape=(9, 9), rank=2, mu=1.0, t=0.0), "The chance of failing falls like exp(-t)"),
        (lambda: theory.lemma_1(mu_eta=1.0, rank_eta=0.0), "Compute it with theory.numerical_rank; it is 0 only for"),
        (lambda: theory.lemma_1(mu_eta=0.5, rank_eta=1.0), "Compute it with theory.generalized_incoherence."),
        (lambda: theory.theorem_1(rank=2, mu=0.5, **BIG), "Compute it with theory.incoherence, from orthonormal"),
        (
            lambda: theory.theorem_2(rank=2, mu=1.0, mu_hat=0.5, sigma_next=1.0, **BIG),
            "Compute it with theory.incoherence, from orthonormal vectors.",
        ),
        (lambda: theory.projection_bound(rank=2, mu=1.0, sigma_next=-1.0, **BIG), "It is a singular value"),
        (
            lambda: theory.lemma_2(shape=(9, 9), n_columns=3, t=3.0, **SPECTRUM | {"sigma_rank": math.inf}),
            "It is a singular value: compute it with numpy.linalg.svd.",
        ),
        (
            lambda: theory.frobenius_bound(rank=1, mu_hat=1.0, projection_error=-1.0, n_entries=9, delta=0.5, **BIG),
            "It is a norm: compute it with numpy.linalg.norm.",
        ),
        (lambda: theory.numerical_rank([1.0], (2, 2), eta=-0.1), "as a mean square per entry: give 0 or more."),
    ],
    ids=["t", "rank_eta", "mu_eta", "mu", "mu_hat", "sigma_next", "sigma_rank", "projection_error", "eta"],
)
def test_the_remedy_is_that_of_the_argument(call, remedy):
    with pytest.raises(InvalidArgumentError, match=re.escape(remedy)):
        call()


def test_the_t_that_is_suggested_leaves_a_chance_of_success():
    known = {"shape": (9000, 9000), "rank": 1, "n_columns": 6000, **SPECTRUM}
    assert theory.theorem_3(t=3.0, **known).probability > 0.5


def test_an_incoherence_that_was_rounded_down_to_just_below_one_is_accepted():
    rounded = theory.theorem_1(rank=5, mu=1 - 1e-15, **BIG)
    assert rounded == theory.theorem_1(rank=5, mu=1.0, **BIG)


# Table 1 and counting


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("CUR+", 1000 * 10 * math.log(10)),
        ("Krishnamurthy-Singh", 1000 * 10**1.5 * math.log(10)),
        ("Bhojanapalli-Jain", 1000 * 100),
        ("Jain-Netrapalli-Sanghavi", 1000 * 10**4.5 * math.log(1000)),
        ("nuclear norm", 1000 * 10 * math.log(1000) ** 2),
    ],
)
def test_table_1_is_the_papers(method, expected):
    assert theory.sample_complexity(method, n=1000, rank=10) == pytest.approx(expected)


def test_cur_plus_asks_for_the_fewest_entries_of_table_1():
    asked = {name: theory.sample_complexity(name, n=10_000, rank=20) for name in SAMPLE_COMPLEXITIES}
    assert len(asked) == 5
    assert min(asked, key=asked.get) == "CUR+"


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_distinct_entries_lie_between_the_cross_and_the_matrix(n, m, data):
    d1, d2 = data.draw(st.integers(0, m)), data.draw(st.integers(0, n))
    k = data.draw(st.integers(0, n * m))
    seen = theory.distinct_entries((n, m), n_columns=d1, n_rows=d2, n_entries=k)
    assert n * d1 + m * d2 - d1 * d2 <= seen <= min(n * m, n * d1 + m * d2 + k) + 1e-9


def test_distinct_entries_are_the_mean_of_what_is_seen():
    rng, seen = np.random.default_rng(0), []
    for _ in range(2000):
        mask = np.zeros((12, 9), dtype=bool)
        mask[:, rng.choice(9, 2, replace=False)] = True
        mask[rng.choice(12, 4, replace=False)] = True
        mask.flat[rng.choice(108, 30, replace=False)] = True
        seen.append(mask.sum())
    expected = theory.distinct_entries((12, 9), n_columns=2, n_rows=4, n_entries=30)
    assert np.mean(seen) == pytest.approx(expected, abs=4 * np.std(seen) / math.sqrt(2000))
