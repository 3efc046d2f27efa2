"""How time and memory grow with the number of rows, for each stage, and what follows for a billion rows.

Run: python benchmarks/growth.py [--sizes 1000 10000 100000 1000000] [--columns 1000] [--n 30] [--out FILE.csv]

The matrix has rank 10 and 1 % noise, as a function (noise by a hash of the position) and as a mapped .npy file. Each
size runs in a process of its own. Seconds are those of the processor, the least of three; megabytes are the peak of
what a stage allocates. Exponents are the slopes of logarithms from 10,000 rows on, memory less what is read.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

from common import versions  # isort: skip

import numpy as np

import curplus
from curplus.factorization import leading_basis
from curplus.sources import MappedSource

RANK, ENTRIES = 10, 2000
STAGES = ("read", "bases", "core", "approximate")


def entries_of(n, m):
    """A function of positions: a low-rank matrix, and noise that depends on the position alone."""
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((n, RANK)), rng.standard_normal((m, RANK))

    def entries(i, j):
        noise = np.sin(12.9898 * i + 78.233 * j) * 43758.5453
        return np.vecdot(left[i], right[j]) + 0.01 * RANK**0.5 * (noise - np.floor(noise) - 0.5)

    return entries


def source_of(kind, n, m, folder):
    entries = entries_of(n, m)
    if kind == "function":
        return curplus.CallableSource(entries, (n, m))
    path = Path(folder) / "matrix.npy"
    table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(n, m))
    for start in range(0, n, 1000):
        rows = np.arange(start, min(start + 1000, n))
        table[rows] = entries(np.repeat(rows, m), np.tile(np.arange(m), len(rows))).reshape(len(rows), m)
    table.flush()
    return MappedSource(np.load(path, mmap_mode="r"))


def steps(source, d):
    """Each stage as a function without arguments, after those before it."""
    counts = {"n_columns": d, "n_rows": d, "n_entries": ENTRIES}
    seen = curplus.observe(source, **counts, rng=0)
    left, right = leading_basis(seen.columns, RANK), leading_basis(seen.rows.T, RANK)
    solver = curplus.solvers.SOLVERS.resolve("auto")
    yield "read", lambda: curplus.observe(source, **counts, rng=0)
    yield "bases", lambda: (leading_basis(seen.columns, RANK), leading_basis(seen.rows.T, RANK))
    yield "core", lambda: solver.solve(left.vectors, right.vectors, seen.entries)
    yield "approximate", lambda: curplus.approximate(seen, RANK)


def one_size(kind, n, m, d):
    with tempfile.TemporaryDirectory() as folder:
        for stage, step in steps(source_of(kind, n, m, folder), d):
            times = []
            for _ in range(3):
                start = time.process_time()
                step()
                times.append(time.process_time() - start)
            tracemalloc.start()
            step()
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            yield {"source": kind, "n": n, "m": m, "stage": stage, "seconds": min(times), "megabytes": peak / 1e6}


def exponent(rows, field):
    """Slope of the logarithm, over sizes from 10,000 on; nan where there are not two of them."""
    n, y = (np.array([row[name] for row in rows if row["n"] >= 10_000], dtype=float) for name in ("n", field))
    return float(np.polyfit(np.log(n), np.log(np.maximum(y, 1e-9)), 1)[0]) if len(n) > 1 else float("nan")


def carried(rows, shape, d, workers):
    """A larger matrix on a cluster, by the constants of the largest size."""
    n, m = shape
    largest = max(row["n"] for row in rows)
    last = {row["stage"]: row for row in rows if row["n"] == largest and row["source"] == "function"}
    scale = n / largest
    read = 8 * (n + m) * d
    print(f"\n{n:.0e} x {m:.0e}, d = {d}, {workers} workers, from the constants at n = {largest:.0e}:")
    print(f"sampled columns and rows: {read / 1e9:.3g} GB, {read / workers / 1e9:.3g} GB a worker")
    print(f"network: Gram matrices of {n // 2**16:,} blocks, {n / 2**16 * 8 * d * d / 1e9:.3g} GB in a tree")
    for stage, row in last.items():
        if stage == "core":  # found at home, from as many entries
            print(f"core: {row['seconds']:.3g} s at home")
            continue
        print(f"{stage}: {row['seconds'] * scale:.3g} s of one core, {row['seconds'] * scale / workers:.3g} s of each")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--n", type=int, default=30, help="sampled columns, and rows")
    parser.add_argument("--largest-file", type=float, default=2e9, help="bytes, above which no file is made")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(list(one_size(args.one[0], int(args.one[1]), args.columns, args.n))))
        return
    print(versions())
    rows = []
    for kind in ("function", "file"):
        for n in args.sizes:
            if kind == "file" and 8.0 * n * args.columns > args.largest_file:
                continue
            command = [sys.executable, __file__, "--one", kind, str(n)]
            command += ["--columns", str(args.columns), "--n", str(args.n)]
            rows += json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            print(kind, n, *(f"{row['stage']} {row['seconds']:.3g} s {row['megabytes']:.3g} MB" for row in rows[-4:]))
    for kind in ("function", "file"):
        for stage in STAGES:
            some = [row for row in rows if (row["source"], row["stage"]) == (kind, stage)]
            print(f"{kind}, {stage}: n^{exponent(some, 'seconds'):.2f} s, n^{exponent(some, 'megabytes'):.2f} bytes")
    carried(rows, (10**9, 10**6), args.n, 100)
    if args.out:
        with args.out.open("w", newline="") as stream:
            table = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
            table.writeheader()
            table.writerows({key: f"{x:.4g}" if isinstance(x, float) else x for key, x in row.items()} for row in rows)


if __name__ == "__main__":
    main()
