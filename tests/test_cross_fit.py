"""Every entry is held out once: by the fits that an answer keeps, or by fits that are made then."""

import dataclasses

import numpy as np
import pytest

import curplus
from curplus.evaluation.additive import additive_without
from curplus.evaluation.cross_fit import cross_fit
from curplus.evaluation.left_out import FOLDS
from curplus.factorization import Provenance
from curplus.observation import SamplePlan, SamplingDesign

NONE = np.empty(0, dtype=np.int64)


def noisy(shape=(120, 90), rank=2, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    signal = rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
    return signal + noise * rng.standard_normal(shape)


@pytest.fixture(scope="module")
def crossed():
    """A matrix, what was read of it, and an approximation whose fit used all entries."""
    M = noisy()
    seen = curplus.observe(M, n_columns=6, n_rows=6, n_entries=900, rng=0)
    return M, seen, curplus.cur_plus(seen, 2)


def test_every_entry_outside_is_predicted_by_a_fit_that_did_not_have_it(crossed):
    _, seen, approx = crossed
    found = cross_fit(approx, seen)
    np.testing.assert_array_equal(found.counted, np.flatnonzero(seen.outside))
    assert len(found.fits) == FOLDS
    for k in range(FOLDS):
        out = found.fold == k
        refit = curplus.cur_plus(seen.subset(entries=~out, design=seen.design), 2)
        expected = seen.values[out] - refit.entries(seen.i[out], seen.j[out])
        np.testing.assert_allclose(found.residuals_at(np.flatnonzero(out)), expected, atol=1e-12)


def test_fits_that_an_answer_keeps_are_those_that_judge_it():
    seen = curplus.observe(noisy(), n_columns=6, n_rows=6, n_entries=900, rng=0)
    approx = curplus.approximate(seen, 2)
    found = cross_fit(approx, seen)
    assert found.fits is approx.provenance.refits.fits
    np.testing.assert_array_equal(found.counted, np.flatnonzero(seen.outside))


def test_the_certificate_rests_on_all_entries_and_the_error_is_known_where_they_are(crossed):
    M, seen, approx = crossed
    certificate = curplus.certify(approx, seen)
    assert certificate.evidence == "cross-fitted entries"
    assert len(certificate.errors) == np.count_nonzero(seen.outside)
    E, read = M - approx.to_array(), np.zeros(M.shape, dtype=bool)
    read[seen.row_index], read[:, seen.column_index], read[seen.i, seen.j] = True, True, True
    assert certificate.lower_bound == pytest.approx(np.linalg.norm(E[read]))
    rest = certificate.error**2 - certificate.lower_bound**2
    squares = cross_fit(approx, seen).residuals ** 2
    np.testing.assert_allclose(np.sort(certificate.errors), np.sort(np.sqrt(squares)))
    assert 0.8 < rest / (np.sum(~read) * np.mean(squares)) <= 1  # refits have fewer entries
    low, high = certificate.interval
    assert low <= np.linalg.norm(E) <= high


def test_errors_of_refits_are_taken_for_larger_than_those_of_the_fit():
    """By what the leverage of least squares explains: in the mean over draws the estimate is not biased."""
    ratios = []
    for seed in range(20):
        M = noisy(seed=seed)
        seen = curplus.observe(M, n_columns=6, n_rows=6, n_entries=300, rng=seed)
        approx = curplus.cur_plus(seen, 6)
        ratios.append(curplus.certify(approx, seen).error / np.linalg.norm(M - approx.to_array()))
    assert np.mean(ratios) == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("method", ["none", "whole matrix"])
def test_what_cannot_be_made_again_is_judged_by_what_it_held_out(crossed, method):
    M, seen, approx = crossed
    if method == "none":
        approx = dataclasses.replace(approx, provenance=Provenance(held_out=np.arange(400)))
    else:
        approx = curplus.cur_full(M, seen, 2)
    assert curplus.certify(approx, seen).evidence == "held-out entries"


def test_enough_held_out_entries_are_enough():
    M = noisy((200, 150))
    seen = curplus.observe(M, n_columns=5, n_rows=5, n_entries=5000, rng=0)
    assert curplus.certify(curplus.cur_plus(seen, 2, holdout=0.5), seen).evidence == "held-out entries"
    assert curplus.certify(curplus.cur_plus(seen, 2, holdout=0.2), seen).evidence == "cross-fitted entries"


def test_a_fit_that_needs_all_its_entries_is_not_made_again():
    seen = curplus.observe(noisy(), n_columns=4, n_rows=4, n_entries=20, rng=0)
    certificate = curplus.certify(curplus.cur_plus(seen, 4, solver=curplus.solvers.MinimumNorm()), seen)
    assert certificate.interval is None


@pytest.mark.parametrize("counts", [(0, 0, 4000), (5, 5, 4000), (8, 0, 2500), (5, 5, 20)])
def test_a_refit_chooses_nothing_again_and_fits_everything_again(counts):
    seen = curplus.observe(noisy(), **dict(zip(("n_columns", "n_rows", "n_entries"), counts, strict=True)), rng=0)
    approx = curplus.approximate(seen)
    method = approx.provenance.method
    assert method.rank == approx.rank
    assert sum(method.weights) <= 1 + 1e-6
    some = seen.subset(entries=np.arange(0, seen.n_entries, 2), design=seen.design)
    refit = method.fit(some)
    again = refit.provenance.method
    assert (again.models, again.weights) == (method.models, method.weights)
    assert refit.rank <= approx.rank
    assert np.linalg.norm(refit.to_array() - approx.to_array()) > 1e-6 * np.linalg.norm(approx.to_array())


def test_an_acquired_observation_is_judged_as_a_uniform_one():
    M = noisy((120, 100))
    M[:3] *= 30  # rows that are chosen because they are large
    given = covered = 0
    for seed in range(18):
        seen = curplus.acquire(M, n_columns=8, n_rows=8, n_entries=2000, rng=seed)
        approx = curplus.cur_plus(seen, 2)
        interval = curplus.certify(approx, seen).interval
        given += interval is not None
        covered += interval is not None and interval[0] <= np.linalg.norm(M - approx.to_array()) <= interval[1]
    assert given >= 17
    assert covered >= given - 1


def test_entries_that_some_positions_had_no_chance_of_are_noticed():
    M, rng = noisy((200, 150)), np.random.default_rng(0)
    design = SamplingDesign("uniform", "uniform", "given")
    for share, refused in ((0.5, True), (1.0, False)):
        flat = rng.integers(round(share * M.size), size=4000)
        i, j = np.divmod(flat, 150)
        chances = np.full(4000, 1 / round(share * M.size))
        seen = curplus.read(M, SamplePlan(M.shape, NONE, NONE, i, j, chances, design))
        lines = curplus.observe(M, n_columns=5, n_rows=5, n_entries=0, rng=0)
        seen = lines.extend(seen)
        reason = curplus.certify(curplus.cur_full(M, seen, 2), seen).reason
        assert ("only about 50% of the positions could be drawn" in reason) is refused


def test_entries_that_were_measured_elsewhere_count_once_they_are_said_to_be_uniform(crossed):
    _, seen, approx = crossed
    given = dataclasses.replace(seen, design=SamplingDesign())
    certificate = curplus.certify(approx, given)
    assert "use observation.with_design(entries='uniform')" in certificate.reason
    assert curplus.certify(approx, given.with_design(entries="uniform")).interval is not None


def test_a_design_that_is_not_known_is_refused(crossed):
    with pytest.raises(curplus.exceptions.InvalidArgumentError, match="must have 'uniform', 'given' or 'adaptive'"):
        crossed[1].with_design(rows="random")


def test_errors_come_in_the_units_of_a_cell(crossed):
    M, seen, approx = crossed
    certificate, E = curplus.certify(approx, seen), M - approx.to_array()
    unread = np.ones(M.shape, dtype=bool)
    unread[seen.row_index], unread[:, seen.column_index], unread[seen.i, seen.j] = False, False, False
    truth = np.sqrt(np.mean(E[unread] ** 2))
    assert certificate.cell_error == pytest.approx(truth, rel=0.1)
    assert certificate.cell_interval[0] <= truth <= certificate.cell_interval[1]
    assert certificate.mean_cell_error == pytest.approx(certificate.error / np.sqrt(M.size))
    assert certificate.spread == pytest.approx(M.std(), rel=0.1)
    assert certificate.means_error == pytest.approx(M.std(), rel=0.2)  # rows and columns have no means of their own
    assert "a cell that was not read is off by: " in str(certificate)
    assert "of the spread" in str(certificate)
    assert "row and column means would be off by: " in str(certificate)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("n_lines", [0, 6])
def test_means_find_an_additive_matrix(gaps, n_lines):
    rng = np.random.default_rng(0)
    M = 100 + 3 * rng.standard_normal((80, 1)) + 2 * rng.standard_normal((1, 60)) + 0.1 * rng.standard_normal((80, 60))
    if gaps:
        M[rng.random(M.shape) < 0.05] = np.nan
    seen = curplus.observe(M, n_columns=n_lines, n_rows=n_lines, n_entries=2400, gaps=gaps, rng=0)
    records = np.flatnonzero(seen.outside)
    at = records[::8]
    error = additive_without(seen, at).at(seen.i[at], seen.j[at]) - seen.values[at]
    assert np.sqrt(np.mean(error**2)) < 0.5


def test_a_refused_estimate_is_called_no_bound_and_does_not_come_first(crossed):
    M, seen, _ = crossed
    spiked = np.array(M)
    spiked[seen.i[seen.outside][0], seen.j[seen.outside][0]] += 1e4
    seen = curplus.observe(spiked, n_columns=6, n_rows=6, n_entries=900, rng=0)
    certificate = curplus.certify(curplus.cur_plus(seen, 2), seen)
    assert certificate.verdict.startswith("no interval for the error: the effective sample size of the")
    assert "larger errors may have been missed" in certificate.verdict
    assert "bound" not in certificate.verdict  # the estimate may be too large as well
    assert str(certificate).startswith("verdict: no interval")


def test_small_errors_are_not_zero_percent():
    M = noisy(noise=1e-7)
    seen = curplus.observe(M, n_columns=6, n_rows=6, n_entries=900, rng=0)
    certificate = curplus.certify(curplus.cur_plus(seen, 2), seen)
    assert "0.00%" not in str(certificate)
    assert "e-0" in certificate.verdict


def test_where_everything_was_read_nothing_is_estimated():
    M = noisy((30, 20))
    seen = curplus.observe(M, n_columns=3, n_rows=3, n_entries=600, rng=0)
    approx = curplus.cur_plus(seen, 2)
    certificate, error = curplus.certify(approx, seen), np.linalg.norm(M - approx.to_array())
    assert certificate.evidence == "everything was read"
    assert certificate.interval == pytest.approx((error, error))
    assert certificate.verdict.startswith("everything was read, so the error is known")
