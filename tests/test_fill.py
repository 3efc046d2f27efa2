"""Getting it out: measured values are kept, the rest is predicted, and names go with them."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import Observation
from curplus._arrays import to_numpy
from curplus.exceptions import InvalidArgumentError, MissingExtraError
from tests.strategies import low_rank_matrices, plans, seeds
from tests.test_gaps import readings


def some_approximation(shape, dtype=np.float64, put=np.asarray):
    """An approximation of rank 1 that is near no matrix in particular."""
    rng = np.random.default_rng(7)
    M = np.outer(rng.uniform(1, 2, shape[0]), rng.uniform(1, 2, shape[1])).astype(dtype)
    seen = curplus.observe(put(M), n_columns=1, n_rows=1, n_entries=0, rng=0)
    return curplus.cur_full(put(M), seen), M


@given(st.data(), low_rank_matrices(), st.sampled_from([0.0, 0.4, 1.0]), seeds)
def test_measured_values_are_kept_and_the_rest_is_predicted(data, M, share, seed):
    parts = readings(M, data.draw(plans(M.shape)), share, seed)
    seen = Observation(**parts, gaps=True)
    approx, _ = some_approximation(M.shape, M.dtype)
    expected = np.clip(approx.to_array(), 1.2, 2.5)
    expected[seen.i, seen.j] = seen.values
    for where, part in ((np.s_[seen.row_index], seen.rows), (np.s_[:, seen.column_index], seen.columns)):
        expected[where] = np.where(np.isnan(part), expected[where], part)
    filled = seen.fill(approx, min_value=1.2, max_value=2.5)
    np.testing.assert_array_equal(filled, expected)
    assert filled.dtype == M.dtype
    assert not np.isnan(filled).any()


def test_the_same_is_filled_in_every_library(xp, rng):
    M = rng.standard_normal((9, 7))
    plan = curplus.observation.uniform_plan(M.shape, n_columns=3, n_rows=4, n_entries=20, rng=0)
    parts = readings(M, plan, 0.3, 0)
    filled = []
    for put in (xp.asarray, np.asarray):
        seen = Observation(**parts | {name: put(parts[name]) for name in ("rows", "columns", "values")}, gaps=True)
        filled.append(seen.fill(some_approximation(M.shape, put=put)[0], min_value=1.5))
    assert type(filled[0]) is type(xp.asarray(1.0))
    np.testing.assert_allclose(to_numpy(filled[0]), filled[1])


def test_records_of_one_place_are_averaged_by_weight():
    approx, _ = some_approximation((3, 4))
    seen = Observation(shape=(3, 4), i=[1, 1, 2], j=[2, 2, 0], values=[1.0, 4.0, 9.0], weights=[1.0, 2.0, 5.0])
    filled = seen.fill(approx, max_value=0.0)
    assert filled[1, 2] == pytest.approx(3.0)
    assert filled[2, 0] == 9.0  # measured: the limits are for predictions
    assert filled.sum() == pytest.approx(12.0)


def test_filling_changes_neither_the_observation_nor_the_approximation(full_rank):
    M = full_rank()
    seen = curplus.observe(M, n_columns=4, n_rows=5, n_entries=30, rng=0)
    approx = curplus.approximate(seen, 3)
    before = approx.to_array()
    seen.fill(approx)[:] = 0.0
    np.testing.assert_array_equal(approx.to_array(), before)
    np.testing.assert_array_equal(seen.rows, M[seen.row_index])


def test_a_table_with_holes_comes_back_filled(rng):
    M = np.outer(rng.uniform(1, 2, 30), rng.uniform(1, 2, 20))
    holes = pd.DataFrame(
        np.where(rng.random(M.shape) < 0.2, np.nan, M), [f"r{k}" for k in range(30)], list("abcdefghijklmnopqrst")
    )
    seen = Observation.from_table(holes)
    approx = dataclasses.replace(some_approximation(M.shape)[0], row_names=seen.row_names)
    frame = approx.to_frame(seen, min_value=0.0)
    assert list(frame.index) == list(holes.index)
    assert list(frame.columns) == list(holes.columns)
    np.testing.assert_array_equal(frame.to_numpy()[holes.notna()], M[holes.notna()])
    np.testing.assert_array_equal(frame.to_numpy()[holes.isna()], approx.to_array()[holes.isna()])


def test_an_approximation_becomes_a_table_with_its_names():
    approx, M = some_approximation((3, 2))
    frame = dataclasses.replace(approx, row_names=np.array(["x", "y", "z"])).to_frame(max_value=2.0)
    assert (list(frame.index), list(frame.columns)) == (["x", "y", "z"], [0, 1])
    np.testing.assert_allclose(frame, np.minimum(M, 2.0))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"min_value": 3.0, "max_value": 2.0}, "min_value=3 is larger than max_value=2"),
        ({"min_value": "a"}, "min_value='a' is not a number"),
        ({"max_value": float("nan")}, "max_value=nan is not a number"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits, message):
    approx, M = some_approximation((3, 2))
    for make in (Observation.from_table(M).fill, lambda answer, **more: answer.to_frame(**more)):
        with pytest.raises(InvalidArgumentError, match=message):
            make(approx, **limits)


def test_only_an_approximation_of_the_same_matrix_can_fill_it():
    approx, M = some_approximation((3, 2))
    seen = Observation.from_table(M)
    for other in (approx.T, M, None):
        with pytest.raises(InvalidArgumentError, match=r"Give an approximation of the same matrix"):
            seen.fill(other)
    with pytest.raises(InvalidArgumentError, match="observation is a ndarray"):
        approx.to_frame(M)


def test_a_table_names_the_package_it_needs(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="tables with names need pandas"):
        some_approximation((3, 2))[0].to_frame()
