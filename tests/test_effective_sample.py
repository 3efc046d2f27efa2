"""When an average of squares is to be trusted."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curplus.evaluation.effective_sample import Tail, check_tails, effective_sample_size, is_bounded, tail_of

BENIGN = Tail(5.0, 1.0)  # it refuses nothing


@given(st.integers(1, 50), st.floats(1e-150, 1e150))
def test_equal_squares_all_share_their_sum(count, size):
    assert effective_sample_size(np.full(count, size)) == pytest.approx(count)


def test_one_giant_square_shares_with_nobody():
    assert effective_sample_size(np.array([1e12, 1.0, 1.0, 1.0])) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("power", [1.5, 3.0, 6.0])
def test_the_tail_index_of_a_power_law_is_its_power(rng, power):
    squares = 1 + rng.pareto(power, 50_000)
    assert tail_of(squares).power == pytest.approx(power, rel=0.25)


@pytest.mark.parametrize(
    ("draw", "lightness"),
    [
        (lambda rng, size: rng.standard_normal(size), 1.0),
        (lambda rng, size: rng.laplace(size=size), 0.5),
        (lambda rng, size: rng.exponential(size=size) ** 2, 0.25),
    ],
    ids=["Gaussian", "Laplace", "squared exponential"],
)
@pytest.mark.parametrize("size", [2000, 20_000, 200_000])
def test_the_lightness_of_a_tail_is_its_exponent_at_every_depth(rng, draw, lightness, size):
    assert tail_of(draw(rng, size) ** 2).lightness == pytest.approx(lightness, rel=0.3)


@pytest.mark.parametrize(
    ("tail", "heavy", "stretch"),
    [
        (Tail(3.0, 1.0), False, 1.0),
        (Tail(2.0, 0.5), False, 1.5),
        (Tail(2.0, 0.5, number=100), False, 1.75),
        (Tail(2.6, 0.3), False, 2.0),
        (Tail(1.9, 0.3), True, 2.0),
    ],
)
def test_a_heavy_tail_is_refused_and_a_doubtful_one_moves_the_upper_end(tail, heavy, stretch):
    assert tail.is_heavy() is heavy
    assert tail.stretch == pytest.approx(stretch)


def test_errors_are_bounded_by_values_of_a_light_tail_that_are_not_much_larger(rng):
    errors, values = rng.standard_normal(2000) ** 2, rng.uniform(-1, 1, 2000)
    assert is_bounded(errors, 100 * values**2)
    assert not is_bounded(errors, 1e4 * values**2)  # one error as large as a value would be half of the sum
    assert not is_bounded(errors, rng.standard_t(3, 2000) ** 2)


def test_bounded_errors_need_half_the_effective_sample_size_and_no_light_tail():
    squares, heavy = np.ones(60), Tail(1.7, 0.3)
    options = {"evidence": "held-out entries", "count": 60, "tail": heavy}
    assert check_tails(squares, {}, limits=2 * np.ones(60), **options) == (pytest.approx(60), "")
    assert "at least 100 is needed" in check_tails(squares, {}, limits=np.full(60, 1e3), **options)[1]
    assert "at least 50 is needed" in check_tails(squares[:40], {}, limits=2 * np.ones(60), **options)[1]


def test_witnesses_smaller_than_the_tail_do_not_speak_of_it(rng):
    squares = rng.exponential(size=2000)
    assert tail_of(squares, np.full(100_000, 1e-3)) == tail_of(squares)
    assert tail_of(squares, 1 + rng.pareto(0.8, 2000)).power < tail_of(squares).power


def test_no_tail_falls_off_at_once():
    assert tail_of(np.ones(50)) == Tail(math.inf, math.inf)
    assert tail_of(np.zeros(50)) == Tail(math.inf, math.inf)


def test_a_fair_average_is_trusted():
    shared, reason = check_tails(
        np.ones(200), {"sampled rows": np.ones(500)}, "held-out entries", count=200, tail=BENIGN
    )
    assert (shared, reason) == (pytest.approx(200), "")


@pytest.mark.parametrize(
    ("squares", "witness", "tail", "message"),
    [
        (np.ones(40), np.ones(9), BENIGN, r"size of the held-out entries is 40\b.*, and at least 100 is needed"),
        (np.ones(200), np.append(np.ones(99), 50.0), BENIGN, "is 8 \\(judged by the sampled rows\\), and at least 100"),
        (
            np.ones(200),
            np.ones(9),
            Tail(1.7, 0.3999),
            r"too heavy a tail \(lightness 0.39, and at least 0.4 is needed\)",
        ),
        (np.append(np.ones(99), 0.5), np.ones(9), BENIGN, r"is 99\b.*, and at least 100 is needed"),
        (np.zeros(200), np.ones(9), BENIGN, "all errors of the 200 held-out entries are zero"),
        (np.full(200, 1e-160), np.ones(9), BENIGN, "is 0 \\(judged by the sampled rows\\)"),
    ],
)
def test_a_refusal_names_its_reason(squares, witness, tail, message):
    assert not check_tails(np.ones(200), {}, "held-out entries", count=200, tail=Tail(1.9, 0.46))[1]
    assert check_tails(np.ones(200), {}, "held-out entries", count=200, tail=Tail(1.9, 0.44))[1]
    _, reason = check_tails(squares, {"sampled rows": witness}, "held-out entries", count=len(squares), tail=tail)
    assert re.search(message, reason), reason
