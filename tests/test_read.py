"""One reader: what the plan names and nothing else, in one pass where the source can, nothing that is known again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import read
from curplus.exceptions import InvalidArgumentError
from tests.conftest import RecordingSource
from tests.strategies import low_rank_matrices, observed, plans
from tests.test_observation import assert_same


class OnePass(RecordingSource):
    """A source that serves a plan in one pass."""

    def __init__(self, matrix):
        super().__init__(matrix)
        self.passes = 0

    def read(self, plan):
        self.passes += 1
        return self.matrix[:, plan.column_index], self.matrix[plan.row_index], self.matrix[plan.i, plan.j]

    def rows(self, index):
        raise AssertionError("one pass is enough")

    columns = rows

    def entries(self, i, j):
        raise AssertionError("one pass is enough")


@given(st.data(), low_rank_matrices())
def test_what_is_known_is_not_asked_for_again(data, M):
    known, plan = observed(M, data.draw(plans(M.shape))), data.draw(plans(M.shape))
    source = RecordingSource(M)
    new = read(source, plan, known=known)
    np.testing.assert_array_equal(new.values, M[plan.i, plan.j])
    np.testing.assert_array_equal(new.columns, M[:, plan.column_index])
    asked = np.zeros(M.shape, dtype=bool)
    asked[plan.i, plan.j] = True
    asked[known.i, known.j] = asked[known.row_index] = asked[:, known.column_index] = False
    asked[plan.row_index] = asked[:, plan.column_index] = True
    np.testing.assert_array_equal(source.seen, asked)


@given(st.data(), low_rank_matrices())
def test_a_source_that_can_serves_a_plan_in_one_pass(data, M):
    plan = data.draw(plans(M.shape))
    source = OnePass(M)
    assert_same(read(source, plan), read(M, plan))
    assert source.passes == (any(map(len, plan[1:5])))


def test_acquiring_asks_for_one_pass_a_round(full_rank):
    source, rounds = OnePass(full_rank((40, 30))), []
    curplus.acquire(source, n_columns=8, n_rows=9, n_entries=20, rng=0, on_round=rounds.append)
    assert source.passes == len(rounds)


def test_a_plan_for_another_matrix_is_refused():
    plan = curplus.observation.uniform_plan((5, 4), n_columns=1, n_rows=1, n_entries=1, rng=0)
    with pytest.raises(InvalidArgumentError, match=r"the plan is for a matrix of shape \(5, 4\) and the source"):
        read(np.ones((4, 5)), plan)


@pytest.mark.parametrize("known", [None, curplus.Observation(shape=(2, 2))])
def test_a_plan_may_be_lists_and_is_checked(known):
    M = np.arange(4.0).reshape(2, 2)
    seen = read(M, curplus.SamplePlan((2, 2), [1], [0], [1], [0]), known=known)
    np.testing.assert_array_equal(seen.values, [2.0])
    with pytest.raises(InvalidArgumentError, match=r"column_index\[0\]=5 is out of range"):
        read(M, curplus.SamplePlan((2, 2), [5], [0], [], []), known=known)
