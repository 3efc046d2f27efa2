"""What is unexplained in the largest rows and columns: told by entries in them, and only by enough of these."""

import numpy as np
import pytest

from curplus.acquisition.budget import unexplained_in_largest
from curplus.acquisition.candidates import Candidates


def some_candidates(rng, size=100):
    """The first ten are large, and four times as much is left of entries in them as in others."""
    sample = rng.standard_normal((5, size)) * np.where(np.arange(size) < 10, 10.0, 1.0)
    index = np.repeat(np.arange(size), 20)
    squares = np.where(index < 10, 4.0, 1.0) * rng.uniform(0.9, 1.1, len(index))
    return Candidates(sample, np.array([], dtype=np.int64), False, entry_index=index, entry_squares=squares)


def test_what_is_unexplained_is_told_by_entries_in_the_largest(rng):
    candidates = some_candidates(rng)
    assert unexplained_in_largest(candidates, 10) == pytest.approx(4 / 1.3, rel=0.02)
    assert unexplained_in_largest(candidates, 100) == pytest.approx(1, rel=0.05)
    without = candidates._replace(excluded=np.arange(10))
    assert unexplained_in_largest(without, 10) == pytest.approx(1 / 1.3, rel=0.05)
    cheap = np.where(np.arange(100) < 50, 1000.0, 1.0)  # the large ones are not worth their price
    assert unexplained_in_largest(candidates._replace(prices=cheap), 10) == pytest.approx(1 / 1.3, rel=0.05)


def test_nothing_is_told_by_few_entries_or_none(rng):
    candidates = some_candidates(rng)
    nothing = candidates._replace(entry_index=candidates.entry_index[:0], entry_squares=np.empty(0))
    few = candidates._replace(entry_index=candidates.entry_index[::40], entry_squares=candidates.entry_squares[::40])
    exact = candidates._replace(entry_squares=0 * candidates.entry_squares)
    for x, count in ((nothing, 10), (few, 10), (exact, 10), (candidates, 0)):
        assert unexplained_in_largest(x, count) == 1.0
