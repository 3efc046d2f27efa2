"""The paper's experiments: right numbers, and runs that survive whatever stops them."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import MinimumNorm, cur_full, cur_plus, cur_unbiased, datasets, experiments, observe
from curplus.exceptions import InvalidArgumentError
from curplus.experiments import cells, comparison, figure1, matrices, methods, recovery, spectra, table1, tables
from curplus.metrics import Target

pytest.importorskip("matplotlib")

RECOVERY = experiments.Recovery(sizes=(40, 60), ranks=(2, 3), trials=2)
SPECTRA = experiments.Spectra(("power_law",))
COMPARISON = experiments.Comparison(("power_law",), ranks=(3,), alphas=(1, 2), growths=(1, 2), repetitions=2)


# Tables


def test_a_table_survives_its_file(tmp_path):
    rows = [{"data": "dexter", "rank": 10, "error": 1.25e-7}, {"data": "farm ads", "rank": -1, "error": 3.0}]
    tables.write_csv(tmp_path / "table.csv", rows)
    assert tables.read_csv(tmp_path / "table.csv") == rows


def test_rows_are_found_by_value_or_by_any_of_several():
    rows = [{"a": 1, "b": "x"}, {"a": 2, "b": "x"}, {"a": 1, "b": "y"}]
    assert tables.where(rows, a=1, b="x") == rows[:1]
    assert tables.where(rows, a=(1, 2), b="x") == rows[:2]
    assert tables.different(rows, "a") == [1, 2]


# Experiment I


@given(least=st.integers(1, 50), more=st.integers(0, 300), threshold=st.integers(0, 400))
def test_the_search_finds_the_smallest_number_that_works(least, more, threshold):
    tried = []

    def works(number):
        tried.append(number)
        return number >= threshold

    found = recovery.smallest(works, least, least + more)
    assert found == (max(least, threshold) if threshold <= least + more else -1)
    assert all(least <= number <= least + more for number in tried)
    assert len(tried) == len(set(tried)) <= 2 * (more + 1).bit_length() + 1


def test_the_error_of_a_factored_matrix_is_that_of_the_dense_one():
    M = datasets.make_low_rank(50, 40, 4, rng=0)
    approx = cur_plus(observe(M, n_columns=6, n_rows=6, n_entries=30, rng=0), 3)
    dense = M.to_array()
    expected = np.linalg.norm(dense - approx.to_array()) / np.linalg.norm(dense)
    assert recovery.relative_error(M, approx) == pytest.approx(expected, rel=1e-12)


def test_an_exact_solver_needs_r_columns_and_r_squared_entries():
    rows = figure1.minima(cells.measure_here(RECOVERY))
    for row in tables.where(rows, solver="exact"):
        assert row["smallest"] == (row["rank"] if row["sample"] == "d" else row["rank"] ** 2)
    for row in tables.where(rows, solver="gradient", sample="entries"):
        assert row["smallest"] >= row["rank"] ** 2


def test_fewer_entries_than_unknowns_do_not_recover():
    """Why the search begins at r squared."""
    M = datasets.make_low_rank(80, 80, 4, rng=0)
    for n_entries, recovered in ((15, False), (16, True)):
        seen = observe(M, n_columns=20, n_rows=20, n_entries=n_entries, rng=1)
        error = recovery.relative_error(M, cur_plus(seen, 4, solver=MinimumNorm()))
        assert (error <= 2e-4) == recovered


def test_a_trial_that_is_never_recovered_is_not_hidden():
    rows = [
        {"solver": "exact", "sample": "d", "n": 10, "rank": 2, "trial": trial, "smallest": smallest}
        for trial, smallest in enumerate((2, -1, 3))
    ]
    assert figure1.minima(rows)[0]["smallest"] == -1


def test_the_fitted_line_is_numpys(rng):
    x = rng.random(20)
    y = 3 * x + 1 + 0.1 * rng.standard_normal(20)
    line = figure1.fit(list(x), list(y))
    assert line.slope == pytest.approx(3, rel=0.2)
    assert line.r_squared == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2)


def test_table_1_counts_what_was_measured():
    rows = table1.EXPERIMENT.table({"recovery": cells.measure_here(RECOVERY)})
    row = tables.where(rows, n=60, rank=3)[0]
    assert row["information limit"] == 3 * (120 - 3)
    assert row["information limit"] <= row["CUR+ measured"] <= row["information limit"] + 9
    assert row["CUR+"] == pytest.approx(curplus.theory.sample_complexity("CUR+", n=60, rank=3), rel=1e-3)


# Experiment II


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_singular_values_are_those_of_the_dense_matrix(coherent, kind):
    M = coherent((70, 50), density=0.2)
    expected = np.linalg.svd(M, compute_uv=False)
    assert np.allclose(spectra.singular_values(kind(M)), expected, atol=1e-7 * expected[0])


@pytest.fixture
def seen(full_rank):
    """A matrix, and a sample of it."""
    M = full_rank((60, 40), 4, noise=0.3)
    return M, methods.sample(M, observe(M, n_columns=8, n_rows=12, n_entries=300, rng=0))


FRONT_DOORS = {
    "CUR+ converged": lambda M, seen: cur_plus(seen, 4),
    "CUR+, 10 steps": lambda M, seen: cur_plus(seen, 4, solver=curplus.AcceleratedGradient(max_iter=10, tol=0)),
    "CUR-E": lambda M, seen: cur_unbiased(seen),
    "CUR-E, rank r": lambda M, seen: cur_unbiased(seen).truncate(4),
    "CUR-F": cur_full,
    "CUR-F, rank r": lambda M, seen: cur_full(M, seen).truncate(4),
    "best core": lambda M, seen: cur_full(M, seen, 4),
    "approximate": lambda M, seen: curplus.approximate(seen, 4),
}


@pytest.mark.parametrize("method", methods.METHODS, ids=lambda method: method.name)
def test_a_contestant_answers_as_the_library_does(seen, method):
    M, sample = seen
    expected = FRONT_DOORS[method.name](M, sample.observation).to_array()
    answer = method.answer(sample, 4).to_array()
    assert np.allclose(answer, expected, atol=1e-10 * np.linalg.norm(expected))


def test_errors_are_those_of_a_dense_computation():
    rows = cells.measure_here(COMPARISON)
    target = matrices.load("power_law")
    M = target.matrix
    reference = np.linalg.svd(M, compute_uv=False)
    best = tables.where(rows, method="CUR-F", alpha=2, repetition=0)[0]
    sample = COMPARISON._sample(target, 3, 2, 2, _generator("power_law", 3, 0))
    rest = M - cur_full(M, sample.observation).to_array()
    assert best["frobenius"] == pytest.approx(np.linalg.norm(rest), rel=1e-6)
    assert best["spectral"] == pytest.approx(np.linalg.norm(rest, 2), rel=1e-3)
    assert best["spectral"] > reference[6]


def _generator(name, rank, repetition):
    import zlib

    return np.random.default_rng([0, zlib.crc32(name.encode()), rank, repetition])


def test_samples_of_a_larger_alpha_contain_the_smaller():
    target = matrices.load("power_law")
    small, large = (COMPARISON._sample(target, 3, alpha, 1, _generator("power_law", 3, 0)) for alpha in (1, 2))
    assert set(small.observation.column_index) < set(large.observation.column_index)
    assert set(small.observation.row_index) < set(large.observation.row_index)
    assert (small.observation.n_rows, large.observation.n_rows) == (3, 12)


def test_cur_e_from_all_entries_is_cur_f(seen, rng):
    M, sample = seen
    known = comparison._known_nonzeros(Target(M), M.size, rng)
    assert np.allclose(methods.cur_e(sample, known, M.size).core.Z, sample.projection)


def test_entries_are_drawn_with_the_chance_that_was_asked_for(rng):
    M = scipy.sparse.random_array((300, 200), density=0.5, rng=rng, format="csr")
    hit = comparison._known_nonzeros(Target(M), 12_000, rng)
    assert np.count_nonzero(hit.data) == pytest.approx(6000, abs=5 * 70)


def test_the_warm_start_does_not_change_the_norm(seen):
    M, sample = seen
    answer = methods.METHODS[0].answer(sample, 4)
    cold = curplus.metrics.worst_direction(M, answer)
    other = np.linalg.svd(M - answer.to_array())[2][1]
    warm = curplus.metrics.worst_direction(M, answer, start=other)
    assert warm.norm == pytest.approx(cold.norm, rel=1e-10)
    assert abs(warm.vector @ cold.vector) == pytest.approx(1, abs=1e-6)


# Runs


def test_results_do_not_depend_on_the_number_of_jobs(tmp_path):
    alone = cells.measure_here(COMPARISON)
    assert cells.measure_all(COMPARISON, tmp_path / "one", jobs=1) == alone
    assert cells.measure_all(COMPARISON, tmp_path / "two", jobs=2) == alone


def test_what_is_finished_is_not_measured_again(tmp_path):
    seen = []
    first = cells.measure_all(RECOVERY, tmp_path, jobs=1, progress=lambda *where: seen.append(where))
    assert seen == [("recovery", done, 16) for done in range(17)]
    (store,) = tmp_path.iterdir()
    before = {path: path.stat().st_mtime_ns for path in store.iterdir()}
    damaged, missing = sorted(before)[:2]
    damaged.write_text(damaged.read_text()[:20])
    missing.unlink()
    assert cells.measure_all(RECOVERY, tmp_path, jobs=1) == first
    changed = {path for path in before if path.stat().st_mtime_ns != before[path]}
    assert changed == {damaged, missing}


def test_other_options_do_not_use_the_same_cells(tmp_path):
    cells.measure_all(SPECTRA, tmp_path, jobs=1)
    cells.measure_all(experiments.Spectra(("coherent",)), tmp_path, jobs=1)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_failing_cell_reaches_the_caller(tmp_path):
    with pytest.raises(InvalidArgumentError, match="no data set called 'nonsense'"):
        cells.measure_all(experiments.Spectra(("nonsense", "power_law")), tmp_path, jobs=2)


SCRIPT = """
import sys
from pathlib import Path
from curplus import experiments
from curplus.experiments import cells
if __name__ == "__main__":
    study = experiments.Comparison(("power_law",), ranks=(3,), alphas=(1, 2), growths=(1, 2), repetitions=8)
    cells.measure_all(study, Path(sys.argv[1]), jobs=2)
"""


def _start(tmp_path, folder):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    return subprocess.Popen([sys.executable, script, folder], start_new_session=True, stderr=subprocess.DEVNULL)


def _tables(folder):
    (store,) = folder.iterdir()
    return {path.name: path.read_bytes() for path in store.glob("*.json")}


def _alive(group):
    """Processes of a group that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(entry.name)
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_goes_on_to_the_same_bits_and_leaves_no_worker_behind(tmp_path, blow):
    """Killed at random moments, again and again, until it is done."""
    whole = _start(tmp_path, tmp_path / "whole")
    assert whole.wait(timeout=120) == 0
    pause = random.Random(int(blow))
    for _ in range(3):
        run = _start(tmp_path, tmp_path / "broken")
        time.sleep(pause.uniform(0.5, 4))
        os.kill(run.pid, blow)
        run.wait(timeout=30)
        until = time.monotonic() + 20
        while _alive(run.pid) and time.monotonic() < until:
            time.sleep(0.05)
        assert _alive(run.pid) == []
    last = _start(tmp_path, tmp_path / "broken")
    assert last.wait(timeout=120) == 0
    assert _tables(tmp_path / "broken") == _tables(tmp_path / "whole")


# The command


def _command(*arguments, cwd):
    pytest.importorskip("typer")
    environment = os.environ | {"COLUMNS": "200", "MPLBACKEND": "Agg"}
    environment.pop("CURPLUS_DATA", None)
    command = [sys.executable, "-m", "curplus", "reproduce", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False, env=environment)


def test_every_figure_and_table_comes_from_one_command(tmp_path, monkeypatch):
    """With studies of the smallest size, so that it takes seconds."""
    small = {study.name: study for study in (RECOVERY, SPECTRA, COMPARISON)}
    monkeypatch.setattr(experiments.reproduction, "studies", lambda scale, **options: small)
    written = []
    experiments.reproduce(["all"], tmp_path, jobs=2, written=written.append)
    for name, experiment in experiments.EXPERIMENTS.items():
        assert (tmp_path / f"{name}.csv") in written
        made_with = json.loads((tmp_path / f"{name}.json").read_text())
        assert made_with["experiment"] == name
        assert made_with["seed"] == 0
        assert made_with["versions"]["curplus"] == curplus.__version__
        assert [study["study"] for study in made_with["studies"]] == list(experiment.studies)
        assert (tmp_path / f"{name}.png").exists() == (experiment.plot is not None)
        assert str(tmp_path) not in (tmp_path / f"{name}.csv").read_text()
    figure5 = tables.read_csv(tmp_path / "figure5.csv")
    assert set(tables.different(figure5, "growth")) == {0, 1, 2}
    assert {row["alpha"] for row in figure5} == {0, 2}
    figure4 = tables.where(tables.read_csv(tmp_path / "figure4.csv"), method="CUR-E")
    assert {(row["alpha"], row["growth"]) for row in figure4} == {(1, 1), (2, 8)}
    assert {row["growth"] for row in tables.read_csv(tmp_path / "figure3.csv")} == {0, 1}


def test_the_command_says_what_it_wrote(tmp_path):
    done = _command("figure2", "--out", "here", "--jobs", 1, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "here/figure2.png" in done.stdout
    assert "2/2" in done.stdout
    assert (tmp_path / "here" / "figure2.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("figure9",), "there is no experiment called figure9. Choose from figure1"),
        (("figure1", "--scale", "huge"), "scale='huge' is unknown. Use one of quick, paper."),
        (("figure1", "--jobs", 0), "jobs=0"),
        (("figure1", "--seed", -1), "seed=-1"),
        (("figure1", "--out", "file"), "is a file, and results need a folder"),
    ],
)
def test_a_mistake_is_one_line(tmp_path, arguments, message):
    (tmp_path / "file").write_text("")
    done = _command(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_stand_ins_are_named(tmp_path):
    (tmp_path / "tdt2.npz").touch()
    (tmp_path / "gisette.npz").touch()
    sought = matrices.paper_matrices(tmp_path)
    assert sought.names[:3] == ("tdt2", "dexter", "farm_ads")
    assert any("Enron is not at hand" in remark for remark in sought.remarks)


# Real data


def test_dexter_agrees_with_what_is_known_of_it(data_dir):
    """CUR-F and the zero matrix at r = 10, alpha = 5, to the sampling error of three repetitions."""
    study = experiments.Comparison(("dexter",), ranks=(10,), alphas=(5,), growths=(1,), repetitions=3)
    home = data_dir
    reference = spectra.references(cells.measure_here(experiments.Spectra(("dexter",)), data_home=home))["dexter"]
    assert reference.zero(10) == pytest.approx((5.87, 1.129), rel=1e-3)
    rows = tables.where(cells.measure_here(study, data_home=home), method="CUR-F")
    spectral, frobenius = reference.best(10)
    assert np.mean([row["frobenius"] for row in rows]) / frobenius == pytest.approx(1.09, abs=0.01)
    assert 4.0 < np.mean([row["spectral"] for row in rows]) / spectral < 4.7
