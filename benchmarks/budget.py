"""`acquire(budget=)` beside the best fixed split, found by trial of many with the whole matrix in sight.

Run: python benchmarks/budget.py [--seeds 10] [--data DIR] [--sets oboe ...] [--budgets 0.02 0.05 0.1 0.2]
     python benchmarks/budget.py --seeds 3 --sets dexter mnist_test --budgets 0.02 0.05

Relative Frobenius errors of the matrix with measured values kept and the others predicted, mean over the seeds: of the
budget, of the best of 13 fixed splits of the same number of values (with "auto"), of uniform samples of the same
budget, and of the additive model on as many random entries.
"""

import argparse
import os
from pathlib import Path

from common import versions  # isort: skip

import numpy as np

import curplus
from curplus.methods.approximate.offsets import additive_model
from curplus.observation import Entries

SETS = {
    "oboe": ("oboe.npz", "error"),
    "genetic_interactions": ("norman_gi.npz", "replicate1"),
    "planetlab": ("planetlab_rtt.npz", "median"),
    "ifeval": ("llm_items.npz", "ifeval"),
    "prostate": ("gene_prostate.npz", "X"),
    "dexter": None,
    "mnist_test": None,
}


def matrix(name, folder):
    """A data set, dense: of a file, or one that the package knows."""
    if SETS[name] is None:
        return curplus.datasets.load(name, data_home=folder).matrix.toarray().astype(float)
    file, key = SETS[name]
    return np.load(Path(folder) / file)[key].astype(float)


def splits(shape, total):
    """Counts of columns, rows and entries that read about ``total`` values."""
    n, m = shape
    yield 0, 0, total
    for share in (0.3, 0.6, 0.9):
        cells = share * total
        for columns, rows in (
            (0, cells // m),
            (cells // n, 0),
            (cells // (n + m),) * 2,
            (cells / 2 // n, cells / 2 // m),
        ):
            if columns + rows:
                d1, d2 = int(columns), int(rows)
                yield d1, d2, total - d1 * n - d2 * m + d1 * d2


def relative(M, seen, predicted):
    """Measured values are kept."""
    errors = M - predicted
    errors[seen.row_index] = errors[:, seen.column_index] = errors[seen.i, seen.j] = 0
    return np.linalg.norm(errors) / np.linalg.norm(M)


def error(M, seen):
    return relative(M, seen, curplus.approximate(seen).to_array())


def additive(M, total, seed):
    seen = curplus.observe(M, n_columns=0, n_rows=0, n_entries=total, rng=seed)
    model = additive_model(Entries(M.shape, seen.i, seen.j, seen.values, weights=np.ones(total)))
    return relative(M, seen, model.constant + model.rows[:, None] + model.columns)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--data", type=Path, default=os.environ.get("CURPLUS_DATA"))
    parser.add_argument("--sets", nargs="+", default=[x for x in SETS if SETS[x]], choices=list(SETS))
    parser.add_argument("--budgets", nargs="+", type=float, default=[0.02, 0.05, 0.1, 0.2])
    options = parser.parse_args()
    print("#", versions(), f"{options.seeds} seeds")
    print("data,budget,ours,best split,uniform,additive,ours / best,best split (columns + rows + entries)")
    for name in options.sets:
        M = matrix(name, options.data)
        for budget in options.budgets:
            total, seeds = int(budget * M.size), range(options.seeds)
            ours = np.mean([error(M, curplus.acquire(M, budget=budget, rng=s)) for s in seeds])
            tried = {}
            for counts in splits(M.shape, total):
                words = dict(zip(("n_columns", "n_rows", "n_entries"), counts, strict=True))
                tried[counts] = np.mean([error(M, curplus.acquire(M, **words, rng=s)) for s in seeds])
            best = min(tried, key=tried.get)
            uniform = np.mean([error(M, curplus.acquire(M, budget=budget, strategy="uniform", rng=s)) for s in seeds])
            means = np.mean([additive(M, total, s) for s in seeds])
            print(
                f"{name.replace('_', ' ')},{budget},{ours:.4f},{tried[best]:.4f},{uniform:.4f},{means:.4f},"
                f"{ours / tried[best]:.3f},{' + '.join(map(str, best))}",
                flush=True,
            )
