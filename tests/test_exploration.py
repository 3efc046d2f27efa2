"""Rows and columns where nothing has been read: blocks, kernels, a hidden block, and what size tells."""

import numpy as np
import pytest

from curplus import acquire, approximate
from curplus.acquisition import Adaptive, Candidates
from curplus.acquisition.adaptive import _expected, _power_of_size
from curplus.acquisition.candidates import candidate_columns, candidate_rows


def blocks(count, n=600, m=450, seed=0):
    rng = np.random.default_rng(seed)
    same = np.arange(n)[:, None] * count // n == np.arange(m) * count // m
    return same * (1 + 0.1 * rng.standard_normal((n, m)))


def error(M, rank, **how):
    answer = approximate(acquire(M, **how), rank)
    return np.linalg.norm(M - answer.to_array()) / np.linalg.norm(M)


BUDGET = {"n_columns": 40, "n_rows": 120, "n_entries": 1500}


@pytest.mark.parametrize("count", [10, 20])
def test_every_block_is_found(count):
    for seed in range(3):
        M = blocks(count, seed=seed)
        seen = acquire(M, **BUDGET, rng=seed)
        assert len(np.unique(seen.column_index * count // 450)) == count
        assert len(np.unique(seen.row_index * count // 600)) == count


@pytest.mark.parametrize("width", [0.02, 0.05])
def test_narrow_kernels_are_not_worse_than_by_uniform_samples(width):
    x, y = np.linspace(0, 1, 600)[:, None], np.linspace(0, 1, 450)
    M = np.exp(-np.abs(x - y) / width)
    auto, uniform = (
        np.mean([error(M, 20, **BUDGET, strategy=strategy, rng=seed) for seed in range(3)])
        for strategy in ("auto", "uniform")
    )
    assert auto < 1.05 * uniform


def noisy_rows(seed):
    """Rank 5, but for a tenth of the rows: noise that is five times as large."""
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((300, 5)) @ rng.standard_normal((5, 200))
    M[rng.choice(300, 30, replace=False)] = 5 * rng.standard_normal((30, 200))
    return M


def test_rows_of_noise_leave_room_for_others():
    """They are large, so that it pays to read some of them; uniform rows and columns reach 0.63 here."""
    counts = {"n_columns": 15, "n_rows": 15, "n_entries": 500}
    errors = [error(noisy_rows(seed), 5, **counts, strategy="auto", rng=seed) for seed in range(6)]
    assert np.mean(errors) < 0.8


@pytest.mark.parametrize("seed", range(4))
def test_a_hidden_block_is_named_by_entries(seed):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((600, 3)) @ rng.standard_normal((3, 450)) + 0.1 * rng.standard_normal((600, 450))
    rows, columns = rng.choice(600, 8, replace=False), rng.choice(450, 8, replace=False)
    block = np.outer(rng.standard_normal(8), rng.standard_normal(8))
    M[np.ix_(rows, columns)] += block * np.sqrt(np.sum(M**2) / 9 / np.sum(block**2))
    seen = acquire(M, n_columns=30, n_rows=30, n_entries=40_000, rng=seed)
    assert np.isin(seen.row_index, rows).any()
    assert np.isin(seen.column_index, columns).any()


def test_size_says_nothing_in_a_kernel_and_much_in_a_text():
    x, y = np.linspace(0, 1, 600)[:, None], np.linspace(0, 1, 450)
    kernel = np.exp(-((x - y) ** 2) / 0.001)
    rng = np.random.default_rng(0)
    text = rng.poisson(np.outer(rng.lognormal(0, 1.5, 600), rng.lognormal(-2, 1.5, 450))).astype(float)
    powers = []
    for M in (kernel, text):
        seen = acquire(M, n_columns=20, n_rows=20, n_entries=0, strategy="uniform", rng=0)
        powers.append(_power_of_size(candidate_rows(seen, wanted_more=True)))
    assert powers[0] < 0.7
    assert powers[1] > 0.9


def test_what_a_blind_draw_brings_is_estimated_from_entries_in_untouched_columns():
    M = blocks(10)
    seen = acquire(M, n_columns=2, n_rows=2, n_entries=4000, strategy="auto", rng=0)
    expected = _expected(candidate_columns(seen, wanted_more=False))
    touched = np.unique(seen.row_index * 10 // 600)
    np.testing.assert_array_equal(np.unique(np.flatnonzero(~expected.untouched) * 10 // 450), touched)
    assert expected.of_untouched == pytest.approx(2 * np.mean(M**2), rel=0.5)  # at the 2 rows


def test_entries_that_helped_to_choose_are_marked_and_the_others_judge():
    seen = acquire(blocks(10), **BUDGET, rng=0)
    assert np.count_nonzero(~seen.evidence) == 750
    answer = approximate(seen, 10)
    assert not seen.steering[answer.held_out].any()


@pytest.mark.parametrize("seed", range(20))
def test_no_candidate_is_chosen_twice_however_surprising_its_entries_are(seed):
    """One that hardly shows elsewhere may be chosen by its entries, and is then not drawn as an untouched one too."""
    rng = np.random.default_rng(seed)
    sample = np.where(np.arange(30) < 8, 0.1, 0.001) * rng.standard_normal((12, 30))
    entries = rng.integers(8, 30, size=60)
    squares = np.where(entries == 9, 5.0, rng.exponential(size=60))
    candidates = Candidates(sample, np.arange(2), False, entry_index=entries, entry_squares=squares)
    chosen = Adaptive().choose(candidates, 10, rng)
    assert len(np.unique(chosen)) == 10
