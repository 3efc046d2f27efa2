"""Sets of positions, compared with NumPy's."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from curplus._support.sets import different, is_in, union, without

numbers = st.lists(st.integers(0, 12), max_size=15).map(lambda x: np.array(x, dtype=np.int64))


@given(numbers, numbers)
def test_they_are_those_of_numpy(x, y):
    np.testing.assert_array_equal(different(x), np.unique(x))
    np.testing.assert_array_equal(union(x, y), np.union1d(x, y))
    np.testing.assert_array_equal(is_in(x, different(y)), np.isin(x, y))
    np.testing.assert_array_equal(without(x, different(y)), x[~np.isin(x, y)])
