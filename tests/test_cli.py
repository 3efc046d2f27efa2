"""The command line: what it prints, what it saves, and one line of error for what cannot work."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse

import curplus

pytest.importorskip("typer")
pd = pytest.importorskip("pandas")


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    shown: str
    complaint: str


@pytest.fixture
def call(monkeypatch, capsys):
    """Run a command in this process, on a terminal that is as wide as asked for."""
    from curplus.cli import run

    def call(*arguments, width=200):
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setattr(sys, "argv", ["curplus", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            run()
        return Done(ended.value.code or 0, *capsys.readouterr())

    return call


@pytest.fixture
def fails(call):
    """Run a command that cannot work, 2 for one that was called wrongly; what it says, which must be one line."""

    def fails(*arguments, status=2):
        done = call(*arguments)
        assert done.status == status
        assert done.complaint.startswith("error: ")
        assert done.complaint.count("\n") == 1
        return done.complaint

    return fails


@pytest.fixture
def nothing_is_read(monkeypatch):
    """A source that is read is an error."""

    def read(*_, **__):
        raise AssertionError("the work has begun")

    for function in ("given.observe", "demo.datasets.load"):
        monkeypatch.setattr(f"curplus.cli.{function}", read)


@pytest.fixture
def matrix_file(tmp_path, low_rank):
    """Factory: the same low-rank matrix in a file of the given kind."""
    M = low_rank((60, 40), 3)

    def write(ending):
        path = tmp_path / f"matrix{ending}"
        if ending == ".npy":
            np.save(path, M)
        elif ending == ".npz":
            scipy.sparse.save_npz(path, scipy.sparse.csr_array(M))
        else:
            frame = pd.DataFrame(M, index=[f"row{k}" for k in range(60)], columns=[f"col{k}" for k in range(40)])
            frame.to_csv(path, sep="\t" if ending == ".tsv" else ",")
        return path, M

    return write


def in_a_new_process(*arguments, cwd):
    environment = os.environ | {"COLUMNS": "200", "MPLBACKEND": "Agg"}
    command = [sys.executable, "-m", "curplus", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False, env=environment)


# Approximating a file


@pytest.mark.parametrize("ending", [".npy", ".npz", ".csv", ".tsv"])
def test_cur_plus_of_a_file_is_saved(call, matrix_file, tmp_path, ending):
    path, M = matrix_file(ending)
    out = tmp_path / "result.npz"
    done = call("approximate", path, "--method", "cur-plus", "--rank", 3, "--out", out)
    assert done.status == 0, done.complaint
    assert "15 columns, 15 rows, 180 entries" in done.shown
    assert f"saved to {out}" in done.shown
    approx = curplus.load(out)
    assert np.allclose(approx.to_array(), M, atol=1e-10)
    if ending in (".csv", ".tsv"):
        assert str(approx.sampled_column_names[0]).startswith("col")
    info = call("info", out).shown
    assert "60 x 40" in info
    assert "3 x 3, from 15 columns and 15 rows" in info
    assert "LeastSquares" in info


@pytest.mark.parametrize("ending", [".npy", ".npz", ".csv", ".tsv"])
def test_approximates_a_file_without_any_option(call, matrix_file, tmp_path, ending):
    path, M = matrix_file(ending)
    done = call("approximate", path)
    assert done.status == 0, done.complaint
    assert "3, every value is known" in done.shown
    call("approximate", path, "--out", tmp_path / "result.npz")
    assert np.allclose(curplus.load(tmp_path / "result.npz").to_array(), M, atol=1e-10)


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        (("approximate",), "40 columns, 50 rows, 2000 entries"),
        (("approximate", "--rank", 2), "10 columns, 10 rows, 80 entries"),
        (("approximate", "--rank", 20), "40 columns, 60 rows, 2400 entries"),
        (("approximate", "--rank", 2, "--columns", 7), "7 columns, 10 rows, 80 entries"),
        (("approximate", "--method", "cur-plus", "--rank", 2), "10 columns, 10 rows, 80 entries"),
        (("approximate", "--method", "cur-plus", "--rank", 20), "40 columns, 60 rows, 2400 entries"),
        (
            ("approximate", "--method", "cur-plus", "--rank", 2, "--rows", 9, "--entries", 50),
            "10 columns, 9 rows, 50 entries",
        ),
    ],
)
def test_counts_that_are_left_out_are_the_librarys_and_never_more_than_there_is(call, matrix_file, arguments, read):
    verb, *options = arguments
    assert read in call(verb, matrix_file(".npy")[0], *options).shown


def test_a_table_smaller_than_the_counts_is_approximated(call, tmp_path, low_rank):
    pd.DataFrame(low_rank((20, 13), 3)).to_csv(tmp_path / "small.csv")
    done = call("approximate", tmp_path / "small.csv")
    assert done.status == 0, done.complaint
    assert "13 columns, 20 rows, 260 entries" in done.shown


def test_a_matrix_of_zeros_can_be_approximated(call, tmp_path):
    np.save(tmp_path / "zeros.npy", np.zeros((20, 13)))
    for arguments in (("approximate",), ("approximate", "--method", "cur-plus", "--rank", 2)):
        done = call(arguments[0], tmp_path / "zeros.npy", *arguments[1:])
        assert done.status == 0, done.complaint
        assert done.shown.count("note") == (0 if len(arguments) == 1 else 2)


def test_the_same_seed_prints_the_same(call, matrix_file):
    path, _ = matrix_file(".npy")
    first, second, other = (call("approximate", path, "--columns", 9, "--seed", seed).shown for seed in (1, 1, 2))
    assert first == second != other


def test_info_describes_an_observation(call, tmp_path, low_rank):
    seen = curplus.observe(low_rank((9, 8), 2), n_columns=2, n_rows=3, n_entries=4, rng=0)
    seen.save(tmp_path / "seen.npz")
    shown = call("info", tmp_path / "seen.npz").shown
    assert "observation" in shown
    assert "2 columns, 3 rows, 4 entries" in shown
    assert "columns uniform, rows uniform, entries uniform" in shown


def test_the_demonstration_writes_its_files_and_nothing_else(tmp_path):
    pytest.importorskip("matplotlib")
    done = in_a_new_process("demo", "--share", 0.02, "--out", "a[b].html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    assert "What if you could afford 2% of them?" in done.stdout
    assert "report in a[b].html" in done.stdout
    assert (tmp_path / "a[b].html").stat().st_size > 10_000
    assert {path.name for path in tmp_path.iterdir()} == {"a[b].html"}


def test_what_the_demonstration_says_is_true(tmp_path):
    pytest.importorskip("matplotlib")
    done = in_a_new_process("demo", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    M = curplus.datasets.load("llm_answers").matrix
    assert found["shape"] == list(M.shape)
    assert [step["spent"] for step in found["rounds"]] == sorted(step["spent"] for step in found["rounds"])
    assert found["spent"] == found["rounds"][-1]["spent"] <= 0.1 * M.size
    assert found["n_failed"] > 0
    assert found["rounds"][-1]["n_repeated"] > 0
    assert found["true_best"] == int(np.argmax(M.mean(axis=1)))
    assert all(line["truth"] == pytest.approx(M[line["model"]].mean()) for line in found["may_be_best"])
    assert found["coverage"] > 0.9
    step, scores = found["rounds"][-1], found["score_errors"]
    assert step["study"] < step["additive"] < step["mean"] < np.sqrt(np.mean((M - M.mean()) ** 2))
    assert scores["study"] < scores["additive"] < scores["mean"]


def test_says_its_version(call):
    assert call("--version").shown.strip() == f"curplus {curplus.__version__}"


# What is printed


def test_names_and_paths_are_printed_as_they_are(call, tmp_path, low_rank):
    names = ["rate [/s]", "height [cm]", ":heart:", "[bold]", "a\\[b]"]
    table, out = tmp_path / "t[" / "b].csv", tmp_path / "o[b].npz"
    table.parent.mkdir()
    pd.DataFrame(low_rank((12, 5), 2), index=[f"[/row{k}]" for k in range(12)], columns=names).to_csv(table)
    done = call(
        "approximate",
        table,
        "--method",
        "cur-plus",
        "--rank",
        1,
        "--columns",
        5,
        "--rows",
        3,
        "--out",
        out,
        width=300,
    )
    assert done.status == 0, done.complaint
    assert ", ".join(names) in done.shown
    assert "[/row" in done.shown
    assert f"saved to {out}" in done.shown
    assert out.exists()
    assert ", ".join(names) in call("info", out, width=300).shown


@pytest.mark.parametrize("name", ["m[/b].npy", "m[b].xlsx", "[red]m.npy"])
def test_an_error_names_a_path_as_it_is(fails, name, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    assert str(path) in fails("approximate", path, status=1)


def test_many_names_are_cut_short_and_counted(call, matrix_file):
    shown = call("approximate", matrix_file(".csv")[0], "--method", "cur-plus", "--rank", 3).shown
    (columns,) = (line for line in shown.splitlines() if line.startswith("columns"))
    assert columns.count("col") == 6 + 1
    assert columns.rstrip().endswith(", ... (15 in all)")


def test_the_width_of_the_terminal_is_looked_up_when_it_is_printed(call, matrix_file):
    """In one process, after the modules have been imported."""
    path, _ = matrix_file(".csv")
    lines = {
        width: call("approximate", path, "--method", "cur-plus", "--rank", 3, width=width).shown.splitlines()
        for width in (40, 60, 250)
    }
    assert len(lines[40]) > len(lines[60]) > len(lines[250])
    for width, printed in lines.items():
        assert max(map(len, printed)) <= width


@pytest.fixture
def wide_table(tmp_path, low_rank, rng):
    """A table of 400 columns with gaps."""
    table = pd.DataFrame(low_rank((40, 400), 2)).add_prefix("gene ")
    table.mask(rng.random(table.shape) < 0.1).to_csv(tmp_path / "wide.csv", index=False)
    return tmp_path / "wide.csv"


@pytest.mark.parametrize("verb", ["complete", "certify", "approximate", "acquire", "info"])
def test_nothing_is_wider_than_the_terminal(call, wide_table, verb):
    done = call(verb, wide_table, width=60)
    assert done.status == 0
    words = (line for text in (done.shown, done.complaint) for line in text.splitlines() if str(wide_table) not in line)
    assert max(map(len, words)) <= 60


# What cannot work


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.npy", None, "there is no file"),
        ("missing", None, "is not the path of a file"),
        ("matrix.docx", b"", "its ending is not one of .npy, .npz, .csv, .tsv"),
        ("broken.npy", b"nonsense", "cannot be read as a .npy file"),
        ("broken.npz", b"nonsense", "cannot be read as a .npz file"),
        ("empty.csv", b"", "cannot be read as a .csv file"),
        ("text.csv", b"a,b\n1,2\n3,x\n", "'x' in line 3, column 'b' is not a number."),
    ],
)
@pytest.mark.parametrize("verb", ["approximate", "acquire", "certify", "complete", "info"])
def test_a_bad_file_is_one_line_of_error(fails, tmp_path, verb, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert message in fails(verb, path, status=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("approximate", "--seed", -1), "--seed=-1 is too small. Give at least 0."),
        (
            ("approximate", "--method", "cur-plus", "--rank", 3, "--seed", -1),
            "--seed=-1 is too small. Give at least 0.",
        ),
        (("approximate", "--rank", 0), "--rank=0 is too small. Give at least 1."),
        (("approximate", "--method", "cur-plus", "--rank", -3), "--rank=-3 is too small. Give at least 1."),
        (("approximate", "--columns", 41), "--columns=41 but the matrix has only 40 columns"),
        (
            ("approximate", "--method", "cur-plus", "--rank", 3, "--rows", 61),
            "the matrix has only 60 rows, and each is read at most once.",
        ),
        (("approximate", "--entries", 2401), "Use --entries=2400 or less."),
        (("approximate", "--rows", -1), "--rows=-1 is too small. Give at least 0."),
        (
            ("approximate", "--method", "cur-plus", "--rank", 3, "--solver", "magic"),
            "solver='magic' is unknown. Use one of auto, least_squares",
        ),
        (("approximate", "--out", "nowhere/answer.npz"), "nowhere: No such folder; make it before saving to it."),
        (
            ("approximate", "--method", "cur-plus", "--rank", 3, "--out", "nowhere/answer.npz"),
            "nowhere: No such folder; make it before saving to it.",
        ),
        (("approximate", "--out", "."), "--out=. does not say what to write: its ending is not one of .npz, .csv,"),
        (("approximate", "--out", "answer.docx"), "--out=answer.docx does not say what to write"),
        (("approximate", "--out", "folder.csv"), "folder.csv is a folder, and a result can only be saved to a regular"),
        (("complete", "--out", "answer"), "its ending is not one of .csv, .tsv, .parquet, .xlsx, .npy, .npz."),
        (("acquire", "--out", "answer.npy"), "its ending is not one of .npz, .csv, .tsv, .parquet, .xlsx."),
        (("acquire", "--goal", "worst"), "--goal worst is none. Write matrix, means, or best:3"),
        (("acquire", "--strategy", "magic"), "strategy='magic' is unknown. Use one of auto, uniform"),
        (("acquire", "--entry-strategy", "magic"), "'magic' is unknown. Use one of uniform, product_leverage"),
        (("approximate", "--method", "cur-plus"), "--method=cur-plus needs a rank. Give --rank."),
        (("approximate", "--sep", "::"), "--sep=:: is unknown. Use comma, tab, semicolon, bar or blank."),
        (("info", "--decimal", "x"), "--decimal=x is unknown. Use point or comma."),
        (("info", "--encoding", "klingon"), "--encoding=klingon is not known."),
        (("info", "--memory-limit", "much"), "--memory-limit=much is not a size. Give bytes, or for example 500MB"),
        (("certify", "--level", 2), "--level=2.0 is not between 0 and 1."),
    ],
)
@pytest.mark.usefixtures("nothing_is_read")
def test_a_bad_option_is_one_line_of_error_before_the_work(
    fails, matrix_file, arguments, message, tmp_path, monkeypatch
):
    (tmp_path / "folder.csv").mkdir()
    monkeypatch.chdir(tmp_path)
    verb, *options = arguments
    assert message in fails(verb, matrix_file(".npy")[0], *options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--out", "report.txt"), "its ending is not one of .html."),
        (("--out", "nowhere/report.html"), "nowhere: No such folder; make it before saving to it."),
        (("--seed", -1), "--seed=-1 is too small. Give at least 0."),
        (("--share", 2), "--share=2 is not between 0.01 and 0.9."),
    ],
)
@pytest.mark.usefixtures("nothing_is_read")
def test_a_bad_option_of_the_demonstration_is_one_line_of_error_before_the_work(fails, options, message):
    pytest.importorskip("matplotlib")
    assert message in fails("demo", *options)


@pytest.mark.usefixtures("nothing_is_read")
def test_a_folder_that_must_not_be_written_to_is_found_out_before_the_work(fails, matrix_file, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    if os.name != "posix" or os.geteuid() == 0:  # who may write everywhere needs another kind of folder
        folder = Path("/proc")
        if not folder.is_dir():
            pytest.skip("there is no folder here that cannot be written to")
    out = folder / "answer.npz"
    complaint = fails("approximate", matrix_file(".npy")[0], "--out", out)
    assert str(folder) in complaint


def test_the_check_of_a_place_to_write_leaves_nothing_behind(call, fails, matrix_file, tmp_path):
    path, _ = matrix_file(".npy")
    (tmp_path / "out").mkdir()
    fails("approximate", path, "--columns", 41, "--out", tmp_path / "out" / "answer.npz")
    assert list((tmp_path / "out").iterdir()) == []
    call("approximate", path, "--out", tmp_path / "out" / "answer.npz")
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["answer.npz"]


def test_a_rank_that_cannot_work_is_one_line_of_error(fails, matrix_file):
    assert "rank=41 but only 40 columns were sampled" in fails(
        "approximate", matrix_file(".npy")[0], "--method", "cur-plus", "--rank", 41
    )


def test_a_saved_result_is_not_mistaken_for_a_matrix_nor_a_matrix_for_a_result(call, fails, matrix_file, tmp_path):
    path, _ = matrix_file(".npz")
    call("approximate", path, "--out", tmp_path / "answer.npz")
    complaint = fails("approximate", tmp_path / "answer.npz")
    assert "holds an approximation that curplus saved, not a matrix." in complaint
    assert "'curplus info'" in complaint
    assert "kind   matrix" in call("info", path).shown


def test_a_missing_result_is_one_line_of_error(fails, tmp_path):
    assert f"there is no file {tmp_path / 'answer.npz'}" in fails("info", tmp_path / "answer.npz", status=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("aproximate", "m.npy"), "No such command 'aproximate'"),
        (("m.npy", "approximate"), "No such command 'm.npy'"),
        (("approximate",), "Missing argument"),
        (("approximate", "m.npy", "x[/b]"), "unexpected extra argument"),
        (("approximate", "m.npy", "--columnz", 3), "No such option"),
        (("approximate", "m.npy", "--method", "magic"), "Invalid value for '--method'"),
        (("approximate", "--rank", "m.npy", 3), "Invalid value for '--rank'"),
        (("datasets", "enron", "info"), "No such command 'enron'"),
    ],
)
def test_arguments_that_are_swapped_or_unknown_are_named(call, arguments, message):
    done = call(*arguments)
    assert done.status == 2
    assert message in done.complaint
    assert "--help" in done.complaint
    assert "Traceback" not in done.complaint


def test_an_experiment_must_be_named(call):
    done = call("reproduce")
    assert done.status == 2
    assert "error: no figure or table was named. Choose from figure1, figure2" in done.complaint


def test_a_failure_in_a_new_process_has_no_traceback(tmp_path):
    done = in_a_new_process("approximate", "missing.npy", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: there is no file missing.npy")
    assert done.stderr.count("\n") == 1


def test_names_the_extra_it_needs():
    code = "import sys; sys.modules['typer'] = None; import curplus.__main__ as m; m.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'curplus[cli]'" in done.stderr
