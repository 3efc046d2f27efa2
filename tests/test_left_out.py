"""Values left out in turn: each of them once, and never known to the cells that are to predict it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import Observation
from curplus.evaluation import left_out as module
from curplus.evaluation.cross_fit import table_as_entries
from curplus.evaluation.left_out import left_out
from curplus.observation import Cells
from curplus.observation.symmetry import mirrored
from tests.strategies import observations
from tests.test_evidence import noisy, steered


def folds_of(seen, seed=0, *, uses_entries=True):
    """The cells, and what is left out of them."""
    sample = table_as_entries(seen if seen.symmetry is None else mirrored(seen, which=np.arange(0)))
    cells = Cells.of(seen)
    return sample, cells, left_out(cells, sample, np.random.default_rng(seed), uses_entries=uses_entries)


def check_folds(M, found):
    """What is left out is true, and is not in the cells that remain, which are true too."""
    for fold in found.folds:
        np.testing.assert_allclose(fold.values, M[fold.i, fold.j], rtol=1e-12)
        assert np.isnan(fold.cells.block(np.arange(M.shape[0]))[fold.i, fold.j]).all()
        known = fold.cells.scattered
        np.testing.assert_allclose(known.values, M[known.i, known.j], rtol=1e-12)
        assert fold.i.shape == fold.j.shape == fold.weights.shape == fold.group.shape


def times_left_out(sample, found):
    """How often each record is left out."""
    m = sample.shape[1]
    return sum(np.isin(sample.entries.flat_index, fold.i * m + fold.j).astype(int) for fold in found.folds)


@given(observations(), st.booleans())
def test_nothing_is_known_of_what_is_left_out_of_any_sample(seen, turned):
    seen = seen.T if turned else seen
    sample, cells, found = folds_of(seen)
    whole = cells.block(np.arange(seen.shape[0]))
    check_folds(whole, found)
    assert found.records.shape == (sample.n_entries,)
    assert not (found.records >= 0)[~sample.outside].any()


@pytest.mark.parametrize("counts", [(0, 0), (4, 0), (0, 5), (4, 5)])
def test_every_entry_outside_is_left_out_once(counts):
    M = noisy()
    seen = curplus.observe(M, n_columns=counts[0], n_rows=counts[1], n_entries=900, rng=0)
    sample, _, found = folds_of(seen)
    check_folds(M, found)
    np.testing.assert_array_equal(times_left_out(sample, found), sample.outside)
    np.testing.assert_array_equal(found.records >= 0, sample.outside)
    for k, fold in enumerate(found.folds):
        assert len(fold.i) == np.count_nonzero(found.records == k)
        assert len(np.unique(fold.group)) == len(fold.i)


def test_entries_that_steered_are_left_out_and_do_not_judge():
    M = noisy()
    sample, _, found = folds_of(steered(M))
    check_folds(M, found)
    np.testing.assert_array_equal(times_left_out(sample, found), sample.outside & ~sample.steering)
    np.testing.assert_array_equal(found.records >= 0, sample.outside)


def test_of_few_entries_rows_and_columns_are_left_out_too():
    M = noisy()
    seen = curplus.observe(M, n_columns=7, n_rows=6, n_entries=40, rng=0)
    _, cells, found = folds_of(seen)
    check_folds(M, found)
    rows, columns = [], []
    for fold in found.folds:
        assert fold.hides_sampled
        rows.extend(np.setdiff1d(cells.row_index, fold.cells.row_index))
        columns.extend(np.setdiff1d(cells.column_index, fold.cells.column_index))
        of_lines = np.bincount(fold.group)[fold.group] > 1
        gone_rows = np.setdiff1d(cells.row_index, fold.cells.row_index)
        on_rows = np.isin(fold.i, gone_rows)
        assert (on_rows | np.isin(fold.j, np.setdiff1d(cells.column_index, fold.cells.column_index)))[of_lines].all()
    np.testing.assert_array_equal(np.sort(rows), np.sort(seen.row_index))
    np.testing.assert_array_equal(np.sort(columns), np.sort(seen.column_index))


def test_values_of_one_row_err_together_and_are_of_cells_not_read_otherwise():
    M = noisy()
    seen = curplus.observe(M, n_columns=5, n_rows=5, n_entries=0, rng=0)
    _, cells, found = folds_of(seen)
    for fold in found.folds:
        for group in np.unique(fold.group):
            here = fold.group == group
            assert len(np.unique(fold.i[here])) == 1 or len(np.unique(fold.j[here])) == 1
        assert not np.isin(fold.j, fold.cells.column_index).any()
        assert not np.isin(fold.i, fold.cells.row_index).any()
    lengths = np.concatenate([np.bincount(fold.group) for fold in found.folds])
    assert lengths.max() <= module.MOST_OF_A_ROW
    assert len(lengths) == cells.n_rows + cells.n_columns


def test_a_table_with_gaps_has_its_values_left_out_one_by_one():
    M = noisy()
    table = np.where(np.random.default_rng(0).random(M.shape) < 0.4, np.nan, M)
    for seen in (Observation.from_table(table), Observation.from_table(table).T):
        whole = M if seen.n_rows == 80 else M.T
        sample, _, found = folds_of(seen)
        check_folds(whole, found)
        np.testing.assert_array_equal(times_left_out(sample, found), 1)


def test_both_places_of_a_value_of_a_symmetric_matrix_are_left_out_together():
    M = noisy((60, 60))
    M = M + M.T
    i, j = np.divmod(np.random.default_rng(0).permutation(3600)[:900], 60)
    seen = Observation(shape=M.shape, i=i, j=j, values=M[i, j], symmetry="symmetric")
    found = folds_of(seen)[2]
    check_folds(M, found)
    for fold in found.folds:
        assert np.isnan(fold.cells.block(np.arange(60))[fold.j, fold.i]).all()


def test_records_of_one_position_are_left_out_together_and_count_once():
    M = noisy()
    seen = curplus.observe(M, n_columns=0, n_rows=0, n_entries=600, rng=0)
    twice = Observation(shape=M.shape, i=np.tile(seen.i, 2), j=np.tile(seen.j, 2), values=np.tile(seen.values, 2))
    found = folds_of(twice)[2]
    check_folds(M, found)
    np.testing.assert_array_equal(found.records[:600], found.records[600:])
    assert sum(len(fold.i) for fold in found.folds) == 600


def test_of_very_many_values_one_fold_of_some_is_left_out(rng):
    M = rng.standard_normal((400, 300))
    seen = curplus.observe(M, n_columns=0, n_rows=0, n_entries=40_000, rng=0)
    found = folds_of(seen)[2]
    check_folds(M, found)
    assert len(found.folds) == 1
    assert len(found.folds[0].i) == pytest.approx(module.MOST_OF_MANY_CELLS, rel=0.1)


def test_models_that_use_no_entries_are_judged_by_all_of_them_at_once():
    M = noisy()
    seen = curplus.observe(M, n_columns=5, n_rows=5, n_entries=900, rng=0)
    sample, cells, found = folds_of(seen, uses_entries=False)
    (fold,) = found.folds
    assert fold.cells is cells
    assert len(fold.i) == np.count_nonzero(sample.outside)


@pytest.mark.parametrize(("counts", "number"), [((1, 0, 0), 0), ((0, 1, 0), 0), ((1, 1, 0), 2), ((2, 0, 0), 2)])
def test_of_a_single_row_and_column_each_is_left_out_beside_the_other(counts, number):
    seen = curplus.observe(noisy(), n_columns=counts[0], n_rows=counts[1], n_entries=counts[2], rng=0)
    found = folds_of(seen)[2]
    check_folds(noisy(), found)
    assert len(found.folds) == number


def test_independent_draws_count_by_their_chances():
    M = noisy()
    flat = np.random.default_rng(0).integers(M.size, size=700)
    i, j = np.divmod(flat, 60)
    chances = np.linspace(0.5, 2, M.size) / M.size / 1.25
    seen = Observation(shape=M.shape, i=i, j=j, values=M[i, j], probabilities=chances[flat])
    _, _, found = folds_of(seen)
    assert sum(len(fold.i) for fold in found.folds) == 700
    for k, fold in enumerate(found.folds):
        np.testing.assert_allclose(fold.weights, 1 / (chances[flat][found.records == k] * M.size))


def test_the_same_seed_leaves_out_the_same_values():
    seen = curplus.observe(noisy(), n_columns=4, n_rows=4, n_entries=60, rng=0)
    one, same, other = (folds_of(seen, seed)[2] for seed in (1, 1, 2))
    for a, b in zip(one.folds, same.folds, strict=True):
        np.testing.assert_array_equal(a.i, b.i)
    np.testing.assert_array_equal(one.records, same.records)
    assert not np.array_equal(one.records, other.records)
