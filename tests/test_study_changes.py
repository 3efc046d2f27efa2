"""A study lives: rows and columns are added, renamed and retired, and lists come in batches."""

import math

import numpy as np
import pytest

import curplus
from curplus import Study
from curplus.exceptions import InvalidArgumentError
from curplus.study.report.facts import facts_of

pd = pytest.importorskip("pandas")

ROWS, COLUMNS = [f"r{k}" for k in range(30)], [f"c{k}" for k in range(20)]
SIDES = pytest.mark.parametrize("side", ["row", "column"])


@pytest.fixture
def study(tmp_path):
    with Study.create(tmp_path / "a.study", rows=ROWS, columns=COLUMNS) as study:
        yield study


def values_of(cells):
    """What is measured: a number for each name."""
    return [
        sum(map(ord, row)) + len(row) * sum(map(ord, column)) for row, column in cells[["row", "column"]].to_numpy()
    ]


def measure(study, cells):
    return study.tell(cells.assign(value=values_of(cells)))


def by_name(study):
    known = study.records()
    return {(row, column): value for row, column, value in known[["row", "column", "value"]].to_numpy()}


@SIDES
def test_what_is_known_stays_with_its_names_when_more_are_added(study, side):
    measure(study, study.ask(200).cells)
    before = by_name(study)
    getattr(study, f"add_{side}s")(["new", "newer"])
    assert study.settings.shape == ((32, 20) if side == "row" else (30, 22))
    assert by_name(study) == before
    seen = study.observation()
    assert seen.shape == study.settings.shape
    assert set(getattr(seen, f"{side}_names")) >= {"new", "newer"}
    todo = study.ask(200)
    measure(study, todo.cells)
    assert "new" in set(study.records()[side])
    wanted = values_of(study.records())
    assert study.records()["value"].tolist() == wanted
    predicted = study.predict(**{f"{side}s": ["new"]})
    assert len(predicted) == (20 if side == "row" else 30)


def test_a_matrix_that_grew_is_found_again_in_an_older_program_and_at_any_moment(study, tmp_path):
    other = Study.open(tmp_path / "a.study")
    receipt = measure(study, other.ask(100).cells)
    before = other.observation()
    study.add_columns(["x"])
    study.rename_row("r1", "first")
    assert (other.settings.shape, other.observation().shape) == ((30, 21), (30, 21))
    assert other.observation().row_names[1] == "first"
    at = other.at(receipt.moment)
    assert at.shape == (30, 20)
    assert at.row_names[1] == "r1"
    assert at.values.tobytes() == before.values.tobytes()
    assert np.array_equal(at.i, before.i)
    assert other.tell(pd.DataFrame({"row": ["first"], "column": ["x"], "value": [1.0]})).n_values == 1
    again = Study.open(tmp_path / "a.study")
    assert again.records().equals(other.records())


def test_a_list_that_is_out_while_the_matrix_grows_comes_back_right(study, tmp_path):
    todo = study.ask(150)
    todo.to_csv(tmp_path / "list.csv")
    study.add_columns(["x", "y"])
    study.rename_row("r2", "second")
    table = pd.read_csv(tmp_path / "list.csv")
    table["value"] = values_of(table)
    table.to_csv(tmp_path / "list.csv", index=False)
    receipt = study.tell(tmp_path / "list.csv")
    assert (receipt.n_values, receipt.n_unasked) == (150, 0)
    assert study.status().n_pending == 0
    known = by_name(study)
    renamed = {("second" if row == "r2" else row, column): value for (row, column), value in known.items()}
    assert known == renamed
    assert "second" in {row for row, _ in known}


def test_cells_drawn_before_the_matrix_grew_are_no_evidence_of_the_larger_one(study, rng):
    def tell_drawn(count):
        cells = study.ask(count, whole=False).cells
        study.tell(cells.assign(value=rng.standard_normal(len(cells))))

    tell_drawn(200)
    assert study.observation().design.entries == "uniform"
    study.add_rows([f"more {k}" for k in range(10)])
    assert study.observation().design.entries == "given"
    assert study.certify().interval is None
    tell_drawn(200)
    seen = study.observation()
    new = np.flatnonzero(seen.evidence)
    assert seen.design.entries == "uniform"
    assert len(new) >= 200
    assert np.any(seen.i[new] >= 30)
    assert np.any(seen.i[new] < 30)


@SIDES
def test_whole_rows_and_columns_drawn_from_fewer_are_not_called_uniform(study, side):
    measure(study, study.ask(0.5).cells)
    assert study.observation().design[:2] == ("uniform", "uniform")
    getattr(study, f"add_{side}s")(["new"])
    assert study.observation().design[:2] == ("adaptive", "adaptive")


def test_rows_without_names_are_added_by_number(tmp_path):
    study = Study.create(tmp_path / "b.study", rows=4, columns=3)
    study.tell(pd.DataFrame({"row": [3], "column": [2], "value": [1.0]}))
    study.add_rows(2)
    study.add_columns(1)
    study.tell(pd.DataFrame({"row": [5], "column": [3], "value": [2.0]}))
    seen = study.observation()
    assert (seen.shape, seen.i.tolist(), seen.j.tolist()) == ((6, 4), [3, 5], [2, 3])
    with pytest.raises(InvalidArgumentError, match=r"the rows of this study are numbers"):
        study.rename_row(1, "x")
    with pytest.raises(InvalidArgumentError, match="is not a whole number"):
        study.add_rows(["x"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["r3"], "are both called 'r3'"),
        (3, "the rows have names"),
        (["=x", "'=x"], "tables for spreadsheets"),
        ([], ""),
    ],
)
def test_what_cannot_be_added_is_refused_and_nothing_changes(study, rows, message):
    if rows == []:
        study.add_rows(rows)
    else:
        with pytest.raises(InvalidArgumentError, match=message):
            study.add_rows(rows)
    assert study.settings.shape == (30, 20)


def test_a_name_that_was_left_is_understood_until_another_row_takes_it(study):
    study.rename_row("r1", "one")
    study.tell(pd.DataFrame({"row": ["r1"], "column": ["c0"], "value": [1.0]}))
    study.rename_row("r2", "r1")
    study.tell(pd.DataFrame({"row": ["r1"], "column": ["c0"], "value": [2.0]}))
    assert by_name(study) == {("one", "c0"): 1.0, ("r1", "c0"): 2.0}
    with pytest.raises(InvalidArgumentError, match="no row is called 'r99'"):
        study.rename_row("r99", "x")


@SIDES
def test_the_report_does_not_propose_what_is_retired(study, side):
    def proposed():
        (names,) = [part["names"] for part in facts_of(study)["next"]["sides"] if part["what"] == side]
        return set(names)

    measure(study, study.ask(200).cells)
    gone = proposed()
    assert gone
    getattr(study, f"retire_{side}")(list(gone))
    assert not proposed() & gone


@SIDES
def test_what_is_retired_is_not_asked_for_any_more_and_stays_known(study, side):
    everything = study.ask(600)
    gone = ROWS[3] if side == "row" else COLUMNS[3]
    measure(study, everything.cells.head(200))
    n_out = study.status().n_pending
    of_it = (everything.cells.iloc[200:][side] == gone).sum()
    n_known = (study.records()[side] == gone).sum()
    getattr(study, f"retire_{side}")(gone)
    assert study.status().n_pending == n_out - of_it
    study.cancel(1)
    rest = study.ask(600)
    assert gone not in set(rest.cells[side])
    assert len(rest) == 400 - of_it
    assert (study.records()[side] == gone).sum() == n_known
    assert len(study.predict(**{f"{side}s": [gone]})) == (20 if side == "row" else 30)


def test_prices_of_new_rows_are_needed_where_each_has_its_own(tmp_path):
    study = Study.create(tmp_path / "b.study", rows=ROWS, columns=20, costs={"row": [5.0] * 30, "entry": 1.0})
    with pytest.raises(InvalidArgumentError, match="each row has a price of its own, and there are 2 more"):
        study.add_rows(["x", "y"])
    study.add_rows(["x", "y"], price=[1.0, 2.0])
    assert study.settings.costs["row"][-3:] == [5.0, 1.0, 2.0]
    assert study.ask(3.0, required={"rows": ["x", "y"]}).price == 3.0
    with pytest.raises(InvalidArgumentError, match="the columns of this study have no price of their own"):
        study.add_columns(3, price=1.0)


# Batches


@pytest.mark.parametrize("whole", [True, False])
def test_a_list_has_a_multiple_of_a_plate(study, whole):
    todo = study.ask(300, batch=96, whole=whole)
    assert (len(todo), todo.price) == (288, 288)
    assert bool(todo.rows) == whole
    assert not todo.cells.duplicated().any()
    rest = study.ask(600, batch=96)
    assert (len(rest), rest.price) == (312, 384)  # fewer than a plate are left


def test_a_plate_has_a_price(tmp_path):
    study = Study.create(tmp_path / "b.study", rows=ROWS, columns=COLUMNS, costs={"entry": 2.0}, budget=100)
    todo = study.ask(100, batch=96, batch_price=40.0)
    assert (len(todo), todo.price, study.status().left) == (192, 80.0, 20.0)
    study.tell(todo.cells.assign(value=1.0).head(96))
    assert study.status().spent == pytest.approx(40.0)
    with pytest.raises(InvalidArgumentError, match="a batch costs 40, and the budget is 20"):
        study.ask(20, batch=96, batch_price=40.0)


@SIDES
def test_a_batch_of_whole_rows_is_that(study, side):
    length = 20 if side == "row" else 30
    todo = study.ask(250, batch=4, unit=side, batch_price=100.0)
    lines, others = (todo.rows, todo.columns) if side == "row" else (todo.columns, todo.rows)
    assert (len(lines), len(others), len(todo), todo.price) == (8, 0, 8 * length, 200.0)
    measure(study, todo.cells)
    again = study.ask(0.3, batch=2, unit=side)
    assert not set(again.cells[side]) & set(lines)
    last = study.ask(100, batch=50, unit=side, batch_price=100.0)
    counts = [len(x.rows if side == "row" else x.columns) for x in (again, last)]
    assert sum(counts) + 8 == (30 if side == "row" else 20)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"unit": "row"}, "batch= is missing"),
        ({"batch": 0}, "batch=0 is too small"),
        ({"batch": 4, "unit": "plate"}, "unit='plate' is not what a batch"),
        ({"batch": 4, "batch_price": -1}, "batch_price=-1 is no price"),
        ({"batch": 96}, "a batch costs 96, and the budget is 50"),
    ],
)
def test_a_batch_must_make_sense(study, how, message):
    with pytest.raises(InvalidArgumentError, match=message):
        study.ask(50, **how)


def test_an_answer_after_all_of_this_is_the_answer(study, rng):
    left, right = rng.standard_normal((40, 2)), rng.standard_normal((2, 26))
    truth = pd.DataFrame(left @ right, index=[*ROWS, *(f"s{k}" for k in range(10))], columns=[*COLUMNS, *"uvwxyz"])

    def tell(todo):
        study.tell(todo.cells.assign(value=[truth.loc[r, c] for r, c in todo.cells[["row", "column"]].to_numpy()]))

    tell(study.ask(200))
    study.add_rows([f"s{k}" for k in range(10)])
    tell(study.ask(200))
    study.add_columns(list("uvwxyz"))
    study.retire_row(["r0", "r1"])
    tell(study.ask(192, batch=96))
    predicted = study.predict().pivot(index="row", columns="column", values="value").loc[truth.index, truth.columns]
    kept = truth.index.difference(["r0", "r1"])
    error = np.linalg.norm((predicted - truth).loc[kept]) / np.linalg.norm(truth)
    assert error < 1e-3
    assert not math.isnan(study.fit().to_array().sum())
    assert isinstance(study.fit(), curplus.Factorization)
