"""Uniformly drawn columns and tables whose gaps are declared random: errors, means and intervals."""

import numpy as np
import pytest

import curplus


def answers(rng, n=60, m=300):
    """0/1 answers with good and bad rows, easy and hard columns."""
    logits = rng.standard_normal((n, 1)) + 1.2 * rng.standard_normal((1, m))
    return (rng.random((n, m)) < 1 / (1 + np.exp(-logits))).astype(float)


def share_covered(low, high, truth):
    return float(np.mean((low <= truth) & (truth <= high)))


@pytest.mark.parametrize("axis", [1, 0])
def test_means_of_rows_are_those_of_uniformly_drawn_columns(rng, axis):
    A = answers(rng)
    truth, covered, total = A.mean(axis=1), [], []
    for seed in range(20):
        seen = curplus.observe(A, n_columns=40, n_rows=0, n_entries=0, rng=seed)
        approx = curplus.approximate(seen, models=("offsets",))
        means = curplus.estimate_means(*((approx, seen) if axis else (approx.T, seen.T)), axis=axis)
        np.testing.assert_allclose(means.estimate, seen.columns.mean(axis=1), atol=1e-12)
        covered.append(share_covered(means.low, means.high, truth))
        total.append(means.total_interval[0] <= A.sum() <= means.total_interval[1])
    assert 0.92 < np.mean(covered) < 0.98
    assert np.mean(total) >= 0.8


def test_columns_that_were_given_tell_nothing_of_the_others(rng):
    A = answers(rng)
    seen = curplus.Observation(shape=A.shape, column_index=range(40), columns=A[:, :40])
    means = curplus.estimate_means(curplus.approximate(seen, models=("offsets",)), seen)
    assert means.reason
    assert np.isnan(means.low).all()


def test_estimates_and_intervals_keep_to_limits(rng):
    A = answers(rng)
    A[0] = 1
    seen = curplus.observe(A, n_columns=30, n_rows=0, n_entries=0, rng=0)
    approx = curplus.approximate(seen, models=("offsets",))
    free, kept = (curplus.estimate_means(approx, seen, **limits) for limits in ({}, {"min_value": 0, "max_value": 1}))
    assert free.high.max() > 1 >= kept.high.max()
    assert kept.low.min() >= 0
    assert kept.joint_high.max() <= 1
    np.testing.assert_array_equal(kept.low, np.clip(free.low, 0, 1))
    seen = curplus.observe(A, n_columns=0, n_rows=0, n_entries=4000, rng=0)
    found = curplus.predict_interval(
        curplus.approximate(seen), seen, np.arange(60), np.arange(60), min_value=0, max_value=1
    )
    assert found.low.min() >= 0
    assert found.high.max() <= 1
    with pytest.raises(curplus.exceptions.InvalidArgumentError, match="is larger than max_value"):
        curplus.estimate_means(curplus.approximate(seen), seen, min_value=2, max_value=1)


@pytest.mark.parametrize("turned", [False, True])
def test_left_out_columns_tell_the_error(rng, turned):
    M = 1 + rng.standard_normal((80, 1)) + 0.5 * rng.standard_normal((80, 400))
    seen = curplus.observe(M, n_columns=80, n_rows=0, n_entries=0, rng=0)
    approx = curplus.approximate(seen)
    certificate = curplus.certify(*((approx.T, seen.T) if turned else (approx, seen)))
    assert certificate.evidence == ("left-out rows" if turned else "left-out columns")
    low, high = certificate.interval
    assert low < np.linalg.norm(M - approx.to_array()) < high


def test_left_out_rows_are_those_that_the_answer_was_judged_by(rng, tmp_path, monkeypatch):
    M = rng.standard_normal((150, 3)) @ rng.standard_normal((3, 100)) + 0.3 * rng.standard_normal((150, 100))
    seen = curplus.observe(M, n_columns=20, n_rows=60, n_entries=0, rng=0)
    approx = curplus.approximate(seen)
    approx.save(tmp_path / "answer.npz")
    loaded = curplus.load(tmp_path / "answer.npz")
    monkeypatch.setattr(type(approx.provenance.method), "fit", None)  # nothing is fitted again
    certificate = curplus.certify(approx, seen)
    low, high = certificate.interval
    assert certificate.evidence == "left-out rows"
    assert low < np.linalg.norm(M - approx.to_array()) < high
    assert curplus.certify(loaded, seen).interval == pytest.approx(certificate.interval)


def test_a_table_whose_gaps_are_declared_random_has_a_certificate(rng):
    M = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 60)) + 0.3 * rng.standard_normal((80, 60))
    table = np.where(rng.random(M.shape) < 0.4, np.nan, M)
    seen = curplus.Observation.from_table(table)
    approx = curplus.approximate(seen)
    assert "how the entries were chosen is not known" in curplus.certify(approx, seen).reason
    seen = seen.with_design(entries="uniform")
    low, high = curplus.certify(curplus.approximate(seen), seen).interval
    assert low < np.linalg.norm(M - approx.to_array()) < high
