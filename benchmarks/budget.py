"""`acquire(budget=)` beside the best fixed split, found by trial of many with the whole matrix in sight.

Run: python benchmarks/budget.py [--seeds 10] [--data DIR] [--sets oboe ...] [--budgets 0.02 0.05 0.1 0.2]
     python benchmarks/budget.py --seeds 3 --sets dexter mnist_test --budgets 0.02 0.05
     python benchmarks/budget.py --sets noisy_rows unequal_rows basehock pcmac --budgets 0.05 0.15

Relative Frobenius errors of the matrix with measured values kept and the others predicted, mean over the seeds: of the
budget, of the split that it begins with if nothing that was read could change it, of the best of 13 fixed splits of the
same number of values (with "auto"), of uniform samples of the same budget, and of the additive model on as many random
entries. Two matrices are made up: of one, a tenth of the rows is large and like no other, of the other the sizes of
rows are lognormal.
"""

import argparse
import os
import sys
from pathlib import Path

from common import versions  # isort: skip

import numpy as np

import curplus
from curplus._support.budget import counts_for_budget
from curplus.evaluation.additive import additive_model
from curplus.observation import Entries

SETS = {
    "oboe": ("oboe.npz", "error"),
    "genetic_interactions": ("norman_gi.npz", "replicate1"),
    "planetlab": ("planetlab_rtt.npz", "median"),
    "ifeval": ("llm_items.npz", "ifeval"),
    "prostate": ("gene_prostate.npz", "X"),
    "dexter": None,
    "mnist_test": None,
    "basehock": None,
    "pcmac": None,
}


def noisy_rows():
    rng = np.random.default_rng(0)
    M = rng.standard_normal((600, 5)) @ rng.standard_normal((5, 400)) + 0.1 * rng.standard_normal((600, 400))
    M[::10] = 20 * rng.standard_normal((60, 400))
    return M


def unequal_rows():
    rng = np.random.default_rng(0)
    M = rng.standard_normal((600, 5)) @ rng.standard_normal((5, 400)) + rng.standard_normal((600, 400))
    return np.exp(2 * rng.standard_normal((600, 1))) * M


MADE_UP = {"noisy_rows": noisy_rows, "unequal_rows": unequal_rows}


def matrix(name, folder):
    """A matrix, dense: made up, of a file, or one that the package knows."""
    if name in MADE_UP:
        return MADE_UP[name]()
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
    parser.add_argument("--sets", nargs="+", default=[x for x in SETS if SETS[x]], choices=[*SETS, *MADE_UP])
    parser.add_argument("--budgets", nargs="+", type=float, default=[0.02, 0.05, 0.1, 0.2])
    options = parser.parse_args()
    print("#", versions(), f"{options.seeds} seeds")
    print("data,budget,ours,begins,best,uniform,additive,ours / best,split of the best")
    for name in options.sets:
        M = matrix(name, options.data)
        for budget in options.budgets:
            total = int(budget * M.size)

            def mean_error(M=M, **words):
                return np.mean([error(M, curplus.acquire(M, **words, rng=s)) for s in range(options.seeds)])

            ours, uniform = mean_error(budget=budget), mean_error(budget=budget, strategy="uniform")
            begins = mean_error(**counts_for_budget(M.shape, total))
            names = ("n_columns", "n_rows", "n_entries")
            tried = {}
            for split in splits(M.shape, total):
                tried[split] = mean_error(**dict(zip(names, split, strict=True)))
                print(name, budget, "split", split, f"{tried[split]:.4f}", file=sys.stderr, flush=True)
            best = min(tried, key=tried.get)
            means = np.mean([additive(M, total, s) for s in range(options.seeds)])
            errors = ",".join(f"{x:.4f}" for x in (ours, begins, tried[best], uniform, means))
            split = " + ".join(map(str, best))
            print(f"{name.replace('_', ' ')},{budget},{errors},{ours / tried[best]:.3f},{split}", flush=True)
