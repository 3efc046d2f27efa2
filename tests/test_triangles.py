"""Symmetric matrices as upper triangles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curplus.solvers.triangles import full, pairs_of, triangle
from tests.strategies import seeds


@given(st.integers(0, 5), st.integers(1, 7), seeds)
def test_triangles_and_matrices_are_the_same_numbers(count, k, seed):
    x = np.random.default_rng(seed).standard_normal((count, k, k))
    matrices = x + np.swapaxes(x, 1, 2)
    triangles = triangle(matrices)
    assert triangles.shape == (count, k * (k + 1) // 2)
    np.testing.assert_array_equal(full(triangles, k), matrices)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_each_pair_has_one_place(k):
    pairs = pairs_of(k)
    table = pairs.place.reshape(k, k)
    for t, (a, b) in enumerate(zip(pairs.a, pairs.b, strict=True)):
        assert a <= b
        assert table[a, b] == table[b, a] == t
    np.testing.assert_array_equal(pairs.diagonal, np.diagonal(table))


def test_what_is_shared_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        pairs_of(3).a[0] = 1
