"""A ledger that counts right: what is one reading, what is another, what it costs, and until when a list is out."""

import time

import numpy as np
import pytest

from curplus import Study
from curplus.exceptions import InvalidArgumentError

pd = pytest.importorskip("pandas")


@pytest.fixture
def study(tmp_path):
    with Study.create(tmp_path / "a.study", rows=20, columns=20, budget=200, noise="unknown") as study:
        yield study


def one(value, row=0, column=0, **more):
    return pd.DataFrame({"row": [row], "column": [column], "value": [value], **more})


def test_a_reading_without_a_list_is_a_new_one_also_if_its_value_was_told_before(study):
    values = [1, 1, 1, 0, 1, 1, 1, 1, 0, 1]
    for value in values:
        study.tell(one(value))
    assert study.records()["value"].tolist() == values
    assert study.observation().values.tolist() == [0.8]


@pytest.mark.parametrize("force", [False, True])
def test_a_list_that_grows_and_is_sorted_anew_is_counted_once(study, tmp_path, rng, force):
    table = study.ask(100).table().assign(value=rng.standard_normal(100))
    for n_lines in (*range(5, 100, 5), 100, 100):
        some = table.head(n_lines).sample(frac=1, random_state=n_lines)
        some.to_csv(tmp_path / "list.csv", index=False)
        receipt = study.tell(tmp_path / "list.csv", force=force)
    assert (receipt.n_values, receipt.n_again, receipt.is_new) == (0, 100, False)
    assert "all of list.csv was told before" in str(receipt)
    status = study.status()
    assert (status.n_values, status.spent, status.left, status.n_pending) == (100, 100, 100, 0)
    assert study.observation().repeats.freedom == 0
    assert len(study.records()) == 100


def test_the_cells_of_a_list_know_which_list_they_are_of(study, rng):
    """The second time a frame is told as it was given, in part and then whole."""
    cells = study.ask(100).cells
    cells["value"] = rng.standard_normal(100)
    study.tell(cells[:50])
    receipt = study.tell(cells)
    assert (receipt.n_values, receipt.n_again) == (50, 50)
    assert str(receipt).endswith("; 50 more had been told before")
    assert study.status().spent == 100
    assert np.isnan(study.observation().noise_estimate)


def test_a_line_twice_in_one_table_is_one_reading(study):
    line = study.ask(1).cells.assign(value=2.0)
    assert study.tell(pd.concat([line, line])).n_values == 1


def test_a_line_with_another_value_is_a_second_reading(study):
    line = study.ask(1).cells
    assert study.tell(line.assign(value=[np.nan])).n_failed == 1
    assert [study.tell(line.assign(value=[value])).n_values for value in (1.0, 2.0, 1.0)] == [1, 1, 0]
    assert study.observation().values.tolist() == [1.5]


def test_a_list_that_went_through_a_spreadsheet_is_counted_once(study, tmp_path, rng):
    """Excel files keep 16 digits, of which a number may need 17."""
    pytest.importorskip("openpyxl")
    table = study.ask(100, whole=False).table().assign(value=rng.standard_normal(100))
    table.to_excel(tmp_path / "list.xlsx", index=False)
    table.to_csv(tmp_path / "list.csv", index=False)
    told = [study.tell(tmp_path / name) for name in ("list.xlsx", "list.csv", "list.xlsx")]
    assert [receipt.n_values for receipt in told] == [100, 0, 0]
    assert study.status().spent == 100
    line = study.records().loc[[0], ["list", "row", "column", "value"]]
    assert study.tell(line.assign(value=line["value"] * (1 + 1e-11))).n_values == 1


def test_an_old_file_does_not_undo_a_correction(study):
    line = study.ask(1).cells
    study.tell(line.assign(value=10.0))
    correction = line.assign(value=1.0, corrects=1)
    assert [study.tell(correction).n_values, study.tell(correction).n_values] == [1, 0]
    assert not study.tell(line.assign(value=10.0)).is_new
    assert study.observation().values.tolist() == [1.0]


def test_a_line_that_is_not_on_its_list_is_refused(study):
    line = study.ask(1).cells.assign(value=1.0)
    for wrong in ({"list": 2}, {"row": (line["row"] + 1) % 20}):
        with pytest.raises(InvalidArgumentError, match=r"1 of the lines that name list . are not on it"):
            study.tell(line.assign(**wrong))
    assert study.status().n_values == 0


def test_a_name_that_is_new_is_refused_with_the_way_to_add_it(study):
    with pytest.raises(InvalidArgumentError, match=r"no row is called 20 .* Study.add_rows and add_columns"):
        study.tell(one(1.0, row=20))


def test_an_outlier_that_was_forced_is_no_outlier_when_its_list_grows(study):
    cells = study.ask(40).cells.assign(value=1.0)
    cells.loc[3, "value"] = 1e6
    with pytest.raises(InvalidArgumentError, match="wrong unit"):
        study.tell(cells[:30])
    assert study.tell(cells[:30], force=True).n_values == 30
    assert study.tell(cells).n_values == 10


def test_a_budget_counts_what_others_asked_for_meanwhile(tmp_path, monkeypatch):
    first = Study.create(tmp_path / "b.study", rows=40, columns=30, budget=500)
    second = Study.open(tmp_path / "b.study")
    kept = second._storage.add_list

    def late(draft, asker):  # the check before the choice has passed by then
        if first.status().n_lists == 0:
            first.ask(400)
        return kept(draft, asker)

    monkeypatch.setattr(second._storage, "add_list", late)
    with pytest.raises(InvalidArgumentError, match="cost up to 400, and 100 is left of the budget of 500"):
        second.ask(400)
    assert second.status().left == 100


def test_a_clock_that_was_wrong_delays_no_list_and_keeps_the_order(study, monkeypatch):
    now = time.time_ns
    with monkeypatch.context() as patch:
        patch.setattr(time, "time_ns", lambda: now() + 10 * 365 * 86_400 * 10**9)
        ahead = study.tell(one(1.0))
    todo = study.ask(50, timeout=0.05)
    assert abs(todo.expires.timestamp() - time.time()) < 5
    time.sleep(0.1)
    assert study.status().n_pending == 0
    later = study.tell(one(2.0))
    assert ahead.moment < later.moment
    assert study.at(ahead.moment).values.tolist() == [1.0]
    assert study.at(later.moment).values.tolist() == [1.5]


# Before the study


def test_history_costs_nothing_and_is_used(tmp_path, low_rank):
    truth = low_rank((40, 30), rank=2)
    study = Study.create(tmp_path / "a.study", rows=40, columns=30, budget=300)
    known = pd.DataFrame(truth).mask(np.random.default_rng(0).random(truth.shape) < 0.5)
    receipt = study.tell(known, history=True)
    status = study.status()
    assert (status.n_values, status.spent, status.left) == (receipt.n_values, 0, 300)
    todo = study.ask(300)
    assert not todo.cells.merge(study.records(), on=["row", "column"]).size
    predicted = study.predict()["value"].to_numpy().reshape(truth.shape)
    assert np.linalg.norm(predicted - truth) < 0.01 * np.linalg.norm(truth)


def test_a_gap_in_an_old_table_is_no_failed_measurement(study):
    study.ask(200, whole=False)
    receipt = study.tell(pd.DataFrame(np.ones((20, 20))).mask(np.eye(20) > 0), history=True)
    assert (receipt.n_values, receipt.n_failed) == (380, 0)


@pytest.mark.parametrize("history", [True, False])
def test_cells_that_nobody_drew_are_evidence_only_if_that_is_promised(tmp_path, rng, history):
    table = pd.DataFrame(rng.standard_normal((40, 30))).mask(rng.random((40, 30)) < 0.6)
    designs = []
    for k, design in enumerate((None, "uniform")):
        study = Study.create(tmp_path / str(k), rows=40, columns=30)
        study.tell(table, history=history, design=design)
        designs.append(study.observation().design.entries)
    assert designs == ["given", "uniform"]
    with pytest.raises(InvalidArgumentError, match="design='random' is no promise"):
        study.tell(table, design="random")


def test_promised_history_is_not_drawn_again(tmp_path, rng):
    study = Study.create(tmp_path / "a.study", rows=40, columns=30)
    table = pd.DataFrame(rng.standard_normal((40, 30))).mask(rng.random((40, 30)) < 0.6)
    study.tell(table, history=True, design="uniform")
    cells = study.ask(200, whole=False).cells
    study.tell(cells.assign(value=rng.standard_normal(200)))
    seen = study.observation()
    assert seen.design.entries == "uniform"
    assert seen.evidence is None
    assert seen.n_entries == table.notna().to_numpy().sum() + 200
