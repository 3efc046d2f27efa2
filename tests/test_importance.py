import numpy as np
import pytest
from hypothesis import example, given

import curplus
from curplus.exceptions import SpanError
from tests.strategies import seeds


def explained(columns, M):
    """Share of the squares of M that lies in the span of some columns."""
    basis = np.linalg.qr(columns).Q
    return np.sum((basis.T @ M) ** 2) / np.sum(M**2)


def dense_order(sample, M):
    """The order of merit, by trying every column at every place."""
    order, shares = [], []
    for _ in range(sample.shape[1]):
        rest = [j for j in range(sample.shape[1]) if j not in order]
        totals = [explained(sample[:, [*order, j]], M) for j in rest]
        order.append(rest[int(np.argmax(totals))])
        shares.append(max(totals))
    return order, np.array(shares)


@pytest.fixture
def approx(full_rank):
    seen = curplus.observe(full_rank((60, 50), rank=8, noise=0.5), n_columns=6, n_rows=7, n_entries=0, rng=0)
    return curplus.approximate(seen, 4, form="cur")


def test_each_is_the_one_that_explains_most_beyond_those_before_it(approx):
    M = approx.to_array()
    importance = approx.importance()
    for sample, dense, picks, index in (
        (approx.cur().C, M, importance.columns, approx.column_index),
        (approx.cur().R.T, M.T, importance.rows, approx.row_index),
    ):
        order, shares = dense_order(sample, dense)
        assert np.array_equal(picks.index, index[order])
        assert picks.explained == pytest.approx(shares, abs=1e-12)
        assert picks.alone == pytest.approx([explained(sample[:, [j]], dense) for j in order])


@given(seeds)
@example(1705582)  # numbers whose squares are just in range
def test_gains_are_shares_that_add_up_to_one(seed):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((12, 4)) @ rng.standard_normal((4, 10)) * 10.0 ** rng.integers(-200, 200)
    seen = curplus.observe(M, n_columns=rng.integers(4, 10), n_rows=rng.integers(4, 12), n_entries=0, rng=seed)
    importance = curplus.approximate(seen, form="cur").importance()
    for picks, counted in ((importance.columns, seen.column_index), (importance.rows, seen.row_index)):
        assert sorted(picks.index) == sorted(counted)
        assert (picks.gain >= 0).all()
        assert picks.explained[-1] == pytest.approx(1)
        assert (picks.alone <= 1 + 1e-12).all()
        assert picks.gain[0] == pytest.approx(picks.alone.max())


def test_a_copy_of_a_column_adds_nothing(low_rank):
    M = low_rank((40, 20), 2)
    M[:, 1] = 3 * M[:, 0]
    seen = curplus.Observation(
        shape=M.shape, column_index=[0, 1, 2], columns=M[:, :3], row_index=[3, 4, 5], rows=M[3:6]
    )
    columns = curplus.approximate(seen, 2, form="cur").importance().columns
    assert {*columns.index[:2]} != {0, 1}
    assert columns.gain[2] == pytest.approx(0, abs=1e-12)
    assert columns.alone[columns.index.tolist().index(0)] == pytest.approx(
        columns.alone[columns.index.tolist().index(1)]
    )


def test_every_method_that_uses_samples_has_it_and_a_free_answer_has_not(full_rank):
    M = full_rank((60, 50))
    seen = curplus.observe(M, n_columns=6, n_rows=7, n_entries=500, rng=0)
    for approx in (curplus.cur_plus(seen, 3), curplus.cur_full(M, seen), curplus.cur_unbiased(seen)):
        assert approx.importance().columns.explained[-1] == pytest.approx(1)
    with pytest.raises(SpanError, match='form="cur"'):
        curplus.approximate(seen, 3).importance()


def test_the_transposed_has_the_same_with_rows_and_columns_swapped(approx):
    straight, turned = approx.importance(), approx.T.importance().T
    assert np.array_equal(straight.columns.index, turned.columns.index)
    assert straight.rows.gain == pytest.approx(turned.rows.gain)


def test_a_matrix_of_zeros_has_no_merits():
    seen = curplus.observe(np.zeros((9, 8)), n_columns=3, n_rows=2, n_entries=0, rng=0)
    importance = curplus.approximate(seen, form="cur").importance()
    assert not importance.columns.explained.any()
    assert len(importance.columns.index) == 3


def test_names_stand_in_the_table_and_in_the_text(full_rank):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(full_rank((40, 30)), columns=[f"gene {j}" for j in range(30)])
    approx = curplus.approximate(curplus.observe(table, n_columns=12, n_rows=3, n_entries=0, rng=0), 3, form="cur")
    importance = approx.importance()
    frame = importance.to_frame()
    assert list(frame.columns) == ["kind", "name", "position", "alone", "gain", "explained"]
    assert frame["kind"].tolist() == ["column"] * 12 + ["row"] * 3
    assert frame["name"][0] == f"gene {importance.columns.index[0]}"
    text = str(importance)
    assert f"gene {importance.columns.index[0]}" in text
    assert "(12 in all)" in text
    assert "100.0%" in text


def test_is_the_same_in_every_array_library(full_rank, xp):
    M = full_rank((60, 50))
    seen, expected = (curplus.observe(x, n_columns=6, n_rows=7, n_entries=0, rng=0) for x in (xp.asarray(M), M))
    ours, theirs = (curplus.approximate(x, 3, form="cur").importance() for x in (seen, expected))
    assert np.array_equal(ours.columns.index, theirs.columns.index)
    assert ours.rows.gain == pytest.approx(theirs.rows.gain, abs=1e-10)
