"""Gaps: what could not be measured is no value and no error, and what is known at a place is known everywhere."""

import dataclasses
import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import Observation
from curplus._arrays import put, to_numpy
from curplus.acquisition import EntryDraws, ProductLeverage
from curplus.exceptions import InconsistentObservationError, InvalidArgumentError, SourceError
from curplus.factorization import Provenance
from curplus.methods.approximate import without_gaps
from curplus.observation import Cells
from tests.strategies import low_rank_matrices, plans, seeds

NAN = math.nan


def with_holes(x, share, rng):
    """A copy with NaN at some places."""
    return np.where(rng.random(np.shape(x)) < share, np.asarray(x).dtype.type(NAN), x)


def readings(M, plan, share, seed):
    """Columns, rows and values of a matrix, of which each reading may fail on its own."""
    rng = np.random.default_rng(seed)
    return {
        "shape": M.shape,
        "column_index": plan.column_index,
        "columns": with_holes(M[:, plan.column_index], share, rng),
        "row_index": plan.row_index,
        "rows": with_holes(M[plan.row_index], share, rng),
        "i": plan.i,
        "j": plan.j,
        "values": with_holes(M[plan.i, plan.j], share, rng),
    }


def known_places(parts):
    """Masks of the places that are known from any of the readings, and of those that were asked for."""
    known, asked = np.zeros(parts["shape"], dtype=bool), np.zeros(parts["shape"], dtype=bool)
    for where, part in (
        (np.s_[parts["row_index"]], "rows"),
        (np.s_[:, parts["column_index"]], "columns"),
    ):
        known[where] |= ~np.isnan(parts[part])
        asked[where] = True
    measured = ~np.isnan(parts["values"])
    known[parts["i"][measured], parts["j"][measured]] = True
    asked[parts["i"], parts["j"]] = True
    return known, asked


def check_is_all_that_is_known(seen, M, known, asked):
    """Everything an observation says, compared with masks of the whole matrix."""
    truth = np.where(known, M, NAN)
    np.testing.assert_array_equal(to_numpy(seen.rows), truth[seen.row_index])
    np.testing.assert_array_equal(to_numpy(seen.columns), truth[:, seen.column_index])
    np.testing.assert_array_equal(to_numpy(seen.values), M[seen.i, seen.j])
    assert seen.n_values_read == known.sum()
    assert seen.n_gaps == (asked & ~known).sum()
    np.testing.assert_array_equal(seen.gap_index(), np.flatnonzero(asked & ~known))
    on_lines = np.zeros(M.shape, dtype=bool)
    on_lines[seen.row_index] = on_lines[:, seen.column_index] = True
    assert seen.has_gaps == bool((on_lines & ~known).any())
    for mask, expected in (
        (seen.known_rows, known[seen.row_index]),
        (seen.known_columns, known[:, seen.column_index]),
    ):
        assert (mask is None) == expected.all()
        if mask is not None:
            np.testing.assert_array_equal(to_numpy(mask), expected)
    np.testing.assert_array_equal(seen.outside, ~on_lines[seen.i, seen.j])
    assert seen.magnitude == pytest.approx(np.abs(M[known]).max(initial=0.0))


shares = st.sampled_from([0.0, 0.1, 0.5, 1.0])


@given(st.data(), low_rank_matrices(), shares, seeds)
def test_what_is_known_at_a_place_is_known_everywhere(data, M, share, seed):
    parts = readings(M, data.draw(plans(M.shape)), share, seed)
    before = {name: np.array(part) for name, part in parts.items()}
    seen = Observation(**parts, gaps=True)
    check_is_all_that_is_known(seen, M, *known_places(parts))
    for name, part in before.items():
        np.testing.assert_array_equal(np.asarray(parts[name]), part)


@given(st.data(), low_rank_matrices(), shares, seeds)
def test_a_gap_of_one_sample_is_filled_by_the_other(data, M, share, seed):
    first, second = (readings(M, data.draw(plans(M.shape)), s, seed + k) for k, s in ((0, share), (1, share / 2)))
    known, asked = (a | b for a, b in zip(known_places(first), known_places(second), strict=True))
    joint = Observation(**first, gaps=True).extend(Observation(**second, gaps=True))
    check_is_all_that_is_known(joint, M, known, asked)


@given(st.data(), low_rank_matrices(), seeds)
def test_samples_with_and_without_gaps_can_be_joined(data, M, seed):
    first, second = (readings(M, data.draw(plans(M.shape)), share, seed) for share in (0.4, 0.0))
    known, asked = (a | b for a, b in zip(known_places(first), known_places(second), strict=True))
    with_gaps, complete = Observation(**first, gaps=True), Observation(**second)
    for joint in (with_gaps.extend(complete), complete.extend(with_gaps)):
        assert joint.gaps
        check_is_all_that_is_known(joint, M, known, asked)


@given(st.data(), low_rank_matrices(), shares, seeds)
def test_gaps_are_saved_and_transposed_and_taken_apart(tmp_path_factory, data, M, share, seed):
    parts = readings(M, data.draw(plans(M.shape)), share, seed)
    seen, (known, asked) = Observation(**parts, gaps=True), known_places(parts)
    path = tmp_path_factory.mktemp("gaps") / "seen.npz"
    seen.save(path)
    back = curplus.load(path)
    check_is_all_that_is_known(back, M, known, asked)
    check_is_all_that_is_known(seen.T, M.T, known.T, asked.T)
    assert back.fingerprint == seen.fingerprint == seen.T.T.fingerprint
    assert seen.T.fingerprint == seen.fingerprint.T
    again = dataclasses.replace(seen)
    check_is_all_that_is_known(again, M, known, asked)
    half = seen.divide(2.0)
    np.testing.assert_array_equal(half.rows, seen.rows / 2)
    assert half.n_values_read == seen.n_values_read
    part = seen.subset(rows=np.arange(seen.n_rows // 2), columns=[], entries=[])
    np.testing.assert_array_equal(part.rows, seen.rows[: seen.n_rows // 2])


def test_a_row_may_be_all_gaps(xp):
    seen = Observation(shape=(2, 3), row_index=[0], rows=xp.full((1, 3), NAN, dtype=xp.float64), gaps=True)
    assert (seen.n_values_read, seen.n_gaps, seen.magnitude) == (0, 3, 0.0)
    assert repr(seen) == "<Observation of a 2 x 3 matrix: 0 columns, 1 row, 0 entries, 3 gaps, float64>"


def test_an_entry_fills_a_gap_of_a_row(xp):
    seen = Observation(
        shape=(2, 3), row_index=[0], rows=xp.asarray([[1.0, NAN, 3.0]]), i=[0], j=[1], values=xp.asarray([2.0]),
        gaps=True,
    )  # fmt: skip
    np.testing.assert_array_equal(to_numpy(seen.rows), [[1.0, 2.0, 3.0]])
    assert not seen.has_gaps
    assert seen.known_rows is None


def test_chances_and_weights_of_records_without_a_value_go_with_them():
    seen = Observation(
        shape=(2, 3), i=[0, 1], j=[1, 2], values=[NAN, 2.0], weights=[1.0, 3.0], probabilities=[0.1, 0.2], gaps=True
    )
    np.testing.assert_array_equal(seen.weights, [3.0])
    np.testing.assert_array_equal(seen.probabilities, [0.2])
    assert (seen.unmeasured_i.tolist(), seen.unmeasured_j.tolist()) == ([0], [1])


def test_the_design_survives_records_without_a_value():
    design = ("given", "given", "uniform")
    seen = Observation(shape=(2, 3), i=[0, 1], j=[1, 2], values=[NAN, 2.0], gaps=True, design=design)
    assert seen.design == design
    assert dataclasses.replace(seen).design == design


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": [[1.0, NAN, 3.0]]}, r"rows\[0, 1\]=nan \(row 0, column 1\).*use gaps=True"),
        ({"values": [NAN]}, r"values\[0\]=nan \(row 1, column 2\).*use gaps=True"),
        ({"rows": [[1.0, math.inf, 3.0]]}, r"rows\[0, 1\]=inf .*or repair it first"),
        ({"rows": [[NAN, math.inf, 3.0]], "gaps": True}, r"rows\[0, 1\]=inf \(row 0, column 1\)"),
        ({"values": [-math.inf], "gaps": True}, r"values\[0\]=-inf \(row 1, column 2\)"),
        ({"gaps": "yes"}, "gaps='yes' is not a truth value"),
        ({"gaps": True, "unmeasured_i": [0]}, "unmeasured_i has 1 positions and unmeasured_j has 0"),
        ({"unmeasured_i": [0], "unmeasured_j": [1]}, "1 entries could not be measured, so there are gaps"),
    ],
)
def test_what_is_neither_a_number_nor_a_gap_is_refused(changes, message):
    parts = {"shape": (2, 3), "row_index": [0], "rows": [[1.0, 2.0, 3.0]], "i": [1], "j": [2], "values": [6.0]}
    with pytest.raises(InvalidArgumentError, match=message):
        Observation(**parts | changes)


def test_readings_that_disagree_are_found_beside_gaps():
    with pytest.raises(InconsistentObservationError, match=r"row 0, column 2 was read as 4.0 among the entries"):
        Observation(shape=(2, 3), row_index=[0], rows=[[1.0, NAN, 3.0]], i=[0], j=[2], values=[4.0], gaps=True)


def test_numbers_are_put_at_places_in_every_library(xp):
    x = xp.asarray(np.arange(6.0).reshape(2, 3))
    y = put(x, (np.array([0, 1]), np.array([2, 0])), np.array([7.0, 8.0]))
    np.testing.assert_array_equal(to_numpy(y), [[0, 1, 7], [8, 4, 5]])
    np.testing.assert_array_equal(to_numpy(x), np.arange(6.0).reshape(2, 3))


# Reading


class Assays:
    """A function of the position that fails at some places, and counts how often each was asked for."""

    def __init__(self, M, share=0.1, seed=0):
        self.answers = with_holes(M, share, np.random.default_rng(seed))
        self.n_asked = np.zeros(M.shape, dtype=int)

    def __call__(self, i, j):
        np.add.at(self.n_asked, (i, j), 1)
        return self.answers[i, j]


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_what_could_not_be_measured_is_remembered_and_not_asked_for_again(full_rank, share):
    M = full_rank((40, 30))
    assays = Assays(M, share)
    source = curplus.CallableSource(assays, M.shape, gaps=True)
    seen = curplus.acquire(source, n_columns=5, n_rows=6, n_entries=200, rng=0)
    asked = np.zeros(M.shape, dtype=bool)
    asked[seen.row_index] = asked[:, seen.column_index] = asked[seen.i, seen.j] = True
    asked[seen.unmeasured_i, seen.unmeasured_j] = True
    np.testing.assert_array_equal(assays.n_asked > 0, asked)
    check_is_all_that_is_known(seen, M, asked & ~np.isnan(assays.answers), asked)
    assert seen.n_entries + len(seen.unmeasured_i) == 200
    before = assays.n_asked.copy()
    more = curplus.acquire(source, n_columns=5, n_rows=6, n_entries=400, start=seen, rng=1)
    assert not (assays.n_asked - before)[np.unravel_index(seen.gap_index(), M.shape)].any()
    assert more.n_entries + len(more.unmeasured_i) == 400


def test_gaps_may_be_allowed_by_the_reader_or_by_the_source(full_rank):
    H = with_holes(full_rank(), 0.2, np.random.default_rng(0))
    counts = {"n_columns": 3, "n_rows": 3, "n_entries": 20}
    with pytest.raises(InvalidArgumentError, match="use gaps=True"):
        curplus.observe(H, **counts, rng=0)
    with pytest.raises(SourceError, match=r"Every value must be finite. If it means .* use gaps=True"):
        curplus.observe(curplus.CallableSource(lambda i, j: H[i, j], H.shape), **counts, rng=0)
    seen = curplus.observe(H, **counts, gaps=True, rng=0)
    source = curplus.CallableSource(lambda i, j: H[i, j], H.shape, gaps=True)
    same = curplus.observe(source, **counts, rng=0)
    for name in ("rows", "columns", "i", "values", "unmeasured_i"):
        np.testing.assert_array_equal(getattr(seen, name), getattr(same, name))
    with pytest.raises(SourceError, match="returned inf"):
        curplus.CallableSource(lambda i, j: i * math.inf, (2, 2), gaps=True).entries(np.array([1]), np.array([1]))


def test_a_plan_is_read_without_what_is_known_to_be_a_gap(full_rank, recording_source):
    M = full_rank()
    seen = Observation(shape=M.shape, row_index=[1], rows=[[NAN] * 20], i=[5], j=[6], values=[NAN], gaps=True)
    source = recording_source(M)
    nothing = np.empty(0, dtype=np.int64)
    plan = curplus.SamplePlan(M.shape, nothing, nothing, np.array([1, 5, 7]), np.array([3, 6, 8]))
    more = curplus.read(source, plan, known=seen)
    assert more.i.tolist() == [7]
    assert np.argwhere(source.seen).tolist() == [[7, 8]]


# Choosing


@pytest.mark.parametrize("strategy", ["auto", "pivoted", "residual_norm", "leverage", "uniform"])
@pytest.mark.parametrize("entry_strategy", ["uniform", "product_leverage", ProductLeverage(uniform_share=0.5)])
def test_no_entry_is_proposed_that_is_known_to_be_a_gap(full_rank, strategy, entry_strategy):
    M = full_rank((30, 20))
    seen = curplus.observe(with_holes(M, 0.5, np.random.default_rng(0)), n_columns=6, n_rows=8, n_entries=150,
                           gaps=True, rng=0)  # fmt: skip
    plan = curplus.propose(
        seen, n_columns=6, n_rows=8, n_entries=300, strategy=strategy, entry_strategy=entry_strategy, rng=1
    )
    assert len(plan.i) == 300 - seen.n_entries - len(seen.unmeasured_i)
    assert not np.isin(plan.i * 20 + plan.j, seen.gap_index()).any()


def test_probabilities_of_product_leverage_add_up_to_one_without_the_gaps(full_rank):
    M = full_rank((12, 9))
    seen = curplus.observe(with_holes(M, 0.3, np.random.default_rng(0)), n_columns=4, n_rows=5, n_entries=20,
                           gaps=True, rng=0)  # fmt: skip
    draws = ProductLeverage(uniform_share=0.3).draw(seen, 20000, np.random.default_rng(0))
    flat, first = np.unique(draws.i * 9 + draws.j, return_index=True)
    assert len(flat) == M.size - len(seen.gap_index())
    assert draws.probabilities[first].sum() == pytest.approx(1.0)


def test_a_strategy_that_draws_gaps_is_refused(full_rank):
    class Stubborn:
        def draw(self, observation, count, rng):
            return EntryDraws(np.zeros(count, dtype=int), np.zeros(count, dtype=int))

    seen = Observation(shape=(3, 3), i=[0], j=[0], values=[NAN], gaps=True)
    with pytest.raises(InvalidArgumentError, match="drew row 0, column 0, which is known to be a gap"):
        curplus.propose(seen, n_columns=0, n_rows=0, n_entries=3, entry_strategy=Stubborn(), rng=0)


def test_more_entries_than_can_be_measured_are_refused():
    seen = Observation(shape=(2, 2), row_index=[0], rows=[[NAN, NAN]], i=[1], j=[0], values=[1.0], gaps=True)
    with pytest.raises(InvalidArgumentError, match="2 more entries are asked for, but only 1 positions are left"):
        curplus.propose(seen, n_columns=0, n_rows=1, n_entries=3, rng=0)


@pytest.mark.parametrize("level", [0.0, 10.0])
def test_a_few_gaps_hardly_change_how_good_the_choice_is(rng, level):
    M = level + rng.standard_normal((300, 6)) @ rng.standard_normal((6, 200)) + 0.3 * rng.standard_normal((300, 200))
    M[[3, 50]] *= 5
    counts = {"n_columns": 20, "n_rows": 20, "n_entries": 0, "rng": 0}
    plain, gappy = curplus.acquire(M, **counts), curplus.acquire(with_holes(M, 0.05, rng), **counts, gaps=True)
    assert {3, 50} <= set(gappy.row_index.tolist())
    complete = curplus.read(M, curplus.SamplePlan(M.shape, gappy.column_index, gappy.row_index, [], []))
    errors = [np.linalg.norm(M - curplus.cur_full(M, seen).truncate(7).to_array()) for seen in (plain, complete)]
    assert errors[1] <= 1.05 * errors[0]


# Approximating


@pytest.mark.parametrize(
    "method",
    [
        lambda M, seen: curplus.cur_plus(seen, 2),
        lambda M, seen: curplus.cur_full(M, seen, 2),
        lambda M, seen: curplus.cur_unbiased(seen, 2),
    ],
)
def test_the_papers_methods_ask_for_complete_rows_and_columns(low_rank, method):
    M = low_rank()
    seen = curplus.observe(M, n_columns=4, n_rows=4, n_entries=50, rng=0)
    rows = np.array(seen.rows)
    rows[0, np.setdiff1d(np.arange(20), seen.column_index)[:3]] = NAN
    gappy = dataclasses.replace(seen, rows=rows, i=[], j=[], values=[], gaps=True).extend(
        seen.subset(rows=[], columns=[], entries=~np.isin(seen.i, seen.row_index))
    )
    with pytest.raises(InvalidArgumentError, match=r"needs complete rows and columns, .* have 3 gaps. Use approximate"):
        method(M, gappy)
    assert method(M, dataclasses.replace(seen, gaps=True)).shape == M.shape


# Judging


class Fixed:
    """A method whose answer is always the same."""

    sees_whole_matrix = False

    def __init__(self, answer):
        self.answer = answer

    def fit(self, observation, *, rng=0):
        return self.answer


def judged(M, seen, **provenance):
    """An approximation of low rank that knows nothing of the observation, and its error."""
    answer = curplus.cur_full(M, curplus.observe(M, n_columns=20, n_rows=20, n_entries=0, rng=9)).truncate(3)
    answer = dataclasses.replace(answer, provenance=Provenance(fingerprint=seen.fingerprint, **provenance))
    return answer, M - answer.to_array()


def masks(seen):
    lines, known = np.zeros(seen.shape, dtype=bool), np.ones(seen.shape, dtype=bool)
    lines[seen.row_index] = lines[:, seen.column_index] = True
    known.reshape(-1)[seen.gap_index()] = False
    return lines, known


def test_gaps_count_as_unseen_in_a_certificate_from_entries(full_rank):
    M = full_rank((60, 50), noise=0.5)
    H = with_holes(M, 0.2, np.random.default_rng(0))
    seen = curplus.observe(H, n_columns=5, n_rows=6, n_entries=900, gaps=True, rng=0)
    held = np.arange(0, seen.n_entries, 2)
    answer, E = judged(M, seen, held_out=held)
    lines, known = masks(seen)
    fitted = lines & known
    outside = ~lines[seen.i, seen.j]
    used = np.setdiff1d(np.flatnonzero(outside), held)
    fitted[seen.i[used], seen.j[used]] = True
    held = held[outside[held]]
    squares = E[seen.i[held], seen.j[held]] ** 2
    certificate = curplus.certify(answer, seen)
    assert certificate.evidence == "held-out entries"
    assert certificate.error**2 == pytest.approx(np.sum(E[fitted] ** 2) + np.sum(~fitted) * squares.mean())
    assert certificate.lower_bound**2 == pytest.approx(np.sum(E[fitted] ** 2) + squares.sum())
    assert certificate.error == pytest.approx(np.linalg.norm(E), rel=0.1)
    assert 0 < certificate.spectral_lower_bound <= np.linalg.norm(E, 2)
    values = M[seen.i, seen.j][outside] ** 2
    norm = np.sum(M[lines & known] ** 2) + np.sum(~(lines & known)) * values.mean()
    assert certificate.relative_error == pytest.approx(certificate.error / math.sqrt(norm))


def test_left_out_rows_are_judged_by_what_is_known_of_them(full_rank):
    M = full_rank((150, 80), noise=0.5)
    H = with_holes(M, 0.2, np.random.default_rng(0))
    H[:, 7] = M[:, 7]
    seen = curplus.observe(H, n_columns=8, n_rows=100, n_entries=0, gaps=True, rng=0)
    answer, E = judged(M, seen)
    answer = dataclasses.replace(answer, provenance=dataclasses.replace(answer.provenance, method=Fixed(answer)))
    lines, known = masks(seen)
    other_columns = np.setdiff1d(np.arange(80), seen.column_index)
    rows, there = E[np.ix_(seen.row_index, other_columns)], known[np.ix_(seen.row_index, other_columns)]
    mean_square = np.sum(rows[there] ** 2) / there.sum()
    certificate = curplus.certify(answer, seen)
    assert certificate.evidence == "left-out rows"
    expected = np.sum(E[lines & known] ** 2) + np.sum(~(lines & known)) * mean_square
    assert certificate.error**2 == pytest.approx(expected)
    assert certificate.lower_bound**2 == pytest.approx(np.sum(E[lines & known] ** 2))
    assert certificate.interval[0] < np.linalg.norm(E) < certificate.interval[1]


def test_a_spectral_bound_does_not_grow_by_gaps():
    """All ones with its diagonal left out has a larger spectral norm with zeros there than some full matrices."""
    M = np.ones((4, 4)) - np.eye(4) * 2.0  # spectral norm 2; with zeros on the diagonal it is 3
    rows = M + np.where(np.eye(4) > 0, NAN, 0.0)
    seen = Observation(shape=(4, 4), row_index=np.arange(4), rows=rows, gaps=True)
    zero = curplus.cur_full(np.zeros((4, 4)), curplus.observe(np.zeros((4, 4)), n_columns=1, n_rows=1, n_entries=0))
    certificate = curplus.certify(dataclasses.replace(zero, provenance=Provenance()), seen)
    assert certificate.spectral_lower_bound == pytest.approx(math.sqrt(3))


def test_where_only_gaps_are_unknown_they_are_the_rest(full_rank):
    M = full_rank((30, 20))
    rows = np.array(M)
    rows[3, 4] = NAN
    seen = Observation(shape=M.shape, row_index=np.arange(30), rows=rows, gaps=True)
    answer, E = judged(M, seen)
    certificate = curplus.certify(answer, seen)
    assert certificate.evidence == "none"
    assert certificate.lower_bound**2 == pytest.approx(np.sum(E**2) - E[3, 4] ** 2)


# Tables with holes


HOLES = np.array([[1.0, NAN, 3.0], [NAN, 5.0, 6.0]])


def check_is_table(seen, *, names=True):
    np.testing.assert_array_equal(seen.rows, HOLES)
    assert (seen.n_rows, seen.n_columns, seen.n_entries, seen.n_gaps) == (2, 0, 0, 2)
    np.testing.assert_array_equal(seen.row_index, [0, 1])
    if names:
        assert list(seen.column_names) == ["a", "b", "c"]


@pytest.mark.parametrize(("n_rows", "n_columns"), [(30, 8), (30, 3), (4, 8)])
def test_a_table_with_gaps_that_was_read_by_rows_and_by_columns_is_judged(rng, n_rows, n_columns):
    M = with_holes(rng.standard_normal((30, 2)) @ rng.standard_normal((2, 8)), 0.2, rng)
    seen = curplus.observe(M, n_columns=n_columns, n_rows=n_rows, n_entries=0, gaps=True, rng=0)
    approx = curplus.approximate(seen)
    assert curplus.certify(approx, seen).error >= 0
    assert np.isfinite(approx.to_array()).all()


def test_an_array_with_holes_is_kept_as_it_is(xp):
    seen = Observation.from_table(HOLES)
    check_is_table(seen, names=False)
    assert np.shares_memory(seen.rows, HOLES)
    other = Observation.from_table(xp.asarray(HOLES))
    assert type(other.rows) is type(xp.asarray(HOLES))
    np.testing.assert_array_equal(to_numpy(other.rows), HOLES)


def test_masked_values_are_holes():
    masked = np.ma.masked_array([[1, 2, 3], [4, 5, 6]], mask=[[0, 1, 0], [1, 0, 0]])
    check_is_table(Observation.from_table(masked, column_names=["a", "b", "c"]))
    assert masked.data.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_frames_become_observations_with_their_names():
    frame = pd.DataFrame(HOLES, index=["x", "y"], columns=["a", "b", "c"])
    seen = Observation.from_table(frame)
    check_is_table(seen)
    assert list(seen.row_names) == ["x", "y"]
    check_is_table(Observation.from_table(frame.astype({"b": "Float32", "c": "int8"})))
    polars = pytest.importorskip("polars")
    check_is_table(Observation.from_table(polars.DataFrame({"a": [1, None], "b": [None, 5.0], "c": [3, 6]})))


def test_columns_of_words_are_refused_with_their_names():
    frame = pd.DataFrame({"a": [1.0, NAN], "name": ["x", "y"], "day": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    with pytest.raises(
        InvalidArgumentError, match=r"columns 'name', 'day' of the table have dtype .* not numeric\. Drop them"
    ):
        Observation.from_table(frame)
    polars = pytest.importorskip("polars")
    words = {"name": ["x", "y"], "town": ["y", "z"], "a": [1.0, 2.0]}
    with pytest.raises(InvalidArgumentError, match=r"column 'town' of the table .* not numeric\. Drop it"):
        Observation.from_table(polars.DataFrame(words))  # the first column of text names the rows


def test_a_number_may_stand_for_a_hole():
    table = np.array([[1, -999, 3], [-999, 5, 6]])
    check_is_table(Observation.from_table(table, missing=-999), names=False)
    assert table[0, 1] == -999


def test_what_a_sparse_matrix_does_not_store_is_a_hole_only_if_that_is_said():
    table = scipy.sparse.coo_array(([1.0, 2.0, 0.0, NAN], ([0, 0, 1, 1], [0, 0, 2, 1])), shape=(2, 3))
    with pytest.raises(
        InvalidArgumentError, match=r"as in ratings, or the value zero, as in word counts.*missing='unsto"
    ):
        Observation.from_table(table)
    seen = Observation.from_table(table, missing="unstored", design=("given", "given", "uniform"))
    assert (seen.i.tolist(), seen.j.tolist(), seen.values.tolist()) == ([0, 1], [0, 2], [3.0, 0.0])
    assert (seen.n_rows, seen.n_gaps, seen.design.entries) == (0, 1, "uniform")
    assert table.nnz == 4


@pytest.mark.parametrize("missing", ["unstored", "NA", True, None])
def test_a_hole_must_be_a_number_in_a_dense_table(missing):
    with pytest.raises(InvalidArgumentError, match=r"missing=.* is (not a number|for sparse matrices)"):
        Observation.from_table(HOLES, missing=missing)


def test_a_table_without_holes_has_no_gaps(full_rank):
    M = full_rank()
    seen = Observation.from_table(M)
    assert not seen.has_gaps
    assert (seen.known_rows, seen.n_gaps, seen.n_values_read) == (None, 0, M.size)


def test_a_large_table_is_not_copied():
    table = np.ones((8000, 500), dtype=np.float32)
    table[::3, ::2] = NAN
    tracemalloc.start()
    seen = Observation.from_table(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.shares_memory(seen.rows, table)
    assert peak < table.nbytes


# Approximations of rows and columns with gaps


@pytest.mark.parametrize("counts", [(1, 1), (1, 5), (6, 0), (0, 6), (3, 3)])
@pytest.mark.parametrize("share", [0.4, 1.0])
def test_few_rows_and_columns_with_gaps_have_a_finite_answer(full_rank, rng, counts, share):
    holes = with_holes(3 + full_rank((30, 20)), share, rng)
    holes[0] = 1.0
    seen = curplus.observe(holes, n_columns=counts[0], n_rows=counts[1], n_entries=100, gaps=True, rng=1)
    assert np.all(np.isfinite(curplus.approximate(seen).to_array()))


def test_known_values_of_rows_and_columns_stand_in_the_answer_and_gaps_are_predicted(low_rank, rng):
    M = 3 + low_rank((90, 60), 3) + 0.3 * rng.standard_normal((90, 60))
    seen = curplus.observe(with_holes(M, 0.1, rng), n_columns=4, n_rows=5, n_entries=1500, gaps=True, rng=0)
    dense = curplus.approximate(seen, 60).to_array()
    gaps = np.isnan(seen.rows)
    np.testing.assert_allclose(dense[seen.row_index][~gaps], seen.rows[~gaps], atol=1e-9)
    assert np.sqrt(np.mean((dense - M)[seen.row_index][gaps] ** 2)) < 1.0


def test_a_sampled_column_of_which_nothing_is_known_counts_as_zero():
    """Row 1 has the mean of 0 and 2 there."""
    parts = {"column_index": [0], "columns": np.full((3, 1), NAN), "row_index": [1], "rows": [[NAN, 2.0]]}
    whole = without_gaps(Cells.of(Observation(shape=(3, 2), gaps=True, **parts)))
    np.testing.assert_array_equal(whole.columns, [[0.0], [1.0], [0.0]])
    np.testing.assert_array_equal(whole.rows, [[1.0, 2.0]])
