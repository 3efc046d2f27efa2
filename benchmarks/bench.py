"""Ours beside the neighbours, in one run, on the same data and the same observed values: make bench

Run: python benchmarks/bench.py --data DIR [--cmfrec PYTHON] [--limit 300] [--only NAME ...] [--out docs]

Each way runs in a process of its own with a time limit, one BLAS thread, and cmfrec with a Python of its own. A
neighbour is shown at the best of its settings, picked in hindsight by the values that it is judged by; the time of all
its settings is the time of its search. Writes _static/bench.csv, a row per run, _static/bench.png and
guide/results.rst.
"""

import argparse
import csv
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from common import versions  # isort: skip

import numpy as np
import scipy.sparse
from bench_ways import WAYS

import curplus

HERE = Path(__file__).resolve().parent
WAIT = 10  # times the limit, on the wall: others may share the machine
LIMIT = 300.0  # seconds
FIELDS = (
    "case",
    "kind",
    "way",
    "setting",
    "seconds",
    "error",
    "read",
    "share",
    "megabytes",
    "note",
    "limit",
    "versions",
)


def noise_matrix(n=3000, m=2000, rank=10, seed=0):
    """Rank 10 with 5 % noise."""
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m))
    return M + 0.05 * np.sqrt(rank) * rng.standard_normal((n, m))


def scattered(shape, i, j, values, share, seed=0):
    order = np.random.default_rng(seed).permutation(len(values))
    fit, test = np.split(order, [int(share * len(order))])
    given = {"kind": "values", "shape": shape, "i": i[fit], "j": j[fit], "values": values[fit]}
    return given | {"test_i": i[test], "test_j": j[test], "test": values[test]}


def whole(M, rank, kind="matrix"):
    if scipy.sparse.issparse(M):
        M = scipy.sparse.csr_array(M).astype(float)
        parts = {"matrix_data": M.data, "matrix_indices": M.indices, "matrix_indptr": M.indptr}
        return {"kind": kind, "rank": rank, "shape": M.shape} | parts
    return {"kind": kind, "rank": rank, "shape": M.shape, "matrix": M}


def lines(M, rank, **counts):
    """What ``acquire`` reads of a matrix; all ways get the same values."""
    M = scipy.sparse.csr_array(M).astype(float)
    seen = curplus.acquire(M, **counts, rng=0)
    rows = np.concatenate(
        [np.repeat(seen.row_index, M.shape[1]), np.tile(np.arange(M.shape[0]), seen.n_columns), seen.i]
    )
    columns = [np.tile(np.arange(M.shape[1]), seen.n_rows), np.repeat(seen.column_index, M.shape[0]), seen.j]
    i, j = np.divmod(np.unique(rows * M.shape[1] + np.concatenate(columns)), M.shape[1])
    read = {"columns": seen.column_index, "rows": seen.row_index, "entries_i": seen.i, "entries_j": seen.j}
    return whole(M, rank, "lines") | read | {"i": i, "j": j, "values": M[i, j]}


def problems(folder):
    """Name, and how to make the problem."""

    def some_of_noise():
        M = noise_matrix()
        i, j = np.divmod(np.random.default_rng(1).choice(M.size, 600_000, replace=False), M.shape[1])
        return scattered(M.shape, i, j, M[i, j], 0.5)

    def movielens():
        ratings = curplus.datasets.load("movielens_100k", data_home=folder)
        return scattered(ratings.shape, ratings.i, ratings.j, ratings.values.astype(float), 0.9)

    def gdsc():
        X = np.load(Path(folder) / "gdsc_log2ic50.npz", allow_pickle=False)["X"].astype(float)
        i, j = np.nonzero(np.isfinite(X))
        return scattered(X.shape, i, j, X[i, j], 0.5)

    def dexter():
        return whole(curplus.datasets.load("dexter", data_home=folder).matrix, 10)

    def some_of_dexter():
        M = curplus.datasets.load("dexter", data_home=folder).matrix
        return lines(M, 10, n_columns=40, n_rows=200, n_entries=1000)

    def digits():
        from kernels import digits as points
        from sklearn.metrics.pairwise import rbf_kernel

        X, width = points()
        return whole(rbf_kernel(X, gamma=1 / (2 * width**2)), 40, "kernel")

    yield "noise, 5 % of the entries", some_of_noise
    if folder:
        yield "MovieLens, 90 % of the ratings", movielens
        yield "GDSC, half of the values", gdsc
        yield "Dexter, the same rows and columns for all", some_of_dexter
    yield "noise, rows and columns", lambda: whole(noise_matrix(), 10)
    if folder:
        yield "Dexter, rows and columns", dexter
    yield "kernel of digits", digits
    for n in (1000, 4000, 16000):
        yield f"growth, {n} x 2000", lambda n=n: whole(noise_matrix(n), 10)


def run(way, path, out, python, limit):
    """The runs of one way, and a note where it was stopped or failed."""
    paths = [str(HERE), str(HERE.parent / "src"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    command = [python, str(HERE / "bench_ways.py"), way, str(path), str(out), f"{limit:g}"]
    note = ""
    try:
        done = subprocess.run(
            command, env=environment, timeout=WAIT * limit, capture_output=True, text=True, check=False
        )
        if done.returncode == -signal.SIGXCPU:
            note = f"stopped after {limit:g} s"
        elif done.returncode:
            note = (done.stderr.strip().splitlines() or ["failed"])[-1][:100]
    except subprocess.TimeoutExpired:
        note = f"stopped after {WAIT * limit:g} s on the wall"
    return (json.loads(out.read_text()) if out.exists() else []), note


def measure(options):
    """The rows of one case after the other."""
    for name, make in problems(options.data):
        if name.startswith(tuple(options.only)):
            yield list(measured(name, make, options))


def measured(name, make, options):
    """One row for each setting of each way."""
    with tempfile.TemporaryDirectory() as folder:
        problem = make()
        np.savez(Path(folder) / "problem.npz", **problem)
        for way in WAYS[problem["kind"]]:
            if name.startswith("growth") and way not in GROWN:
                continue
            python = options.cmfrec if way == "cmfrec" else sys.executable
            out = Path(folder) / "result.json"
            out.unlink(missing_ok=True)
            runs, note = run(way, Path(folder) / "problem.npz", out, python, options.limit)
            print(f"{name}: {way}, {len(runs)} settings {note}", flush=True)
            size = np.prod([float(side) for side in problem["shape"]])
            for one in runs or [{"setting": "", "seconds": "", "error": "", "read": "", "megabytes": ""}]:
                share = one["read"] / size if runs else ""
                case = {"case": name, "kind": problem["kind"], "way": way, "note": note, "share": share}
                yield case | {"limit": f"{options.limit:g}", "versions": versions()} | one


GROWN = ("curplus, uniform", "CUR+", "randomized_svd", "TruncatedSVD")


def best_runs(rows):
    """For each case and way: its best run, and the time of all its runs."""
    found = {}
    for row in rows:
        found.setdefault((row["case"], row["way"]), []).append(row)
    for (case, way), runs in found.items():
        done = [row for row in runs if row["error"] != ""]
        if not done:
            yield case, way, None, "", runs[0]["note"]
            continue
        best = min(done, key=lambda row: float(row["error"]))
        yield case, way, best, sum(float(row["seconds"]) for row in done), runs[0]["note"]


def page(rows):
    """The results page, made from the table."""
    lines = [
        "Results beside neighbours",
        "=========================",
        "",
        "*What would other programs have made of the same values?* ``make bench`` runs them beside",
        "``curplus.approximate``.",
        "",
        "This page is written by ``make bench``. All ways were run one after the other on the same data and the same",
        f"observed values, each in a process of its own, with one BLAS thread, on an {platform.machine()} machine.",
        "``--only`` runs some cases and keeps the others; the limit of time and the versions stand under the name of",
        "a case, where its run kept them. Seconds are those of the processor.",
        "A neighbour stands at the best of its settings, picked in hindsight by",
        "the values that it is judged by; *search* is the time of all of them. Errors are relative, Frobenius norms",
        "over all values that are judged. *Read* is the share of the matrix that was given or read, *MB* what the",
        "process took beyond the data. All runs are in :download:`bench.csv <../_static/bench.csv>`.",
        "",
        ".. image:: ../_static/bench.png",
        "   :alt: error against time, error against values read, time and memory against the number of rows",
        "",
    ]
    table = list(best_runs(rows))
    for case in dict.fromkeys(case for case, *_ in table):
        how = next(row for row in rows if row["case"] == case)
        lines += [case, "-" * len(case), ""]
        if how["limit"]:
            lines += [
                f"At most {how['limit']} s of the processor for all settings of a way.",
                f"{how['versions']}.",
                "",
            ]
        lines += [".. list-table::", "   :header-rows: 1", ""]
        lines += _cells("way", "error", "seconds", "search", "read", "MB", "setting")
        for other, way, best, search, note in table:
            if other != case:
                continue
            if best is None:
                lines += _cells(way, "", "", "", "", "", note or "no result")
                continue
            numbers = (f"{float(best['error']):.4g}", f"{float(best['seconds']):.2f}", f"{search:.2f}")
            memory = "" if best["megabytes"] == "" else f"{float(best['megabytes']):.0f}"
            more = (f"{float(best['share']):.2%}", memory)
            lines += _cells(way, *numbers, *more, best["setting"] + (f" ({note})" if note else ""))
        lines.append("")
    return "\n".join(lines)


def _with_others(rows, options):
    """The new rows, and those of cases that were not run from the table that is there, in the order of cases."""
    path, cases = options.out / "_static/bench.csv", {row["case"] for row in rows}
    others = []
    if path.exists():
        with path.open(newline="") as stream:
            others = [row for row in csv.DictReader(stream) if row["case"] not in cases]
    order = [name for name, _ in problems(options.data)]
    return sorted(rows + others, key=lambda row: order.index(row["case"]) if row["case"] in order else len(order))


def _cells(first, *others):
    return [f"   * - {first}", *(f"     - {cell}" for cell in others)]


def draw(rows, path):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    done = [row for row in rows if row["error"] != ""]
    cases = [case for case in dict.fromkeys(row["case"] for row in done) if not case.startswith("growth")]
    same = {row["case"] for row in done if row["kind"] in ("values", "lines")}  # the same values for all ways
    others = [case for case in cases if case not in same]
    panels = [(case, "seconds") for case in cases] + [(case, "share") for case in others]
    grown = [row for row in done if row["case"].startswith("growth")]
    width = 3
    height = -(-(len(panels) + 2) // width)
    figure, axes = plt.subplots(height, width, figsize=(4.6 * width, 3.4 * height), layout="constrained")
    axes = list(np.ravel(axes))
    ways = list(dict.fromkeys(row["way"] for row in done))
    look = {way: {"color": f"C{k % 10}", "marker": "os^vD*P"[k % 7], "ms": 5} for k, way in enumerate(ways)}
    for axis, (case, across) in zip(axes, panels, strict=False):
        for way in ways:
            runs = [row for row in done if row["case"] == case and row["way"] == way]
            x = np.array([float(row[across]) for row in runs])
            y = np.array([float(row["error"]) for row in runs])
            if across == "seconds" and len(x):
                x, y = np.cumsum(x), np.minimum.accumulate(y)  # the search takes one setting after the other
            if len(x):
                axis.plot(x, y, label=way, zorder=3 if way.startswith("curplus") else 2, **look[way])
        axis.set(xscale="log", yscale="log", title=case)
        axis.set(xlabel="seconds, search included" if across == "seconds" else "share read", ylabel="relative error")
        axis.legend(fontsize=6)
    for axis, field in zip(axes[len(panels) :], ("seconds", "megabytes"), strict=False):
        for way in ways:
            runs = {}
            for row in grown:
                if row["way"] == way and row["setting"] in ("d=40", "n_iter=2", "arpack n_iter=5"):
                    runs[int(row["case"].split(",")[1].split("x")[0])] = float(row[field] or 0) or np.nan
            if np.any(np.isfinite(list(runs.values()))):  # memory within what loading the data had taken is not seen
                axis.plot(sorted(runs), [runs[n] for n in sorted(runs)], label=way, **look[way])
        axis.set(xscale="log", yscale="log", xlabel="rows n, of n x 2000", ylabel=field, title=f"{field} against n")
        axis.legend(fontsize=6)
    for axis in axes[len(panels) + 2 :]:
        axis.remove()
    figure.savefig(path, dpi=110)


def write(rows, options):
    """The table, the pictures and the page."""
    with (options.out / "_static/bench.csv").open("w", newline="") as stream:
        table = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        table.writeheader()
        table.writerows({key: f"{x:.5g}" if isinstance(x, float) else x for key, x in row.items()} for row in rows)
    draw(rows, options.out / "_static/bench.png")
    (options.out / "guide/results.rst").write_text(page(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("CURPLUS_DATA"), help="folder of the real data sets")
    parser.add_argument("--cmfrec", default=sys.executable, help="a Python that has cmfrec")
    parser.add_argument("--limit", type=float, default=LIMIT, help="processor seconds for all settings of a way")
    parser.add_argument("--only", nargs="+", default=[""], help="names of problems, or the beginnings of them")
    parser.add_argument("--out", type=Path, default=HERE.parent / "docs")
    options = parser.parse_args()
    (options.out / "_static").mkdir(parents=True, exist_ok=True)
    (options.out / "guide").mkdir(parents=True, exist_ok=True)
    for rows in measure(options):  # what is done is kept if a later case fails
        write(_with_others(rows, options), options)


if __name__ == "__main__":
    main()
