"""What a fit says of itself: the rank, the blend, and how well left-out values are predicted."""

import numpy as np
import pytest

import curplus
from curplus.evaluation.effective_sample import FEWEST
from curplus.methods.approximate.blend import Held
from curplus.methods.approximate.report import CLEARLY_BETTER, judged
from tests.test_evidence import noisy


def held_of(values, weights=None, group=None):
    h = len(values)
    return Held(
        np.zeros((h, 1)), values, np.ones(h) if weights is None else weights, np.arange(h) if group is None else group
    )


def test_an_answer_is_judged_by_weighted_means_and_their_standard_errors_over_groups(rng):
    values, answer, offsets = rng.standard_normal((3, 200))
    weights, group = rng.uniform(0.5, 2, 200), np.repeat(np.arange(50), 4)
    found = judged(held_of(values, weights, group), 0.8 * values + 0.1 * answer, offsets)
    squares = (values - 0.8 * values - 0.1 * answer) ** 2
    assert (found.number, found.groups) == (200, 50)
    assert found.error == pytest.approx(np.sqrt(np.average(squares, weights=weights)))
    for z, gains in (
        (found.against_zero, values**2 - squares),
        (found.against_offsets, (values - offsets) ** 2 - squares),
    ):
        sums = np.array([np.sum((weights * gains)[group == g]) for g in range(50)])
        assert z == pytest.approx(sums.sum() / (np.sqrt(50) * sums.std()))


def test_of_nothing_nothing_is_said():
    found = judged(held_of(np.empty(0)), np.empty(0), None)
    assert found.number == 0
    assert np.isnan([found.error, found.against_zero, found.against_offsets]).all()


@pytest.mark.parametrize("counts", [(6, 6, 0), (0, 0, 900), (6, 6, 900), (6, 0, 60)])
def test_the_report_holds_what_is_true_of_the_answer(counts):
    M = 3 + noisy()
    seen = curplus.observe(M, n_columns=counts[0], n_rows=counts[1], n_entries=counts[2], rng=0)
    approx = curplus.approximate(seen)
    report = approx.report
    assert report["rank"].value == approx.rank
    shares = [float(part.split("%")[0]) for part in report.blend.split(", ")]
    assert 90 < sum(shares) <= 102
    unread = np.ones(M.shape, dtype=bool)
    unread[seen.row_index], unread[:, seen.column_index], unread[seen.i, seen.j] = False, False, False
    error = np.sqrt(np.mean((M - approx.to_array())[unread] ** 2))
    assert report.left_out_error == pytest.approx(error, rel=0.2)
    assert approx.provenance.model.noise == pytest.approx(report.left_out_error)
    assert "better than" in report.verdict
    assert sum(fact.name == "verdict" for fact in report.facts) == 1


def test_the_rank_that_is_asked_for_is_named_so():
    seen = curplus.observe(noisy(), n_columns=6, n_rows=6, n_entries=900, rng=0)
    approx = curplus.approximate(seen, 2)
    assert (approx.rank, approx.report["rank"].value, approx.report["rank"].reason) == (2, 2, "asked for")


def test_zero_is_named_if_it_is_as_good(rng):
    seen = curplus.observe(rng.standard_normal((300, 200)), n_columns=20, n_rows=20, n_entries=600, rng=0)
    assert "no evidence that it is better than zero" in curplus.approximate(seen, 5).report.verdict


def test_an_additive_matrix_is_not_said_to_be_better_than_the_additive_model(rng):
    M = 5 + rng.standard_normal((150, 1)) + rng.standard_normal((1, 100)) + 0.3 * rng.standard_normal((150, 100))
    report = curplus.approximate(curplus.observe(M, n_columns=0, n_rows=0, n_entries=4000, rng=0)).report
    assert report.against_zero_z > 10
    assert "not clearly better than the additive model" in report.verdict or report.against_offsets_z > CLEARLY_BETTER


def test_a_low_rank_beside_offsets_is_better_than_the_additive_model(rng):
    M = 5 + rng.standard_normal((150, 1)) + rng.standard_normal((150, 2)) @ rng.standard_normal((2, 100))
    report = curplus.approximate(curplus.observe(M, n_columns=0, n_rows=0, n_entries=4000, rng=0)).report
    assert "better than the additive model on 4000 left-out values" in report.verdict


def test_an_error_that_rests_on_few_values_is_not_stated(rng):
    M = noisy() + np.where(rng.random((80, 60)) < 0.002, 1e3, 0.0)
    seen = curplus.observe(M, n_columns=0, n_rows=0, n_entries=900, rng=0)
    verdict = curplus.approximate(seen).report.verdict
    assert "the error is not estimated" in verdict or "no evidence" in verdict


@pytest.mark.parametrize("counts", [(1, 0, 0), (0, 0, FEWEST - 1)])
def test_of_too_few_values_the_answer_is_unverifiable(counts):
    seen = curplus.observe(noisy(), n_columns=counts[0], n_rows=counts[1], n_entries=counts[2], rng=0)
    assert curplus.approximate(seen).report.verdict.startswith("unverifiable")
