import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

import curplus

pytest.importorskip("typer")


def run(*arguments, cwd=None):
    command = [sys.executable, "-m", "curplus", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False, env=_environment())


def _environment():
    import os

    return os.environ | {"COLUMNS": "200", "MPLBACKEND": "Agg"}


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
            pd = pytest.importorskip("pandas")
            frame = pd.DataFrame(M, index=[f"row{k}" for k in range(60)], columns=[f"col{k}" for k in range(40)])
            frame.to_csv(path, sep="\t" if ending == ".tsv" else ",")
        return path, M

    return write


@pytest.mark.parametrize("ending", [".npy", ".npz", ".csv", ".tsv"])
def test_decomposes_a_file_and_saves_the_result(matrix_file, tmp_path, ending):
    path, M = matrix_file(ending)
    out = tmp_path / "result.npz"
    done = run("decompose", path, "--rank", 3, "--out", out, "--check")
    assert done.returncode == 0, done.stderr
    assert "15 columns, 15 rows, 180 entries" in done.stdout
    assert "CUR-F" in done.stdout
    approx = curplus.load(out)
    assert np.allclose(approx.to_array(), M, atol=1e-10)
    if ending in (".csv", ".tsv"):
        assert str(approx.sampled_column_names[0]).startswith("col")
    shown = run("info", out)
    assert "60 x 40" in shown.stdout
    assert "3 x 3, by LeastSquares" in shown.stdout


def test_the_demonstration_draws_a_picture(tmp_path):
    done = run("demo", "--rank", 3, "--columns", 6, "--rows", 6, "--entries", 100, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "curplus-demo.png").stat().st_size > 10_000


def test_says_its_version():
    assert run("--version").stdout.strip() == f"curplus {curplus.__version__}"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.npy", None, "No such file"),
        ("matrix.xlsx", b"", "its ending is not one of .npy, .npz, .csv, .tsv"),
        ("broken.npy", b"nonsense", "cannot be read as a .npy matrix"),
        ("broken.npz", b"nonsense", "cannot be read as a .npz matrix"),
    ],
)
def test_a_bad_file_is_one_line_of_error(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    done = run("decompose", path, "--rank", 2)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_rank_that_cannot_work_is_one_line_of_error(matrix_file):
    done = run("decompose", matrix_file(".npy")[0], "--rank", 41)
    assert done.returncode == 2
    assert "rank=41 but only 40 columns were sampled" in done.stderr


def test_names_the_extra_it_needs(tmp_path):
    code = "import sys; sys.modules['typer'] = None; import curplus.__main__ as m; m.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'curplus[cli]'" in done.stderr
