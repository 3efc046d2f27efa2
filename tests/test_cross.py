"""The small matrices of sampled rows and columns, and the targets made of them, beside the dense ones."""

import numpy as np
import pytest

import curplus
from curplus import SamplePlan
from curplus.methods.approximate.cross import cross_of, offset_target, zero_target
from curplus.observation import Cells
from tests.strategies import FIELDS, adjoint, gaussian, observed

NONE = np.empty(0, dtype=np.int64)


@pytest.fixture(params=FIELDS)
def draw(rng, request):
    """A matrix with offsets, and a sample of it."""
    M = 3 + gaussian(rng, (30, 1), request.param) + gaussian(rng, (30, 20), request.param)
    return M, Cells.of(curplus.observe(M, n_columns=5, n_rows=6, n_entries=0, rng=0))


def with_ones(cells):
    """Columns and rows, with one of ones beside them."""
    n, m = cells.shape
    return np.column_stack([cells.columns, np.ones(n)]), np.vstack([cells.rows, np.ones(m)])


def test_inner_products_are_those_outside_the_sample(draw):
    M, cells = draw
    cross = cross_of(cells)
    C, R = with_ones(cells)
    outside = np.delete(R, cells.column_index, axis=1), np.delete(C, cells.row_index, axis=0)
    np.testing.assert_array_equal(cross.W, M[np.ix_(cells.row_index, cells.column_index)])
    np.testing.assert_allclose(cross.row_gram, outside[0] @ adjoint(outside[0]), atol=1e-10)
    np.testing.assert_allclose(cross.column_gram, adjoint(outside[1]) @ outside[1], atol=1e-10)


@pytest.mark.parametrize("shift", [0, 1e9])
def test_means_are_those_of_an_analysis_of_variance(draw, shift):
    _, cells = draw
    C = cells.columns + shift
    means = cross_of(Cells(**{**vars_of(cells), "columns": C, "rows": cells.rows + shift})).row_means
    by_row, rest = C.mean(axis=1), C - C.mean(axis=1, keepdims=True) - C.mean(axis=0) + C.mean()
    assert means.mean == pytest.approx(C.mean())
    assert means.variance == pytest.approx(by_row.var(ddof=1), rel=1e-5)
    assert means.interaction == pytest.approx(np.sum(np.abs(rest) ** 2) / (29 * 4), rel=1e-5)


def vars_of(cells):
    """The fields of the cells."""
    return {name: getattr(cells, name) for name in cells.__dataclass_fields__}


def test_the_adjoint_cross_is_that_of_the_adjoint_matrix(draw):
    M, cells = draw
    turned = Cells.of(observed(adjoint(M), SamplePlan((20, 30), cells.row_index, cells.column_index, NONE, NONE)))
    for one, other in zip(cross_of(cells).H, cross_of(turned), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_rows_and_columns_are_a_target_and_deviations(draw):
    """They add up to what was read, and agree where rows and columns intersect."""
    _, cells = draw
    cross, (C, R) = cross_of(cells), with_ones(cells)
    for target in (zero_target(cross), offset_target(cross)):
        whole = C @ target.left @ target.right @ R
        columns = C @ target.by_columns(np.eye(5))
        np.testing.assert_allclose(columns, cells.columns - whole[:, cells.column_index], atol=1e-10)
        np.testing.assert_allclose(target.of_rows(R), cells.rows - whole[cells.row_index], atol=1e-10)
        np.testing.assert_allclose(target.intersection(cross), columns[cells.row_index], atol=1e-10)
        np.testing.assert_allclose(target.H.intersection(cross.H), adjoint(target.intersection(cross)), atol=1e-10)
        for i in range(6):  # by which factor the target of a row contains the row: its change with the row
            changed = np.array(cells.rows)
            changed[i] = 0
            other = C @ target.left @ target.right @ np.vstack([changed, np.ones(20)])
            own = (whole - other)[cells.row_index[i]]
            np.testing.assert_allclose(own, target.own_rows[i] * cells.rows[i], atol=1e-9)


def test_offsets_are_shrunk_as_random_effects_are(rng):
    """The share that is kept of a mean over 4 columns is the ratio of variances."""
    spread, noise = 0.7, 1.5
    M = spread * rng.standard_normal((3000, 1)) + noise * rng.standard_normal((3000, 40))
    cells = Cells.of(curplus.observe(M, n_columns=4, n_rows=50, n_entries=0, rng=0))
    target = offset_target(cross_of(cells))
    assert target.left[0, 0] * 4 == pytest.approx(spread**2 / (spread**2 + noise**2 / 4), abs=0.05)


def test_the_target_zero_is_zero(draw):
    _, cells = draw
    target = zero_target(cross_of(cells))
    assert not np.any(target.left @ target.right)
    np.testing.assert_array_equal(target.own_rows, 0)
