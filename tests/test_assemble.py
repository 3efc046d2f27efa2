import importlib

import numpy as np
import pytest

import curplus
from curplus.methods.approximate.assemble import assemble, leading_part, with_lines
from curplus.methods.approximate.cross import cross_of
from curplus.methods.approximate.prediction import Prediction


@pytest.mark.parametrize(("d1", "d2"), [(5, 7), (7, 5), (5, 0), (20, 30), (1, 1)])
@pytest.mark.parametrize("rank", [1, 3, 50, None])
@pytest.mark.parametrize("extra", [0, 2])
@pytest.mark.parametrize("known", [False, True])
def test_is_the_leading_part_of_the_completed_matrix(rng, d1, d2, rank, extra, known):
    M, mixing, coefficients = (rng.standard_normal(x) for x in ((30, 20), (d1 + extra, 4), (4, d2 + 2)))
    seen = curplus.observe(M, n_columns=d1, n_rows=d2, n_entries=0, rng=0)
    features = np.hstack([seen.columns, rng.standard_normal((30, extra))])
    right = np.hstack([seen.rows.T, rng.standard_normal((20, 2))])
    whole = features @ mixing @ coefficients @ right.T
    whole[:, seen.column_index] = M[:, seen.column_index]
    whole[seen.row_index] = M[seen.row_index]
    U, s, Vt = np.linalg.svd(whole, full_matrices=False)
    cross = cross_of(seen) if known and d2 else None
    approx = assemble(seen, Prediction(features, mixing, coefficients, right), rank, cross)
    assert np.allclose(approx.to_array(), (U[:, :rank] * s[:rank]) @ Vt[:rank], atol=1e-10)
    for basis in (approx.left, approx.right):
        assert np.allclose(basis.vectors.T @ basis.vectors, np.eye(basis.rank), atol=1e-12)


def test_nothing_as_wide_as_rows_and_columns_together_is_formed(full_rank, monkeypatch):
    M = full_rank((1500, 1000), rank=3, noise=0.5)
    seen = curplus.observe(M, n_columns=12, n_rows=15, n_entries=400, rng=0)
    expected = curplus.approximate(seen, 3).to_array()
    monkeypatch.setattr(importlib.import_module("curplus.methods.approximate.assemble")._RightFactor, "formed", None)
    np.testing.assert_array_equal(curplus.approximate(seen, 3).to_array(), expected)


def test_leading_part_of_a_product(rng):
    left, right = rng.standard_normal((30, 6)), rng.standard_normal((20, 6))
    U, s, Vt = np.linalg.svd(left @ right.T)
    assert np.allclose(leading_part(left, right, 2).to_array(), (U[:, :2] * s[:2]) @ Vt[:2], atol=1e-12)
    assert np.allclose(leading_part(left, right, 9).to_array(), left @ right.T, atol=1e-12)


@pytest.mark.parametrize("condition", [1e2, 1e5, 1e9])
def test_bases_are_orthonormal_at_any_condition_of_the_columns(rng, condition):
    """Inner products of the columns are used only as far as they have digits."""
    sizes = np.logspace(0, -np.log10(condition), 12)
    M = (rng.standard_normal((300, 12)) * sizes) @ np.linalg.qr(rng.standard_normal((200, 12))).Q.T
    M += 1e-3 / condition * rng.standard_normal((300, 200))
    seen = curplus.observe(M, n_columns=12, n_rows=15, n_entries=0, rng=0)
    inverse = np.linalg.pinv(M[np.ix_(seen.row_index, seen.column_index)])
    prediction = Prediction(seen.columns, inverse, np.eye(seen.n_rows), seen.rows.T)
    plain, quick = assemble(seen, prediction), assemble(seen, prediction, cross=cross_of(seen))
    assert np.allclose(quick.to_array(), plain.to_array(), rtol=0, atol=1e-10 * np.linalg.norm(M))
    for basis in (quick.left, quick.right):
        assert np.allclose(basis.vectors.T @ basis.vectors, np.eye(basis.rank), atol=1e-13)


@pytest.mark.parametrize("rank", [None, 2, 6])
@pytest.mark.parametrize("counts", [(4, 5), (4, 0), (0, 5)])
def test_rows_and_columns_put_back_are_those_of_the_dense_matrix(full_rank, counts, rank):
    M = full_rank((30, 20), rank=3, noise=0.5)
    seen = curplus.observe(M, n_columns=counts[0], n_rows=counts[1], n_entries=0, rng=0)
    answer = curplus.cur_full(M, curplus.observe(M, n_columns=6, n_rows=6, n_entries=0, rng=1), 4)
    dense = answer.to_array()
    dense[seen.row_index] = M[seen.row_index]
    dense[:, seen.column_index] = M[:, seen.column_index]
    U, s, Vt = np.linalg.svd(dense)
    best = (U[:, :rank] * s[:rank]) @ Vt[:rank] if rank else dense
    np.testing.assert_allclose(with_lines(answer, seen, rank).to_array(), best, atol=1e-10)
