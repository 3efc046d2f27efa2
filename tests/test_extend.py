"""Observations grow: two of them joined are what one reading of everything would have been."""

import dataclasses

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import Observation
from curplus.exceptions import InconsistentObservationError, InvalidArgumentError
from curplus.observation import SamplingDesign, checks
from tests.strategies import counts, low_rank_matrices, observed, plans, seeds
from tests.test_observation import assert_same


def disjoint(plan, other):
    """The second plan without the columns and rows of the first."""
    return other._replace(
        column_index=np.setdiff1d(other.column_index, plan.column_index),
        row_index=np.setdiff1d(other.row_index, plan.row_index),
    )


@given(st.data(), low_rank_matrices())
def test_two_samples_joined_are_one_sample_of_both(data, M):
    first, second = data.draw(plans(M.shape)), data.draw(plans(M.shape))
    second = disjoint(first, second)
    both = first._replace(
        **{k: np.concatenate([getattr(first, k), getattr(second, k)]) for k in ("column_index", "row_index", "i", "j")}
    )
    assert_same(observed(M, first).extend(observed(M, second)), observed(M, both))


@given(st.data(), low_rank_matrices(), seeds)
def test_a_sample_extended_by_itself_has_each_column_and_row_once(data, M, seed):
    seen = curplus.observe(M, **data.draw(counts(M.shape)), rng=seed)
    twice = seen.extend(seen)
    np.testing.assert_array_equal(twice.column_index, seen.column_index)
    np.testing.assert_array_equal(twice.rows, seen.rows)
    assert twice.n_entries == 2 * seen.n_entries
    assert twice.n_values_read == seen.n_values_read
    assert twice.design == seen.design


def test_joining_commutes_with_transposing(full_rank):
    M = full_rank()
    first, second = (curplus.observe(M, n_columns=3, n_rows=4, n_entries=9, rng=k) for k in (0, 1))
    assert_same(first.extend(second).T, first.T.extend(second.T))


@pytest.mark.parametrize(
    ("first", "second", "joint"),
    [
        ("uniform", "uniform", "uniform"),
        ("uniform", "given", "given"),
        ("given", "uniform", "given"),
        ("uniform", "adaptive", "adaptive"),
        ("adaptive", "given", "adaptive"),
    ],
)
def test_the_joint_design_is_the_weaker_of_the_two(full_rank, first, second, joint):
    M = full_rank()
    parts = [
        dataclasses.replace(curplus.observe(M, n_columns=2, n_rows=2, n_entries=5, rng=k), design=(word,) * 3)
        for k, word in enumerate((first, second))
    ]
    assert parts[0].extend(parts[1]).design == (joint,) * 3


def test_a_part_that_only_one_has_keeps_its_design(full_rank):
    M = full_rank()
    rows = Observation(shape=M.shape, row_index=[1], rows=M[[1]])
    uniform = curplus.observe(M, n_columns=2, n_rows=0, n_entries=3, rng=0)
    assert rows.extend(uniform).design == uniform.extend(rows).design == ("uniform", "given", "uniform")


def test_only_what_is_new_is_checked(full_rank, monkeypatch):
    """Each value is looked at once, when it is read, however many rounds follow."""
    looked_at = []
    check = checks.check_finite
    monkeypatch.setattr(checks, "check_finite", lambda x, **more: (looked_at.append(x.size), check(x, **more))[1])
    M = full_rank((60, 50))
    seen = curplus.acquire(M, n_columns=20, n_rows=25, n_entries=100, rng=0)
    assert sum(looked_at) == 60 * 20 + 50 * 25 + 100
    assert seen.n_columns == 20


def test_names_come_from_whoever_has_them():
    named = Observation(shape=(2, 2), i=[0], j=[0], values=[1.0], row_names=["a", "b"])
    joint = Observation(shape=(2, 2), i=[1], j=[1], values=[2.0], column_names=["x", "y"]).extend(named)
    assert joint.row_names.tolist() == ["a", "b"]
    assert joint.column_names.tolist() == ["x", "y"]


def test_weights_and_chances_stand_side_by_side():
    first = Observation(shape=(4, 5), i=[0], j=[0], values=[1.0], weights=[2.0], probabilities=[0.3])
    second = Observation(shape=(4, 5), i=[1, 2], j=[1, 2], values=[1.0, 2.0], weights=[1.0, 3.0])
    joint = first.extend(second)
    np.testing.assert_array_equal(joint.weights, [2.0, 1.0, 3.0])
    np.testing.assert_allclose(joint.probabilities, [0.3, 0.05, 0.05])


def test_nothing_takes_the_library_and_type_of_what_comes(xp):
    M = xp.asarray(np.arange(12.0).reshape(3, 4), dtype=xp.float32)
    seen = Observation(shape=(3, 4)).extend(curplus.observe(M, n_columns=1, n_rows=0, n_entries=0, rng=0))
    assert {type(part) for part in (seen.columns, seen.rows, seen.values)} == {type(M)}
    assert seen.dtype == xp.float32


START = Observation(shape=(3, 2), column_index=[0], columns=[[1.0], [2.0], [3.0]])


@pytest.mark.parametrize(
    ("more", "kind", "message"),
    [
        (Observation(shape=(2, 3)), InvalidArgumentError, r"of shape \(3, 2\) and \(2, 3\) cannot be joined"),
        (np.ones((3, 2)), InvalidArgumentError, "can be extended by another one, not by a ndarray"),
        (
            Observation(shape=(3, 2), row_index=[1], rows=[[5.0, 1.0]]),
            InconsistentObservationError,
            "row 1, column 0 was read as 5.0 among the rows and as 2.0 among the columns",
        ),
        (
            Observation(shape=(3, 2), i=[2], j=[0], values=[4.0]),
            InconsistentObservationError,
            "row 2, column 0 was read as 4.0 among the entries and as 3.0 among the columns",
        ),
        (
            Observation(shape=(3, 2), column_index=[0], columns=[[1.0], [2.0], [4.0]]),
            InconsistentObservationError,
            "row 2, column 0 was read as 3.0 among the first columns and as 4.0",
        ),
        (
            Observation(shape=(3, 2), i=[2], j=[1], values=array_api_strict.asarray([4.0])),
            InvalidArgumentError,
            "arrays of different libraries",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(more, kind, message):
    with pytest.raises(kind, match=message):
        START.extend(more)


def test_weights_of_one_side_alone_are_refused():
    first = Observation(shape=(3, 2), i=[0], j=[0], values=[1.0], weights=[1.0])
    with pytest.raises(InvalidArgumentError, match="only one of the two observations has weights"):
        first.extend(Observation(shape=(3, 2), i=[1], j=[0], values=[1.0]))


# Parts of an observation


@given(st.data(), low_rank_matrices(), seeds)
def test_a_subset_is_what_it_names(data, M, seed):
    seen = curplus.observe(M, **data.draw(counts(M.shape)), rng=seed)
    columns, rows, entries = (np.arange(k)[::2] for k in seen.counts)
    some = seen.subset(columns=columns, rows=rows, entries=entries)
    np.testing.assert_array_equal(some.columns, M[:, seen.column_index[columns]])
    np.testing.assert_array_equal(some.rows, M[seen.row_index[rows]])
    np.testing.assert_array_equal(some.values, M[seen.i[entries], seen.j[entries]])
    for word, kept, had in zip(some.design, some.counts, seen.counts, strict=True):
        assert word == ("uniform" if kept == had else "given")
    assert seen.subset(columns=columns, rows=rows, entries=entries, design=seen.design).design == seen.design


@pytest.mark.parametrize(("columns", "message"), [([0, 0], "more than once"), ([7], "out of range"), ([0.5], "dtype")])
def test_a_subset_of_what_is_not_there_is_refused(columns, message):
    with pytest.raises(InvalidArgumentError, match=message):
        START.subset(columns=columns)


def test_entries_chosen_by_their_values_no_longer_call_themselves_uniform(full_rank):
    seen = curplus.observe(full_rank((60, 50)), n_columns=5, n_rows=5, n_entries=1500, rng=0)
    small = np.abs(seen.values) < 1
    cut = dataclasses.replace(seen, i=seen.i[small], j=seen.j[small], values=seen.values[small])
    assert cut.design == seen.subset(entries=small).design == ("uniform", "uniform", "given")
    certificate = curplus.certify(curplus.cur_full(full_rank((60, 50)), cut), cut)
    assert certificate.interval is None
    assert "how the entries were chosen is not known" in certificate.reason
    said = dataclasses.replace(seen, i=seen.i[small], j=seen.j[small], values=seen.values[small],
                               design=SamplingDesign("uniform", "uniform", "uniform"))  # fmt: skip
    assert said.design.entries == "uniform"


def test_other_values_at_the_same_positions_keep_the_design(full_rank):
    seen = curplus.observe(full_rank(), n_columns=0, n_rows=0, n_entries=50, rng=0)
    assert dataclasses.replace(seen, values=seen.values + 1).design == seen.design


# Numbers that leave the range


@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 1e307), (np.float32, 1e37)])
def test_data_near_overflow_are_refused_in_words(full_rank, dtype, size):
    M = (full_rank((300, 200)) * size).astype(dtype)
    with pytest.raises(InvalidArgumentError, match=r"its norm may exceed .* the range of float(32|64)\. Divide"):
        curplus.observe(M, n_columns=5, n_rows=5, n_entries=10, rng=0)


def test_a_chance_that_makes_one_entry_stand_for_everything_is_refused():
    with pytest.raises(InvalidArgumentError, match=r"probabilities\[1\]=1e-300 makes this one entry stand for more"):
        Observation(shape=(9, 9), i=[0, 1], j=[0, 1], values=[1.0, 2.0], probabilities=[0.1, 1e-300])
