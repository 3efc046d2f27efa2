"""What `approximate` promises, whatever models it blends."""

from dataclasses import replace

import array_api_strict
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import Observation
from curplus.exceptions import InvalidArgumentError, SpanError
from curplus.methods import StackedApproximation
from tests.conftest import effort
from tests.strategies import FIELDS, adjoint, fields, gaussian, in_field
from tests.test_evidence import noisy

both_fields = pytest.mark.parametrize("field", FIELDS)

DESIGNS = [(0, 0, 1500), (8, 9, 0), (8, 9, 1500), (8, 0, 900), (0, 9, 40)]


def observed_as(M, counts, seed=0):
    return curplus.observe(M, n_columns=counts[0], n_rows=counts[1], n_entries=counts[2], rng=seed)


def relative_error(approx, M):
    return np.linalg.norm(approx.to_array() - M) / np.linalg.norm(M)


def unread_error(M, seen, approx):
    """Root mean square error where nothing was read, beside that of zero."""
    known = np.zeros(M.shape, dtype=bool)
    known[seen.row_index], known[:, seen.column_index], known[seen.i, seen.j] = True, True, True
    return np.sqrt(np.mean((M - approx.to_array())[~known] ** 2) / np.mean(M[~known] ** 2))


# Exact matrices


@both_fields
@pytest.mark.parametrize("rank", [1, 5, 10])
def test_recovers_a_matrix_at_the_information_limit(low_rank, rank):
    M = low_rank((200, 150), rank)
    for seed in range(10):
        approx = curplus.approximate(observed_as(M, (rank, rank, 0), seed), rank)
        assert relative_error(approx, M) < 1e-14 * approx.report.intersection_condition**2
        assert approx.report.verdict.startswith("unverifiable")


@both_fields
@pytest.mark.parametrize("rank", [None, 4])
@pytest.mark.parametrize("counts", [(4, 9, 0), (9, 4, 0), (8, 8, 30), (20, 8, 200), (6, 6, 5000)])
def test_recovers_a_matrix_of_low_rank_from_any_mix(low_rank, rank, counts):
    M = low_rank((120, 90), 4)
    approx = curplus.approximate(observed_as(M, counts, 1), rank)
    assert approx.rank == 4
    assert relative_error(approx, M) < 1e-10


@both_fields
@pytest.mark.parametrize("counts", [(8, 0, 3000), (0, 8, 3000), (0, 0, 3000)])
def test_nearly_recovers_it_from_entries(low_rank, counts):
    M = low_rank((100, 80), 3)
    assert relative_error(curplus.approximate(observed_as(M, counts), 3), M) < 0.02


def test_a_smooth_kernel_is_found_from_entries_beyond_the_offsets():
    x, y = np.linspace(0, 1, 100), np.linspace(0, 1, 80)
    M = np.exp(-(((x[:, None] - y) / 0.3) ** 2))
    assert relative_error(curplus.approximate(observed_as(M, (0, 0, 4000))), M) < 0.01


@pytest.mark.parametrize("rank", [None, 2])
def test_a_matrix_of_zeros_is_approximated_by_zeros(rank):
    for counts in ((3, 3, 20), (0, 0, 20), (3, 0, 0)):
        assert not curplus.approximate(observed_as(np.zeros((20, 10)), counts), rank).to_array().any()


# What was read


@both_fields
@pytest.mark.parametrize("counts", [(8, 0, 0), (0, 8, 0)])
def test_columns_alone_are_given_back_as_they_are(full_rank, counts):
    M = full_rank((30, 20))
    seen = observed_as(M, counts)
    dense = curplus.approximate(seen, 20).to_array()
    np.testing.assert_allclose(dense[:, seen.column_index], M[:, seen.column_index], atol=1e-10)
    np.testing.assert_allclose(dense[seen.row_index], M[seen.row_index], atol=1e-10)


@both_fields
def test_what_was_read_is_reproduced_if_the_rank_allows(full_rank):
    M = full_rank((60, 50), noise=0.5)
    seen = observed_as(M, (8, 9, 100))
    dense = curplus.approximate(seen, 50).to_array()
    np.testing.assert_allclose(dense[seen.row_index], M[seen.row_index], atol=1e-10)
    np.testing.assert_allclose(dense[:, seen.column_index], M[:, seen.column_index], atol=1e-10)


@both_fields
@pytest.mark.parametrize("rank", effort([3], [1, 3, 7]))
@pytest.mark.parametrize("counts", DESIGNS)
def test_a_rank_that_is_asked_for_is_kept(full_rank, counts, rank):
    assert curplus.approximate(observed_as(full_rank((60, 50), noise=0.5), counts), rank).rank <= rank


# Never much worse than plain guesses


def zoo(shape=(60, 50), seed=0):
    """Matrices of many kinds."""
    rng = np.random.default_rng(seed)
    n, m = shape
    low, noise = rng.standard_normal((n, 2)) @ rng.standard_normal((2, m)), rng.standard_normal(shape)
    return {
        "noise": noise,
        "counts": rng.poisson(0.3, shape).astype(float),
        "offsets": 4 + rng.standard_normal((n, 1)) + rng.standard_normal((1, m)) + 0.5 * noise,
        "low rank": low + 0.1 * noise,
        "heavy tails": rng.standard_t(2, shape) + rng.standard_normal((1, m)),
        "spikes": np.where(rng.random(shape) < 0.02, 50.0, 0.0) + noise,
        "sparse": np.where(rng.random(shape) < 0.03, np.exp(2 * noise), 0.0),
    }


@pytest.mark.parametrize(
    "counts", [(0, 0, 60), (5, 5, 0), (3, 3, 40), *effort([], [(0, 0, 900), (12, 12, 100), (1, 1, 0)])]
)
@pytest.mark.parametrize("kind", list(zoo()))
def test_it_is_never_much_worse_than_zero_or_the_additive_model(kind, counts):
    errors, additive = [], []
    for seed in range(2):
        M = zoo(seed=seed)[kind]
        seen = observed_as(M, counts, seed)
        errors.append(unread_error(M, seen, curplus.approximate(seen)))
        additive.append(unread_error(M, seen, curplus.approximate(seen, models="offsets")))
    assert np.mean(errors) < 1.03
    assert np.mean(errors) < 1.03 * np.mean(additive)


def test_a_sparse_matrix_with_spikes_is_no_worse_than_nothing(coherent):
    M = coherent((150, 100), density=0.02)
    for seed in range(3):
        assert relative_error(curplus.approximate(observed_as(M, (10, 15, 700), seed), 5), M) < 1.005


@pytest.mark.parametrize("rank", [5, 20])
def test_rows_and_columns_of_noise_say_nothing_of_the_rest(rank):
    """Cut to a rank together with the prediction, they would say something everywhere."""
    M = np.random.default_rng(0).standard_normal((200, 150))
    seen = observed_as(M, (16, 16, 700))
    assert unread_error(M, seen, curplus.approximate(seen, rank)) < 1.01


@pytest.mark.parametrize("counts", [(1, 0, 0), (8, 0, 5), (0, 8, 30), (1, 8, 0), (3, 3, 0), (3, 3, 30), (1, 1, 5)])
def test_few_rows_or_columns_and_hardly_an_entry_say_about_what_the_mean_says(full_rank, counts):
    """Rows of the other side were fitted to single entries, and off by a hundred times the matrix."""
    for seed in range(effort(1, 2)):
        M = 3 + full_rank((60, 40), noise=1.0)
        seen = observed_as(M, counts, seed)
        for rank in (None, 1):
            assert unread_error(M, seen, curplus.approximate(seen, rank)) < 1.05


@pytest.mark.parametrize("d", [1, 3])
def test_a_few_rows_and_columns_do_not_spoil_what_many_entries_say(low_rank, rng, d):
    M = low_rank((60, 40), 2)
    noisy = M + 0.3 * rng.standard_normal(M.shape)
    answers = [[curplus.approximate(observed_as(noisy, (k, k, 600), seed)) for seed in range(3)] for k in (0, d)]
    without, beside = (np.mean([relative_error(answer, M) for answer in found]) for found in answers)
    assert beside < 1.2 * without


def test_as_many_rows_as_directions_and_a_few_entries_are_not_worse_than_nothing():
    """The intersection would be inverted as it is, and the approximation be far off."""
    M = curplus.datasets.make_spectrum((150, 100), 1 / np.arange(1, 101), rng=0).to_array()
    for seed in range(3):
        assert relative_error(curplus.approximate(observed_as(M, (8, 8, 64), seed), 8), M) < 0.9


def test_a_heavy_column_that_was_not_read_is_no_reason_to_claim_much():
    """Of 168 entries none shows it: the answer may be no better than zero, and its verdict does not say that it is."""
    rng = np.random.default_rng(0)
    M = rng.standard_normal((150, 5)) @ rng.standard_normal((5, 100))
    M[:, 3] = 1e3 * rng.standard_normal(150)
    for seed in range(3):
        seen = observed_as(M, (10, 10, 900), seed)
        approx = curplus.approximate(seen, 5)
        if 3 not in seen.column_index:
            assert relative_error(approx, M) < 1.05
            assert curplus.certify(approx, seen).interval is None
            assert "no evidence" in approx.report.verdict or "the error is not estimated" in approx.report.verdict


# What evidence is good for


def test_entries_lower_the_error_of_rows_and_columns(low_rank, rng):
    signal = low_rank((150, 120), 5)
    M = signal + 0.1 * signal.std() * rng.standard_normal(signal.shape)
    few, many = (relative_error(curplus.approximate(observed_as(M, (10, 10, k)), 5), signal) for k in (0, 6000))
    assert many < 0.06
    assert many < 0.7 * few


@both_fields
def test_rows_and_columns_that_say_something_are_used(full_rank):
    M = full_rank((200, 150), rank=5, noise=1.0)
    seen = observed_as(M, (25, 25, 1000))
    assert unread_error(M, seen, curplus.approximate(seen, 20)) < 0.6


def test_the_mean_of_a_few_columns_says_something_of_the_others(full_rank, rng):
    M = 3 + rng.standard_normal((60, 1)) + full_rank((60, 40), rank=2, noise=0.3)
    seen = observed_as(M, (10, 0, 0))
    assert unread_error(M, seen, curplus.approximate(seen)) < 0.6


def test_weights_of_entries_are_used(low_rank, rng):
    signal = low_rank((100, 80), 3)
    i, j = np.divmod(rng.permutation(8000)[:3000], 80)
    bad = rng.random(3000) < 0.3
    values = signal[i, j] + np.where(bad, 5.0, 0.1) * rng.standard_normal(3000)
    weights = np.where(bad, 0.01 / 25, 1.0)
    plain, aware = (
        curplus.approximate(Observation(shape=signal.shape, i=i, j=j, values=values, weights=w), 3)
        for w in (None, weights)
    )
    assert relative_error(aware, signal) < 0.7 * relative_error(plain, signal)


@pytest.mark.parametrize("turned", [False, True])
def test_a_table_with_gaps_is_filled_to_its_noise(rng, turned):
    M = 3 + noisy((120, 60), 2) * 0.2 + rng.standard_normal((120, 1)) + rng.standard_normal((1, 60))
    M = M.T if turned else M
    gaps = rng.random(M.shape) < 0.3
    seen = Observation.from_table(np.where(gaps, np.nan, M))
    approx = curplus.approximate(seen)
    error = np.sqrt(np.mean((approx.to_array() - M)[gaps] ** 2))
    assert error < 0.25
    assert approx.provenance.model.noise == pytest.approx(error, rel=0.15)
    filled = seen.fill(approx)
    np.testing.assert_array_equal(filled[~gaps], M[~gaps])


def test_empty_rows_and_columns_of_a_table_get_the_mean_of_the_others(rng):
    M = noisy((120, 60), 2) + 5 * rng.standard_normal((1, 60))
    table = np.where(rng.random(M.shape) < 0.3, np.nan, M)
    table[5], table[:, 7] = np.nan, np.nan
    guess = curplus.approximate(Observation.from_table(table)).to_array()
    assert np.all(np.isfinite(guess))
    mean_row = np.delete(M, 5, axis=0).mean(axis=0)
    assert np.linalg.norm(np.delete(guess[5] - mean_row, 7)) < 0.2 * np.linalg.norm(mean_row)


# The same values, shown otherwise


def apart(M, *answers):
    """By how much two answers differ, beside the error of the first."""
    return np.linalg.norm(answers[1] - answers[0]) / np.linalg.norm(answers[0] - M)


@pytest.mark.parametrize("counts", DESIGNS)
def test_transposed_permuted_and_shifted_matrices_have_the_same_answer(counts, rng):
    """Up to which values are left out together, which draws the weights of the models: other folds differ as much."""
    M = 2 + noisy((60, 50))
    seen = observed_as(M, counts)
    one = curplus.approximate(seen, 5).to_array()
    assert apart(M, one, curplus.approximate(seen.T, 5).to_array().T) < 0.25
    assert apart(M, one, curplus.approximate(seen, 5, rng=1).to_array()) < 0.25
    p, q = rng.permutation(60), rng.permutation(50)
    place_i, place_j = np.argsort(p), np.argsort(q)
    permuted = Observation(
        shape=M.shape, row_index=place_i[seen.row_index], rows=seen.rows[:, q], column_index=place_j[seen.column_index],
        columns=seen.columns[p], i=place_i[seen.i], j=place_j[seen.j], values=seen.values, design=seen.design,
    )  # fmt: skip
    assert apart(M[np.ix_(p, q)], one[np.ix_(p, q)], curplus.approximate(permuted, 5).to_array()) < 0.25


@pytest.mark.parametrize("counts", DESIGNS)
def test_the_adjoint_and_unitary_phases_of_rows_and_columns_turn_the_answer(counts, rng):
    """Offsets are no offsets once phases are turned, so the models without them are blended."""
    M = gaussian(rng, (60, 4), "complex") @ gaussian(rng, (4, 50), "complex") + gaussian(rng, (60, 50), "complex")
    seen, models = observed_as(M, counts), ("skeleton", "shrunken") if counts[0] and counts[1] else ("shrunken",)
    one = curplus.approximate(seen, 5).to_array()
    assert apart(M, one, adjoint(curplus.approximate(seen.H, 5).to_array())) < 0.25
    p, q = (np.exp(2j * np.pi * rng.random(size)) for size in M.shape)
    turned = replace(
        seen, rows=p[seen.row_index, None] * seen.rows * q, columns=p[:, None] * seen.columns * q[seen.column_index],
        values=p[seen.i] * seen.values * q[seen.j],
    )  # fmt: skip
    one, other = (curplus.approximate(x, 5, models=models).to_array() for x in (seen, turned))
    assert apart(M, one, other / (p[:, None] * q)) < 0.25


@pytest.mark.parametrize("counts", [(8, 9, 1500), (0, 0, 1500)])
def test_a_real_matrix_of_complex_type_has_nearly_the_real_answer(counts):
    seen = observed_as(noisy((60, 50)), counts)
    models = ("skeleton", "interpolation", "offsets", "shrunken")
    real = curplus.approximate(seen, 5, models=models).to_array()
    other = curplus.approximate(observed_as(noisy((60, 50)) + 0j, counts), 5, models=models).to_array()
    assert np.linalg.norm(other.imag) < 1e-10 * np.linalg.norm(real)
    assert np.linalg.norm(other - real) < 0.02 * np.linalg.norm(real)


def test_the_factor_models_are_refused_for_complex_numbers(full_rank):
    with pytest.raises(InvalidArgumentError, match="models='factors': nothing of this applies"):
        curplus.approximate(observed_as(full_rank() + 1j, (3, 3, 200)), models="factors")


@pytest.mark.parametrize("counts", DESIGNS)
def test_a_constant_added_to_everything_is_added_to_the_answer(counts):
    M = noisy((60, 50))
    answers = [curplus.approximate(observed_as(M + shift, counts), 6).to_array() - shift for shift in (0, 100)]
    errors = [np.linalg.norm(M - answer) for answer in answers]
    assert errors[1] < 1.1 * errors[0]


@both_fields
@pytest.mark.parametrize("scale", effort([1e-250, 1e250], [1e-250, 1e-100, 1e100, 1e250]))
@pytest.mark.parametrize("counts", [(8, 9, 600), (0, 0, 900)])
def test_scaling_the_matrix_scales_the_answer(full_rank, scale, counts):
    M = full_rank((60, 50), noise=0.5)
    one, other = (curplus.approximate(observed_as(x, counts), 3) for x in (M, M * scale))
    np.testing.assert_allclose(other.to_array() / scale, one.to_array(), atol=1e-6)


def test_the_same_values_as_rows_or_as_entries_have_nearly_the_same_answer():
    M = 2 + noisy((60, 50))
    seen = observed_as(M, (3, 4, 900))
    table = np.full(M.shape, np.nan)
    table[seen.i, seen.j] = seen.values
    table[seen.row_index], table[:, seen.column_index] = seen.rows, seen.columns
    i, j = np.nonzero(~np.isnan(table))
    split = Observation(shape=M.shape, i=i, j=j, values=M[i, j], design=seen.design)
    errors = [unread_error(M, split, curplus.approximate(x)) for x in (seen, split, Observation.from_table(table))]
    assert max(errors) < 1.05 * min(errors)


@both_fields
@pytest.mark.parametrize("counts", DESIGNS)
def test_the_same_seed_has_the_same_bits(full_rank, counts):
    seen = observed_as(full_rank((60, 50), noise=0.5), counts)
    one, same = (curplus.approximate(seen, 3, rng=rng) for rng in (7, np.random.default_rng(7)))
    np.testing.assert_array_equal(one.to_array(), same.to_array())


@both_fields
def test_single_precision_and_other_libraries_are_taken(low_rank, field):
    M = low_rank((60, 50), 3)
    single = curplus.approximate(observed_as(M.astype(in_field(np.float32, field)), (6, 6, 60)), 3)
    assert single.dtype == in_field(np.float32, field)
    assert relative_error(single, M) < 1e-4
    foreign = curplus.approximate(observed_as(array_api_strict.asarray(M), (6, 6, 60)), 3)
    assert type(foreign.left.vectors) is type(array_api_strict.asarray(M))
    assert np.linalg.norm(np.asarray(foreign.to_array()) - M) < 1e-10 * np.linalg.norm(M)


@given(st.integers(0, 10**6), st.integers(1, 15), st.integers(1, 15), fields, st.data())
def test_any_observation_has_a_finite_answer(seed, n, m, field, data):
    rng = np.random.default_rng(seed)
    M = gaussian(rng, (n, m), field) * (rng.random((n, m)) < data.draw(st.sampled_from([0.1, 0.5, 1.0])))
    counts = data.draw(st.tuples(st.integers(0, m), st.integers(0, n), st.integers(1, n * m)))
    approx = curplus.approximate(observed_as(M, counts, seed), data.draw(st.integers(1, 20)))
    assert np.all(np.isfinite(approx.to_array()))
    assert approx.shape == (n, m)


# What is kept with the answer


@pytest.fixture
def counted(monkeypatch):
    """How often the method is fitted, from here on."""
    fits, fit = [], StackedApproximation.fit

    def counting(self, observation, **options):
        fits.append(observation)
        return fit(self, observation, **options)

    monkeypatch.setattr(StackedApproximation, "fit", counting)
    return fits


@pytest.mark.parametrize("counts", [(0, 0, 900), (6, 6, 900)])
@pytest.mark.parametrize("saved", [False, True])
def test_what_judges_the_answer_fits_nothing_again(counts, saved, counted, tmp_path):
    M = noisy()
    seen = observed_as(M, counts)
    approx = curplus.approximate(seen)
    assert len(counted) == 1
    if saved:
        approx.save(tmp_path / "answer.npz")
        approx = curplus.load(tmp_path / "answer.npz")
    certificate = curplus.certify(approx, seen)
    means = curplus.estimate_means(approx, seen)
    unread = np.setdiff1d(np.arange(80), seen.row_index)[:2], np.setdiff1d(np.arange(60), seen.column_index)[:2]
    at = curplus.predict_interval(approx, seen, *unread)
    assert len(counted) == 1
    assert certificate.interval[0] < certificate.error < certificate.interval[1]
    assert np.all(np.isfinite(means.low))
    assert np.all(at.low <= at.high)


def test_fits_without_each_fold_are_kept_and_did_not_have_it(full_rank):
    """What is left out may be anything: the fit without it, at given weights and rank, does not change."""
    seen = observed_as(full_rank((60, 50), noise=0.5), (5, 5, 900))
    approx = curplus.approximate(seen, 4, models=("factors",))
    fold, fits = approx.provenance.refits.fold, approx.provenance.refits.fits
    for k, fit in enumerate(fits):
        values = np.where(fold == k, 0.0, seen.values)
        changed = curplus.approximate(replace(seen, values=values), 4, models=("factors",)).provenance.refits
        np.testing.assert_array_equal(changed.fold, fold)
        np.testing.assert_allclose(changed.fits[k].to_array(), fit.to_array(), atol=1e-9)
        assert fit.rank == 4


@both_fields
def test_the_method_of_an_answer_makes_the_same_answer_again(full_rank):
    for counts in DESIGNS:
        seen = observed_as(full_rank((60, 50), noise=0.5), counts)
        approx = curplus.approximate(seen, 3)
        again = approx.provenance.method.fit(seen)
        np.testing.assert_allclose(again.to_array(), approx.to_array(), atol=1e-9)
        assert not again.report.facts


@both_fields
def test_it_has_no_cur_form_and_can_be_saved(full_rank, tmp_path):
    approx = curplus.approximate(observed_as(full_rank((60, 50)), (8, 9, 100)))
    with pytest.raises(SpanError):
        approx.cur()
    approx.save(tmp_path / "answer.npz")
    back = curplus.load(tmp_path / "answer.npz")
    np.testing.assert_array_equal(back.to_array(), approx.to_array())
    assert str(back.report) == str(approx.report)
    assert back.provenance.method == approx.provenance.method
    for one, other in zip(back.provenance.refits.fits, approx.provenance.refits.fits, strict=True):
        np.testing.assert_array_equal(one.to_array(), other.to_array())
    np.testing.assert_array_equal(back.provenance.refits.fold, approx.provenance.refits.fold)


# What cannot work


@pytest.mark.parametrize(
    ("counts", "rank", "message"),
    [((0, 0, 0), 2, "nothing was observed"), ((3, 3, 5), 0, "rank=0 is too small")],
)
def test_what_cannot_work_is_refused(full_rank, counts, rank, message):
    with pytest.raises(InvalidArgumentError, match=message):
        curplus.approximate(observed_as(full_rank(), counts), rank)


def test_beats_cur_plus_and_comes_close_to_cur_full_on_dexter(data_dir):
    M = scipy.sparse.load_npz(data_dir / "dexter.npz").astype(float)
    target = curplus.metrics.ReferenceMatrix(M)
    seen = observed_as(M, (50, 250, 20915))
    answers = (curplus.approximate(seen, 10), curplus.cur_plus(seen, 10), curplus.cur_full(M, seen).truncate(10))
    ours, plus, full = (curplus.metrics.relative_frobenius_error(target, answer, 10) for answer in answers)
    assert ours < plus
    assert ours < 1.04 * full
