"""The best columns of each row are those of the dense matrix, without what is known already."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus.exceptions import InvalidArgumentError
from curplus.factorization import Basis, Core, Factorization, top
from tests.test_algebra import general


def of_matrix(M, **names):
    """An approximation of integers whose predictions are exact, ties included."""
    n, m = M.shape
    return Factorization(Basis(np.eye(n)), Core(M.astype(float), "made up"), Basis(np.eye(m)), **names)


def one_by_one(M, known, k):
    """Row by row in plain Python: by value, then by position."""
    best = np.full((len(M), k), -1)
    for i, row in enumerate(M):
        free = sorted((j for j in range(len(row)) if not known[i, j]), key=lambda j: (-row[j], j))[:k]
        best[i, : len(free)] = free
    return best


@given(seed=st.integers(0, 2**31), n=st.integers(1, 12), m=st.integers(1, 12), data=st.data())
def test_are_those_of_the_dense_matrix_the_first_of_equal_ones(seed, n, m, data):
    rng = np.random.default_rng(seed)
    M, k = rng.integers(-2, 3, size=(n, m)), data.draw(st.integers(1, m))
    known = rng.random((n, m)) < rng.random()
    i, j = np.nonzero(known)
    seen = curplus.Observation(shape=(n, m), i=i, j=j, values=rng.random(len(i)))
    found = of_matrix(M).top(k, exclude=seen)
    np.testing.assert_array_equal(found.columns, one_by_one(M, known, k))
    picked = found.columns >= 0
    np.testing.assert_array_equal(np.isnan(found.values), ~picked)
    np.testing.assert_array_equal(found.values[picked], M[np.nonzero(picked)[0], found.columns[picked]])
    np.testing.assert_array_equal(of_matrix(M).top(k).columns, one_by_one(M, np.zeros_like(known), k))


def test_a_few_rows_at_a_time_are_predicted(rng, monkeypatch):
    approx = general(rng, 300, 200, 5)
    expected, widest = approx.top(7), []
    monkeypatch.setattr(top, "blocks", lambda size, width: (slice(t, t + 10) for t in range(0, size, 10)))
    rows = Factorization.rows
    monkeypatch.setattr(Factorization, "rows", lambda self, i: widest.append(len(i)) or rows(self, i))
    found = approx.top(7)
    assert max(widest) == 10
    np.testing.assert_array_equal(found.columns, expected.columns)
    np.testing.assert_allclose(found.values, expected.values)


def test_sampled_rows_and_columns_are_known_and_their_gaps_are_not(rng):
    M = rng.standard_normal((8, 6))
    columns = M[:, [1, 4]].copy()
    columns[5, 0] = np.nan
    seen = curplus.Observation(
        shape=(8, 6),
        column_index=[1, 4],
        columns=columns,
        row_index=[2],
        rows=M[2:3],
        i=[0],
        j=[0],
        values=[1.0],
        gaps=True,
    )
    known = np.zeros((8, 6), dtype=bool)
    known[:, [1, 4]] = known[2] = known[0, 0] = True
    known[5, 1] = False
    np.testing.assert_array_equal(of_matrix(M).top(6, exclude=seen).columns, one_by_one(M, known, 6))


def test_names_come_with_them(rng):
    pandas = pytest.importorskip("pandas")
    M = np.array([[1.0, 5.0, 3.0], [2.0, 2.0, 0.0]])
    approx = of_matrix(M, row_names=np.array(["ann", "bob"]), column_names=np.array(["x", "y", "z"]))
    seen = curplus.Observation(shape=(2, 3), i=[1, 1], j=[0, 2], values=[1.0, 1.0])
    frame = approx.top(2, rows=[1, 0], exclude=seen).to_frame()
    expected = {"row": ["bob", "ann", "ann"], "place": [1, 1, 2], "column": ["y", "y", "z"], "value": [2.0, 5.0, 3.0]}
    pandas.testing.assert_frame_equal(frame, pandas.DataFrame(expected), check_dtype=False)


def test_what_cannot_be_ranked_is_refused(rng):
    approx = general(rng)
    with pytest.raises(InvalidArgumentError, match="k="):
        approx.top(21)
    with pytest.raises(InvalidArgumentError, match="is no Observation of a matrix of shape"):
        approx.top(2, exclude=np.zeros((30, 20)))
    with pytest.raises(InvalidArgumentError, match="rows"):
        approx.top(2, rows=[30])
