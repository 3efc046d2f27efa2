"""PSD matrices: columns chosen by randomly pivoted Cholesky, the Nystroem answer, and the trace of its error."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import Observation, acquire, approximate, certify, propose, read
from curplus.acquisition import psd
from curplus.exceptions import InconsistentObservationError, InvalidArgumentError, SourceError
from tests.conftest import effort
from tests.strategies import seeds
from tests.test_observation import assert_same
from tests.test_propose import Failing
from tests.test_symmetry import psd_matrices, psd_matrix

N_DRAWS = effort(400, 4000)
UNITS = {np.float32: 1e-6, np.float64: 1e-14}


def rbf(n, width=1.0, seed=0, dim=3):
    X = np.random.default_rng(seed).standard_normal((n, dim))
    K = np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=2) / (2 * width**2))
    return (K + K.T) / 2


def nystroem(M, index, rank=None):
    """The best rank-r part of C W^+ C^T, by dense eigenvalues."""
    M = M.astype(float)
    N = M[:, index] @ np.linalg.pinv(M[np.ix_(index, index)], rcond=1e-12, hermitian=True) @ M[index]
    values, V = np.linalg.eigh((N + N.T) / 2)
    kept = np.argsort(-values)[:rank]
    return (V[:, kept] * values[kept]) @ V[:, kept].T


def sample_of(M, index, **more):
    n = len(M)
    diagonal = {"i": np.arange(n), "j": np.arange(n), "values": np.diag(M)}
    return Observation(shape=M.shape, column_index=index, columns=M[:, index], **diagonal, symmetry="psd", **more)


# -- the answer ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["free", "cur"])
@pytest.mark.parametrize("rank", [None, 4])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e150])
def test_is_the_nystroem_approximation_of_the_columns(rng, rank, form, scale):
    K = rbf(60)
    index = rng.permutation(60)[:12]
    approx = approximate(sample_of(scale * K, index), rank, form=form)
    assert approx.rank == (rank or 12)
    np.testing.assert_allclose(approx.to_array() / scale, nystroem(K, index, rank), atol=1e-8)
    if form == "cur":
        C, U, R, columns, rows = approx.cur()
        np.testing.assert_array_equal(columns, index)
        np.testing.assert_array_equal(rows, index)
        np.testing.assert_array_equal(C, R.T)
        np.testing.assert_allclose(C @ U @ R / scale, approx.to_array() / scale, atol=1e-6)


@given(st.data(), psd_matrices(), seeds)
def test_the_answer_is_psd_and_symmetric_to_the_last_bit(data, M, seed):
    n = len(M)
    seen = acquire(M, n_columns=data.draw(st.integers(1, n)), psd=True, rng=seed)
    rank = data.draw(st.none() | st.integers(1, n))
    approx = approximate(seen, rank)
    i, j = np.random.default_rng(seed).integers(n, size=(2, 50))
    np.testing.assert_array_equal(approx.entries(i, j), approx.entries(j, i))
    whole = approx.to_array()
    np.testing.assert_array_equal(whole, whole.T)
    assert whole.dtype == M.dtype
    assert approx.is_symmetric
    core = np.diagonal(approx.core.Z)
    assert (core >= 0).all()
    assert np.count_nonzero(approx.core.Z) == np.count_nonzero(core)
    unit = 100 * UNITS[M.dtype.type] * np.trace(M).astype(float)
    error = M.astype(float) - whole
    assert np.linalg.eigvalsh(error)[0] >= -unit
    certificate = certify(approx, seen)
    assert certificate.evidence == "the diagonal"
    assert abs(certificate.trace - np.trace(error)) <= 1e-10 * np.trace(M).astype(float) + 0.01 * unit * (n > 0)
    low, high = certificate.interval
    assert low - unit <= np.linalg.norm(error) <= high + unit


@given(st.data(), psd_matrices(), st.sampled_from(["symmetric", "psd"]), seeds)
def test_every_kind_of_sample_gives_a_symmetric_answer(data, M, word, seed):
    n, rng = len(M), np.random.default_rng(seed)
    counts = {"n_columns": data.draw(st.integers(0, n)), "n_rows": data.draw(st.integers(0, n))}
    seen = curplus.observe(M, **counts, n_entries=data.draw(st.integers(1, n * n)), rng=seed)
    approx = approximate(seen.extend(Observation(shape=M.shape, symmetry=word)), data.draw(st.none() | st.just(2)))
    i, j = rng.integers(n, size=(2, 50))
    np.testing.assert_array_equal(approx.entries(i, j), approx.entries(j, i))
    if word == "psd":
        assert (np.diagonal(approx.core.Z) >= 0).all()


@pytest.mark.parametrize("n_entries", [0, 2000])
@pytest.mark.parametrize("strategy", ["auto", "uniform", "pivoted", "residual_norm", "leverage"])
def test_a_symmetric_answer_is_no_worse_than_the_one_without_the_promise(strategy, n_entries):
    M = rbf(80) - rbf(80, seed=1)
    how = {"n_columns": 12, "n_entries": n_entries, "strategy": strategy, "symmetric": True}
    ratios = []
    for seed in range(2):
        seen = acquire(M, **how, rng=seed)
        assert seen.symmetry == "symmetric"
        assert seen.n_rows == seen.n_columns == 12
        plain = Observation(**{name: getattr(seen, name) for name in ("shape", "column_index", "columns", "row_index",
                            "rows", "i", "j", "values", "design", "evidence")})  # fmt: skip
        ours, without = (np.linalg.norm(M - approximate(o).to_array()) for o in (seen, plain))
        ratios.append(ours / without)
    assert np.exp(np.mean(np.log(ratios))) < 1.02


def test_an_entry_tells_both_of_its_places_and_is_set_aside_in_both():
    M = rbf(80)
    i, j = np.triu_indices(80)
    some = np.random.default_rng(0).permutation(len(i))[:2200]
    fields = {"shape": M.shape, "i": i[some], "j": j[some], "values": M[i[some], j[some]]}
    plain, promised = (approximate(Observation(**fields, symmetry=word)) for word in (None, "symmetric"))
    error, without = (np.linalg.norm(M - x.to_array()) for x in (promised, plain))
    assert error < 0.5 * without  # the lower triangle was not read
    both = Observation(**fields, symmetry="symmetric").extend(
        Observation(**fields | {"i": fields["j"], "j": fields["i"]})
    )
    held = approximate(both).held_out
    folded = np.minimum(both.i, both.j) * 80 + np.maximum(both.i, both.j)
    assert not np.isin(np.delete(folded, held), folded[held]).any()


def test_many_entries_correct_a_psd_answer_that_few_columns_leave_poor():
    M = rbf(150, width=0.8)
    index = np.arange(3)
    i, j = np.random.default_rng(0).integers(150, size=(2, 9000))
    lines = {"shape": M.shape, "column_index": index, "columns": M[:, index], "symmetry": "psd"}
    few, many = Observation(**lines), Observation(**lines, i=i, j=j, values=M[i, j])
    corrected = approximate(many)
    error, without = (np.linalg.norm(M - answer.to_array()) for answer in (corrected, approximate(few)))
    assert error < 0.5 * without
    assert np.linalg.eigvalsh(corrected.to_array())[0] > -1e-12
    assert math.isnan(certify(corrected, many).trace)


def test_survives_save_truncate_and_transposition(tmp_path):
    M = rbf(50)
    seen = acquire(M, n_columns=10, psd=True, rng=0)
    approx = approximate(seen)
    approx.save(tmp_path / "answer.npz")
    loaded = curplus.load(tmp_path / "answer.npz")
    assert loaded.is_symmetric
    assert certify(loaded, seen).trace == certify(approx, seen).trace
    for other in (loaded.truncate(3), approx.T.truncate(3), approximate(seen, 3)):
        assert other.is_symmetric
        np.testing.assert_allclose(other.to_array(), nystroem(M, seen.column_index, 3), atol=1e-9)
    trace = certify(loaded.truncate(3), seen).trace
    assert trace == pytest.approx(np.trace(M) - np.trace(nystroem(M, seen.column_index, 3)), rel=1e-10)


def test_a_cut_of_a_symmetric_answer_keeps_negative_eigenvalues():
    M = np.diag([3.0, -5.0, 1.0, 0.5])
    seen = Observation(shape=M.shape, column_index=range(4), columns=M, symmetry="symmetric")
    np.testing.assert_allclose(approximate(seen, 2).to_array(), np.diag([3.0, -5.0, 0, 0]), atol=1e-12)
    np.testing.assert_allclose(approximate(seen).truncate(1).to_array(), np.diag([0, -5.0, 0, 0]), atol=1e-12)


def test_noisy_columns_give_a_psd_answer_without_an_exact_certificate():
    rng = np.random.default_rng(0)
    M = rbf(60, width=2.0)
    noisy = M + 0.01 * rng.standard_normal(M.shape)
    seen = acquire(noisy, n_columns=12, psd=True, noise=0.01, rng=0)
    approx = approximate(seen)
    assert (np.diagonal(approx.core.Z) >= 0).all()
    assert np.linalg.norm(M - approx.to_array()) < 0.1 * np.linalg.norm(M)
    assert math.isnan(certify(approx, seen).trace)


def test_rows_that_come_later_are_completed():
    K = rbf(400, width=2.0)
    approx = approximate(acquire(K[:350, :350], n_columns=15, psd=True, rng=0))
    new = K[350:, :350]
    known = np.where(np.arange(350) < 20, new, np.nan)
    completed = approx.complete_rows(known)
    assert np.linalg.norm(completed - new) < 0.05 * np.linalg.norm(new)
    assert approx.provenance.model.noise == pytest.approx(approx.report.trace_error / 350)


# -- the certificate ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [None, 5])
@pytest.mark.parametrize("k", [1, 10, 40, 120])
def test_the_trace_of_the_error_is_exact(k, rank):
    M = rbf(120, width=0.7)
    seen = acquire(M, n_columns=k, psd=True, rng=1)
    approx = approximate(seen, rank)
    certificate = certify(approx, seen)
    dense = np.trace(M - approx.to_array())
    assert abs(certificate.trace - dense) <= 1e-10 * max(dense, 1e-3 * np.trace(M))
    assert approx.report.trace_error == pytest.approx(certificate.trace, abs=1e-12 * np.trace(M))
    low, high = certificate.interval
    assert low - 1e-12 <= np.linalg.norm(M - approx.to_array()) <= high
    assert certificate.level == 1
    assert "the trace of the error is" in str(certificate)
    assert "the trace of the error is" in certificate._repr_html_()


def test_there_is_no_trace_without_the_diagonal_or_without_the_promise():
    M = rbf(40)
    lines = {"shape": M.shape, "column_index": range(5), "columns": M[:, :5]}
    for more in ({"symmetry": "psd"}, {"symmetry": "symmetric"}, {}):
        seen = Observation(**lines, **more)
        assert math.isnan(certify(approximate(seen), seen).trace)
    assert "diagonal" in approximate(Observation(**lines, symmetry="psd")).report.verdict


def test_rows_of_a_symmetric_matrix_are_not_left_out_to_judge_it():
    M = rbf(100)
    seen = curplus.observe(M, n_columns=60, n_rows=60, n_entries=0, rng=0)
    promised = seen.extend(Observation(shape=M.shape, symmetry="symmetric"))
    assert "known as columns too" in certify(approximate(promised), promised).reason


# -- choosing columns ---------------------------------------------------------------------------------------------


def exact_chances(M, k):
    """Chance of each ordered choice of k columns by randomly pivoted Cholesky."""
    chances = {}
    for choice in itertools.permutations(range(len(M)), k):
        left, chance = M.copy(), 1.0
        for s in choice:
            diagonal = np.maximum(np.diag(left), 0.0)
            chance *= diagonal[s] / diagonal.sum()
            if chance == 0:
                break
            left = left - np.outer(left[:, s], left[s]) / left[s, s]
        chances[choice] = chance
    return chances


@pytest.mark.parametrize("blocks", [1, 8])
def test_columns_have_the_distribution_of_randomly_pivoted_cholesky(monkeypatch, blocks):
    monkeypatch.setattr(psd, "BLOCKS", blocks)
    M = psd_matrix(4, 3, 5)
    draws = [
        tuple(acquire(M, n_columns=2, psd=True, strategy="rpcholesky", rng=seed).column_index.tolist())
        for seed in range(N_DRAWS)
    ]
    expected = exact_chances(M, 2)
    counts = [draws.count(choice) for choice in expected]
    assert sum(counts) == N_DRAWS
    assert scipy.stats.chisquare(counts, N_DRAWS * np.array(list(expected.values()))).pvalue > 1e-3


@pytest.mark.parametrize("strategy", ["auto", "rpcholesky"])
def test_a_far_cluster_is_found(strategy):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((280, 2)), 0.1 * rng.standard_normal((4, 2)) + 50])
    M = np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=2) / 20)
    for seed in range(20):
        assert acquire(M, n_columns=20, psd=True, strategy=strategy, rng=seed).column_index.max() >= 280


@given(st.data(), psd_matrices(), seeds)
def test_reads_the_diagonal_few_entries_and_columns_and_counts_all(recording_source, data, M, seed):
    n, source = len(M), recording_source(M)
    k = data.draw(st.integers(0, n))
    seen = acquire(source, n_columns=k, psd=True, rng=seed)
    assert seen.n_columns <= k
    assert seen.n_rows == 0
    assert seen.n_values_read == source.seen.sum()
    np.testing.assert_array_equal(seen.diagonal(), np.diag(M))
    np.testing.assert_array_equal(seen.columns, M[:, seen.column_index])


def test_columns_that_explain_others_are_better_than_those_drawn_alone():
    M, errors = rbf(300, dim=2), {}
    for strategy in ("auto", "rpcholesky", "uniform"):
        runs = [approximate(acquire(M, n_columns=16, psd=True, strategy=strategy, rng=seed)) for seed in range(12)]
        errors[strategy] = np.mean([np.log(np.linalg.norm(M - run.to_array())) for run in runs])
    assert errors["auto"] < errors["rpcholesky"] - 0.1
    assert errors["rpcholesky"] < errors["uniform"] - 0.1


@pytest.mark.parametrize("strategy", ["auto", "rpcholesky", "uniform"])
def test_a_function_is_asked_for_no_position_twice(strategy):
    M, asked = rbf(90), np.zeros((90, 90), dtype=int)

    def function(i, j):
        np.add.at(asked, (i, j), 1)
        return M[i, j]

    seen = acquire(curplus.CallableSource(function, M.shape), n_columns=25, psd=True, strategy=strategy, rng=0)
    assert asked.max() == 1
    assert asked.sum() == seen.n_values_read < 28 * 90


def test_acquire_is_the_loop_over_propose_with_the_same_bits():
    M = rbf(70)
    seen = Observation(shape=M.shape, symmetry="psd")
    reasons = []
    while (plan := propose(seen, n_columns=20, rng=3)) is not None:
        reasons.append(*plan.reasons)
        seen = seen.extend(read(M, plan, known=seen))
    acquired = acquire(M, n_columns=20, psd=True, rng=3)
    for name in ("column_index", "columns", "i", "j", "values", "symmetry"):
        np.testing.assert_array_equal(getattr(acquired, name), getattr(seen, name))
    assert reasons[0] == "70 entries, the diagonal"
    assert "drawn by what is left of the diagonal" in reasons[-1]


@pytest.mark.parametrize("strategy", ["auto", "rpcholesky", "uniform"])
@pytest.mark.parametrize("call", [1, 2, 3, 6, 9])
def test_going_on_after_a_failure_gives_the_bits_of_an_undisturbed_run(strategy, call):
    M = rbf(70)
    how = {"n_columns": 20, "psd": True, "strategy": strategy, "rng": 5}
    undisturbed = acquire(M, **how)
    call = min(call, 2) if strategy == "uniform" else call
    with pytest.raises(SourceError, match="rng=5") as failure:
        acquire(Failing(M, call), **how)
    known = failure.value.observation
    assert known.n_values_read < undisturbed.n_values_read
    assert_same(acquire(M, **how, start=known), undisturbed)
    assert_same(acquire(M, **{k: v for k, v in how.items() if k != "psd"}, start=known), undisturbed)


def test_a_start_without_the_promise_is_taken_rows_as_columns():
    M = rbf(40)
    start = curplus.observe(M, n_columns=2, n_rows=3, n_entries=5, rng=0)
    seen = acquire(M, n_columns=9, psd=True, start=start, rng=0)
    assert {*start.column_index.tolist(), *start.row_index.tolist()} <= {*seen.column_index.tolist()}
    assert (seen.symmetry, seen.n_rows, seen.n_columns) == ("psd", 0, 9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_reading_stops_when_the_rank_is_found(dtype, scale):
    M = psd_matrix(60, 5, 0, scale, dtype)
    seen = acquire(M, n_columns=60, psd=True, rng=0)
    approx = approximate(seen)
    assert seen.n_columns == approx.rank == 5
    assert "nothing but rounding is left of the diagonal" in approx.report["rank"].reason
    assert approx.report.verdict.startswith("exact")
    unit = float(np.linalg.norm(M.astype(float)))
    assert np.linalg.norm(M.astype(float) - approx.to_array()) < 100 * UNITS[dtype] * unit


def test_points_that_occur_twice_are_taken_once():
    K = rbf(30)
    twice = np.repeat(np.arange(30), 2)
    seen = acquire(K[np.ix_(twice, twice)], n_columns=60, psd=True, rng=0)
    assert len(np.unique(twice[seen.column_index])) == seen.n_columns <= 30
    assert approximate(seen).report.verdict.startswith("exact")


def test_values_rounded_to_half_of_the_digits_do_no_harm():
    M = rbf(80, width=3.0).astype(np.float32).astype(float)  # of numerical rank about 20 in single precision
    seen = acquire(M, n_columns=80, psd=True, rng=0)
    assert np.linalg.norm(M - approximate(seen).to_array()) < 1e-5 * np.linalg.norm(M)
    seen = sample_of(M, np.arange(80))
    assert np.linalg.norm(M - approximate(seen).to_array()) < 1e-5 * np.linalg.norm(M)


def test_the_zero_matrix_has_no_column_worth_reading():
    seen = acquire(np.zeros((6, 6)), n_columns=3, psd=True, rng=0)
    assert seen.n_columns == 0
    assert np.array_equal(approximate(seen).to_array(), np.zeros((6, 6)))


INDEFINITE = np.array([[1.0, 2.0, 0.1], [2.0, 1.0, 0.0], [0.1, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("matrix", "options", "kind", "message"),
    [
        (INDEFINITE, {}, InconsistentObservationError, "the matrix is not PSD"),
        (np.diag([1.0, -1.0, 2.0]), {}, InconsistentObservationError, "no diagonal value is negative"),
        (np.triu(np.ones((3, 3))), {}, InconsistentObservationError, r"states M = M\.T|not PSD"),
        (np.ones((3, 4)), {}, InvalidArgumentError, "psd=True but the matrix is 3 x 4, not square"),
        (np.eye(3), {"n_rows": 2}, InvalidArgumentError, "Leave n_rows out"),
        (np.eye(3), {"n_entries": 5}, InvalidArgumentError, "the diagonal is read, 3 values"),
        (np.eye(3), {"n_columns": 4}, InvalidArgumentError, "n_columns=4"),
        (np.eye(3), {"strategy": "leverage"}, InvalidArgumentError, "symmetric=True instead"),
        (np.diag([1.0, np.nan, 1.0]), {"gaps": True}, InvalidArgumentError, "have gaps"),
        (
            np.eye(3),
            {"start": Observation(shape=(3, 3), column_index=[0, 1, 2], columns=np.eye(3)), "n_columns": 2},
            InvalidArgumentError,
            "n_columns=2 is the total",
        ),
    ],
)
def test_what_cannot_work_is_explained(matrix, options, kind, message):
    with pytest.raises(kind, match=message):
        acquire(matrix, **{"n_columns": 3, "psd": True, "rng": 0} | options)


def test_counts_may_be_left_out_only_where_they_follow():
    M = rbf(20)
    assert acquire(M, n_columns=4, n_entries=0, symmetric=True, rng=0).n_rows == 4
    with pytest.raises(InvalidArgumentError, match="n_rows and a budget are missing"):
        acquire(M, n_columns=4, n_entries=0)
    with pytest.raises(InvalidArgumentError, match="n_entries and a budget are missing"):
        acquire(M, n_columns=4, n_rows=4)


def test_a_symmetric_matrix_of_which_all_columns_are_known_leaves_nothing_but_rounding():
    rng = np.random.default_rng(371)
    F = rng.standard_normal((12, int(rng.integers(1, 13))))
    M = F @ F.T * 10.0 ** rng.integers(-3, 10)
    seen = curplus.observe(M, n_columns=int(rng.integers(1, 13)), n_rows=12, n_entries=int(rng.integers(0, 3)), rng=371)
    approx = approximate(seen.extend(Observation(shape=M.shape, symmetry="symmetric")))
    assert np.linalg.norm(approx.to_array() - M) <= np.linalg.norm(M)
