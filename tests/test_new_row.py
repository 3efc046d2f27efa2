"""Columns of a new row are drawn with known chances, or chosen one after the other."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus.acquisition import draw_columns, next_columns
from curplus.exceptions import InvalidArgumentError
from tests.conftest import effort


@given(seed=st.integers(0, 2**31), m=st.integers(1, 40), data=st.data())
def test_as_many_distinct_columns_are_drawn_as_the_chances_add_up_to(seed, m, data):
    k = data.draw(st.integers(0, m))
    rng = np.random.default_rng(seed)
    scale = rng.choice([0.0, 1e-3, 1.0, 1e3], m)
    columns, chances = draw_columns(rng.standard_normal((12, m)) * scale, k, rng=seed)
    assert len(set(columns.tolist())) == len(columns) == k
    assert chances.sum() == pytest.approx(k)
    assert np.all((chances >= 0) & (chances <= 1))
    assert np.all(chances[columns] > 0)
    assert np.isin(np.flatnonzero(chances == 1), columns).all()


def test_each_column_is_drawn_with_its_chance(rng):
    history = rng.standard_normal((30, 12)) * np.linspace(0, 3, 12)
    chances = draw_columns(history, 4, rng=0).probabilities
    draws = effort(2000, 20000)
    counts = np.zeros(12)
    for seed in range(draws):
        counts[draw_columns(history, 4, rng=seed).columns] += 1
    error = np.sqrt(chances * (1 - chances) / draws)
    assert np.all(np.abs(counts / draws - chances) < 4 * error + 1e-12)


def test_chances_follow_the_standard_deviations_of_the_history(rng):
    history = rng.standard_normal((40, 30)) * np.linspace(1, 2, 30)
    spread = history.std(axis=0)
    np.testing.assert_allclose(
        draw_columns(history, 6, rng=0).probabilities, 6 * (0.8 * spread / spread.mean() + 0.2) / 30
    )
    sparse = draw_columns(scipy.sparse.csr_array(history), 6, rng=0)
    np.testing.assert_allclose(sparse.probabilities, draw_columns(history, 6, rng=0).probabilities)


def test_an_approximation_is_a_history_too(rng):
    seen = curplus.observe(rng.standard_normal((30, 20)), n_columns=4, n_rows=4, n_entries=100, rng=0)
    assert len(draw_columns(curplus.approximate(seen), 5, rng=0).columns) == 5


@pytest.fixture
def approx(rng):
    history = rng.standard_normal((100, 2)) @ rng.standard_normal((2, 25)) + rng.standard_normal((100, 25))
    return curplus.approximate(curplus.Observation(shape=(100, 25), row_index=range(100), rows=history))


def test_the_next_columns_are_not_known_yet_and_differ_with_what_is_known(approx):
    first = next_columns(approx, np.full(25, np.nan), 5)
    known = np.full((2, 25), np.nan)
    known[0, first[:2]] = 0.5
    after = next_columns(approx, known, 3)
    assert after[0].tolist() == first[2:].tolist()
    assert after[1].tolist() == first[:3].tolist()


def test_the_next_columns_of_a_frame_are_positions_in_the_matrix(approx):
    known = pd.DataFrame(np.full((1, 25), np.nan))
    np.testing.assert_array_equal(next_columns(approx, known, 4)[0], next_columns(approx, np.full(25, np.nan), 4))


def test_no_more_columns_can_be_read_than_are_left(approx):
    known = np.where(np.arange(25) < 22, 1.0, np.nan)
    assert sorted(next_columns(approx, known, 3)) == [22, 23, 24]
    with pytest.raises(InvalidArgumentError, match="only 3 are left"):
        next_columns(approx, known, 4)
