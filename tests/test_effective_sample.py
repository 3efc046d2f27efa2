"""When an average of squares is to be trusted."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curplus.evaluation.effective_sample import check_tails, effective_sample_size, tail_index

BENIGN = 5.0  # a tail index that refuses nothing


@given(st.integers(1, 50), st.floats(1e-150, 1e150))
def test_equal_squares_all_share_their_sum(count, size):
    assert effective_sample_size(np.full(count, size)) == pytest.approx(count)


def test_one_giant_square_shares_with_nobody():
    assert effective_sample_size(np.array([1e12, 1.0, 1.0, 1.0])) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("power", [1.5, 3.0, 6.0])
def test_the_tail_index_of_a_power_law_is_its_power(rng, power):
    squares = 1 + rng.pareto(power, 50_000)
    assert tail_index(squares) == pytest.approx(power, rel=0.25)


def test_witnesses_smaller_than_the_tail_do_not_speak_of_it(rng):
    squares = rng.exponential(size=2000)
    assert tail_index(squares, np.full(100_000, 1e-3)) == tail_index(squares)
    assert tail_index(squares, 1 + rng.pareto(0.8, 2000)) < tail_index(squares)


def test_no_tail_falls_off_at_once():
    assert tail_index(np.ones(50)) == math.inf
    assert tail_index(np.zeros(50)) == math.inf


def test_a_fair_average_is_trusted():
    shared, reason = check_tails(
        np.ones(200), {"sampled rows": np.ones(500)}, "held-out entries", count=200, index=BENIGN
    )
    assert (shared, reason) == (pytest.approx(200), "")


@pytest.mark.parametrize(
    ("squares", "witness", "index", "message"),
    [
        (np.ones(40), np.ones(9), BENIGN, "too few of the held-out entries: 40 in effect, and it takes 100"),
        (np.ones(200), np.append(np.ones(99), 50.0), BENIGN, "judged by the sampled rows, 8 in effect"),
        (np.ones(200), np.ones(9), 1.7, r"fall off so slowly \(index 1.70, below 2.5\)"),
        (np.zeros(200), np.ones(9), BENIGN, "all errors of the 200 held-out entries are zero"),
        (np.full(200, 1e-160), np.ones(9), BENIGN, "judged by the sampled rows, 0 in effect"),
    ],
)
def test_a_refusal_names_its_reason(squares, witness, index, message):
    _, reason = check_tails(squares, {"sampled rows": witness}, "held-out entries", count=len(squares), index=index)
    assert re.search(message, reason), reason
