"""What was read and what was predicted, put together: beside the dense matrix."""

import dataclasses

import numpy as np
import pytest

import curplus
from curplus.methods.approximate.assemble import orthogonal, put_back
from curplus.methods.approximate.prediction import Prediction
from curplus.observation import Cells


def leading(dense, rank):
    U, s, Vt = np.linalg.svd(dense, full_matrices=False)
    return (U[:, :rank] * s[:rank]) @ Vt[:rank]


def cut(answer, rank):
    return answer if rank is None or rank >= answer.rank else answer.truncate(rank)


def with_lines(dense, cells):
    """The dense matrix with rows and columns as they were read, as far as they are known."""
    table = cells.without(entries=np.ones(len(cells.entries), dtype=bool)).block(np.arange(cells.shape[0]))
    return np.where(np.isnan(table), dense, table)


def check_orthonormal(answer, atol=1e-12):
    for basis in (answer.left, answer.right):
        np.testing.assert_allclose(basis.vectors.T @ basis.vectors, np.eye(basis.rank), atol=atol)


@pytest.mark.parametrize("counts", [(5, 7), (7, 5), (5, 0), (0, 5), (1, 1)])
@pytest.mark.parametrize("rank", [1, 3, 50, None])
@pytest.mark.parametrize("of_samples", [False, True])
def test_it_is_the_leading_part_of_the_completed_matrix(rng, counts, rank, of_samples):
    (d1, d2), M = counts, rng.standard_normal((30, 20))
    cells = Cells.of(curplus.observe(M, n_columns=d1, n_rows=d2, n_entries=0, rng=0))
    left, right = rng.standard_normal((30, 2)), rng.standard_normal((20, 2))
    prediction = Prediction(
        np.hstack([cells.columns, left]), rng.standard_normal((d1 + 2, 4)), rng.standard_normal((4, d2 + 2)),
        np.hstack([cells.rows.T, right]), is_of_samples=True,
    )  # fmt: skip
    prediction = prediction if of_samples else Prediction.of(*prediction.factors)
    answer = cut(put_back(cells, prediction), rank)
    np.testing.assert_allclose(answer.to_array(), leading(with_lines(prediction.to_array(), cells), rank), atol=1e-9)
    check_orthonormal(answer)


@pytest.mark.parametrize("rank", [2, None])
@pytest.mark.parametrize("counts", [(4, 5), (4, 0), (0, 5)])
def test_gaps_and_hidden_cells_are_filled_by_the_prediction(rng, counts, rank):
    M = np.where(rng.random((30, 20)) < 0.2, np.nan, rng.standard_normal((30, 20)))
    seen = curplus.observe(M, n_columns=counts[0], n_rows=counts[1], n_entries=0, gaps=True, rng=0)
    cells = Cells.of(seen).without(hidden=np.arange(0, 600, 7))
    prediction = Prediction.of(rng.standard_normal((30, 3)), rng.standard_normal((20, 3)))
    dense = with_lines(prediction.to_array(), cells)
    np.testing.assert_allclose(cut(put_back(cells, prediction), rank).to_array(), leading(dense, rank), atol=1e-9)
    no_gaps = dataclasses.replace(cells, rows=np.nan_to_num(cells.rows), columns=np.nan_to_num(cells.columns))
    dense = with_lines(prediction.to_array(), dataclasses.replace(no_gaps, has_gaps=False))
    answer = cut(put_back(dataclasses.replace(no_gaps, has_gaps=False), prediction), rank)
    np.testing.assert_allclose(answer.to_array(), leading(dense, rank), atol=1e-9)


def test_without_rows_and_columns_and_of_a_table_it_is_the_prediction_alone(rng):
    prediction = Prediction.of(rng.standard_normal((30, 3)), rng.standard_normal((20, 3)))
    table = np.where(rng.random((30, 20)) < 0.2, np.nan, 1.0)
    for seen in (
        curplus.observe(np.ones((30, 20)), n_columns=0, n_rows=0, n_entries=50, rng=0),
        curplus.Observation.from_table(table),
    ):
        np.testing.assert_allclose(put_back(Cells.of(seen), prediction).to_array(), prediction.to_array(), atol=1e-12)


@pytest.mark.parametrize("condition", [1e2, 1e5, 1e9])
def test_bases_are_orthonormal_at_any_condition_of_the_columns(rng, condition):
    """Inner products of the columns are used only as far as they have digits."""
    sizes = np.logspace(0, -np.log10(condition), 12)
    M = (rng.standard_normal((300, 12)) * sizes) @ np.linalg.qr(rng.standard_normal((200, 12))).Q.T
    M += 1e-3 / condition * rng.standard_normal((300, 200))
    cells = Cells.of(curplus.observe(M, n_columns=12, n_rows=15, n_entries=0, rng=0))
    inverse = np.linalg.pinv(cells.columns[cells.row_index])
    prediction = Prediction(cells.columns, inverse, np.eye(15), cells.rows.T, is_of_samples=True)
    answer = put_back(cells, prediction)
    dense = with_lines(prediction.to_array(), cells)
    np.testing.assert_allclose(answer.to_array(), dense, rtol=0, atol=(1e-10 + 1e-15 * condition) * np.linalg.norm(M))
    check_orthonormal(answer, 1e-13)


def test_a_product_of_factors_by_its_singular_vectors(rng):
    left, right = rng.standard_normal((30, 6)), rng.standard_normal((20, 6))
    answer = orthogonal(left, right)
    np.testing.assert_allclose(answer.to_array(), left @ right.T, atol=1e-12)
    check_orthonormal(answer)
