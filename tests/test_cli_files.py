"""The verbs on files as people have them: tables with gaps, long tables, pipes; what they print and what they write."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import curplus
from tests.commands import run

pytest.importorskip("typer")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


def printed(*arguments, **options):
    """The JSON that a command prints, which must be all of its output."""
    done = run(*arguments, "--json", **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def table(tmp_path, low_rank, rng):
    """A table of 60 x 8 with gaps and names that make trouble, in a German file, and as a frame."""
    names = ["rate [/s]", "height [cm]", "=1+1", "@x", "[bold]", "größe", "a,b", "-5"]
    values = low_rank((60, 8), 2) + 0.01 * rng.standard_normal((60, 8))
    values[rng.random(values.shape) < 0.15] = np.nan
    frame = pd.DataFrame(values, index=[f"+row{k}" for k in range(60)], columns=names)
    frame.to_csv(tmp_path / "table.csv", sep=";", decimal=",", encoding="latin-1")
    return tmp_path / "table.csv", frame


@pytest.fixture
def matrix(tmp_path, low_rank, rng):
    """A matrix of rank 3 with noise in an array file."""
    M = low_rank((300, 200), 3) + 0.01 * rng.standard_normal((300, 200))
    np.save(tmp_path / "matrix.npy", M)
    return tmp_path / "matrix.npy", M


SMALL = ("--columns", 30, "--rows", 100, "--entries", 6000)


# JSON


def test_every_verb_prints_one_json_object_with_the_same_first_facts(matrix, table, tmp_path):
    path, M = matrix
    seen, answer = tmp_path / "seen.npz", tmp_path / "answer.npz"
    acquired = printed("acquire", path, *SMALL, "--rank", 3, "--out", seen)
    commands = {
        "approximate": printed("approximate", seen, "--rank", 3, "--out", answer),
        "certify": printed("certify", seen, "--approximation", answer),
        "complete": printed("complete", table[0]),
        "info": printed("info", path),
        "info of an answer": printed("info", answer),
        "datasets": printed("datasets", "info", "enron"),
        "list": printed("datasets", "list"),
    }
    for name, found in (commands | {"acquire": acquired}).items():
        assert {"shape", "rank", "error", "interval"} <= set(found), name
    for name in ("approximate", "certify"):
        found = commands[name]
        assert found["shape"] == [300, 200]
        assert found["rank"] == 3
        error = np.linalg.norm(M - curplus.load(answer).to_array())
        assert found["interval"][0] < found["error"] < found["interval"][1]
        assert found["error"] == pytest.approx(error, rel=0.1)
        assert found["read"]["entries"] == 6000
    assert acquired["out"] == str(seen)
    assert commands["info of an answer"]["rank"] == 3
    assert commands["datasets"]["shape"] == [39861, 28102]


def test_what_is_not_known_is_null(tmp_path):
    np.save(tmp_path / "m.npy", np.eye(30))
    found = printed("approximate", tmp_path / "m.npy", "--rank", 1, "--columns", 3, "--rows", 3, "--entries", 5)
    assert found["interval"] is None
    assert "NaN" not in json.dumps(found)


def test_text_and_json_have_the_same_facts(matrix):
    path, _ = matrix
    found = printed("approximate", path, *SMALL, "--rank", 3)
    shown = run("approximate", path, *SMALL, "--rank", 3).stdout
    assert f"{found['error']:.4g} in the Frobenius norm" in shown
    assert f"{found['interval'][0]:.4g} to {found['interval'][1]:.4g}" in shown
    assert "30 columns, 100 rows, 6000 entries" in shown


def test_lines_are_not_wrapped_in_a_pipe(table):
    shown = run("certify", table[0]).stdout
    assert max(map(len, shown.splitlines())) > 120
    assert all(line.strip() for line in shown.splitlines())


# Budgets


def test_a_budget_buys_what_it_says(matrix):
    path, M = matrix
    for verb in ("acquire", "approximate", "certify"):
        found = printed(verb, path, "--budget", 0.2, "--rank", 3)
        assert 0.19 * M.size < found["read"]["values"] <= 0.2 * M.size, verb
    found = printed("acquire", path, "--budget", 5000, "--columns", 4, "--rows", 0)
    assert found["read"]["columns"] == 4
    assert found["read"]["rows"] == 0
    assert 4900 < found["read"]["values"] <= 5000
    assert any("a budget of 5000" in line for line in found["history"])
    assert found["reading_ended"].startswith(f"spent {found['read']['values']}: ")


def test_prices_decide_what_a_budget_buys(matrix):
    path, _ = matrix
    alike = printed("acquire", path, "--budget", 2000)["read"]
    cheap = printed("acquire", path, "--budget", 2000, "--row-price", 20, "--column-price", 30)["read"]
    assert alike["values"] <= 2000 < cheap["values"]
    assert 20 * cheap["rows"] + 30 * cheap["columns"] <= 2000
    done = run("acquire", path, "--row-price", 10)
    assert done.returncode == 2
    assert "prices were given, and no money" in done.stderr


def test_reads_until_the_error_is_small(matrix):
    path, M = matrix
    found = printed("acquire", path, "--tol", 0.1)
    assert found["relative_error"] < 0.1
    assert found["read"]["values"] < M.size


# Reading


def test_what_was_found_out_is_said_on_standard_error(table):
    done = run("info", table[0], "--json")
    found = json.loads(done.stdout)
    assert found["shape"] == [60, 8]
    assert found["n_gaps"] == int(table[1].isna().to_numpy().sum())
    assert found["columns"] == list(table[1].columns)
    assert found["found"] == {"encoding": "latin-1", "sep": ";", "decimal": ",", "index_col": 0}
    assert done.stderr.startswith(f"note: {table[0]}: the encoding is latin-1; cells are separated by semicolon; ")
    assert "(if not so, use --encoding, --sep, --decimal, --index-col)" in done.stderr


@pytest.mark.parametrize(
    ("text", "options", "shape"),
    [
        ("1,2\n3,4\n", ("--header",), [1, 2]),
        ("0,1\n3,4\n", ("--no-header",), [2, 2]),
        ("id,a\n3,4\n5,6\n", ("--index-col", "none"), [2, 2]),
        ("x,a,b\n3,4,7\n5,6,8\n", ("--index-col", "b"), [2, 2]),
        ("x,a,b\n3,4,7\n5,6,8\n", ("--index-col", 0), [2, 2]),
        ("a;b\n1,5;2\n", ("--sep", "semicolon", "--decimal", "comma"), [1, 2]),
        ("a\tb\n1\t2\n", ("--sep", "tab"), [1, 2]),
        ("u,f,s,r\n7,1,2,5\n8,1,2,4\n", ("--long-columns", "u,f,r"), [2, 1]),
        ("u,f,r\n7,1,2\n8,1,2\n", ("--long",), [2, 1]),
        ("i,j,value\n7,1,2\n8,1,2\n", ("--wide",), [2, 3]),
    ],
)
def test_how_a_table_is_written_can_be_said(text, options, shape):
    done = run("info", "-", "--json", *options, stdin=text)
    assert json.loads(done.stdout)["shape"] == shape


def test_a_long_table_is_approximated_from_all_of_its_values(tmp_path, low_rank, rng):
    M = low_rank((40, 30), 2)
    i, j = np.divmod(rng.choice(1200, 800, replace=False), 30)
    frame = pd.DataFrame({"user": i, "film": j, "rating": M[i, j]})
    frame.to_parquet(tmp_path / "r.parquet")
    options = ("--long-columns", "user,film,rating")
    found = printed("approximate", tmp_path / "r.parquet", *options, "--rank", 2)
    assert found["shape"] == [40, 30]
    assert found["read"]["entries"] == 800
    done = run("approximate", tmp_path / "r.parquet", *options, "--columns", 5)
    assert done.returncode == 2
    assert "--columns=5 was given, but" in done.stderr
    filled = printed("complete", tmp_path / "r.parquet", *options, "--rank", 2, "--out", tmp_path / "f.csv")
    assert filled["n_filled"] == 400
    np.testing.assert_array_equal(curplus.open_source(tmp_path / "f.csv").entries(i, j), M[i, j])


def test_bytes_and_memory_of_a_chunked_file_are_told_and_limited(tmp_path, low_rank):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(tmp_path / "m.zarr", shape=(200, 100), chunks=(50, 50), dtype="f8")
    array[:] = low_rank((200, 100), 2)
    found = printed("approximate", tmp_path / "m.zarr", "--rank", 2, "--memory-limit", "1MB")
    assert found["bytes_read"] == 200 * 100 * 8
    done = run("approximate", tmp_path / "m.zarr", "--rank", 2, "--memory-limit", "20kB")
    assert done.returncode == 2
    assert "memory_limit=20,000 bytes, but the plan asks for" in done.stderr


# Writing


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".xlsx", ".npy", ".npz"])
def test_a_filled_table_has_its_names_and_measured_values(table, tmp_path, ending):
    path, frame = table
    out = tmp_path / f"filled{ending}"
    found = printed("complete", path, "--out", out)
    assert found["n_filled"] == int(frame.isna().to_numpy().sum())
    assert list(found["column_errors"]) == list(frame.columns)
    source = curplus.open_source(out)
    filled, known = source.rows(np.arange(60)), frame.notna().to_numpy()
    np.testing.assert_allclose(filled[known], frame.to_numpy()[known], rtol=1e-14 if ending == ".xlsx" else 0)
    assert np.isfinite(filled).all()
    if ending == ".parquet":
        assert source.row_names.tolist() == list(frame.index)
        assert source.column_names.tolist() == list(frame.columns)


def test_text_that_a_spreadsheet_would_compute_gets_an_apostrophe(table, tmp_path):
    run("complete", table[0], "--out", tmp_path / "filled.csv")
    first, second = (tmp_path / "filled.csv").read_text().splitlines()[:2]
    assert first == ";rate [/s];height [cm];'=1+1;'@x;[bold];größe;a,b;-5"
    assert second.startswith("'+row0;")


def test_a_column_without_any_value_stays_empty_and_is_named(tmp_path):
    text = "n,a,b,c\n" + "".join(f"r{k},{k}.5,,{2 * k}\n" for k in range(30)) + "x,1.25,,\n"
    found = printed("complete", "-", "--out", tmp_path / "o.csv", stdin=text)
    assert found["empty_columns"] == ["b"]
    assert found["n_filled"] == 1
    assert pd.read_csv(tmp_path / "o.csv")["b"].isna().all()
    assert pd.read_csv(tmp_path / "o.csv")["c"].notna().all()


def test_an_error_that_is_not_known_is_not_said_to_be_zero():
    found = printed("complete", "-", stdin="row,column,value\na,x,1\na,y,2\nb,x,3\n")
    assert found["n_filled"] == 1
    assert found["error"] is None
    assert found["rmse"] is None
    assert found["interval"] is None


def test_filled_values_keep_to_limits_and_measured_ones_stay(table, tmp_path):
    path, frame = table
    run("complete", path, "--min-value", 0, "--max-value", 0.5, "--out", tmp_path / "o.npy")
    filled, gaps = np.load(tmp_path / "o.npy"), frame.isna().to_numpy()
    assert filled[gaps].min() >= 0
    assert filled[gaps].max() <= 0.5
    np.testing.assert_array_equal(filled[~gaps], frame.to_numpy()[~gaps])


def test_a_table_without_gaps_is_written_as_it_is(tmp_path):
    found = printed("complete", "-", "--out", tmp_path / "o.csv", stdin="a,b\n1,2\n3,4.5\n")
    assert found["n_filled"] == 0
    assert (tmp_path / "o.csv").read_text() == "a,b\n1.0,2.0\n3.0,4.5\n"


def test_a_promise_that_values_were_drawn_uniformly_is_an_option(tmp_path, low_rank, rng):
    i, j = np.divmod(rng.choice(60 * 30, 900, replace=False), 30)
    values = (low_rank((60, 30), 2) + 0.1 * rng.standard_normal((60, 30)))[i, j]
    path = tmp_path / "long.csv"
    pd.DataFrame({"row": i, "column": j, "value": values}).to_csv(path, index=False)
    for verb in ("complete", "certify", "approximate"):
        done = run(verb, path)
        assert "--design uniform" in " ".join(done.stdout.split())
        assert "with_design" not in done.stdout
        low, high = printed(verb, path, "--design", "uniform")["interval"]
        assert 0 < low < high
    pd.DataFrame(np.eye(20)).to_csv(tmp_path / "wide.csv")
    for verb in ("complete", "certify"):
        refused = run(verb, tmp_path / "wide.csv", "--design", "uniform")
        assert refused.returncode == 2
        assert "it is for single values" in refused.stderr


@pytest.mark.parametrize(("low", "high"), [(0, 1), (1, 5)])
def test_limits_are_hinted_at_where_grades_are_filled_beyond_them(tmp_path, rng, low, high):
    M = low + (high - low) * np.greater.outer(np.linspace(0, 1, 40), np.linspace(0, 1, 12)).astype(float)
    M[rng.random(M.shape) < 0.2] = np.nan
    table = pd.DataFrame(M, index=[f"r{k}" for k in range(40)], columns=[f"q{k}" for k in range(12)])
    table.to_csv(tmp_path / "wide.csv")
    long = table.rename_axis("row").reset_index().melt("row", var_name="column").dropna()
    long.to_csv(tmp_path / "long.csv", index=False)
    limits = ("--min-value", low, "--max-value", high)
    for name in ("wide.csv", "long.csv"):
        assert " ".join(map(str, limits)) in printed("complete", tmp_path / name)["hint"]
        assert printed("complete", tmp_path / name, *limits)["hint"] is None
    (table + rng.standard_normal(M.shape)).to_csv(tmp_path / "wide.csv")
    assert printed("complete", tmp_path / "wide.csv")["hint"] is None


def test_an_array_without_gaps_can_be_completed(matrix, tmp_path):
    assert printed("complete", matrix[0], "--out", tmp_path / "o.npy")["n_filled"] == 0
    np.testing.assert_array_equal(np.load(tmp_path / "o.npy"), matrix[1])


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npy"])
def test_an_approximation_can_be_written_as_a_table(matrix, tmp_path, ending):
    path, M = matrix
    printed("approximate", path, *SMALL, "--rank", 3, "--out", tmp_path / f"a{ending}")
    source = curplus.open_source(tmp_path / f"a{ending}")
    assert np.linalg.norm(source.rows(np.arange(300)) - M) < 0.1 * np.linalg.norm(M)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_what_was_read_can_be_written_as_a_long_table(table, tmp_path, ending):
    path, frame = table
    out = tmp_path / f"seen{ending}"
    found = printed("acquire", path, "--columns", 3, "--rows", 10, "--entries", 50, "--out", out)
    seen = curplus.Observation.from_table(curplus.open_source(out))
    assert seen.n_values_read == found["read"]["values"]
    assert seen.n_gaps == found["read"]["gaps"]
    assert set(seen.row_names) <= {f"'{name}" if ending != ".parquet" else name for name in frame.index}


def test_what_was_read_before_a_failure_is_saved(tmp_path, low_rank):
    """A chunk of the row that is read last is damaged."""
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(tmp_path / "m.zarr", shape=(40, 30), chunks=(1, 1), dtype="f8", compressors=None)
    array[:] = low_rank((40, 30), 3)
    options = (tmp_path / "m.zarr", "--columns", 8, "--rows", 20, "--entries", 0, "--out", tmp_path / "seen.npz")
    assert run("acquire", *options).returncode == 0
    seen = curplus.load(tmp_path / "seen.npz")
    row, column = int(seen.row_index[-1]), int(np.setdiff1d(np.arange(30), seen.column_index)[0])
    (tmp_path / "m.zarr" / "c" / str(row) / str(column)).write_bytes(b"short")
    done = run("acquire", *options)
    assert done.returncode == 1
    assert f"what was read before the failure is saved to {tmp_path / 'seen.npz'}" in done.stderr
    assert f"rows {row} to {row}, columns {column} to {column} could not be read" in done.stderr.splitlines()[-1]
    assert 0 < curplus.load(tmp_path / "seen.npz").n_rows < 20


# Scripts


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("info", "-"), 0),
        (("info", "missing.csv"), 1),
        (("info",), 2),
        (("inform", "-"), 2),
        (("approximate", "-", "--rank", "-1"), 2),
        (("approximate", "-", "--seed", "-1"), 2),
        (("complete", "-", "--out", "nowhere/x.csv"), 2),
        (("complete", "-", "--out", "x.docx"), 2),
        (("certify", "-", "--approximation", "missing.npz"), 1),
    ],
)
def test_exit_codes_tell_wrong_calls_from_failed_work(tmp_path, arguments, code):
    done = run(*arguments, stdin="a,b\n1,2\n3,4.5\n5,7\n", cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert bool(done.stdout) == (code == 0)


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process that is sent SIGINT by os.kill")
def test_an_interrupted_command_ends_with_130(tmp_path):
    code = "import os, signal, curplus.cli.given as g; g.observe = lambda *a, **k: os.kill(os.getpid(), signal.SIGINT)"
    code += "; import sys; sys.argv = ['curplus', 'approximate', sys.argv[1]]; from curplus.cli import run; run()"
    np.save(tmp_path / "m.npy", np.eye(3))
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "m.npy")], capture_output=True, check=False)
    assert done.returncode == 130
    assert b"Traceback" not in done.stderr


def test_a_pipe_that_closes_early_is_no_traceback(matrix):
    command = f"{sys.executable} -m curplus info {matrix[0]} | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


def test_a_table_goes_through_a_pipe_of_processes(table, tmp_path):
    program = f"{sys.executable} -m curplus"
    out = tmp_path / "filled.csv"
    command = f"cat {table[0]} | {program} complete - --out {out} --json | {sys.executable} -m json.tool"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["shape"] == [60, 8], done.stderr
    assert done.stderr.startswith("note: -: the encoding is latin-1")
    assert out.exists()


def test_shells_can_complete_commands():
    environment = {"_CURPLUS_COMPLETE": "complete_bash", "COMP_WORDS": "curplus app", "COMP_CWORD": "1"}
    code = "from curplus.cli.main import app; app(prog_name='curplus')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ | environment
    )
    assert done.stdout.split() == ["approximate"]
    assert "--install-completion" in run("--help").stdout
