"""Studies on the command line: whole stories, command by command, and one line of error for what cannot work."""

import json
import re
import sys

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pandas")

import pandas as pd

import curplus
from curplus.cli.study_run import command_as_function
from curplus.exceptions import InvalidArgumentError
from tests.commands import run

N_ROWS, N_COLUMNS = 60, 40
ROWS = [f"[red]model {k}" for k in range(N_ROWS - 2)] + ["=1+1", "model, with a comma"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the names of rows, and a module that measures."""
    monkeypatch.delitem(sys.modules, "lab", raising=False)  # that of another folder
    (tmp_path / "rows.txt").write_text("\n".join(ROWS) + "\n", encoding="utf-8")
    (tmp_path / "lab.py").write_text(
        "import math\n"
        "def measure(row, column):\n"
        "    return math.sin(len(row)) * column + column % 7\n"
        "def broken(row, column):\n"
        "    raise OSError('no such device')\n"
        "constant = 3\n"
    )
    return tmp_path


def study(folder, *arguments, code=0):
    """What ``curplus study`` prints, started in the folder."""
    done = run("study", *arguments, cwd=folder, width=200)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def printed(folder, *arguments, shape=(N_ROWS, N_COLUMNS)):
    """What it prints as JSON."""
    found = json.loads(study(folder, *arguments, "--json").stdout)
    assert {"shape", "rank", "error", "interval"} <= set(found)
    assert found["shape"] == list(shape)
    return found


@pytest.fixture
def truth(rng):
    M = rng.standard_normal((N_ROWS, 2)) @ rng.standard_normal((2, N_COLUMNS))
    return pd.DataFrame(M + 0.05 * rng.standard_normal(M.shape), index=ROWS)


def fill(path, truth):
    """Measure what a list asks for, as a person would: the values into its empty column, one failure."""
    table = pd.read_csv(path)
    names = table["row"].str.removeprefix("'")
    table["value"] = [truth.loc[row, column] for row, column in zip(names, table["column"], strict=True)]
    table.loc[0, "value"] = None
    table.to_csv(path, index=False)
    return len(table)


def test_a_whole_story_from_the_first_list_to_the_export(folder, truth):
    created = printed(folder, "create", "a.study", "--rows", "rows.txt", "--columns", N_COLUMNS, "--budget", 0.9)
    assert created["budget"] == pytest.approx(0.9 * N_ROWS * N_COLUMNS)
    told = 0
    for k, budget in enumerate((0.4, 0.3), start=1):
        asked = printed(folder, "ask", "a.study", "--budget", budget, "--out", f"list {k}.csv")
        assert asked["list"] == k
        assert asked["out"] == f"list {k}.csv"
        told += fill(folder / f"list {k}.csv", truth)
        assert asked["n_cells"] <= budget * N_ROWS * N_COLUMNS
        (receipt,) = printed(folder, "tell", "a.study", f"list {k}.csv", "--who", "Ada")["tables"]
        assert receipt["n_values"] + receipt["n_failed"] == asked["n_cells"]
        fitted = printed(folder, "fit", "a.study", "--out", "answer.npz")
        assert fitted["error"] > 0
        assert fitted["read"]["gaps"] == k
    status = printed(folder, "status", "a.study", "--next", 50)
    assert status["n_values"] + status["n_failed"] == told
    assert len(status["rounds"]) == 2
    assert status["error"] == pytest.approx(fitted["error"])
    assert curplus.load(folder / "answer.npz").shape == (N_ROWS, N_COLUMNS)

    study(folder, "predict", "a.study", "--out", "all.csv")
    predicted = pd.read_csv(folder / "all.csv")
    assert len(predicted) == N_ROWS * N_COLUMNS
    assert np.sqrt(np.mean((predicted["value"] - truth.to_numpy().ravel()) ** 2)) < 0.2
    assert "'=1+1" in set(predicted["row"])
    (cell,) = printed(folder, "predict", "a.study", "--row", "=1+1", "--column", 3)["cells"]
    assert cell["row"] == "=1+1"
    assert cell["low"] is None or cell["low"] <= cell["value"] <= cell["high"]

    means = printed(folder, "means", "a.study", "--best", 3, "--out", "means.csv")["means"]
    assert len(means) == N_ROWS
    estimates = pd.Series({line["row"]: line["mean"] for line in means})
    assert np.corrcoef(estimates[truth.index], truth.mean(axis=1))[0, 1] > 0.95
    assert means[0]["mean"] == max(estimates)

    study(folder, "export", "a.study", "exported")
    exported = pd.read_csv(folder / "exported" / "records.csv")
    with curplus.Study.open(folder / "a.study") as a:
        assert len(exported) == len(a.records())
        assert set(a.records()["who"]) == {"Ada"}


def test_a_study_goes_on_while_the_lab_changes(folder, truth):
    """History, plates, a renamed row, more columns and a row that is given up: all without editing a file by hand."""
    old = truth.mask(np.random.default_rng(0).random(truth.shape) < 0.6)
    old.index = [f"'{name}" if name.startswith("=") else name for name in old.index]
    old.to_csv(folder / "old.csv")
    printed(folder, "create", "a.study", "--rows", "rows.txt", "--columns", N_COLUMNS, "--budget", 300)
    (receipt,) = printed(folder, "tell", "a.study", "old.csv", "--history", "--design", "uniform")["tables"]
    assert receipt["n_values"] == old.notna().to_numpy().sum()
    asked = printed(folder, "ask", "a.study", "--budget", 200, "--batch", 48, "--batch-price", 50, "--out", "list.csv")
    assert (asked["n_cells"], asked["price"]) == (4 * 48, 200)
    n_lines = fill(folder / "list.csv", truth)
    printed(folder, "rename", "a.study", "new name", "--row", "=1+1")
    more = {"shape": (N_ROWS + 1, N_COLUMNS + 2)}
    printed(folder, "add", "a.study", "--columns", 2, "--row", "one more", **more)
    for told in (n_lines, 0):
        (receipt,) = printed(folder, "tell", "a.study", "list.csv", **more)["tables"]
        assert (receipt["n_values"] + receipt["n_failed"], receipt["n_again"]) == (told, n_lines - told)
    status = printed(folder, "status", "a.study", **more)
    assert (status["spent"], status["left"], status["n_pending"]) == (200, 100, 0)
    retired = printed(folder, "retire", "a.study", "--row", "new name", "--column", 3, **more)
    assert (retired["n_rows"], retired["n_columns"]) == (1, 1)
    rows = ("--budget", 100, "--batch", 2, "--unit", "row", "--batch-price", 50)
    printed(folder, "ask", "a.study", *rows, "--out", "b.csv", **more)
    rest = pd.read_csv(folder / "b.csv")
    assert len(set(rest["row"])) == 4
    assert "new name" not in set(rest["row"])
    assert 3 not in set(rest["column"])


def test_what_is_shown_has_names_as_they_are(folder, truth):
    study(folder, "create", "a.study", "--rows", "rows.txt", "--columns", N_COLUMNS)
    assert "cells to measure" in study(folder, "ask", "a.study", "--budget", 0.6, "--out", "list.csv").stdout
    fill(folder / "list.csv", truth)
    assert "and 1 failed measurements of list.csv" in study(folder, "tell", "a.study", "list.csv").stdout
    assert "all of list.csv was told before" in study(folder, "tell", "a.study", "list.csv").stdout
    assert "[red]model 3" in study(folder, "predict", "a.study", "--row", "[red]model 3").stdout
    assert "[red]model" in study(folder, "means", "a.study").stdout
    study(folder, "fit", "a.study")
    shown = study(folder, "status", "a.study").stdout
    with curplus.Study.open(folder / "a.study") as known:
        sentence = known.status().sentence
    assert sentence.startswith("error ")
    assert sentence in " ".join(shown.split())
    assert "error by round" in shown


def test_a_list_can_be_written_again_taken_back_and_made_of_scattered_cells(folder):
    study(folder, "create", "a.study", "--rows", "rows.txt", "--columns", N_COLUMNS)
    first = printed(folder, "ask", "a.study", "--budget", 600, "--scattered", "--out", "a.csv")
    assert first["rows"] is None
    assert first["columns"] is None
    assert first["n_cells"] == 600
    again = printed(folder, "ask", "a.study", "--list", 1, "--out", "b.csv")
    assert again["n_cells"] == 600
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    assert printed(folder, "cancel", "a.study", 1)["n_cells"] == 600
    assert printed(folder, "status", "a.study")["n_pending"] == 0
    wanted = printed(folder, "ask", "a.study", "--budget", 100, "--require-row", "=1+1", "--out", "c.xlsx")
    assert "=1+1" in wanted["rows"]
    assert (folder / "c.xlsx").is_file()


def test_the_best_are_looked_for_in_lists_of_the_rows_that_are_left(folder):
    study(folder, "create", "a.study", "--rows", 5, "--columns", 40)
    first = printed(folder, "ask", "a.study", "--budget", 100, "--goal", "best:1", "--out", "a.csv", shape=(5, 40))
    assert first["n_cells"] == 100
    assert len(first["left"]) == 5
    table = pd.read_csv(folder / "a.csv")
    table.assign(value=(table["row"] == 3) + 0.01 * (table["column"] % 3)).to_csv(folder / "a.csv", index=False)
    study(folder, "tell", "a.study", "a.csv")
    done = study(folder, "ask", "a.study", "--budget", 100, "--goal", "best:1", "--out", "b.csv", code=2)
    assert "decided: the best of the rows" in done.stderr


def test_a_function_or_a_program_measures(folder):
    study(folder, "create", "a.study", "--rows", "rows.txt", "--columns", N_COLUMNS)
    done = study(folder, "run", "a.study", "lab:measure", "--budget", 0.4, "--rounds", 2, "--json")
    found = json.loads(done.stdout)
    assert found["n_values"] == 0.4 * N_ROWS * N_COLUMNS
    assert "values: error about" in done.stderr  # exact, so that there is no interval
    program = f"{sys.executable} -S -c 'import sys; print(len(sys.argv[1]) + int(sys.argv[2]))' {{row}} {{column}}"
    study(folder, "create", "b.study", "--rows", 3, "--columns", 4)
    study(folder, "run", "b.study", "--command", program, "--budget", 12, "--workers", 2)
    with curplus.Study.open(folder / "b.study") as known:
        assert known.predict()["value"].tolist() == [1 + j for _ in range(3) for j in range(4)]


HOSTILE = ["; touch broken", "$(touch broken)", "`touch broken`", "a b", "{column}", "'", '"', "*", "| cat"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_one_argument_whatever_is_in_it(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "import sys; print(sys.argv[1:], file=open('seen', 'w')); print(7)"
    measure = command_as_function(f'{sys.executable} -S -c "{code}" {{row}} in={{column}}')
    assert measure(name, "x") == 7.0
    assert (tmp_path / "seen").read_text().strip() == str([name, "in=x"])
    assert not (tmp_path / "broken").exists()


def test_a_name_cannot_become_an_option(folder, tmp_path, monkeypatch):
    target = tmp_path / "owned"
    with pytest.raises(InvalidArgumentError, match=r"a row is called '--output=.* Write -- before the names"):
        command_as_function("sort {row} {column}")(f"--output={target}", "/etc/hostname")
    assert not target.exists()
    with pytest.raises(InvalidArgumentError, match="a column is called '-x'"):
        command_as_function("measure --row={row} {column}")("a", "-x")
    count = f"{sys.executable} -c 'import sys; print(len(sys.argv))'"
    assert command_as_function(f"{count} -- {{row}} {{column}}")("-x", "-y") == 4.0
    assert command_as_function(f"{count} r={{row}} --column={{column}}")("-x", "-y") == 3.0
    curplus.Study.create(folder / "a.study", rows=["--help", "b"], columns=2).close()
    done = study(folder, "run", "a.study", "--command", "measure {row} {column}", "--budget", 2, code=2)
    assert "a row is called '--help'" in " ".join(done.stderr.split())
    with curplus.Study.open(folder / "a.study") as known:
        assert known.status().n_lists == 0


def test_a_program_that_prints_nothing_has_failed_to_measure_and_one_that_fails_is_an_error():
    assert command_as_function("true {row} {column}")("a", "b") is None
    with pytest.raises(RuntimeError, match="false ended with 1"):
        command_as_function("false {row} {column}")("a", "b")
    for template in ("", "measure {row}", "measure '{row} {column}"):
        with pytest.raises(InvalidArgumentError, match="--command="):
            command_as_function(template)


WRONG = [
    (["create", "b.study", "--rows", 3], 2, "--rows and --columns are needed"),
    (["create", "b.study", "--rows", "none.txt", "--columns", 3], 2, "neither a number nor a file"),
    (["create", "a.study", "--rows", 3, "--columns", 3], 2, "exists already"),
    (["create", "b.study", "--rows", 3, "--columns", 3, "--row-price", -1], 2, "a price of -1 is not above 0"),
    (["ask", "a.study", "--out", "x.csv"], 2, "--budget for a new list, or --list"),
    (["ask", "a.study", "--budget", 5, "--out", "x.docx"], 2, "its ending is not one of .csv, .parquet, .xlsx"),
    (["ask", "a.study", "--budget", 5, "--out", "none/x.csv"], 2, "none"),
    (["tell", "a.study", "none.csv"], 2, "there is no file none.csv"),
    (["cancel", "a.study", 7], 2, "7"),
    (["fit", "a.study"], 2, "nothing was measured yet"),
    (["predict", "a.study", "--row", "modle 3"], 2, "no row is called 'modle 3'; the nearest is"),
    (["run", "a.study"], 2, "MODULE:FUNCTION or --command"),
    (["run", "a.study", "lab"], 2, "does not name a function"),
    (["run", "a.study", "nolab:measure"], 2, "nolab cannot be imported"),
    (["run", "a.study", "lab:none"], 2, "the module lab has no function none"),
    (["run", "a.study", "lab:constant"], 2, "lab:constant is not a function"),
    (["run", "a.study", "lab:broken", "--budget", 100, "--retries", 0], 1, "no such device"),
    (["status", "none.study"], 2, "none.study"),
    (["add", "a.study"], 2, "nothing is named. Give --rows"),
    (["add", "a.study", "--rows", 3, "--row", "x"], 2, "give --rows or --row, and not both"),
    (["rename", "a.study", "x"], 2, "give --row or --column"),
    (["retire", "a.study"], 2, "nothing is named. Give --row or --column"),
    (["ask", "a.study", "--budget", 5, "--out", "x.csv", "--goal", "best"], 2, "--goal best is none"),
    (["ask", "a.study", "--budget", 5, "--out", "x.csv", "--goal", "matrix", "--smallest"], 2, "--smallest is for"),
    (["ask", "a.study", "--budget", 5, "--out", "x.csv", "--batch", 6], 2, "a batch costs 6, and the budget is 5"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG, ids=[" ".join(map(str, x[0])) for x in WRONG])
def test_what_cannot_work_is_one_line_of_error(folder, arguments, code, message):
    curplus.Study.create(folder / "a.study", rows=ROWS, columns=N_COLUMNS).close()
    (complaint,) = study(folder, *arguments, code=code).stderr.splitlines()
    assert complaint.startswith("error: ")
    assert message in complaint
    assert not (folder / "x.csv").exists()


@pytest.mark.parametrize(
    ("options", "keywords"),
    [((), {}), (("--axis", "columns", "--best", 3, "--smallest"), {"axis": 0, "n_best": 3, "largest": False})],
)
def test_a_report_is_the_same_as_in_python(folder, options, keywords):
    pytest.importorskip("jinja2")
    curplus.Study.create(folder / "a.study", rows=ROWS, columns=N_COLUMNS).close()
    study(folder, "run", "a.study", "lab:measure", "--budget", 0.5)
    study(folder, "report", "a.study", "--out", "page.html", *options)
    with curplus.Study.open(folder / "a.study") as known:
        known.report(folder / "other.html", **keywords)
    pages = [(folder / name).read_text(encoding="utf-8") for name in ("page.html", "other.html")]
    here, there = (re.sub(r"made [-0-9]+ [:0-9]+ UTC", "", page) for page in pages)
    assert here == there
    assert len(here) > 10_000


def test_a_promise_makes_evidence_of_a_part_of_a_list(folder, truth):
    study(folder, "create", "a.study", "--rows", "rows.txt", "--columns", N_COLUMNS)
    study(folder, "ask", "a.study", "--budget", 600, "--scattered", "--out", "list.csv")
    fill(folder / "list.csv", truth)
    pd.read_csv(folder / "list.csv").iloc[::2].to_csv(folder / "part.csv", index=False)
    study(folder, "tell", "a.study", "part.csv")
    with curplus.Study.open(folder / "a.study") as known:
        assert known.observation().design.entries == "given"
        study(folder, "tell", "a.study", "part.csv", "--design", "uniform")
        assert known.observation().design.entries == "uniform"
    assert "is no promise" in study(folder, "tell", "a.study", "part.csv", "--design", "sorted", code=2).stderr
