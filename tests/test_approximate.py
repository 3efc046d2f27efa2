from dataclasses import replace

import array_api_strict
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus.exceptions import InvalidArgumentError, SpanError
from tests.strategies import observed


def relative_error(approx, M):
    return np.linalg.norm(approx.to_array() - M) / np.linalg.norm(M)


@pytest.mark.parametrize("rank", [1, 5, 10])
def test_recovers_a_matrix_at_the_information_limit(low_rank, rank):
    M = low_rank((200, 150), rank)
    for seed in range(10):
        seen = curplus.observe(M, n_columns=rank, n_rows=rank, n_entries=0, rng=seed)
        approx = curplus.approximate(seen, rank)
        assert relative_error(approx, M) < 1e-14 * approx.report.intersection_condition**2
        assert approx.report.verdict.startswith("unverifiable")


@pytest.mark.parametrize("rank", [None, 4])
@pytest.mark.parametrize("counts", [(4, 9, 0), (9, 4, 0), (8, 8, 30), (20, 8, 200), (6, 6, 5000)])
def test_recovers_a_matrix_of_low_rank_from_any_mix(low_rank, rank, counts):
    M = low_rank((120, 90), 4)
    seen = curplus.observe(M, n_columns=counts[0], n_rows=counts[1], n_entries=counts[2], rng=1)
    approx = curplus.approximate(seen, rank)
    assert approx.rank == 4
    assert relative_error(approx, M) < 1e-10


@pytest.mark.parametrize(("n_columns", "n_rows"), [(8, 0), (0, 8), (0, 0)])
def test_works_with_one_kind_of_line_or_none_and_entries(low_rank, n_columns, n_rows):
    M = low_rank((150, 120), 3)
    seen = curplus.observe(M, n_columns=n_columns, n_rows=n_rows, n_entries=6000, rng=0)
    approx = curplus.approximate(seen, 3)
    assert relative_error(approx, M) < 1e-8
    assert len(approx.held_out) > 100


@pytest.mark.parametrize(("n_columns", "n_rows"), [(8, 0), (0, 8)])
def test_columns_alone_are_given_back_as_they_are(full_rank, n_columns, n_rows):
    M = full_rank((30, 20))
    seen = curplus.observe(M, n_columns=n_columns, n_rows=n_rows, n_entries=0, rng=0)
    dense = curplus.approximate(seen).to_array()
    assert np.allclose(dense[:, seen.column_index], M[:, seen.column_index], atol=1e-10)
    assert np.allclose(dense[seen.row_index], M[seen.row_index], atol=1e-10)


def test_what_was_read_is_reproduced_as_well_as_the_rank_allows(full_rank):
    M = full_rank((60, 50), noise=0.5)
    seen = curplus.observe(M, n_columns=8, n_rows=9, n_entries=100, rng=0)
    dense = curplus.approximate(seen, 17).to_array()
    assert np.allclose(dense[seen.row_index], M[seen.row_index], atol=1e-10)
    assert np.allclose(dense[:, seen.column_index], M[:, seen.column_index], atol=1e-10)


def test_refines_under_noise_only_when_unseen_entries_agree(low_rank, rng):
    signal = low_rank((300, 250), 5)
    M = signal + 0.1 * signal.std() * rng.standard_normal(signal.shape)
    seen = curplus.observe(M, n_columns=10, n_rows=10, n_entries=20_000, rng=0)
    approx = curplus.approximate(seen, 5)
    assert approx.report.refined
    assert approx.report.refinement_z > 2
    assert relative_error(approx, signal) < 0.05
    assert len(approx.held_out) == 1500
    few = curplus.approximate(curplus.observe(M, n_columns=10, n_rows=10, n_entries=500, rng=0), 5)
    assert not few.report.refined
    assert "not tried: too few entries" in str(few.report)


def test_entries_for_few_directions_refine_no_matrix_of_many(full_rank):
    """Two of ten directions leave out more than all the errors there are."""
    M = full_rank((600, 500), rank=10, noise=0.05)
    seen = curplus.observe(M, n_columns=40, n_rows=40, n_entries=1500, rng=0)
    approx = curplus.approximate(seen, 10)
    assert "not tried: entries for too few directions" in str(approx.report)
    assert np.linalg.norm(M - approx.to_array()) < 0.1 * np.linalg.norm(M)


def test_is_never_much_worse_than_no_answer(coherent):
    M = coherent((300, 200), density=0.02)
    for seed in range(10):
        seen = curplus.observe(M, n_columns=20, n_rows=30, n_entries=2000, rng=seed)
        assert relative_error(curplus.approximate(seen, 5), M) < 1.005


def test_says_when_zero_is_as_good(rng):
    seen = curplus.observe(rng.standard_normal((300, 200)), n_columns=20, n_rows=20, n_entries=200, rng=0)
    assert "no evidence that it is better than zero" in curplus.approximate(seen, 5).report.verdict


def test_held_out_entries_are_outside_the_lines_and_were_not_fitted(low_rank, rng):
    M = low_rank((100, 80), 3) + 0.1 * rng.standard_normal((100, 80))
    seen = curplus.observe(M, n_columns=6, n_rows=6, n_entries=3000, rng=0)
    approx = curplus.approximate(seen, 3)
    held = approx.held_out
    assert not np.isin(seen.i[held], seen.row_index).any()
    assert not np.isin(seen.j[held], seen.column_index).any()
    values = np.array(seen.values)
    values[held] += 100 * rng.standard_normal(len(held))
    changed = replace(seen, values=values)
    if not approx.report.refined:
        assert np.array_equal(curplus.approximate(changed, 3).to_array(), approx.to_array())


def test_a_repeated_position_is_never_both_fitted_and_held_out(low_rank, rng):
    M = low_rank((60, 50), 3) + 0.1 * rng.standard_normal((60, 50))
    plan = curplus.observation.uniform_plan((60, 50), n_columns=5, n_rows=5, n_entries=1000, rng=0)
    twice = plan._replace(i=np.tile(plan.i, 2), j=np.tile(plan.j, 2))
    approx = curplus.approximate(observed(M, twice), 3)
    held = np.zeros(2000, dtype=bool)
    held[approx.held_out] = True
    assert np.array_equal(held[:1000], held[1000:])


def test_unequal_chances_and_noise_do_not_mislead(low_rank, rng):
    signal = low_rank((200, 150), 3)
    M = signal + 0.1 * rng.standard_normal(signal.shape)
    i, j = rng.integers(200, size=9000), rng.integers(150, size=9000)
    bad = rng.random(9000) < 0.3
    values = M[i, j] + np.where(bad, 5.0, 0.0) * rng.standard_normal(9000)
    lines = {"column_index": np.arange(8), "columns": M[:, :8], "row_index": np.arange(8), "rows": M[:8]}
    outside = (i >= 8) & (j >= 8)
    entries = {"i": i[outside], "j": j[outside], "values": values[outside]}
    plain = curplus.approximate(curplus.Observation(shape=M.shape, **lines, **entries), 3)
    weights = np.where(bad[outside], 0.01 / 25.01, 1.0)
    aware = curplus.approximate(curplus.Observation(shape=M.shape, **lines, **entries, weights=weights), 3)
    assert relative_error(aware, signal) < 0.7 * relative_error(plain, signal)


@pytest.mark.parametrize("scale", [1e-250, 1e-100, 1e100, 1e250])
def test_scaling_the_matrix_scales_the_answer(full_rank, scale):
    M = full_rank((60, 50), noise=0.5)
    counts = {"n_columns": 8, "n_rows": 9, "n_entries": 1500, "rng": 0}
    one, other = (curplus.approximate(curplus.observe(x, **counts), 3) for x in (M, M * scale))
    assert np.allclose(other.to_array() / scale, one.to_array(), atol=1e-9)


def test_transposing_transposes_the_answer(full_rank):
    M = full_rank((60, 50), noise=0.5)
    seen = curplus.observe(M, n_columns=8, n_rows=9, n_entries=0, rng=0)
    assert np.allclose(curplus.approximate(seen.T, 3).to_array(), curplus.approximate(seen, 3).to_array().T, atol=1e-9)


def test_single_precision_and_other_libraries_are_taken(low_rank):
    M = low_rank((60, 50), 3)
    counts = {"n_columns": 6, "n_rows": 6, "n_entries": 60, "rng": 0}
    single = curplus.approximate(curplus.observe(M.astype(np.float32), **counts), 3)
    assert single.dtype == np.float32
    assert relative_error(single, M) < 1e-4
    foreign = curplus.approximate(curplus.observe(array_api_strict.asarray(M), **counts), 3)
    assert type(foreign.left.vectors) is type(array_api_strict.asarray(M))
    assert np.linalg.norm(np.asarray(foreign.to_array()) - M) < 1e-10 * np.linalg.norm(M)


def test_has_no_cur_form_and_can_be_saved(full_rank, tmp_path):
    seen = curplus.observe(full_rank((60, 50)), n_columns=8, n_rows=9, n_entries=100, rng=0)
    approx = curplus.approximate(seen)
    with pytest.raises(SpanError):
        approx.cur()
    approx.save(tmp_path / "answer.npz")
    back = curplus.load(tmp_path / "answer.npz")
    assert np.array_equal(back.to_array(), approx.to_array())
    assert np.array_equal(back.held_out, approx.held_out)
    assert str(back.report) == str(approx.report)


def test_a_matrix_of_zeros_is_approximated_by_zeros():
    seen = curplus.observe(np.zeros((20, 10)), n_columns=3, n_rows=3, n_entries=20, rng=0)
    assert not curplus.approximate(seen, 2).to_array().any()


@pytest.mark.parametrize(
    ("counts", "rank", "message"),
    [
        ((0, 0, 0), 2, "nothing was observed"),
        ((3, 3, 5), 0, "rank=0 is too small"),
    ],
)
def test_what_cannot_work_is_refused(full_rank, counts, rank, message):
    seen = curplus.observe(full_rank(), n_columns=counts[0], n_rows=counts[1], n_entries=counts[2], rng=0)
    with pytest.raises(InvalidArgumentError, match=message):
        curplus.approximate(seen, rank)


@given(st.integers(0, 10**6), st.integers(1, 15), st.integers(1, 15), st.data())
def test_any_observation_has_a_finite_answer(seed, n, m, data):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((n, m)) * (rng.random((n, m)) < data.draw(st.sampled_from([0.1, 0.5, 1.0])))
    counts = {
        "n_columns": data.draw(st.integers(0, m)),
        "n_rows": data.draw(st.integers(0, n)),
        "n_entries": data.draw(st.integers(1, n * m)),
    }
    approx = curplus.approximate(curplus.observe(M, **counts, rng=seed), data.draw(st.integers(1, 20)))
    assert np.all(np.isfinite(approx.to_array()))
    assert approx.shape == (n, m)


def test_beats_cur_plus_and_comes_close_to_cur_full_on_dexter(data_dir):
    M = scipy.sparse.load_npz(data_dir / "dexter.npz").astype(float)
    target = curplus.metrics.ReferenceMatrix(M)
    seen = curplus.observe(M, n_columns=50, n_rows=250, n_entries=20915, rng=0)
    answers = (curplus.approximate(seen, 10), curplus.cur_plus(seen, 10), curplus.cur_full(M, seen).truncate(10))
    ours, plus, full = (curplus.metrics.relative_frobenius_error(target, answer, 10) for answer in answers)
    assert ours < plus
    assert ours < 1.04 * full


def test_as_many_lines_as_directions_and_a_few_entries_are_not_worse_than_nothing():
    """Without entries the crossing would be inverted as it is, and the approximation be far off."""
    M = curplus.datasets.make_spectrum((300, 200), 1 / np.arange(1, 201), rng=0).to_array()
    for seed in range(5):
        seen = curplus.observe(M, n_columns=8, n_rows=8, n_entries=64, rng=seed)
        approx = curplus.approximate(seen, 8)
        assert np.linalg.norm(M - approx.to_array()) < 0.9 * np.linalg.norm(M)
        assert approx.report.ridge > 0


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_few_rows_and_columns_do_not_spoil_what_many_entries_say(rng, d):
    M = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 40))
    noisy = M + 0.3 * rng.standard_normal(M.shape)
    errors = {k: [] for k in (0, d)}
    for seed in range(4):
        for k, found in errors.items():
            seen = curplus.observe(noisy, n_columns=k, n_rows=k, n_entries=600, rng=seed)
            found.append(np.linalg.norm(curplus.approximate(seen).to_array() - M))
    assert np.mean(errors[d]) < 2 * np.mean(errors[0])


def unread_error(M, seen, approx):
    """Root mean square error where nothing was read, beside that of zero."""
    known = np.zeros(M.shape, dtype=bool)
    known[seen.row_index], known[:, seen.column_index], known[seen.i, seen.j] = True, True, True
    return np.sqrt(np.mean((M - approx.to_array())[~known] ** 2) / np.mean(M[~known] ** 2))


@pytest.mark.parametrize("rank", [5, 20])
def test_rows_and_columns_of_noise_say_nothing_of_the_rest(rank):
    """Cut to a rank together with the prediction, they would say something everywhere."""
    for seed in range(3):
        M = np.random.default_rng(seed).standard_normal((400, 300))
        seen = curplus.observe(M, n_columns=31, n_rows=31, n_entries=2400, rng=seed)
        approx = curplus.approximate(seen, rank)
        assert approx.provenance.method.way.bare
        assert unread_error(M, seen, approx) < 1.003


def test_rows_and_columns_that_say_something_are_kept(full_rank):
    M = full_rank((400, 300), rank=5, noise=1.0)
    seen = curplus.observe(M, n_columns=31, n_rows=31, n_entries=2400, rng=0)
    approx = curplus.approximate(seen, 20)
    assert approx.provenance.method.way.bare is False
    assert unread_error(M, seen, approx) < 0.6


@pytest.mark.parametrize(
    ("n_columns", "n_rows", "n_entries"),
    [
        *((*lines, count) for lines in [(1, 0), (8, 0), (0, 1), (0, 8), (1, 8), (3, 3)] for count in (0, 5, 30)),
        *((1, 1, count) for count in (5, 30)),  # without an entry, the matrix of rank 1 that goes through both
    ],
)
def test_few_rows_or_columns_and_hardly_an_entry_say_about_what_the_mean_says(full_rank, n_columns, n_rows, n_entries):
    """Rows of the other side were fitted to single entries, and off by a hundred times the matrix."""
    for seed in range(4):
        M = 3 + full_rank((60, 40), noise=1.0)
        seen = curplus.observe(M, n_columns=n_columns, n_rows=n_rows, n_entries=n_entries, rng=seed)
        for rank in (None, 1):
            assert unread_error(M, seen, curplus.approximate(seen, rank)) < 1.05


def test_the_mean_of_a_few_columns_says_something_of_the_others(full_rank):
    M = 3 + np.random.default_rng(0).standard_normal(60)[:, None] + full_rank((60, 40), rank=2, noise=0.3)
    seen = curplus.observe(M, n_columns=10, n_rows=0, n_entries=0, rng=0)
    approx = curplus.approximate(seen)
    assert unread_error(M, seen, approx) < 0.6
    assert approx.report.scattered_share == 1
    assert approx.report.verdict.startswith("unverifiable")


def test_rows_and_columns_of_a_sparse_matrix_are_kept_whatever_few_entries_say():
    """Of its entries hardly one is not zero, and those that were read tell nothing of the others."""
    rng = np.random.default_rng(0)
    M = np.where(rng.random((400, 300)) < 0.01, rng.standard_exponential((400, 300)), 0.0)
    for seed in range(3):
        seen = curplus.observe(M, n_columns=31, n_rows=31, n_entries=2400, rng=seed)
        assert not curplus.approximate(seen, 10).provenance.method.way.bare
