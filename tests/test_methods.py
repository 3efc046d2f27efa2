import sys

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus.exceptions import InvalidArgumentError, RankTooLargeError, TooFewEntriesError
from tests.strategies import FIELDS, adjoint, fields, gaussian, in_field, observed

SOLVERS = pytest.mark.parametrize("solver", ["auto", *curplus.solvers.SOLVERS])


@pytest.fixture(params=FIELDS)
def field(request):
    """Every sentence here holds for real and for complex matrices."""
    return request.param


def relative_error(approx, M):
    return np.linalg.norm(approx.to_array() - M) / np.linalg.norm(M)


@SOLVERS
@pytest.mark.parametrize(("shape", "rank"), [((300, 200), 5), ((200, 300), 10), ((150, 150), 1)])
def test_recovers_a_rank_r_matrix_exactly(low_rank, solver, shape, rank):
    M = low_rank(shape, rank)
    for seed in range(10):
        seen = curplus.observe(M, n_columns=rank + 10, n_rows=rank + 10, n_entries=max(2 * rank**2, 4), rng=seed)
        approx = curplus.cur_plus(seen, rank, solver=solver)
        assert approx.core.converged
        assert relative_error(approx, M) < 1e-10


@SOLVERS
def test_recovers_a_rank_r_matrix_in_single_precision(low_rank, solver, field):
    M = low_rank((300, 200), 10, dtype=np.float32)
    for seed in range(10):
        seen = curplus.observe(M, n_columns=20, n_rows=20, n_entries=200, rng=seed)
        approx = curplus.cur_plus(seen, 10, solver=solver)
        assert approx.dtype == in_field(np.float32, field)
        assert relative_error(approx, M) < 1e-4


@pytest.mark.parametrize("solver", ["auto", "normal_equations", "lsmr"])
def test_a_wide_core_goes_through_the_iterative_solvers(low_rank, solver):
    M = low_rank((600, 500), 25)
    seen = curplus.observe(M, n_columns=35, n_rows=35, n_entries=2 * 25**2, rng=0)
    approx = curplus.cur_plus(seen, 25, solver=solver)
    assert approx.core.converged
    assert relative_error(approx, M) < 1e-10


def test_cur_plus_is_the_best_core_for_the_entries(full_rank):
    M = full_rank((60, 40), rank=5, noise=0.5)
    seen = curplus.observe(M, n_columns=9, n_rows=8, n_entries=500, rng=0)
    approx = curplus.cur_plus(seen, 4)
    U = np.linalg.svd(M[:, seen.column_index])[0][:, :4]
    V = np.linalg.svd(adjoint(M[seen.row_index]))[0][:, :4]
    design = np.einsum("tp,tq->tpq", U[seen.i], V[seen.j].conj()).reshape(500, -1)
    Z = np.linalg.lstsq(design, seen.values)[0].reshape(4, 4)
    assert np.allclose(approx.to_array(), U @ Z @ adjoint(V), atol=1e-11)


@pytest.mark.parametrize("convert", [np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_matrix])
@pytest.mark.parametrize("rank", [None, 4])
def test_cur_full_equals_the_dense_formula(full_rank, convert, rank):
    M = full_rank((60, 40), rank=5, noise=0.5)
    seen = curplus.observe(M, n_columns=9, n_rows=8, n_entries=0, rng=0)
    approx = curplus.cur_full(convert(M), seen, rank)
    C, R = M[:, seen.column_index], M[seen.row_index]
    if rank is None:
        expected = C @ np.linalg.pinv(C) @ M @ np.linalg.pinv(R) @ R
    else:
        U, V = np.linalg.svd(C)[0][:, :4], np.linalg.svd(adjoint(R))[0][:, :4]
        expected = U @ adjoint(U) @ M @ V @ adjoint(V)
    assert np.allclose(approx.to_array(), expected, atol=1e-11)


def test_cur_full_reads_the_matrix_in_blocks(rng, recording_source, monkeypatch):
    M = rng.standard_normal((50, 40))
    seen = curplus.observe(M, n_columns=9, n_rows=8, n_entries=0, rng=0)
    source = recording_source(M)
    monkeypatch.setattr(
        sys.modules["curplus.methods.cur_full"],
        "blocks",
        lambda n, width: (slice(k, min(k + 7, n)) for k in range(0, n, 7)),
    )
    approx = curplus.cur_full(source, seen)
    assert source.n_calls == 8
    assert np.allclose(approx.to_array(), curplus.cur_full(M, seen).to_array(), atol=1e-12)


def test_cur_full_wants_the_matrix_that_was_observed(rng):
    seen = curplus.observe(rng.standard_normal((50, 40)), n_columns=9, n_rows=8, n_entries=0, rng=0)
    with pytest.raises(InvalidArgumentError, match=r"shape \(40, 50\) but the observation is of .* \(50, 40\)"):
        curplus.cur_full(rng.standard_normal((40, 50)), seen)


@pytest.mark.parametrize("rank", [None, 4])
def test_cur_unbiased_equals_the_dense_formula(full_rank, rng, rank):
    M = full_rank((60, 40), rank=5, noise=0.5)
    plan = curplus.observation.uniform_plan((60, 40), n_columns=9, n_rows=8, n_entries=100, rng=0)
    i, j = np.append(plan.i, plan.i[:30]), np.append(plan.j, plan.j[:30])  # a repeated record is one more summand
    seen = observed(M, plan._replace(i=i, j=j))
    M_e = np.zeros_like(M)
    np.add.at(M_e, (i, j), M.size / 130 * M[i, j])
    C, R = M[:, seen.column_index], M[seen.row_index]
    if rank is None:
        expected = C @ np.linalg.pinv(C) @ M_e @ np.linalg.pinv(R) @ R
    else:
        U, V = np.linalg.svd(C)[0][:, :4], np.linalg.svd(adjoint(R))[0][:, :4]
        expected = U @ adjoint(U) @ M_e @ V @ adjoint(V)
    assert np.allclose(curplus.cur_unbiased(seen, rank).to_array(), expected, atol=1e-10)


def test_cur_unbiased_is_right_on_average(full_rank):
    M = full_rank((20, 15), rank=3)
    plan = curplus.observation.uniform_plan((20, 15), n_columns=6, n_rows=6, n_entries=60, rng=0)
    answers = []
    for seed in range(2000):
        other = curplus.observation.uniform_plan((20, 15), n_columns=0, n_rows=0, n_entries=60, rng=seed)
        answers.append(curplus.cur_unbiased(observed(M, plan._replace(i=other.i, j=other.j))).core.Z)
    truth = curplus.cur_full(M, observed(M, plan)).core.Z
    error = np.mean(answers, axis=0) - truth
    assert np.all(np.abs(error) < 5 * np.std(answers, axis=0) / np.sqrt(2000))


def observation_and_answer(M, seed, method):
    seen = curplus.observe(M, n_columns=6, n_rows=7, n_entries=120, rng=seed)
    return seen, method(M, seen).to_array()


METHODS = {
    "cur_plus": lambda M, seen: curplus.cur_plus(seen, 4),
    "cur_plus_cg": lambda M, seen: curplus.cur_plus(seen, 4, solver="conjugate_gradient"),
    "cur_full": lambda M, seen: curplus.cur_full(M, seen, 4),
    "cur_unbiased": lambda M, seen: curplus.cur_unbiased(seen, 4),
}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


@every_method
def test_permuting_rows_and_columns_permutes_the_answer(full_rank, rng, method):
    M = full_rank((30, 20), noise=0.5)
    seen, answer = observation_and_answer(M, 1, method)
    p, q = rng.permutation(30), rng.permutation(20)
    moved = curplus.Observation(
        shape=(30, 20),
        column_index=np.argsort(q)[seen.column_index], columns=seen.columns[p],
        row_index=np.argsort(p)[seen.row_index], rows=seen.rows[:, q],
        i=np.argsort(p)[seen.i], j=np.argsort(q)[seen.j], values=seen.values,
    )  # fmt: skip
    assert np.allclose(method(M[p][:, q], moved).to_array(), answer[p][:, q], atol=1e-10)


@every_method
def test_transposing_transposes_the_answer(full_rank, method):
    M = full_rank((30, 20), noise=0.5)
    seen, answer = observation_and_answer(M, 1, method)
    assert np.allclose(method(M.T, seen.T).to_array(), answer.T, atol=1e-10)


@every_method
@pytest.mark.parametrize("scale", [1e-250, 1e-100, 1e100, 1e250, -1.0])
def test_scaling_the_matrix_scales_the_answer(full_rank, method, scale):
    M = full_rank((30, 20), noise=0.5)
    _, answer = observation_and_answer(M, 1, method)
    _, scaled = observation_and_answer(M * scale, 1, method)
    assert np.allclose(scaled / scale, answer, rtol=0, atol=1e-10)


@every_method
def test_unitary_phases_of_rows_and_columns_pass_through(full_rank, rng, method):
    M = full_rank((30, 20), noise=0.5)
    a, b = (np.exp(2j * np.pi * rng.random(size)) for size in M.shape)
    _, answer = observation_and_answer(M.astype(complex), 1, method)
    _, turned = observation_and_answer(a[:, None] * M * b, 1, method)
    assert np.allclose(turned, a[:, None] * answer * b, rtol=0, atol=1e-10)


@every_method
def test_the_adjoint_of_the_matrix_has_the_adjoint_answer(full_rank, method):
    M = full_rank((30, 20), noise=0.5)
    seen, answer = observation_and_answer(M, 1, method)
    assert np.allclose(method(adjoint(M), seen.H).to_array(), adjoint(answer), rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", ["cur_full", "cur_plus_all"])
def test_a_complex_matrix_is_approximated_as_the_real_one_of_its_two_parts(full_rank, method):
    """[[Re, -Im], [Im, Re]] has the same matrices in the span of the same columns and rows, and other arithmetic."""
    M = full_rank((14, 11), noise=0.5)
    d1, d2 = np.array([2, 5, 7]), np.array([1, 4, 8, 9])
    i, j = np.divmod(np.arange(14 * 11), 11)
    doubled = np.block([[M.real, -M.imag], [M.imag, M.real]])
    whole = curplus.SamplePlan(M.shape, d1, d2, i, j, curplus.observation.SamplingDesign())
    twice = curplus.SamplePlan(
        doubled.shape,
        np.append(d1, d1 + 11),
        np.append(d2, d2 + 14),
        np.concatenate([i, i + 14, i, i + 14]),
        np.concatenate([j, j, j + 11, j + 11]),
        curplus.observation.SamplingDesign(),
    )

    def answer(matrix, plan, rank):
        seen = observed(matrix, plan)
        return (curplus.cur_full(matrix, seen) if method == "cur_full" else curplus.cur_plus(seen, rank)).to_array()

    found, parts = answer(M, whole, 3), answer(doubled, twice, 6)
    assert np.allclose(parts[:14, :11], found.real, atol=1e-11)
    assert np.allclose(parts[14:, :11], found.imag, atol=1e-11)


@every_method
def test_same_seed_same_bits(full_rank, method):
    M = full_rank((30, 20), noise=0.5)
    assert np.array_equal(observation_and_answer(M, 5, method)[1], observation_and_answer(M, 5, method)[1])


def test_deficient_samples_are_defined_and_said(rng):
    M = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 20))
    seen = curplus.observe(M, n_columns=8, n_rows=2, n_entries=60, rng=0)
    with pytest.raises(RankTooLargeError):
        curplus.cur_plus(seen, 5)
    seen = curplus.observe(M, n_columns=8, n_rows=6, n_entries=60, rng=0)
    approx = curplus.cur_plus(seen, 5)
    assert approx.core.Z.shape == (3, 3)
    assert relative_error(approx, M) < 1e-12
    assert "rank 5 was asked for, but the rank of the sampled columns is only 3." in approx.core.notes


def test_columns_and_rows_may_have_different_ranks(rng):
    M = np.zeros((30, 20))
    M[:15, :10] = rng.standard_normal((15, 10))
    plan = curplus.SamplePlan((30, 20), np.arange(6, 12), np.arange(6), np.repeat(np.arange(15), 10),
                              np.tile(np.arange(10), 15), curplus.observation.SamplingDesign())  # fmt: skip
    approx = curplus.cur_plus(observed(M, plan), 6)
    assert approx.core.Z.shape == (4, 6)
    C, R = M[:, 6:12], M[:6]
    expected = C @ np.linalg.pinv(C) @ M @ np.linalg.pinv(R) @ R
    assert np.allclose(approx.to_array(), expected, atol=1e-12)  # all of the nonzero block was read


@pytest.mark.parametrize("solver", [s for s in curplus.solvers.SOLVERS if s != "minimum_norm"])
def test_real_world_deficiency_gives_the_minimum_norm_answer(coherent, solver):
    M = coherent((60, 40), density=0.08)
    seen = curplus.observe(M, n_columns=12, n_rows=12, n_entries=200, rng=2)
    reference = curplus.cur_plus(seen, 6, solver="minimum_norm")
    assert reference.core.rank < np.prod(reference.core.Z.shape)
    approx = curplus.cur_plus(seen, 6, solver=solver)
    scale = np.linalg.norm(reference.core.Z)
    if approx.core.converged and reference.core.condition < 1e6:
        assert np.linalg.norm(approx.to_array() - reference.to_array()) < 1e-6 * scale


@pytest.mark.parametrize("method", [lambda seen: curplus.cur_plus(seen, 2), curplus.cur_unbiased])
def test_without_entries_there_is_no_core(full_rank, method):
    seen = curplus.observe(full_rank(), n_columns=3, n_rows=3, n_entries=0, rng=0)
    with pytest.raises(
        TooFewEntriesError, match="finds the core from scattered entries, and this observation has none"
    ):
        method(seen)


def test_too_few_entries_name_what_is_needed(full_rank):
    seen = curplus.observe(full_rank(), n_columns=3, n_rows=3, n_entries=5, rng=0)
    with pytest.raises(TooFewEntriesError, match=r"9 unknowns .* only 5 entries .* at least 9 .* lower rank to 2"):
        curplus.cur_plus(seen, 3)
    assert curplus.cur_plus(seen, 3, solver=curplus.solvers.MinimumNorm()).core.rank == 5


@pytest.mark.parametrize("rank", [0, -2, 2.5, True, "3", None])
def test_a_rank_that_is_no_positive_whole_number_is_refused(full_rank, rank):
    seen = curplus.observe(full_rank(), n_columns=3, n_rows=3, n_entries=50, rng=0)
    with pytest.raises(InvalidArgumentError, match="rank="):
        curplus.cur_plus(seen, rank)


def test_few_entries_per_unknown_are_mentioned(full_rank):
    seen = curplus.observe(full_rank(), n_columns=3, n_rows=3, n_entries=20, rng=0)
    assert any("noise is amplified below 36 entries" in note for note in curplus.cur_plus(seen, 3).core.notes)


def test_a_solver_of_ones_own_is_taken(full_rank):
    class AllOnes:
        def solve(self, left, right, observation):
            return curplus.factorization.Core(np.ones((left.shape[1], right.shape[1])), "AllOnes")

    seen = curplus.observe(full_rank(), n_columns=3, n_rows=3, n_entries=20, rng=0)
    assert curplus.cur_plus(seen, 2, solver=AllOnes()).core.Z.tolist() == [[1, 1], [1, 1]]


@given(fields, st.integers(0, 10**6), st.integers(2, 20), st.integers(2, 20), st.data())
def test_a_matrix_in_the_span_of_its_samples_is_reproduced(field, seed, n, m, data):
    rng = np.random.default_rng(seed)
    r = data.draw(st.integers(1, min(n, m, 3)))
    M = gaussian(rng, (n, r), field) @ gaussian(rng, (r, m), field)
    seen = curplus.observe(M, n_columns=m, n_rows=n, n_entries=n * m, rng=seed)
    assert relative_error(curplus.cur_plus(seen, r), M) < 1e-10
    assert relative_error(curplus.cur_full(M, seen), M) < 1e-10
    assert relative_error(curplus.cur_unbiased(seen), M) < 1e-10  # every entry once: the estimate is the matrix


def test_the_numbers_of_the_notes_come_out_on_dexter(data_dir):
    M = scipy.sparse.load_npz(data_dir / "dexter.npz").astype(float)
    target = curplus.metrics.ReferenceMatrix(M)
    zero = target.frobenius_norm / target.best_frobenius_error(10)
    assert zero == pytest.approx(1.1286, abs=1e-4)
    l_f = []
    for seed in range(3):
        seen = curplus.observe(M, n_columns=50, n_rows=250, n_entries=20915, rng=seed)
        l_f.append(curplus.metrics.relative_frobenius_error(target, curplus.cur_full(M, seen), 10))
    assert np.mean(l_f) == pytest.approx(1.09, abs=0.02)


def unequal_draw(rng, shape, size):
    """Positions drawn with replacement with unequal chances, and those chances."""
    chance = rng.random(shape) ** 3 + 0.01
    chance /= chance.sum()
    flat = rng.choice(chance.size, size=size, p=chance.ravel())
    i, j = np.divmod(flat, shape[1])
    return i, j, chance[i, j]


def test_cur_unbiased_stays_unbiased_for_entries_of_unequal_chance(full_rank, rng):
    M = full_rank((20, 15), rank=3)
    plan = curplus.observation.uniform_plan((20, 15), n_columns=6, n_rows=6, n_entries=0, rng=0)
    answers = []
    for _ in range(2000):
        i, j, chance = unequal_draw(rng, M.shape, 60)
        answers.append(curplus.cur_unbiased(observed(M, plan._replace(i=i, j=j), probabilities=chance)).core.Z)
    error = np.mean(answers, axis=0) - curplus.cur_full(M, observed(M, plan)).core.Z
    assert np.all(np.abs(error) < 5 * np.std(answers, axis=0) / np.sqrt(2000))


def test_cur_plus_tends_to_the_best_core_whatever_the_chances(full_rank, rng):
    M = full_rank((30, 20), rank=4, noise=1.0)
    plan = curplus.observation.uniform_plan((30, 20), n_columns=6, n_rows=6, n_entries=0, rng=0)
    i, j, chance = unequal_draw(rng, M.shape, 400_000)
    best = curplus.cur_full(M, observed(M, plan), 3).core.Z
    aware = curplus.cur_plus(observed(M, plan._replace(i=i, j=j), probabilities=chance), 3).core.Z
    naive = curplus.cur_plus(observed(M, plan._replace(i=i, j=j)), 3).core.Z
    assert np.linalg.norm(aware - best) < 0.02 * np.linalg.norm(best)
    assert np.linalg.norm(naive - best) > 5 * np.linalg.norm(aware - best)


def test_noise_weights_are_those_of_weighted_least_squares(full_rank, rng):
    M = full_rank((30, 20), rank=4, noise=1.0)
    weights = rng.random(200) + 0.1
    plan = curplus.observation.uniform_plan((30, 20), n_columns=6, n_rows=6, n_entries=200, rng=0)
    approx = curplus.cur_plus(observed(M, plan, weights=weights), 3)
    U, V = approx.left.vectors, approx.right.vectors
    design = np.einsum("tp,tq->tpq", U[plan.i], V[plan.j].conj()).reshape(200, -1) * np.sqrt(weights)[:, None]
    expected = np.linalg.lstsq(design, np.sqrt(weights) * M[plan.i, plan.j])[0].reshape(3, 3)
    assert np.allclose(approx.core.Z, expected, atol=1e-10)


@pytest.mark.parametrize("convert", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_cur_full_names_the_place_of_what_is_not_finite(full_rank, convert, bad):
    M = full_rank((30, 20))
    seen = curplus.observe(M, n_columns=3, n_rows=3, n_entries=0, rng=0)
    i = next(k for k in range(30) if k not in seen.row_index)
    j = next(k for k in range(20) if k not in seen.column_index)
    M[i, j] = bad
    with pytest.raises(InvalidArgumentError, match=f"row {i}, column {j}"):
        curplus.cur_full(convert(M), seen)


@pytest.mark.parametrize(
    ("scale", "dtype"), [(1e305, np.float64), (1e-300, np.float64), (1e36, np.float32), (1e-30, np.float32)]
)
def test_the_ends_of_the_range_are_within_it(scale, dtype):
    M = (np.outer(np.linspace(0.1, 1, 20), np.linspace(0.1, 1, 15)) * scale).astype(dtype)
    seen = curplus.observe(M, n_columns=3, n_rows=3, n_entries=30, rng=0)
    for approx in (curplus.cur_plus(seen, 1), curplus.approximate(seen, 1)):
        assert np.allclose(approx.entries(seen.i, seen.j) / scale, M[seen.i, seen.j] / scale, rtol=1e-4)


def test_a_right_answer_of_ill_scaled_equations_counts_as_converged():
    rng = np.random.default_rng(5)
    A = rng.standard_normal((200, 3))
    A[0, 0] = 1e5
    X = A @ rng.standard_normal((3, 150))
    i, j = rng.integers(1, 200, 80), rng.integers(0, 150, 80)
    plan = curplus.SamplePlan(X.shape, np.arange(6), np.arange(7), i, j)
    approx = curplus.cur_plus(observed(X, plan), 3)
    assert relative_error(approx, X) < 1e-12
    assert approx.core.converged
