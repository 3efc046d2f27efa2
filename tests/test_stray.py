"""Rows and columns that do not fit in with the sampled ones."""

import dataclasses

import numpy as np
import pytest

import curplus
from curplus.methods.approximate.prediction import Prediction
from curplus.methods.approximate.stray import without_stray_lines


def spoilt(low_rank, axes):
    """A matrix of rank 3 with a wrong value in some lines of which nothing else is known, the sample, and the lines."""
    M = low_rank((60, 50), 3)
    seen = curplus.observe(M, n_columns=20, n_rows=20, n_entries=40, rng=0)
    row = np.setdiff1d(np.arange(60), np.append(seen.row_index, seen.i))[0]
    column = np.setdiff1d(np.arange(50), np.append(seen.column_index, seen.j))[0]
    columns, rows = np.array(seen.columns), np.array(seen.rows)
    if 0 in axes:
        columns[row, 4] += 1e4
    if 1 in axes:
        rows[4, column] += 1e4
    return M, dataclasses.replace(seen, columns=columns, rows=rows), [(row, column)[axis] for axis in axes]


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_a_wrong_value_spoils_neither_its_line_nor_the_others(low_rank, axes):
    M, wrong, lines = spoilt(low_rank, axes)
    errors = np.abs(curplus.approximate(wrong).to_array() - M)
    errors[:, wrong.column_index] = errors[wrong.row_index] = 0.0  # they are as they were read
    for axis, line in zip(axes, lines, strict=True):
        assert np.take(errors, line, axis=axis).max() <= np.abs(M).max()
    rest = errors.copy()
    for axis, line in zip(axes, lines, strict=True):
        np.moveaxis(rest, axis, 0)[line] = 0.0
    assert rest.max() < 1e-6


def skeleton(seen):
    """The exact prediction from sampled rows and columns, by the inverse of their intersection."""
    a, s, bt = np.linalg.svd(seen.columns[seen.row_index])
    return Prediction(seen.columns, bt[:3].T, (a[:, :3] / s[:3]).T, seen.rows.T)


def test_what_fits_in_is_left_alone(low_rank):
    _, seen, _ = spoilt(low_rank, ())
    prediction = skeleton(seen)
    found = without_stray_lines(prediction, seen)
    assert found.left is prediction.left
    assert found.right is prediction.right


def test_is_zero_in_lines_that_do_not_fit_in_and_the_same_elsewhere(low_rank):
    M, wrong, (row, column) = spoilt(low_rank, (0, 1))
    plain = skeleton(wrong)
    expected = plain.left @ plain.mixing @ plain.coefficients @ plain.right.T
    expected[row] = expected[:, column] = 0.0
    i, j = np.indices(M.shape).reshape(2, -1)
    found = without_stray_lines(plain, wrong)
    assert found.left.shape[1] <= plain.left.shape[1] + 3
    np.testing.assert_allclose(found.at(i, j).reshape(M.shape), expected, atol=1e-9)
