"""The skeleton without a ridge: right where nothing is noise, and left out of the blend where much is."""

import numpy as np
import pytest

import curplus
from curplus.methods.approximate.interpolation import FEWEST_FOR_INTERPOLATION, Interpolation
from curplus.observation import Cells
from tests.strategies import FIELDS, gaussian
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


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("rows", [7, 12, 30])
def test_it_is_enough_without_noise_and_only_then(rng, rows, field):
    """Noise spoils the last directions, so that entries are predicted best with fewer."""
    low = gaussian(rng, (300, 6), field) @ gaussian(rng, (6, 200), field)
    x, y = np.linspace(0, 1, 300)[:, None], np.linspace(0, 1, 200)
    smooth = 1 / (1.5 + x - y + (0.2j if field == "complex" else 0))
    seen = [
        curplus.observe(M, n_columns=rows, n_rows=rows, n_entries=2000, rng=0)
        for M in (low + 1e-2 * gaussian(rng, low.shape, field), low + 1e-4 * gaussian(rng, low.shape, field))
    ]
    assert not any(Interpolation().noise(Cells.of(x)).is_none for x in seen)
    exact = curplus.acquire(smooth, tol=1e-3, rng=0)
    exact = exact.extend(curplus.observe(smooth, n_columns=0, n_rows=0, n_entries=2000, rng=1))
    assert Interpolation().noise(Cells.of(exact)).is_none
    assert {model.name for model in curplus.approximate(exact).provenance.method.models} <= {
        "skeleton",
        "interpolation",
    }
