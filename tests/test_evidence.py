"""Entries that took part in choosing what to read are fitted, and never judge."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import Observation
from curplus.evaluation.residual import Residual
from curplus.exceptions import InvalidArgumentError
from curplus.observation import SamplePlan, SamplingDesign
from tests.strategies import low_rank_matrices, observed, plans

NONE = np.empty(0, dtype=np.int64)
STEERING = SamplingDesign("uniform", "uniform", "adaptive")


def noisy(shape=(80, 60), rank=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1])) + rng.standard_normal(shape)


def steered(M, *, n_lines=4, n_first=300, n_later=600, seed=0):
    """An observation whose first entries took part in choosing, and whose later ones, at other positions, did not."""
    rng = np.random.default_rng(seed)
    lines = curplus.observe(M, n_columns=n_lines, n_rows=n_lines, n_entries=0, rng=seed)
    flat = rng.permutation(M.size)[: n_first + n_later]
    for part, evidence in ((flat[:n_first], False), (flat[n_first:], True)):
        i, j = np.divmod(np.sort(part), M.shape[1])
        design = SamplingDesign("uniform", "uniform", "uniform") if evidence else STEERING
        plan = SamplePlan(M.shape, NONE, NONE, i, j, design=design, evidence=evidence)
        lines = lines.extend(curplus.read(M, plan, known=lines))
    return lines


def some_records(seen, seed=0):
    return np.random.default_rng(seed).random(seen.n_entries) < 0.5


@given(st.data(), low_rank_matrices())
def test_evidence_follows_its_records_through_everything(data, M):
    seen = observed(M, data.draw(plans(M.shape)))
    mask = some_records(seen)
    marked = dataclasses.replace(seen, evidence=mask)
    expected = None if mask.all() else mask
    for other in (marked.T, marked.divide(4.0), marked.subset(rows=NONE)):
        np.testing.assert_array_equal(other.evidence, expected)
    keep = np.flatnonzero(some_records(seen, 1))
    part = marked.subset(entries=keep).evidence
    np.testing.assert_array_equal(np.ones(len(keep), dtype=bool) if part is None else part, mask[keep])


@pytest.mark.parametrize(
    ("first", "second"), [(None, [True, False]), ([False, True], None), ([False] * 2, [False] * 2)]
)
def test_joined_samples_keep_what_is_evidence_and_where_nothing_is_said_all_is(first, second):
    M = np.arange(12.0).reshape(3, 4)
    parts = [
        Observation(shape=M.shape, i=[0, 1], j=[k, 2 + k], values=M[[0, 1], [k, 2 + k]], evidence=evidence)
        for k, evidence in enumerate((first, second))
    ]
    expected = np.concatenate([[True, True] if x is None else x for x in (first, second)])
    np.testing.assert_array_equal(parts[0].extend(parts[1]).evidence, expected)


def test_where_all_records_are_evidence_nothing_is_kept():
    seen = Observation(shape=(2, 2), i=[0, 1], j=[0, 1], values=[1.0, 2.0], evidence=np.array([True, True]))
    assert seen.evidence is None
    assert seen.extend(seen).evidence is None


def test_the_evidence_survives_a_file(tmp_path):
    seen = steered(noisy())
    seen.save(tmp_path / "seen.npz")
    np.testing.assert_array_equal(curplus.load(tmp_path / "seen.npz").evidence, seen.evidence)


def test_a_file_without_it_is_the_one_that_older_versions_wrote(tmp_path):
    seen = curplus.observe(noisy(), n_columns=2, n_rows=2, n_entries=20, rng=0)
    seen.save(tmp_path / "seen.npz")
    with np.load(tmp_path / "seen.npz") as file:
        assert "evidence" not in file.files
        assert "evidence" not in str(file["curplus"])
    assert curplus.load(tmp_path / "seen.npz").evidence is None


def test_a_record_that_could_not_be_measured_takes_its_mark_along():
    values = [1.0, np.nan, 3.0]
    seen = Observation(
        shape=(3, 3), i=[0, 1, 2], j=[0, 1, 2], values=values, gaps=True, evidence=np.array([True, True, False])
    )
    assert seen.evidence.tolist() == [True, False]


def test_a_table_of_stored_values_takes_evidence_too():
    import scipy.sparse

    table = scipy.sparse.coo_array(([1.0, 2.0], ([0, 1], [1, 0])), shape=(2, 2))
    seen = Observation.from_table(table, missing="unstored", evidence=np.array([False, True]))
    assert seen.evidence.tolist() == [False, True]


@pytest.mark.parametrize("evidence", [True, False])
def test_a_plan_says_whether_its_entries_are_evidence(evidence):
    plan = SamplePlan((5, 4), NONE, NONE, np.array([0, 2]), np.array([1, 3]), evidence=evidence)
    seen = curplus.read(np.ones((5, 4)), plan)
    assert seen.evidence is None if evidence else not seen.evidence.any()


@pytest.mark.parametrize("evidence", [[1, 0], [True], np.ones((2, 1), dtype=bool), "no"])
def test_evidence_is_one_truth_value_for_each_entry(evidence):
    with pytest.raises(InvalidArgumentError, match="Give one truth value for each"):
        Observation(shape=(2, 2), i=[0, 1], j=[0, 1], values=[1.0, 2.0], evidence=evidence)


def test_a_plan_whose_evidence_is_no_truth_value_is_refused():
    plan = SamplePlan((5, 4), NONE, NONE, NONE, NONE, evidence="some")
    with pytest.raises(InvalidArgumentError, match="evidence='some'"):
        curplus.read(np.ones((5, 4)), plan)


@pytest.mark.parametrize("steering_first", [True, False])
def test_the_design_of_entries_is_that_of_the_evidence(steering_first):
    M = noisy()
    uniform = curplus.observe(M, n_columns=0, n_rows=0, n_entries=30, rng=0)
    plan = SamplePlan(M.shape, NONE, NONE, np.array([0]), np.array([0]), design=STEERING, evidence=False)
    parts = [curplus.read(M, plan), uniform]
    joint = parts[not steering_first].extend(parts[steering_first])
    assert joint.design.entries == "uniform"


def test_entries_that_steered_are_fitted_and_never_held_out():
    seen = steered(noisy())
    check = curplus.cur_plus(seen, 3, holdout=0.1).held_out
    assert not seen.steering[check].any()
    assert len(check) == int(0.1 * np.count_nonzero(seen.outside))  # those that steered count, and are fitted
    assert len(check) <= len(np.flatnonzero(seen.outside & ~seen.steering)) / 2


@pytest.mark.parametrize(
    "fit",
    [
        lambda M, seen: curplus.approximate(seen, 3, models="skeleton"),
        lambda M, seen: curplus.cur_plus(seen, 3, holdout=0.5),
        lambda M, seen: curplus.cur_full(M, seen, 3),
    ],
    ids=["approximate", "cur_plus", "cur_full"],
)
def test_no_method_holds_out_what_steered(fit):
    M = noisy()
    seen = steered(M, n_lines=6)
    held_out = fit(M, seen).held_out
    assert len(held_out)
    assert not seen.steering[held_out].any()


@pytest.mark.parametrize("lines", [{}, {"rows": NONE}, {"rows": NONE, "columns": NONE}])
def test_of_few_values_those_that_steered_are_no_evidence(lines):
    """They are all fitted in the end, and judged by refits without them."""
    M = noisy()
    seen = steered(M)
    seen = seen.subset(**lines, design=seen.design)
    certificate = curplus.certify(curplus.approximate(seen, 3), seen)
    assert 0 < len(certificate.errors) <= np.count_nonzero(~seen.steering & seen.outside)


def test_a_position_of_which_one_record_steered_is_no_evidence():
    seen = Observation(
        shape=(3, 3), i=[0, 0, 1], j=[1, 1, 2], values=[5.0, 5.0, 1.0], evidence=np.array([True, False, True])
    )
    assert seen.steering.tolist() == [True, True, False]
    assert np.flatnonzero(seen.outside & ~seen.steering).tolist() == [2]


@pytest.mark.parametrize("with_chances", [False, True])
def test_positions_that_steered_are_known_and_the_rest_shrinks_by_them(with_chances):
    M = noisy()
    seen = steered(M)
    if with_chances:
        seen = dataclasses.replace(seen, probabilities=np.full(seen.n_entries, 1 / M.size))
    approx = curplus.cur_full(M, seen, 3)
    E, known = M - approx.to_array(), np.zeros(M.shape, dtype=bool)
    known[seen.row_index], known[:, seen.column_index] = True, True
    known[seen.i[~seen.evidence], seen.j[~seen.evidence]] = True
    held = np.flatnonzero(seen.evidence & ~known[seen.i, seen.j])
    mean = np.mean(E[seen.i[held], seen.j[held]] ** 2)
    expected = np.sqrt(np.sum(E[known] ** 2) + np.count_nonzero(~known) * mean)
    assert curplus.certify(approx, seen).error == pytest.approx(expected)
    assert len(Residual(approx, seen).held_out()) == len(held)


def test_a_steered_sample_is_certified_as_well_as_a_uniform_one():
    """Entries whose errors are smallest steer: counted as evidence, they would make the error look small."""
    noise = np.random.default_rng(1).standard_normal((200, 150))
    M = 3 * np.outer(np.linspace(1, 2, 200), np.linspace(1, 2, 150)) + noise
    covered = 0
    for seed in range(20):
        lines = curplus.observe(M, n_columns=5, n_rows=5, n_entries=0, rng=seed)
        small = np.flatnonzero(np.abs(noise).reshape(-1) < 0.3)[:1500]
        plan = SamplePlan(M.shape, NONE, NONE, *np.divmod(small, 150), design=STEERING, evidence=False)
        seen = lines.extend(curplus.read(M, plan, known=lines))
        rest = np.random.default_rng(seed).permutation(np.setdiff1d(np.arange(M.size), small))[:2000]
        uniform = SamplingDesign("uniform", "uniform", "uniform")
        plan = SamplePlan(M.shape, NONE, NONE, *np.divmod(np.sort(rest), 150), design=uniform)
        seen = seen.extend(curplus.read(M, plan, known=seen))
        approx = curplus.cur_full(M, seen, 1)
        certificate = curplus.certify(approx, seen)
        assert certificate.interval, certificate.reason
        low, high = certificate.interval
        covered += low <= np.linalg.norm(M - approx.to_array()) <= high
    assert covered >= 17
