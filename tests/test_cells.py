"""Everything that was read, each cell once: the views that models take of it agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import Observation
from curplus.observation import Cells
from tests.strategies import observations


def table_of(seen):
    """What is known, as a table with NaN elsewhere, put together value by value."""
    table = np.full(seen.shape, np.nan)
    table[seen.i, seen.j] = seen.values
    for index, lines, whole in ((seen.column_index, seen.columns.T, table.T), (seen.row_index, seen.rows, table)):
        for k, line in zip(index, lines, strict=True):
            whole[k] = np.where(np.isnan(line), whole[k], line)
    return table


def check_views(cells, table):
    """Every view of the cells shows this table."""
    n = cells.shape[0]
    everything = np.arange(n)
    np.testing.assert_allclose(cells.block(everything), table, rtol=1e-12)
    np.testing.assert_allclose(cells.block(everything[::-2]), table[::-2], rtol=1e-12)
    e = cells.scattered
    assert e.shape == cells.shape
    np.testing.assert_array_equal(np.unique(e.flat_index), np.flatnonzero(~np.isnan(table)))
    np.testing.assert_allclose(e.values, table[e.i, e.j], rtol=1e-12)
    np.testing.assert_array_equal(cells.counts, np.bincount(e.i, minlength=n))
    of_lines = e.flat_index[len(cells.entries) :] if not len(cells.hidden) else np.empty(0)
    assert len(np.unique(of_lines)) == len(of_lines)


@pytest.fixture
def seen(full_rank):
    """Rows and columns with gaps, and entries of unequal weights, some of them twice."""
    M = full_rank((30, 20))
    M[np.random.default_rng(1).random(M.shape) < 0.2] = np.nan
    rng = np.random.default_rng(0)
    i, j = np.divmod(rng.permutation(600)[:120], 20)
    known = ~np.isnan(M[i, j])
    i, j = (np.append(x[known], x[known][:9]) for x in (i, j))
    return Observation(
        shape=M.shape, row_index=[3, 17, 8], rows=M[[3, 17, 8]], column_index=[5, 0], columns=M[:, [5, 0]],
        i=i, j=j, values=M[i, j], weights=rng.uniform(0.5, 2, len(i)), gaps=True,
    )  # fmt: skip


@given(observations())
def test_all_views_show_what_was_read(seen):
    cells = Cells.of(seen)
    check_views(cells, table_of(seen))
    check_views(cells.T, table_of(seen).T)
    assert cells.n_values == len(cells.scattered)
    np.testing.assert_array_equal(cells.entries.values, seen.values[cells.record])
    np.testing.assert_array_equal(np.sort(cells.record), np.flatnonzero(seen.outside))


@given(observations(), st.data())
def test_rows_columns_and_entries_can_be_left_out(seen, data):
    cells, rng = Cells.of(seen), np.random.default_rng(data.draw(st.integers(0, 99)))
    entries, rows, columns = (rng.random(k) < 0.4 for k in (len(cells.entries), cells.n_rows, cells.n_columns))
    part = cells.without(entries=entries, rows=rows, columns=columns)
    outside = np.flatnonzero(seen.outside)[~entries]  # an entry of a row that is left out was part of the row
    check_views(part, table_of(seen.subset(rows=~rows, columns=~columns, entries=outside)))
    np.testing.assert_array_equal(part.record, cells.record[~entries])


@given(observations(), st.data())
def test_hidden_cells_are_shown_by_no_view(seen, data):
    table, cells = table_of(seen), Cells.of(seen)
    on_lines = np.zeros(seen.shape, dtype=bool)
    on_lines[seen.row_index], on_lines[:, seen.column_index] = True, True
    hidden = np.flatnonzero(on_lines & (np.random.default_rng(data.draw(st.integers(0, 99))).random(seen.shape) < 0.4))
    part = cells.without(hidden=hidden)
    table.flat[hidden] = np.nan
    check_views(part, table)
    check_views(part.T, table.T)
    check_views(part.T.T.without(hidden=hidden[:1]), table)


def test_gaps_are_cells_that_are_missing(seen):
    cells = Cells.of(seen)
    assert cells.has_gaps
    check_views(cells, table_of(seen))
    check_views(cells.T, table_of(seen).T)


def test_weights_are_kept_with_a_mean_of_one_and_rows_and_columns_count_as_one(seen):
    cells = Cells.of(seen)
    weights = (seen.weights / seen.weights.mean())[seen.outside]
    np.testing.assert_allclose(cells.scattered.weights[: len(weights)], weights)
    np.testing.assert_array_equal(cells.scattered.weights[len(weights) :], 1)


def test_repeated_entries_count_with_their_mean():
    seen = Observation(shape=(3, 2), i=[1, 1, 0], j=[0, 0, 1], values=[2.0, 4.0, 5.0], weights=[1.0, 3.0, 1.0])
    assert Cells.of(seen).block(np.array([1]))[0, 0] == pytest.approx(3.5)


@pytest.mark.parametrize("counts", [(0, 0), (2, 0), (0, 2), (3, 2)])
@pytest.mark.parametrize("noise", [None, 0.1])
def test_every_value_of_a_symmetric_matrix_stands_in_both_places(rng, counts, noise):
    M = rng.standard_normal((15, 15))
    M = M + M.T
    i, j = np.divmod(rng.permutation(225)[:60], 15)
    i, j = np.append(i, j[:5]), np.append(j, i[:5])  # some were read in both places
    rows, columns = np.arange(counts[0]), np.arange(5, 5 + counts[1])
    seen = Observation(
        shape=M.shape, row_index=rows, rows=M[rows], column_index=columns, columns=M[:, columns], i=i, j=j,
        values=M[i, j], symmetry="symmetric", noise=noise,
    )  # fmt: skip
    cells = Cells.of(seen)
    table = table_of(seen)
    check_views(cells, np.where(np.isnan(table), table.T, table))
    assert (cells.n_rows, cells.n_columns) == (sum(counts), sum(counts))
    e = cells.entries
    np.testing.assert_allclose(e.values, seen.values[cells.record])
    np.testing.assert_array_equal(np.sort(e.flat_index), np.sort(e.T.flat_index))
    assert not np.isin(e.i, cells.row_index).any()
    assert len(np.unique(e.flat_index)) == len(e) or noise is not None


@pytest.mark.parametrize(
    ("counts", "is_cross", "is_table"),
    [((4, 3), True, False), ((4, 0), False, False), ((20, 3), False, True), ((0, 30), False, True)],
)
def test_what_kind_of_sample_it_is(full_rank, counts, is_cross, is_table):
    cells = Cells.of(curplus.observe(full_rank(), n_columns=counts[0], n_rows=counts[1], n_entries=9, rng=0))
    assert (cells.is_cross, cells.is_table) == (is_cross, is_table)
    assert (cells.T.is_cross, cells.T.is_table) == (is_cross, is_table)
