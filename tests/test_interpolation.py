"""The skeleton without a ridge: right where nothing is noise, and left out of the blend where much is."""

import numpy as np

import curplus
from curplus.methods.approximate.interpolation import FEWEST_FOR_INTERPOLATION, Interpolation
from curplus.observation import Cells
from tests.test_evidence import noisy


def relative(answer, M):
    return np.linalg.norm(answer.to_array() - M) / np.linalg.norm(M)


def logarithm(n=300):
    x = np.linspace(0, 1, n)
    return np.log(2 + x - x[:, None])


def test_it_is_the_product_of_columns_inverse_and_rows():
    M = logarithm()
    seen = curplus.observe(M, n_columns=3, n_rows=3, n_entries=FEWEST_FOR_INTERPOLATION, rng=0)
    W = M[np.ix_(seen.row_index, seen.column_index)]
    expected = seen.columns @ np.linalg.inv(W) @ seen.rows
    np.testing.assert_allclose(Interpolation().fit(Cells.of(seen)).to_array(), expected, atol=1e-10)


def test_three_rows_and_columns_of_a_function_are_not_shrunk():
    M = logarithm()
    ends = np.array([0, 150, 299])
    i, j = np.random.default_rng(0).integers(300, size=(2, 4000))
    seen = curplus.Observation(
        shape=M.shape,
        column_index=ends,
        columns=M[:, ends],
        row_index=ends,
        rows=M[ends],
        i=i,
        j=j,
        values=M[i, j],
        design=("given", "given", "uniform"),
    )
    plain = relative(curplus.approximate(seen, models="interpolation"), M)
    assert relative(curplus.approximate(seen), M) < 2 * plain
    assert relative(curplus.approximate(seen, models="skeleton"), M) > 3 * plain


def test_noise_keeps_it_out_of_the_blend():
    M = noisy((120, 100)) + 2
    seen = curplus.observe(M, n_columns=10, n_rows=10, n_entries=3000, rng=0)
    assert not Interpolation().applies(Cells.of(seen))
    assert "interpolation" not in curplus.approximate(seen).report.blend
