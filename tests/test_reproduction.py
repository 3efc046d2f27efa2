"""The paper's experiments: right numbers, and runs that survive whatever stops them."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import cur_plus, datasets, observe, paper, read
from curplus.evaluation.metrics import ReferenceMatrix
from curplus.exceptions import InvalidArgumentError, SourceError
from curplus.methods import CURFull, method
from curplus.methods.method import sampled_bases
from curplus.observation import SamplePlan
from curplus.paper import (
    comparison,
    drawing,
    entries_needed,
    figure1,
    matrices,
    methods,
    recovery,
    run,
    spectra,
    table1,
    tables,
)
from curplus.solvers import AcceleratedGradient, MinimumNorm
from tests import commands
from tests.conftest import effort

pytest.importorskip("matplotlib")

RECOVERY = paper.Recovery(sizes=(40, 60), ranks=(2, 3), trials=2)
SPECTRA = paper.Spectra(("power_law",))
ENTRIES = paper.EntriesNeeded(sizes=(60,), columns=(20,), repetitions=1, rank=2)
COMPARISON = paper.Comparison(("power_law",), ranks=(3,), alphas=(1, 2), growths=(1, 2), repetitions=2)


# Tables


def test_a_table_survives_its_file(tmp_path):
    rows = [{"data": "dexter", "rank": 10, "error": 1.25e-7}, {"data": "farm ads", "rank": -1, "error": 3.0}]
    tables.write_csv(tmp_path / "table.csv", rows)
    assert tables.read_csv(tmp_path / "table.csv") == rows


def test_rows_are_found_by_value_or_by_any_of_several():
    rows = [{"a": 1, "b": "x"}, {"a": 2, "b": "x"}, {"a": 1, "b": "y"}]
    assert tables.where(rows, a=1, b="x") == rows[:1]
    assert tables.where(rows, a=(1, 2), b="x") == rows[:2]
    assert tables.unique(rows, "a") == [1, 2]


# Experiment I


@given(st.lists(st.sets(st.integers(1, 12)), min_size=1, max_size=4))
def test_the_search_finds_the_first_number_that_recovers_all(failures):
    """Also where a larger number fails again."""
    expected = next((number for number in range(1, 15) if all(number not in fails for fails in failures)), -1)
    found = recovery.first_that_recovers_all(failures, range(1, 15), lambda number: lambda fails: number not in fails)
    assert found == expected


def test_a_matrix_that_is_never_recovered_is_not_hidden():
    assert recovery.first_that_recovers_all([{1, 2}, set()], range(1, 3), lambda number: lambda fails: False) == -1


def test_the_error_of_a_factored_matrix_is_that_of_the_dense_one():
    M = datasets.make_low_rank((50, 40), 4, rng=0)
    approx = cur_plus(observe(M, n_columns=6, n_rows=6, n_entries=30, rng=0), 3)
    dense = M.to_array()
    expected = np.linalg.norm(dense - approx.to_array()) / np.linalg.norm(dense)
    assert recovery.relative_error(M, approx) == pytest.approx(expected, rel=1e-12)


def test_an_exact_solver_needs_r_columns_and_r_squared_entries():
    rows = run.run_in_process(RECOVERY)
    for row in tables.where(rows, solver="exact"):
        n, r = row["n"], row["rank"]
        if row["sample"] == "together":
            assert r * (2 * n - r) < row["smallest"] <= r * (2 * n - r) + r**2
        else:
            assert row["smallest"] == (r if row["sample"] == "d" else r**2)
    for row in tables.where(rows, solver="gradient", sample="entries"):
        assert row["smallest"] >= row["rank"] ** 2


def test_fewer_entries_than_unknowns_do_not_recover():
    """Why the search begins at r squared."""
    M = datasets.make_low_rank((80, 80), 4, rng=0)
    for n_entries, recovered in ((15, False), (16, True)):
        seen = observe(M, n_columns=20, n_rows=20, n_entries=n_entries, rng=1)
        error = recovery.relative_error(M, cur_plus(seen, 4, solver=MinimumNorm()))
        assert (error <= 2e-4) == recovered


@pytest.mark.parametrize("kind", entries_needed.KINDS)
def test_cur_plus_comes_close_to_the_best_core_with_the_entries_that_were_counted(kind):
    """By a dense computation of both errors; and not with half of them."""
    M = ENTRIES.matrix(kind, 60, np.random.default_rng(0))
    values = np.linalg.svd(M, compute_uv=False)
    assert values[:2] == pytest.approx([1, 1])
    assert values[1] >= np.sqrt(2) * values[2] > 0 < values[-1]
    rng = np.random.default_rng(1)
    plan = SamplePlan(M.shape, *(np.sort(rng.permutation(60)[:20]) for _ in range(2)), *np.zeros((2, 0), dtype=int))
    trial = entries_needed.FullRank.of(M, plan, 2)
    flat = rng.permutation(3600)[:900]
    entries = SamplePlan(M.shape, *np.zeros((2, 0), dtype=int), flat // 60, flat % 60)
    size = ENTRIES._smallest(trial, entries)
    U, V = (basis.vectors for basis in trial.bases)
    best = np.linalg.norm(M - U @ U.T @ M @ V @ V.T)
    assert trial.floor == pytest.approx(best)

    def error(size):
        i, j = flat[:size] // 60, flat[:size] % 60
        return np.linalg.norm(M - cur_plus(trial.observation.extend(read(M, plan._replace(i=i, j=j))), 2).to_array())

    assert error(size) <= 1.1 * best < error(size // 2)
    assert ENTRIES._smallest(trial, entries._replace(i=entries.i[: size // 2], j=entries.j[: size // 2])) == -1


def test_the_fitted_line_is_numpys(rng):
    x = rng.random(20)
    y = 3 * x + 1 + 0.1 * rng.standard_normal(20)
    line = figure1.fit(list(x), list(y))
    assert line.slope == pytest.approx(3, rel=0.2)
    assert line.r_squared == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2)


def test_table_1_counts_what_was_measured():
    rows = table1.EXPERIMENT.table({"recovery": run.run_in_process(RECOVERY)})
    row = tables.where(rows, n=60, rank=3)[0]
    assert row["information limit"] == 3 * (120 - 3)
    assert row["information limit"] <= row["CUR+ measured"] <= row["information limit"] + 9
    assert (row["measured d"], row["measured entries"]) == (3, 9)
    assert row["CUR+"] == pytest.approx(curplus.theory.sample_complexity("CUR+", n=60, rank=3), rel=1e-3)


# Experiment II


@pytest.fixture
def sampled(full_rank):
    """A matrix, and a sample of it."""
    M = full_rank((60, 40), 4, noise=0.3)
    return M, sample_of(M, observe(M, n_columns=8, n_rows=12, n_entries=300, rng=0))


def sample_of(M, seen):
    return methods.PaperSample(M, seen, sampled_bases(seen, None))


def dense_answers(M, sample, estimate, rank):
    """What each method should answer, from dense matrices and the formulas of the paper.

    ``estimate`` is the matrix with all unknown entries set to zero, times nm / (number of entries).
    """
    C, R = sample.columns, sample.rows
    U, V = (np.linalg.svd(x, full_matrices=False)[0] for x in (C, R.T))
    U, V = U[:, :rank], V[:, :rank]
    design = np.einsum("tp,tq->tpq", U[sample.i], V[sample.j]).reshape(sample.n_entries, -1)
    converged = np.linalg.lstsq(design, sample.values)[0].reshape(rank, rank)
    stopped = AcceleratedGradient(max_iter=10, tol=0).solve(U, V, sample.entries).Z
    unbiased = C @ np.linalg.pinv(C) @ estimate @ np.linalg.pinv(R) @ R
    projected = C @ np.linalg.pinv(C) @ M @ np.linalg.pinv(R) @ R
    return {
        "CUR+ converged": U @ converged @ V.T,
        "CUR+, 10 steps": U @ stopped @ V.T,
        "CUR-E": unbiased,
        "CUR-E, rank r": best_of_rank(unbiased, rank),
        "CUR-F": projected,
        "CUR-F, rank r": best_of_rank(projected, rank),
        "best core": U @ (U.T @ M @ V) @ V.T,
        "approximate": curplus.approximate(sample, rank).to_array(),
    }


def best_of_rank(M, rank):
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    return (U[:, :rank] * s[:rank]) @ Vt[:rank]


def unbiased_estimate(sample):
    n, m = sample.shape
    estimate = np.zeros((n, m))
    np.add.at(estimate, (sample.i, sample.j), sample.values * (n * m / sample.n_entries))
    return estimate


@pytest.mark.parametrize("method", methods.COMPARED_METHODS, ids=lambda method: method.name)
def test_a_method_answers_as_the_dense_computation_does(sampled, method):
    M, sample = sampled
    expected = dense_answers(M, sample.observation, unbiased_estimate(sample.observation), 4)[method.name]
    answer = method.fit(sample, 4).to_array()
    assert np.allclose(answer, expected, atol=1e-10 * np.linalg.norm(expected))


def test_bases_and_projections_are_found_once_for_a_sample(monkeypatch):
    """However many methods use them, and however many numbers of entries are tried."""
    calls = []

    def counted(owner, name):
        original = getattr(owner, name)

        def call(*arguments, **options):
            calls.append(name)
            return original(*arguments, **options)

        monkeypatch.setattr(owner, name, call)

    counted(method, "leading_basis")
    counted(CURFull, "fit")
    rows = COMPARISON.measure(("power_law", 3, 2, 0), None)
    assert len(rows) == 5 * 2 + 3 + 2
    assert calls.count("leading_basis") == 2
    assert calls.count("fit") == 2  # CUR-F and its cut to rank r share one, the other is the best core


def test_every_method_has_a_style():
    assert list(drawing.STYLES) == [method.name for method in methods.COMPARED_METHODS]


@pytest.fixture
def sparse_results(monkeypatch):
    """A small sparse matrix, and the tables of both sweeps of Experiment II on it."""
    M = scipy.sparse.random_array((90, 60), density=0.3, rng=np.random.default_rng(5), format="csr")
    monkeypatch.setattr(matrices, "load", lambda name, data_home=None: ReferenceMatrix(M))
    grid = paper.Comparison(("sparse",), ranks=(3,), alphas=(1, 2), growths=(1, 2), repetitions=1)
    results = {sweep.name: run.run_in_process(sweep) for sweep in (grid, paper.Spectra(("sparse",)))}
    return M, grid, results


@pytest.mark.parametrize(
    ("figure", "growth"),
    [("figure3", 1), ("figure4", 8), ("figure5", 1), ("figure5", 2), ("figure6", 1), ("figure7", 2)],
)
def test_the_errors_of_a_figure_are_those_of_a_dense_computation(sparse_results, figure, growth):
    """Each method again from the same sample, by dense matrices and their norms."""
    M, grid, results = sparse_results
    dense, rank = M.toarray(), 3
    norm = {"figure3": 2, "figure4": 2, "figure5": 2, "figure6": "fro", "figure7": "fro"}[figure]
    s = np.linalg.svd(dense, compute_uv=False)
    best = s[rank] if norm == 2 else np.linalg.norm(s[rank:])
    table = tables.where(paper.EXPERIMENTS[figure].table(results), alpha=(0, 2))
    zero = tables.where(table, method="zero matrix")[0]["error"]
    assert zero == pytest.approx(np.linalg.norm(dense, norm) / best)
    rng = _generator("sparse", rank, 0)
    sample = grid._sample(ReferenceMatrix(M), rank, 2, 2, rng).observation
    assert (sample.n_columns, sample.n_rows) == (6, 12)
    size = round(growth * 90 * 60 * rank**2 / M.nnz)
    first = replace(sample, i=sample.i[:size], j=sample.j[:size], values=sample.values[:size])
    estimate = unbiased_estimate(first)
    if growth == 8:  # the zeros among these entries are not drawn: each nonzero one is, with the chance of all
        estimate = np.zeros(M.shape)
        drawn = rng.random(M.nnz) < size / (90 * 60)
        estimate[M.nonzero()] = np.where(drawn, M.data, 0) * (90 * 60 / size)
    answers = dense_answers(dense, first, estimate, rank)
    checked = 0
    for row in table:
        if row["method"] == "zero matrix" or row["growth"] not in (0, growth):
            continue
        expected = np.linalg.norm(dense - answers[row["method"]], norm) / best
        assert row["error"] == pytest.approx(expected, rel=2e-3 if norm == 2 else 1e-6), row
        assert row["entries"] == (size if row["growth"] else 0)
        checked += 1
    assert checked == (4 if figure == "figure4" else len(methods.COMPARED_METHODS))


def _generator(name, rank, repetition):
    import zlib

    return np.random.default_rng([0, zlib.crc32(name.encode()), rank, repetition])


def test_samples_of_a_larger_alpha_contain_the_smaller():
    target = matrices.load("power_law")
    small, large = (COMPARISON._sample(target, 3, alpha, 1, _generator("power_law", 3, 0)) for alpha in (1, 2))
    assert set(small.observation.column_index) < set(large.observation.column_index)
    assert set(small.observation.row_index) < set(large.observation.row_index)
    assert (small.observation.n_rows, large.observation.n_rows) == (3, 12)


def test_cur_e_from_all_entries_is_cur_f(sampled, rng):
    M, sample = sampled
    all_of_it = comparison._nonzeros_of_a_draw(ReferenceMatrix(M), sample.observation, M.size, rng)
    assert np.allclose(replace(sample, observation=all_of_it).cur_unbiased.core.Z, sample.cur_full.core.Z)


def test_entries_are_drawn_with_the_chance_that_was_asked_for(rng):
    M = scipy.sparse.random_array((300, 200), density=0.5, rng=rng, format="csr")
    sample = observe(M, n_columns=2, n_rows=2, n_entries=1, rng=0)
    drawn = comparison._nonzeros_of_a_draw(ReferenceMatrix(M), sample, 12_000, rng)
    assert drawn.n_entries == pytest.approx(6000, abs=5 * 70)
    assert np.allclose(drawn.entries.importance_weights, drawn.n_entries / 12_000)


def test_a_draw_without_any_nonzero_entry_is_given_one():
    """CUR-E needs an entry; with the numbers of entries of the paper it happens for rank 1 only, and there rarely."""
    M = scipy.sparse.csr_array(np.eye(50))
    sample = sample_of(M, observe(M, n_columns=3, n_rows=3, n_entries=1, rng=0))
    drawn = comparison._nonzeros_of_a_draw(ReferenceMatrix(M), sample.observation, 1, np.random.default_rng(0))
    assert drawn.n_entries == 1
    assert np.isfinite(replace(sample, observation=drawn).cur_unbiased.core.Z).all()


def test_the_warm_start_does_not_change_the_norm(sampled):
    M, sample = sampled
    approx = methods.COMPARED_METHODS[0].fit(sample, 4)
    _, s, Vt = np.linalg.svd(M - approx.to_array())
    for start in (None, Vt[0], Vt[1]):
        warm = curplus.metrics.leading_error(M, approx, start=start, tol=1e-4)
        assert warm.norm == pytest.approx(s[0], rel=1e-4)
        assert abs(warm.vector @ Vt[0]) == pytest.approx(1, abs=1e-3)


# Runs


def test_results_do_not_depend_on_the_number_of_jobs(tmp_path):
    assert run.run_in_workers(COMPARISON, tmp_path, jobs=2) == run.run_in_process(COMPARISON)


def test_what_is_finished_is_not_measured_again(tmp_path):
    seen = []
    first = run.run_in_workers(RECOVERY, tmp_path, jobs=1, progress=lambda *where: seen.append(where))
    assert seen == [("recovery", done, 8) for done in range(9)]
    (store,) = tmp_path.iterdir()
    before = {path: path.stat().st_mtime_ns for path in store.iterdir()}
    damaged, missing = sorted(before)[:2]
    damaged.write_text(damaged.read_text()[:20])
    missing.unlink()
    assert run.run_in_workers(RECOVERY, tmp_path, jobs=1) == first
    changed = {path for path in before if path.stat().st_mtime_ns != before[path]}
    assert changed == {damaged, missing}


def test_other_options_do_not_use_the_same_cells(tmp_path):
    run.run_in_workers(SPECTRA, tmp_path, jobs=1)
    run.run_in_workers(paper.Spectra(("coherent",)), tmp_path, jobs=1)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_failing_cell_reaches_the_caller(tmp_path):
    with pytest.raises(InvalidArgumentError, match="no data set called 'nonsense'"):
        run.run_in_workers(paper.Spectra(("nonsense", "power_law")), tmp_path, jobs=2)


def test_a_cell_that_vanishes_is_not_left_out_in_silence(tmp_path):
    def vandal(name, done, total):
        if done == total:
            next(tmp_path.glob("*/*.json")).unlink()

    with pytest.raises(curplus.exceptions.CURPlusError, match="was there and is gone"):
        run.run_in_workers(RECOVERY, tmp_path, jobs=1, progress=vandal)


SCRIPT = """
import sys
from pathlib import Path
from curplus import paper
from curplus.paper import run, tables
if __name__ == "__main__":
    sweep = paper.Recovery(sizes=(40, 45, 50, 55, 60), ranks=(1, 2, 3, 4), trials=2)
    out = Path(sys.argv[1])
    tables.write_csv(out / "table.csv", run.run_in_workers(sweep, out / "cells", jobs=2))
"""
ALL_CELLS = 40


def _start(tmp_path, folder):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    folder.mkdir(exist_ok=True)
    return subprocess.Popen([sys.executable, script, folder], start_new_session=True, stderr=subprocess.DEVNULL)


def _saved(folder):
    return len(list(folder.glob("cells/*/*.json")))


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


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The table of a run that nothing interrupts."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert _start(folder, folder / "whole").wait(timeout=120) == 0
    return (folder / "whole" / "table.csv").read_bytes()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("name", effort(["SIGKILL", "SIGTERM"], ["SIGKILL", "SIGINT", "SIGTERM"]))
def test_an_interrupted_run_goes_on_to_the_same_bits_and_leaves_no_worker_behind(tmp_path, undisturbed, name):
    """Struck twice on the way, at random moments, then left to finish."""
    broken = tmp_path / "broken"
    blow = getattr(signal, name)  # Windows, where the test is skipped, has no SIGKILL
    number = random.Random(int(blow))
    for least in (number.randrange(1, 12), number.randrange(12, 25)):
        run = _start(tmp_path, broken)
        while _saved(broken) < least:
            assert run.poll() is None
            time.sleep(0.002)
        os.kill(run.pid, blow)
        run.wait(timeout=30)
        until = time.monotonic() + 20
        while _alive(run.pid) and time.monotonic() < until:
            time.sleep(0.05)
        assert _alive(run.pid) == []
        assert least <= _saved(broken) < ALL_CELLS
        assert not (broken / "table.csv").exists()
    assert _start(tmp_path, broken).wait(timeout=120) == 0
    assert (broken / "table.csv").read_bytes() == undisturbed
    assert _saved(broken) == ALL_CELLS


# The command


def test_every_figure_and_table_comes_from_one_command(tmp_path, monkeypatch):
    """With sweeps of the smallest size, so that it takes seconds."""
    small = {sweep.name: sweep for sweep in (RECOVERY, SPECTRA, COMPARISON, ENTRIES)}
    monkeypatch.setattr(paper.reproduction, "sweeps", lambda scale, **options: small)
    written = []
    paper.reproduce(["all"], tmp_path, jobs=2, written=written.append)
    for name, experiment in paper.EXPERIMENTS.items():
        assert (tmp_path / f"{name}.csv") in written
        made_with = json.loads((tmp_path / f"{name}.json").read_text())
        assert made_with["experiment"] == name
        assert made_with["seed"] == 0
        assert made_with["versions"]["curplus"] == curplus.__version__
        assert [sweep["sweep"] for sweep in made_with["sweeps"]] == list(experiment.sweeps)
        assert (tmp_path / f"{name}.png").exists() == (experiment.plot is not None)
        assert str(tmp_path) not in (tmp_path / f"{name}.csv").read_text()
    figure5 = tables.read_csv(tmp_path / "figure5.csv")
    assert set(tables.unique(figure5, "growth")) == {0, 1, 2}
    assert {row["alpha"] for row in figure5} == {0, 2}
    figure4 = tables.read_csv(tmp_path / "figure4.csv")
    assert {row["method"] for row in figure4} == {"CUR-E", "CUR-E, rank r", "CUR-F", "CUR-F, rank r", "zero matrix"}
    assert {(row["alpha"], row["growth"]) for row in tables.where(figure4, method="CUR-E")} == {(1, 1), (2, 8)}
    assert {row["growth"] for row in tables.read_csv(tmp_path / "figure3.csv")} == {0, 1}


def test_the_command_says_what_it_wrote(tmp_path):
    pytest.importorskip("typer")
    done = commands.run("reproduce", "figure2", "--out", "here", "--jobs", 1, cwd=tmp_path, width=200)
    assert done.returncode == 0, done.stderr
    assert "here/figure2.png" in done.stdout
    assert done.stderr == ""
    assert (tmp_path / "here" / "figure2.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no figure or table was named. Choose from figure1, figure2"),
        (("figure9",), "there is no experiment called figure9. Choose from figure1"),
        (("figure1", "--scale", "huge"), "scale='huge' is unknown. Use one of quick, paper."),
        (("figure1", "--jobs", 0), "jobs=0"),
        (("figure1", "--seed", -1), "seed=-1"),
        (("figure1", "--out", "file"), "is a file, and results need a folder"),
        (("figure1", "--data", "nowhere"), "nowhere is not a folder"),
    ],
)
def test_a_mistake_is_one_line(tmp_path, arguments, message):
    pytest.importorskip("typer")
    (tmp_path / "file").write_text("")
    done = commands.run("reproduce", *arguments, cwd=tmp_path, width=200)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "no figure or table was named. Choose from figure1, figure2"),
        (["figure1", "figure9", "table2"], "there is no experiment called figure9, table2. Choose from"),
        ("figure9", "there is no experiment called figure9. Choose from"),
    ],
    ids=["none", "unknown", "one, without a list"],
)
def test_what_can_be_made_is_listed(tmp_path, names, message):
    with pytest.raises(InvalidArgumentError, match=re.escape(message)):
        paper.reproduce(names, tmp_path)


def test_stand_ins_are_named(tmp_path):
    (tmp_path / "tdt2.npz").touch()
    (tmp_path / "gisette.npz").touch()
    names = matrices.paper_matrices(tmp_path)
    assert names == ("tdt2", "dexter", "farm_ads", "gisette")
    assert matrices.remarks(names) == ["Enron is not at hand. Its place is taken by TDT2."]


@pytest.fixture
def paper_files(tmp_path, monkeypatch):
    """A folder with a file for every data set, all but Enron, and a record of what is loaded from it."""
    for name in ("tdt2", "dexter", "farm_ads", "gisette"):
        (tmp_path / datasets.CARDS[name].compact).touch()
    loaded = []
    monkeypatch.setattr(matrices, "load", lambda name, data_home=None: loaded.append(name))
    monkeypatch.setattr(paper.reproduction, "run_in_workers", lambda sweep, *_, **__: pytest.fail("work has begun"))
    return tmp_path, loaded


def test_files_at_hand_are_not_loaded_before_the_work(paper_files, tmp_path):
    folder, loaded = paper_files
    remarks = []
    with pytest.raises(pytest.fail.Exception, match="work has begun"):
        paper.reproduce(["figure3"], tmp_path / "out", scale="paper", data_home=folder, remark=remarks.append)
    assert loaded == []
    assert remarks == ["Enron is not at hand. Its place is taken by TDT2."]


def test_a_matrix_that_is_not_needed_is_not_spoken_of(paper_files, tmp_path):
    folder, loaded = paper_files
    (folder / datasets.CARDS["dexter"].compact).unlink()
    remarks = []
    with pytest.raises(pytest.fail.Exception, match="work has begun"):
        paper.reproduce(["figure1"], tmp_path / "out", scale="paper", data_home=folder, remark=remarks.append)
    assert loaded == remarks == []


def test_data_that_cannot_be_had_are_found_out_before_the_work(paper_files, tmp_path, monkeypatch):
    folder, _ = paper_files
    (folder / datasets.CARDS["dexter"].compact).unlink()

    def load(name, data_home=None):
        raise SourceError(f"{name} could not be downloaded")

    monkeypatch.setattr(matrices, "load", load)
    with pytest.raises(SourceError, match="dexter could not be downloaded"):
        paper.reproduce(["all"], tmp_path / "out", scale="paper", data_home=folder)
    assert not (tmp_path / "out").exists()


def test_every_sweep_names_the_matrices_it_needs():
    needed = {name: sweep.matrices for name, sweep in paper.sweeps("quick").items()}
    assert needed == {
        "recovery": (),
        "entries_needed": (),
        **dict.fromkeys(("spectra", "comparison"), ("power_law", "coherent")),
    }


# Real data


def test_dexter_agrees_with_what_is_known_of_it(data_dir):
    """CUR-F and the zero matrix at r = 10, alpha = 5, to the sampling error of three repetitions."""
    sweep = paper.Comparison(("dexter",), ranks=(10,), alphas=(5,), growths=(1,), repetitions=3)
    spectrum = spectra.spectrum_of_each(run.run_in_process(paper.Spectra(("dexter",)), data_home=data_dir))["dexter"]
    assert spectra.resolved_rank(spectrum) == 2600
    spectral, frobenius = spectrum.best_spectral_error(10), spectrum.best_frobenius_error(10)
    assert spectrum.best_spectral_error(0) / spectral == pytest.approx(5.87, rel=1e-3)
    assert spectrum.best_frobenius_error(0) / frobenius == pytest.approx(1.129, rel=1e-3)
    rows = tables.where(run.run_in_process(sweep, data_home=data_dir), method="CUR-F")
    assert np.mean([row["frobenius"] for row in rows]) / frobenius == pytest.approx(1.09, abs=0.01)
    assert 4.0 < np.mean([row["spectral"] for row in rows]) / spectral < 4.7


@pytest.mark.skipif(os.name != "posix", reason="sends signals to a group of processes")
@pytest.mark.parametrize("when", [*effort([], ["workers are starting"]), "cells are being measured"])
def test_ctrl_c_is_answered_with_a_word_and_nothing_else(tmp_path, when):
    """As a terminal does it: the signal goes to the command and to all its workers."""
    pytest.importorskip("typer")
    command = [sys.executable, "-m", "curplus", "reproduce", "figure3", "--out", tmp_path / "out", "--jobs", "2"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    run = subprocess.Popen([*map(str, command)], **pipes, text=True, start_new_session=True)
    awaited = "out/cells/spectra-*" if when == "workers are starting" else "out/cells/comparison-*/*.json"
    while not list(tmp_path.glob(awaited)):
        assert run.poll() is None
        time.sleep(0.01)
    time.sleep(0.2)
    os.killpg(run.pid, signal.SIGINT)
    shown, complaints = run.communicate(timeout=30)
    assert run.returncode == 130
    said = " ".join(complaints.split())
    assert said == "note: interrupted. What was finished is kept: the same command goes on from there."
    assert shown == ""
