"""The C U R form of the recommended answer, against the best one for the same columns and rows.

Run: python benchmarks/cur_form.py [--seeds 10] [--data DIR]

For each matrix of the comparison page, with uniform and with acquired samples: the mean l_F of cur_full, which sees the
whole matrix, cut to the rank; of approximate with form="cur"; their ratio; and the ratio of the free form.
"""

import argparse
import os
import sys

from common import paper_entries, versions  # isort: skip
from comparison import REAL, SYNTHETIC, synthetic  # isort: skip

import numpy as np
import scipy.sparse

import curplus
from curplus import metrics


def errors(M, rank: int, counts: dict[str, int], read, seeds: int):
    """Mean l_F of cur_full, of the C U R form and of the free form."""
    target, found = metrics.ReferenceMatrix(M), []
    for seed in range(seeds):
        seen = read(M, **counts, rng=seed)
        answers = (
            curplus.cur_full(M, seen).truncate(rank),
            curplus.approximate(seen, rank, form="cur"),
            curplus.approximate(seen, rank),
        )
        found.append([metrics.relative_frobenius_error(target, answer, rank) for answer in answers])
    return np.mean(found, axis=0)


def matrices(data: str | None):
    """Name, matrix, rank, columns and rows."""
    for name, (data_set, *sizes) in REAL.items() if data else ():
        yield name, curplus.datasets.load(data_set, data_home=data).matrix, *sizes
    for name, sizes in SYNTHETIC.items():
        yield name, synthetic(name), *sizes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--data", default=os.environ.get("CURPLUS_DATA"))
    options = parser.parse_args()
    print(versions(), file=sys.stderr)
    print("data,samples,cur_full,form cur,ratio,ratio of the free form")
    for name, M, rank, d1, d2 in matrices(options.data):
        nnz = M.nnz if scipy.sparse.issparse(M) else np.count_nonzero(M)
        counts = {"n_columns": d1, "n_rows": d2, "n_entries": paper_entries(M.shape, nnz, rank)}
        for label, read in (("uniform", curplus.observe), ("acquired", curplus.acquire)):
            best, cur, free = errors(M, rank, counts, read, options.seeds)
            print(f"{name},{label},{best:.3f},{cur:.3f},{cur / best:.3f},{free / best:.3f}", flush=True)
