"""A study asks, keeps what it is told, answers, and goes back to any moment."""

import datetime as dt
import math
import re
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import Study
from curplus.exceptions import InconsistentObservationError, InvalidArgumentError
from curplus.study.names import unescaped
from curplus.study.progress import expected_error, stopping_sentence
from curplus.study.storage import Round

from .conftest import effort

pd = pytest.importorskip("pandas")

SHAPE = (40, 25)
ROWS, COLUMNS = [f"r{k}" for k in range(SHAPE[0])], [f"c{k}" for k in range(SHAPE[1])]


@pytest.fixture
def truth(low_rank):
    return low_rank(SHAPE, rank=3)


@pytest.fixture
def study(tmp_path):
    with Study.create(tmp_path / "a.study", rows=ROWS, columns=COLUMNS) as study:
        yield study


def measured(cells, truth, failed=()):
    """A work list that was filled in; every so many-th measurement fails."""
    values = [truth[ROWS.index(row), COLUMNS.index(column)] for row, column in cells[["row", "column"]].to_numpy()]
    return cells.assign(value=[math.nan if k in failed else value for k, value in enumerate(values)])


def long(*lines):
    return pd.DataFrame(lines, columns=["row", "column", "value"])


def same(first, second):
    """Whether two observations are the same, bit for bit."""
    names = (
        "column_index",
        "columns",
        "row_index",
        "rows",
        "i",
        "j",
        "values",
        "unmeasured_i",
        "unmeasured_j",
        "weights",
    )
    pairs = [(getattr(first, name), getattr(second, name)) for name in names]
    arrays = all(a is b is None or (a.dtype == b.dtype and a.tobytes() == b.tobytes()) for a, b in pairs)
    others = ("design", "noise", "gaps", "repeats", "shape")
    return arrays and all(getattr(first, name) == getattr(second, name) for name in others)


# Asking


def test_the_first_list_needs_no_data_and_keeps_to_its_budget(study):
    todo = study.ask(0.5)
    assert len(todo) == 500
    assert list(todo.cells.columns) == ["list", "row", "column"]
    assert not todo.cells.duplicated().any()
    assert todo.rows
    assert todo.columns
    for row in todo.rows:
        assert (todo.cells["row"] == row).sum() == SHAPE[1]


def test_a_small_budget_buys_single_cells(study):
    todo = study.ask(7)
    assert (len(todo), todo.rows, todo.columns) == (7, {}, {})


def test_the_budget_of_the_study_decides_how_much_goes_to_rows_and_columns(tmp_path, study):
    """A tenth buys too few of them to be of use, unless more is to come."""
    assert not study.ask(0.1).rows
    rich = Study.create(tmp_path / "b.study", rows=ROWS, columns=COLUMNS, budget=0.8)
    todo = rich.ask(0.1)
    assert (len(todo), len(todo.rows), len(todo.columns)) == (100, 1, 1)


def test_rows_and_columns_that_are_out_count_as_asked_for(tmp_path):
    """Two lists at once have together what one of twice the size has."""
    counts = []
    for name, budgets in (("a", [0.25, 0.25]), ("b", [0.5])):
        study = Study.create(tmp_path / name, rows=ROWS, columns=COLUMNS, budget=0.5)
        lists = [study.ask(budget) for budget in budgets]
        counts.append((sum(len(x.rows) for x in lists), sum(len(x.columns) for x in lists)))
    assert counts[0] == counts[1]


def told_twice(study, M):
    for _ in range(2):
        cells = study.ask(0.2).cells
        study.tell(cells.assign(value=M[cells["row"], cells["column"]]))


def test_cells_help_to_choose_where_many_rows_show_in_nothing_that_is_known(tmp_path, rng):
    same = np.arange(120)[:, None] // 6 == np.arange(80) // 4  # 20 blocks
    M = same * (1 + 0.1 * rng.standard_normal(same.shape))
    study = Study.create(tmp_path / "a", rows=120, columns=80, budget=0.4)
    told_twice(study, M)
    seen, before = study.observation(), study.at(study.records()["told_at"].iloc[0])
    assert before.evidence is None
    assert np.count_nonzero(seen.steering) == before.n_entries // 2
    assert seen.design.entries == "uniform"


def test_all_cells_stay_evidence_where_every_row_shows(tmp_path, full_rank):
    study = Study.create(tmp_path / "a", rows=SHAPE[0], columns=SHAPE[1], budget=0.4)
    told_twice(study, full_rank(SHAPE, rank=2, noise=0.1))
    assert study.observation().evidence is None


def test_a_column_without_a_price_costs_as_much_as_its_cells_that_no_priced_row_has(tmp_path):
    study = Study.create(tmp_path / "a", rows=ROWS, columns=COLUMNS, costs={"row": 3.0, "entry": 2.0})
    todo = study.ask(3 + 2 * 39, required={"rows": ["r1"], "columns": ["c1"]}, whole=False)
    assert (todo.price, len(todo)) == (81.0, 64)


def test_scattered_cells_alone_are_uniform_in_every_list(study, truth):
    for _ in range(3):
        todo = study.ask(250, whole=False)
        assert len(todo) == 250
        assert not todo.rows
        assert not todo.columns
        study.tell(measured(todo.cells, truth))
    seen = study.observation()
    assert seen.counts == (0, 0, 750)
    assert seen.design.entries == "uniform"
    assert seen.evidence is None  # all of them
    required = study.ask(60, whole=False, required={"rows": ["r3"]})
    assert list(required.rows) == ["r3"]


@pytest.mark.parametrize("n_lists", [2, 5])
def test_what_is_out_is_never_asked_for_twice(study, n_lists):
    cells = pd.concat([study.ask(0.15).cells for _ in range(n_lists)])
    assert not cells.duplicated().any()
    assert study.status().n_pending == len(cells)


def test_what_is_known_is_not_asked_for_again(study, truth):
    told = []
    for _ in range(4):
        todo = study.ask(0.2)
        study.tell(measured(todo.cells, truth, failed=range(0, 500, 11)))
        told.append(todo.cells)
    assert not pd.concat(told).duplicated().any()
    assert study.status().n_pending == 0


def test_everything_can_be_asked_for_and_then_nothing_is_left(study, truth):
    study.tell(measured(study.ask(0.5).cells, truth))
    rest = study.ask(1000)
    study.tell(measured(rest.cells, truth))
    assert study.observation().n_values_read == truth.size
    with pytest.raises(InvalidArgumentError, match="buys no cell"):
        study.ask(10)


def test_cancelled_cells_can_be_asked_for_again(study):
    everything = study.ask(1000)
    assert len(everything) == 1000
    some = everything.cells.iloc[:30]
    assert study.cancel(everything, some) == 30
    assert study.cancel(everything, some) == 0
    again = study.ask(1000)
    assert set(map(tuple, again.cells[["row", "column"]].to_numpy())) == set(
        map(tuple, some[["row", "column"]].to_numpy())
    )
    assert study.cancel(1) == 970
    assert len(study.worklist(2)) == 30


def test_a_list_times_out(study):
    study.ask(1000, timeout=0.05)
    time.sleep(0.1)
    assert study.status().n_pending == 0
    assert len(study.worklist(1)) == 0
    assert len(study.ask(1000, timeout=dt.timedelta(hours=1))) == 1000


def test_late_answers_to_a_list_that_timed_out_are_kept_and_count_as_asked_for(study, truth):
    todo = study.ask(20, timeout=0.01)
    time.sleep(0.05)
    receipt = study.tell(measured(todo.cells, truth))
    assert (receipt.n_values, receipt.n_unasked) == (20, 0)


def test_required_and_forbidden_are_obeyed(study):
    todo = study.ask(
        300,
        required={"rows": ["r3"], "cells": [("r5", "c5")]},
        forbidden={"columns": ["c1", "c2"], "cells": pd.DataFrame({"row": ["r7"], "column": ["c7"]})},
    )
    cells = set(map(tuple, todo.cells[["row", "column"]].to_numpy()))
    assert {("r3", column) for column in COLUMNS} <= cells
    assert ("r5", "c5") in cells
    assert ("r7", "c7") not in cells
    assert {row for row, column in cells if column in ("c1", "c2")} == {"r3"}
    assert len(cells) <= 300
    with pytest.raises(InvalidArgumentError, match="what is required costs"):
        study.ask(10, required={"rows": ["r4"]})


def test_rows_that_are_forbidden_leave_others_to_be_asked_for(study):
    todo = study.ask(0.5, forbidden={"rows": ROWS[:20], "columns": None})
    assert todo.rows
    assert not set(todo.cells["row"]) & set(ROWS[:20])
    assert len(todo) <= 500


@pytest.mark.parametrize("n_known", [100, 200, 300])
def test_a_budget_for_more_than_there_is_buys_all_that_is_not_forbidden(study, truth, n_known):
    study.tell(measured(study.ask(1000).cells.sample(n_known, random_state=1), truth))
    study.cancel(1)
    rest = study.ask(1000, forbidden={"rows": ["r3"]})
    known = (study.records()["row"] != "r3").sum()
    assert len(rest) == 1000 - SHAPE[1] - known


def test_the_last_cells_of_a_large_matrix_are_found(tmp_path):
    study = Study.create(tmp_path / "b.study", rows=300, columns=200)
    study.tell(pd.DataFrame({"row": np.arange(59_990) // 200, "column": np.arange(59_990) % 200, "value": 1.0}))
    assert sorted(study.ask(100).cells["column"]) == list(range(190, 200))


def test_the_same_seed_gives_the_same_list(tmp_path, truth):
    lists = []
    for name in "ab":
        study = Study.create(tmp_path / name, rows=ROWS, columns=COLUMNS)
        study.tell(measured(study.ask(0.3).cells, truth))
        lists.append(study.ask(0.2).cells)
    assert lists[0].equals(lists[1])


@pytest.mark.parametrize("budget", [0, -1, math.inf, math.nan, "10", True])
def test_a_budget_must_be_one(study, budget):
    with pytest.raises(InvalidArgumentError, match="is not an amount"):
        study.ask(budget)


def test_the_budget_of_the_study_is_a_limit(tmp_path, truth):
    study = Study.create(tmp_path / "a", rows=ROWS, columns=COLUMNS, budget=0.5)
    study.tell(measured(study.ask(300).cells, truth))
    study.ask(100)
    status = study.status()
    assert (status.spent, status.left, status.n_pending, status.budget) == (300, 100, 100, 500)
    with pytest.raises(InvalidArgumentError, match="100 is left of the budget of 500"):
        study.ask(101)


def test_with_costs_a_budget_is_money(tmp_path, truth):
    costs = {"row": 5.0, "column": np.full(SHAPE[1], 20.0), "entry": 1.0}
    study = Study.create(tmp_path / "a", rows=ROWS, columns=COLUMNS, costs=costs, budget=200)
    todo = study.ask(100)
    single = todo.cells[~todo.cells["row"].isin(todo.rows) & ~todo.cells["column"].isin(todo.columns)]
    assert todo.price == 5 * len(todo.rows) + 20 * len(todo.columns) + len(single) <= 100
    study.tell(measured(todo.cells, truth))
    assert study.status().spent == pytest.approx(todo.price)


# Evidence


UNEVEN = np.linspace(-1, 1, 60)[:, None] + np.linspace(0.2, 2, 60)[:, None] * (
    np.random.default_rng(0).standard_normal((60, 40))
)


@pytest.fixture
def uneven(tmp_path):
    """A study of a matrix whose lower rows are larger and noisier, and a list of half of it, filled in."""
    with Study.create(tmp_path / "u.study", rows=60, columns=40) as study:
        cells = study.ask(0.6, whole=False).cells
        yield study, cells.assign(value=UNEVEN[cells["row"], cells["column"]])


def test_drawn_cells_are_handed_out_in_random_order_the_same_for_the_same_seed(tmp_path):
    studies = [Study.create(tmp_path / name, rows=60, columns=40) for name in "abc"]
    lists = [study.ask(0.5, whole=False, rng=seed) for study, seed in zip(studies, (0, 0, 1), strict=True)]
    rows = lists[0].cells["row"].to_numpy()
    assert abs(np.corrcoef(rows, np.arange(len(rows)))[0, 1]) < 0.15
    assert lists[0].cells.equals(lists[1].cells)
    assert set(map(tuple, lists[0].cells.to_numpy())) != set(map(tuple, lists[2].cells.to_numpy()))
    assert studies[0].worklist(1).cells.equals(lists[0].cells)
    assert Study.open(tmp_path / "a").worklist(1).cells.equals(lists[0].cells)


def test_single_cells_come_first_and_then_one_row_or_column_after_the_other(study):
    todo = study.ask(0.5)
    single = ~todo.cells["row"].isin(todo.rows) & ~todo.cells["column"].isin(todo.columns)
    n_drawn = int(np.flatnonzero(single).max()) + 1
    in_rows = todo.cells["row"][n_drawn:][todo.cells["row"].isin(todo.rows)]
    assert in_rows.drop_duplicates().tolist() == sorted(todo.rows, key=ROWS.index)
    assert (in_rows != in_rows.shift()).sum() == len(todo.rows)


def test_the_beginning_of_a_list_is_evidence(uneven):
    study, filled = uneven
    study.tell(filled.iloc[:700])
    seen = study.observation()
    assert (seen.design.entries, seen.evidence, seen.withheld) == ("uniform", None, "")
    low, high = study.certify().interval
    assert low < np.linalg.norm(UNEVEN - study.fit().to_array()) < high


@pytest.mark.parametrize(
    "came_back",
    [
        lambda filled: filled.sort_values(["row", "column"]).iloc[:700],
        lambda filled: filled.sort_values("value").iloc[700:],
        lambda filled: filled.drop(index=[3]),
    ],
    ids=["sorted by row", "large values", "one left out"],
)
def test_of_a_list_that_came_back_in_another_order_nothing_is_evidence_until_it_is_complete(uneven, came_back):
    study, filled = uneven
    some = came_back(filled)
    study.tell(some)
    assert study.observation().design.entries == "given"
    certificate = study.certify()
    means = curplus.estimate_means(study.fit(), study.observation())
    assert certificate.interval is means.total_interval is None
    assert study.predict()["low"][lambda x: ~study.predict()["measured"]].isna().all()
    for said in (certificate.reason, means.reason, study.status().sentence):
        assert "list 1 came back in part, and not from the beginning on" in said
    study.tell(filled.drop(index=some.index))
    assert study.observation().evidence is None
    assert study.certify().interval
    assert "came back in part" not in study.status().sentence


def test_a_promise_makes_evidence_of_what_came_back_and_can_be_given_later(uneven):
    study, filled = uneven
    some = filled.sample(frac=0.6, random_state=1)
    before = study.tell(some)
    assert study.certify().interval is None
    again = study.tell(some, design="uniform")
    assert not again.is_new
    assert study.observation().evidence is None
    assert study.certify().interval
    assert "came back in part" not in study.status().sentence
    assert study.at(before.moment).design.entries == "given"
    with pytest.raises(InvalidArgumentError, match="is no promise"):
        study.tell(some, design="random")


def test_a_table_that_nobody_asked_for_is_evidence_only_if_that_is_promised(tmp_path):
    cells = np.random.default_rng(0).permutation(2400)[:900]
    table = pd.DataFrame({"row": cells // 40, "column": cells % 40, "value": UNEVEN.ravel()[cells]})
    for promise, entries in ((None, "given"), ("uniform", "uniform")):
        study = Study.create(tmp_path / entries, rows=60, columns=40)
        study.tell(table, design=promise)
        assert study.observation().design.entries == entries


def test_old_values_are_no_evidence_because_a_later_list_could_have_had_them(tmp_path):
    """Large values were known before: a list draws from the others, and speaks of these."""
    study = Study.create(tmp_path / "a", rows=60, columns=40)
    old = np.argsort(-np.abs(UNEVEN), axis=None)[:600]
    study.tell(pd.DataFrame({"row": old // 40, "column": old % 40, "value": UNEVEN.ravel()[old]}))
    cells = study.ask(0.3, whole=False).cells
    assert study.predict()["low"][lambda x: ~study.predict()["measured"]].isna().all()
    study.tell(cells.assign(value=UNEVEN[cells["row"], cells["column"]]))
    seen = study.observation()
    known = np.isin(seen.entries.flat_index, old)
    np.testing.assert_array_equal(seen.evidence, ~known)
    low, high = curplus.estimate_means(study.fit(), seen).total_interval
    assert low < UNEVEN.sum() < high


def test_what_is_out_of_a_list_that_is_no_evidence_had_no_chance_on_later_lists(uneven):
    study, filled = uneven
    study.tell(filled.sort_values(["row", "column"]).iloc[:700])
    cells = study.ask(0.3, whole=False).cells
    study.tell(cells.assign(value=UNEVEN[cells["row"], cells["column"]]))
    seen = study.observation()
    assert np.count_nonzero(seen.evidence) == len(cells)
    assert seen.forbidden.size(seen.shape) == len(filled) - 700
    out = ~study.predict()["measured"].to_numpy() & seen.is_forbidden(*np.divmod(np.arange(2400), 40))
    assert study.predict()["low"][out].isna().all()


def test_rows_that_are_out_are_spoken_of_once_they_came_back(study, truth):
    todo = study.ask(0.5)
    on_rows = todo.cells["row"].isin(todo.rows)
    study.tell(measured(todo.cells[~on_rows], truth))
    seen = study.observation()
    i, j = np.divmod(np.arange(truth.size), SHAPE[1])
    known = set(zip(todo.cells["row"], todo.cells["column"], strict=True))
    out = np.array([(ROWS[a], COLUMNS[b]) in known and ROWS[a] in todo.rows for a, b in zip(i, j, strict=True)])
    assert np.all(out[seen.is_forbidden(i, j)])
    assert seen.design.columns == "given"
    study.tell(measured(todo.cells[on_rows], truth))
    assert not study.observation().forbidden.any
    assert study.observation().design == ("uniform", "uniform", "uniform")


def test_what_is_forbidden_stays_with_the_study(tmp_path, study, truth):
    forbidden = {"rows": ROWS[30:], "columns": ["c0"], "cells": [("r1", "c1"), ("r2", "c0")]}
    study.tell(measured(study.ask(0.5, whole=False, forbidden=forbidden).cells, truth))
    study.tell(measured(study.ask(0.1, whole=False).cells, truth))  # some of it may be measured later: no evidence
    for known in (study, Study.open(tmp_path / "a.study")):
        seen = known.observation()
        assert seen.forbidden.rows.tolist() == list(range(30, 40))
        assert (seen.forbidden.columns.tolist(), [x.tolist() for x in seen.forbidden.cells]) == ([0], [[1], [1]])
        assert seen.design.entries == "uniform"
        closed = seen.is_forbidden(seen.i, seen.j)
        assert closed.any()
        assert seen.steering[closed].all()
        assert known.means().to_frame()["low"][ROWS[30:]].isna().all()


def test_rows_that_are_forbidden_are_never_listed_cell_by_cell(tmp_path):
    study = Study.create(tmp_path / "large", rows=10**5, columns=10**5)
    cells = study.ask(50, whole=False, forbidden={"rows": list(range(50_000, 10**5))}).cells
    assert cells["row"].max() < 50_000
    study.tell(cells.assign(value=1.0))
    assert study.observation().forbidden.size((10**5, 10**5)) == 5 * 10**9


# Telling


def test_all_readings_stay_and_their_mean_counts(study):
    study.tell(long(("r1", "c1", 1.0), ("r2", "c2", 5.0)))
    study.tell(long(("r1", "c1", 2.0)))
    seen = study.observation()
    assert seen.values.tolist() == [1.5, 5.0]
    assert seen.weights.tolist() == [2.0, 1.0]
    assert seen.noise_estimate == pytest.approx(math.sqrt(0.5))
    assert study.records()["value"].tolist() == [1.0, 5.0, 2.0]


@pytest.mark.parametrize(("records", "value"), [("all", 1.5), ("latest", 2.0)])
def test_what_counts_can_be_said(tmp_path, records, value):
    study = Study.create(tmp_path / "a", rows=4, columns=3, records=records)
    study.tell(long((0, 0, 1.0)))
    study.tell(long((0, 0, 2.0)))
    assert study.observation().values.tolist() == [value]


def test_different_readings_can_be_an_error(tmp_path):
    study = Study.create(tmp_path / "a", rows=4, columns=3, records="error")
    study.tell(long((0, 1, 1.0)))
    study.tell(long((0, 1, 1.0), (1, 1, 1.0)))
    assert study.observation().values.tolist() == [1.0, 1.0]
    study.tell(long((0, 1, 1.5)))
    with pytest.raises(InconsistentObservationError, match="row 0, column 1 was measured more than once"):
        study.observation()
    with pytest.raises(InvalidArgumentError, match="does not say which readings"):
        Study.create(tmp_path / "b", rows=4, columns=3, records="mean")


def test_a_correction_names_the_record_that_it_replaces(study):
    study.tell(long(("r1", "c1", 10.0), ("r2", "c2", 5.0)))
    study.tell(long(("r1", "c1", 1.0)).assign(corrects=1))
    assert study.observation().values.tolist() == [1.0, 5.0]
    assert study.records()["corrects"].tolist() == [pd.NA, pd.NA, 1]
    for wrong, why in ((2, "that record is of another cell"), (99, "there is no such record")):
        with pytest.raises(InvalidArgumentError, match=why):
            study.tell(long(("r1", "c1", 1.0)).assign(corrects=wrong))
    with pytest.raises(InvalidArgumentError, match="corrects record 1, but that record is corrected by another one"):
        study.tell(long(("r1", "c1", 2.0)).assign(corrects=1))
    study.tell(long(("r1", "c1", 2.0)).assign(corrects=3))
    assert study.observation().values.tolist() == [2.0, 5.0]


def test_an_empty_value_is_a_failed_measurement(study, truth):
    todo = study.ask(0.4)
    study.tell(measured(todo.cells, truth, failed={0, 5}))
    status, seen = study.status(), study.observation()
    assert (status.n_failed, status.n_pending) == (2, 0)
    assert seen.n_gaps == 2
    assert seen.n_values_read == 398


def test_a_failure_that_was_repeated_with_success_is_no_gap(study):
    study.tell(long(("r1", "c1", math.nan)))
    assert study.observation().n_gaps == 1
    study.tell(long(("r1", "c1", 3.0)))
    seen = study.observation()
    assert (seen.n_gaps, seen.values.tolist()) == (0, [3.0])


def test_cells_that_nobody_asked_for_are_kept_and_flagged(study):
    receipt = study.tell(long(("r1", "c1", 1.0)), who="Ada")
    assert receipt.n_unasked == 1
    line = study.records().iloc[0]
    assert (line["asked"], line["who"], line["source"]) == (False, "Ada", "the table")
    assert study.observation().design.entries == "given"


def test_in_logarithms_only_a_value_beyond_all_others_is_an_outlier(tmp_path):
    study = Study.create(tmp_path / "potency", rows=20, columns=4, scale="log")
    study.tell(long(*((i, 0, 10.0 ** (i / 3)) for i in range(20))))
    study.tell(long((0, 1, 2e6)))
    with pytest.raises(InvalidArgumentError, match=r"largest value so far, 2.154e\+06.*force=True"):
        study.tell(long((1, 1, 1e10)))


def test_a_value_a_thousand_times_too_large_is_refused_unless_forced(study):
    study.tell(long(*((f"r{k}", "c0", 1.0 + 0.1 * k) for k in range(20))))
    with pytest.raises(InvalidArgumentError, match="2500 of row 'r3', column 'c3' is 1,250 times as large"):
        study.tell(long(("r3", "c3", 2500.0)))
    assert study.status().n_values == 20
    study.tell(long(("r3", "c3", 2500.0)), force=True)
    assert study.status().n_values == 21


def test_nothing_is_kept_of_a_table_with_faults(study):
    with pytest.raises(InvalidArgumentError) as caught:
        study.tell(long(("r1", "c1", 1.0), ("r11x", "c1", 2.0), ("r2", "C3", 1.0), ("r3", "c3", "n.d.")))
    for part in ("3 faults", "'r11x' (the nearest is 'r11')", "'C3' (the nearest is 'c3')", "'n.d.', which is not a"):
        assert part in str(caught.value)
    assert study.status().n_values == 0


@pytest.mark.parametrize("value", [math.inf, -math.inf, "inf", "1_000", "=1+1", "0x10", "3,5", [1], "1 2"])
def test_what_is_no_number_is_refused(study, value):
    with pytest.raises(InvalidArgumentError, match="not a finite number"):
        study.tell(long(("r1", "c1", value)))


def test_a_wide_table_can_be_told(study, truth):
    wide = pd.DataFrame(truth[:5, :3], index=ROWS[:5], columns=COLUMNS[:3])
    wide.iloc[0, 0] = math.nan
    assert study.tell(wide).n_values == 14
    assert study.status().n_failed == 0


def test_an_empty_place_of_a_wide_table_is_a_failure_only_where_it_is_pending(study, truth):
    todo = study.ask(1, required={"cells": [("r0", "c0")]})
    assert len(todo) == 1
    wide = pd.DataFrame([[math.nan, math.nan]], index=["r0"], columns=["c0", "c1"])
    receipt = study.tell(wide)
    assert (receipt.n_values, receipt.n_failed) == (0, 1)


# The answer


def test_the_observation_is_what_acquire_would_have_read(study, truth):
    todo = study.ask(0.5)
    study.tell(measured(todo.cells, truth))
    seen = study.observation()
    rows, columns = [ROWS.index(row) for row in todo.rows], [COLUMNS.index(column) for column in todo.columns]
    assert (seen.row_index.tolist(), seen.column_index.tolist()) == (rows, columns)
    assert np.array_equal(seen.rows, truth[rows])
    assert np.array_equal(seen.columns, truth[:, columns])
    assert np.array_equal(seen.values, truth[seen.i, seen.j])
    assert seen.design == ("uniform", "uniform", "uniform")
    assert (seen.gaps, seen.noise, seen.weights) == (False, None, None)
    assert seen.n_values_read == 500
    assert curplus.certify(curplus.approximate(seen), seen).error < 1e-6 * np.linalg.norm(truth)


def test_drawn_cells_stay_a_uniform_sample_of_all_positions(tmp_path, truth):
    """Those on whole rows and columns included: otherwise an error estimate would not know what they stand for."""
    counts = np.zeros(SHAPE)
    for seed in range(effort(20, 200)):
        study = Study.create(tmp_path / str(seed), rows=SHAPE[0], columns=SHAPE[1])
        for _ in range(2):
            cells = study.ask(0.2, rng=seed).cells
            study.tell(cells.assign(value=truth[cells["row"], cells["column"]]))
        seen = study.observation()
        assert seen.design.entries == "uniform"
        np.add.at(counts, (seen.i, seen.j), 1)
    on_lines = np.zeros(SHAPE, dtype=bool)
    on_lines[np.ix_(seen.row_index, range(SHAPE[1]))] = True
    expected = counts.mean()
    for part in (counts[:, :12], counts[20:], counts[on_lines]):
        assert abs(part.mean() - expected) < 5 * math.sqrt(expected / part.size)


def test_a_matrix_of_which_everything_was_measured_is_a_table(study, truth):
    study.tell(pd.DataFrame(truth, index=ROWS, columns=COLUMNS))
    seen = study.observation()
    assert (seen.n_rows, seen.n_entries, seen.design.rows) == (SHAPE[0], 0, "adaptive")
    assert study.certify().evidence == "everything was read"


def test_rows_of_which_too_little_came_back_are_entries(study, truth):
    todo = study.ask(0.5)
    row = next(iter(todo.rows))
    few = todo.cells[todo.cells["row"] == row].iloc[:5]
    study.tell(measured(few, truth))
    assert (study.observation().n_rows, study.observation().n_entries) == (0, 5)
    study.tell(measured(todo.cells[todo.cells["row"] == row], truth))
    assert study.observation().n_rows == 1


def test_measured_values_are_kept_in_the_prediction(study, truth):
    todo = study.ask(0.4)
    study.tell(measured(todo.cells, truth, failed={1}))
    table = study.predict()
    assert list(table.columns) == ["row", "column", "value", "low", "high", "measured"]
    assert table["measured"].sum() == 399
    known = table[table["measured"]]
    assert (
        known["value"] == [truth[ROWS.index(r), COLUMNS.index(c)] for r, c in known[["row", "column"]].to_numpy()]
    ).all()
    assert np.linalg.norm(table["value"].to_numpy().reshape(SHAPE) - truth) < 0.05 * np.linalg.norm(truth)
    part = study.predict(rows=["r3", "r1"], columns=["c2"])
    assert part["row"].tolist() == ["r3", "r1"]
    with pytest.raises(InvalidArgumentError, match="no row is called 'r99'; the nearest is"):
        study.predict(rows=["r99"])


AXES = pytest.mark.parametrize(("axis", "what"), [(1, "row"), (0, "column")])


@AXES
@pytest.mark.parametrize("whole", [True, False])
def test_means_are_those_that_the_observation_gives(study, full_rank, axis, what, whole):
    truth = full_rank(SHAPE, rank=2, noise=0.3)
    study.tell(measured(study.ask(0.6, whole=whole).cells, truth, failed=range(0, 600, 20)))
    means, seen = study.means(axis, level=0.8), study.observation()
    expected = curplus.estimate_means(curplus.approximate(seen), seen, axis=axis, level=0.8)
    pd.testing.assert_frame_equal(means.to_frame(), expected.to_frame())
    assert means.to_frame().index.tolist() == (ROWS if axis else COLUMNS)
    assert (means.what, means.best(3).tolist()) == (f"{what}s", expected.best(3).tolist())


@AXES
def test_the_mean_of_what_was_measured_whole_is_known(study, truth, axis, what):
    todo = study.ask(0.4)
    study.tell(measured(todo.cells, truth))
    known = study.means(axis).to_frame().loc[list(todo.rows if axis else todo.columns)]
    assert len(known) > 2
    position = (ROWS if axis else COLUMNS).index
    exact = truth.mean(axis=axis)[[position(name) for name in known.index]]
    for column in ("estimate", "low", "high"):
        np.testing.assert_allclose(known[column], exact, rtol=0, atol=1e-14)


@AXES
def test_intervals_of_means_hold_and_are_narrower_than_those_of_readings_alone(tmp_path, full_rank, axis, what):
    shape, share, level = (160, 80), 0.3, 0.9
    truth = full_rank(shape, rank=2, noise=0.3)
    study = Study.create(tmp_path / "a", rows=shape[0], columns=shape[1])
    cells = study.ask(share, whole=False).cells
    study.tell(cells.assign(value=truth[cells["row"], cells["column"]]))
    means, size = study.means(axis, level=level), shape[1 - axis]
    hits = ((means.low <= truth.mean(axis=axis)) & (truth.mean(axis=axis) <= means.high)).sum()
    assert hits > level * size - 3 * math.sqrt(size * level * (1 - level))
    of_readings = 1.645 * truth.std(axis=axis) * np.sqrt((1 - share) / means.n_entries)
    assert np.median((means.high - means.low) / 2) < 0.7 * np.median(of_readings)


def test_status_never_fits_and_remembers_what_certify_found(study, full_rank):
    truth = full_rank(SHAPE, rank=2, noise=0.05)
    for k in range(3):
        study.tell(measured(study.ask(0.25).cells, truth))
        assert len(study.status().rounds) == k
        certificate = study.certify()
        study.certify()
    status = study.status()
    assert [r.n_values for r in status.rounds] == [250, 500, 750]
    assert status.rounds[-1].relative == certificate.relative_error
    assert status.n_unjudged == 0
    assert certificate.interval is None
    assert status.sentence.startswith(
        f"error about {100 * certificate.relative_error:.2g} % (an estimate from left-out"
    )
    assert str(status).startswith("40 x 25 matrix: 750 values")


def test_if_places_were_forbidden_the_status_speaks_of_the_others(tmp_path, full_rank):
    truth, of_others = full_rank(SHAPE, rank=2, noise=0.05), "% of the places that may be read ("
    study = Study.create(tmp_path / "part.study", rows=SHAPE[0], columns=SHAPE[1])
    cells = study.ask(0.4, whole=False, forbidden={"rows": [0, 1, 2]}).cells
    study.tell(cells.assign(value=truth[cells["row"], cells["column"]]))
    study.certify()
    assert of_others in study.status().sentence
    study.report(tmp_path / "part.html")
    assert of_others in (tmp_path / "part.html").read_text("utf-8")


def test_nothing_can_be_said_without_values(study):
    assert "error unknown" in study.status().sentence
    with pytest.raises(InvalidArgumentError, match="nothing was measured yet"):
        study.fit()


def test_numbers_may_stand_for_names(tmp_path):
    study = Study.create(tmp_path / "a", rows=30, columns=[101, 102, 103])
    study.tell(long((3, 101, 1.0), (4.0, "102", 2.0)))
    seen = study.observation()
    assert (seen.i.tolist(), seen.j.tolist()) == ([3, 4], [0, 1])
    with pytest.raises(InvalidArgumentError, match="no row is called 30 "):
        study.tell(long((30, 101, 1.0)))


# The stopping rule


def judged(*errors, width=0.2):
    now = dt.datetime.now(dt.UTC)
    return tuple(Round(now, k, n, n, e, e, e * (1 - width), e * (1 + width), "") for k, (n, e) in enumerate(errors))


def test_a_power_law_is_extrapolated():
    rounds = judged(*((n, 4.0 / math.sqrt(n)) for n in (500, 1000, 2000)))
    assert expected_error(rounds, 2000) == pytest.approx(4.0 / math.sqrt(4000))


def test_the_sentence_says_when_to_stop():
    rounds = judged((1000, 0.1), (1500, 0.08))
    assert stopping_sentence(rounds, 500) == (
        "error about 8 % (6.4-9.6 %); the next 500 values are expected to bring it to 6.8 %"
    )
    floor = judged((1000, 0.1), (2000, 0.05), (4000, 0.0499))
    assert "may not lower it either" in stopping_sentence(floor, 500)


def test_an_error_without_an_interval_is_called_an_estimate_and_has_a_forecast():
    assert stopping_sentence(judged((100, 0.13), width=math.nan), 100) == (
        "error about 13 % (an estimate from left-out values, without an interval); "
        "no forecast yet: it follows from the errors of two rounds"
    )
    rounds = judged((1000, 0.1), (1500, 0.08), width=math.nan)
    assert stopping_sentence(rounds, 500).endswith("; the next 500 values are expected to bring it to 6.8 %")


def test_if_too_few_cells_are_single_the_error_is_that_at_left_out_values(tmp_path, full_rank):
    truth = full_rank((30, 20), rank=2, noise=0.3)
    study = Study.create(tmp_path / "lines.study", rows=30, columns=20)
    cells = study.ask(356, required={"rows": range(8), "columns": range(8)}, whole=False).cells
    study.tell(cells.assign(value=truth[cells["row"], cells["column"]]))
    assert math.isnan(study.certify().error)
    last, sentence = study.status().rounds[-1], study.status().sentence
    assert 0.3 < last.relative < 3
    (left_out,) = (fact.value for fact in study.fit().report.facts if fact.name == "left_out_error")
    assert last.error == pytest.approx(left_out * math.sqrt(600))
    start = (
        r"error about \d+ % \(an estimate from left-out values, without an interval: only \d+ entries can be held out"
    )
    assert re.match(start, sentence)


def test_if_too_few_values_are_exact_the_status_says_so_beside_the_bounds(tmp_path, full_rank):
    truth = full_rank((30, 20), rank=2, noise=0.3)
    study = Study.create(tmp_path / "bounds.study", rows=30, columns=20)
    cells = study.ask(0.2, whole=False).cells
    values = truth[cells["row"], cells["column"]].tolist()
    study.tell(cells.assign(value=[str(x) if k < 26 else f">{x - 1}" for k, x in enumerate(values)]))
    assert math.isnan(study.certify().error)
    sentence = study.status().sentence
    assert "known as bounds only" in sentence
    assert re.search(r"only \d+ entries can be held out", sentence)


def test_the_error_of_logarithms_is_called_so(tmp_path, full_rank):
    study = Study.create(tmp_path / "log.study", rows=40, columns=25, scale="log")
    cells = study.ask(0.5).cells
    study.tell(cells.assign(value=np.exp(full_rank(SHAPE, rank=2, noise=0.3))[cells["row"], cells["column"]]))
    study.certify()
    assert re.match(r"error about \d+ % of the logarithms \(", study.status().sentence)


def test_what_is_decided_is_remembered(tmp_path, rng):
    answers = (rng.random((6, 200)) < np.linspace(0.1, 0.9, 6)[:, None]).astype(float)
    study, best = Study.create(tmp_path / "best.study", rows=6, columns=200), curplus.Best(1)
    assert not study.decide(best).is_decided
    assert "nothing was judged yet" in study.status().sentence
    while not study.decide(best).is_decided:
        cells = study.ask(120, goal=best).cells
        study.tell(cells.assign(value=answers[cells["row"], cells["column"]]))
    assert study.status().sentence == study.decide(best).reason
    assert (len(study.status().rounds), len(study.status().judged)) == (1, 0)
    study.certify()
    assert study.status().sentence.startswith(f"{study.decide(best).reason}; error ")
    assert (len(study.status().rounds), len(study.status().judged)) == (2, 1)
    study.report(tmp_path / "best.html")


def test_heavy_tails_forbid_an_interval_and_no_forecast(tmp_path, rng):
    truth = 0.3 * rng.standard_t(2.2, size=(120, 80)) + rng.standard_normal((120, 2)) @ rng.standard_normal((2, 80))
    study = Study.create(tmp_path / "heavy.study", rows=120, columns=80)
    for _ in range(2):
        cells = study.ask(1200, whole=False).cells
        study.tell(cells.assign(value=truth[cells["row"], cells["column"]]))
        assert study.certify().interval is None
    assert re.search(r"error about \d+ % \(an estimate .* the next 1,200 values are expected", study.status().sentence)


def test_the_error_of_a_matrix_of_zeros_is_known(study):
    study.tell(pd.DataFrame(np.zeros(SHAPE), index=ROWS, columns=COLUMNS))
    study.certify()
    (last,) = study.status().rounds
    assert (last.relative, last.low, last.high) == (0.0, 0.0, 0.0)
    assert study.status().sentence.startswith("error about 0 % (0-0 %)")


@pytest.mark.parametrize("rounds", [(), judged((100, 0.5)), judged((100, 0.5), (100, 0.4))])
def test_there_is_no_forecast_without_two_rounds_of_different_size(rounds):
    assert re.search("unknown|no forecast yet", stopping_sentence(rounds, 100))
    assert math.isnan(expected_error(rounds, 100))


# Going back, and elsewhere


def test_a_moment_gives_the_same_observation_bit_for_bit(study, truth, rng):
    moments = []
    for k in range(5):
        todo = study.ask(0.15)
        receipt = study.tell(measured(todo.cells, truth + 0.1 * rng.standard_normal(SHAPE), failed={k}))
        study.tell(measured(todo.cells.iloc[:9], truth + 0.1 * rng.standard_normal(SHAPE)))
        receipt = study.tell(long(("r1", "c1", 0.5 + k)))
        moments.append((receipt.moment, study.observation()))
    for moment, seen in moments:
        assert same(study.at(moment), seen)
        assert same(study.at(moment.isoformat()), seen)
    first = moments[0][0] - dt.timedelta(days=1)
    assert not any(study.at(first).counts)
    with pytest.raises(InvalidArgumentError, match="is no moment"):
        study.at("yesterday")


def test_a_moment_gives_the_same_answer(study, full_rank):
    truth = full_rank(SHAPE)
    receipt = study.tell(measured(study.ask(0.4).cells, truth))
    before = study.fit()
    study.tell(measured(study.ask(0.2).cells, truth))
    again = curplus.approximate(study.at(receipt.moment))
    assert again.to_array().tobytes() == before.to_array().tobytes()


VALUES = st.floats(-1e3, 1e3) | st.just(math.nan) | st.sampled_from([5e-324, 0.1 + 0.2, -0.0, 1 / 3])
LINES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), VALUES), min_size=1, max_size=30)


@given(tables=st.lists(LINES, min_size=1, max_size=4), names=st.booleans())
def test_an_export_has_every_reading_bit_for_bit_and_no_formula(tmp_path_factory, tables, names):
    folder = tmp_path_factory.mktemp("export")
    rows = ["=cmd|' /C calc'!A0", "+1", "-x", "@a", "'quoted", "../../etc/passwd"] if names else 6
    study = Study.create(folder / "a", rows=rows, columns=4, noise="unknown")
    study.ask(5)
    for lines in tables:
        table = long(*lines).assign(note=[f"=note {k}" if k % 2 else None for k in range(len(lines))])
        if names:
            table["row"] = [rows[k] for k in table["row"]]
        study.tell(table, force=True)
    study.export(folder / "out")
    with pytest.raises(InvalidArgumentError, match="exists already"):
        study.export(folder / "out")
    assert {path.stem for path in (folder / "out").glob("*.csv")} == {"records", "lists", "rounds"}
    exported = pd.read_csv(folder / "out" / "records.csv", float_precision="round_trip")
    told = study.records()
    assert exported["value"].to_numpy().tobytes() == told["value"].to_numpy().tobytes()
    assert [unescaped(str(x)) for x in exported["row"]] == [str(x) for x in told["row"]]
    text = (folder / "out" / "records.csv").read_text()
    assert ",=" not in text
    assert "\n=" not in text


# the best


def answers_of(truth, worklist):
    return worklist.cells.assign(value=truth[worklist.cells["row"], worklist.cells["column"]])


def test_lists_for_the_best_go_on_until_it_is_decided(tmp_path):
    rng = np.random.default_rng(0)
    truth = (rng.random((12, 200)) < np.linspace(0.9, 0.2, 12)[rng.permutation(12), None]).astype(float)
    best, path, n_left = curplus.Best(2), tmp_path / "a.study", []
    curplus.Study.create(path, rows=12, columns=200).close()
    while True:
        with curplus.Study.open(path) as study:  # each list after a restart
            decision = study.decide(best)
            if decision.is_decided:
                break
            n_left.append(len(decision.left))
            todo = study.ask(240, goal=best)
            assert len(todo) <= 240
            assert not todo.rows
            study.tell(answers_of(truth, todo))
    assert set(decision.chosen.tolist()) == set(np.argsort(-truth.mean(axis=1))[:2].tolist())
    assert n_left == sorted(n_left, reverse=True)
    with curplus.Study.open(path) as study:
        assert study.status().n_values < truth.size / 2
        seen = study.observation()
        whole = curplus.Observation(
            shape=truth.shape, row_index=range(12), rows=truth, drawn_columns=seen.drawn_columns
        )
        assert curplus.decide(whole, best).looks == decision.looks
        np.testing.assert_array_equal(study.means().best(2), decision.possible)
        with pytest.raises(InvalidArgumentError, match="decided: the 2 best rows"):
            study.ask(100, goal=best)


def test_a_row_that_is_added_is_compared_with_the_others(tmp_path):
    rng = np.random.default_rng(1)
    truth = (rng.random((7, 150)) < np.array([0.9, 0.6, 0.5, 0.4, 0.3, 0.2, 0.97])[:, None]).astype(float)
    best = curplus.Best(1)
    with curplus.Study.create(tmp_path / "a.study", rows=6, columns=150) as study:
        while not study.decide(best).is_decided:
            study.tell(answers_of(truth, study.ask(180, goal=best)))
        assert study.decide(best).chosen.tolist() == [0]
        before = study.status().n_values
        study.add_rows(1)
        first = study.ask(60, goal=best)
        assert set(first.cells["row"]) == {6}
        study.tell(answers_of(truth, first))
        while not study.decide(best).is_decided:
            study.tell(answers_of(truth, study.ask(180, goal=best)))
        assert int(np.argmax(truth.mean(axis=1))) in study.decide(best).possible
        assert study.status().n_values < before + 2 * 150
        study.add_columns(1)
        assert not len(study.observation().drawn_columns)


def test_a_goal_of_means_asks_for_scattered_cells_until_they_are_narrow(tmp_path):
    rng = np.random.default_rng(2)
    truth = rng.standard_normal((10, 60))
    with curplus.Study.create(tmp_path / "a.study", rows=10, columns=60) as study:
        todo = study.ask(0.5, goal="means", width=5.0)
        assert not todo.rows
        assert not todo.columns
        study.tell(answers_of(truth, todo))
        with pytest.raises(InvalidArgumentError, match="the goal is reached"):
            study.ask(0.1, goal="means", width=5.0)
        assert len(study.ask(0.1, goal="means", width=0.01))


def test_a_list_in_which_nothing_was_written_has_not_failed(study):
    cells = study.ask(0.2, whole=False).cells
    with pytest.raises(InvalidArgumentError, match=r"none of the \d+ lines of the list has a value"):
        study.tell(cells.assign(value=np.nan))
    assert study.status().n_failed == 0
    study.tell(cells.assign(value=np.nan), force=True)
    assert study.status().n_failed == len(cells)


def test_what_is_required_and_forbidden_is_refused(study):
    with pytest.raises(InvalidArgumentError, match="row 'r3' is required and forbidden"):
        study.ask(0.2, required={"rows": ["r3"]}, forbidden={"rows": ["r3"]})


def test_a_list_that_is_refused_changes_nothing(tmp_path):
    with Study.create(tmp_path / "few.study", rows=6, columns=5) as study:
        with pytest.raises(InvalidArgumentError, match="buys nothing more"):
            study.ask(10, goal=curplus.Best(6))
        assert "decided" not in str(study.status())
