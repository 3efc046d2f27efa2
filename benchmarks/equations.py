"""How many unknowns of CUR+'s core the entries determine, and how well: r = 10, as many entries as the paper has.

Run: python benchmarks/equations.py [--draws 10] [--data DIR]
"""

import argparse
import os

from common import paper_entries, versions  # isort: skip

import numpy as np

import curplus
from curplus.paper import matrices

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--draws", type=int, default=10)
parser.add_argument("--data", default=os.environ.get("CURPLUS_DATA"))
options = parser.parse_args()
rank = 10
print(versions())
print("| data | alpha | unknowns determined, median (least to most) | condition, median (largest) |")
print("|---|---|---|---|")
for name in matrices.paper_matrices(options.data):
    M = matrices.load(name, options.data).matrix
    n_entries = paper_entries(M.shape, M.nnz, rank)
    for alpha in (1, 2, 3, 4, 5):
        counts = {"n_columns": alpha * rank, "n_rows": alpha**2 * rank, "n_entries": n_entries}
        cores = [
            curplus.cur_plus(curplus.observe(M, **counts, rng=seed), rank, solver=curplus.solvers.MinimumNorm()).core
            for seed in range(options.draws)
        ]
        known, condition = [core.rank for core in cores], [core.condition for core in cores]
        span = f"{np.median(known):.0f} ({min(known)} to {max(known)})"
        print(f"| {name} | {alpha} | {span} | {np.median(condition):.0e} ({max(condition):.0e}) |", flush=True)
