"""Intervals for single values: coverage in all, and in every tenth of rows and of columns by number of known values.

Run: python benchmarks/entry_intervals.py --data DIR [--seeds 1] [--only NAME ...], where DIR has the data sets.

A share of the known values is given, the others are predicted, at 90 %. Tenths hold as many rows each.
"""

import time
from pathlib import Path

from common import data_parser  # isort: skip

import numpy as np
from values import Case
from values import cases as value_cases

import curplus
from curplus.observation import SamplingDesign

SHARES = {"movielens_100k": (0.8,), "jester5k": (0.8,), "gdsc_log2ic50": (0.2, 0.8), "gene_prostate": (0.1, 0.5)}
LEVEL = 0.9


def cases(folder):
    yield from (case for case in value_cases(folder) if case.name in SHARES)
    path = Path(folder) / "gene_prostate.npz"
    if path.exists():
        X = np.load(path, allow_pickle=False)["X"].astype(float)
        i, j = (index.ravel() for index in np.indices(X.shape))
        yield Case("gene_prostate", X.shape, i, j, X.ravel())


def least_of_tenths(inside, line, counts):
    """Least share inside, of tenths of the rows by number of known values, each row with its test values."""
    rank = np.argsort(np.argsort(counts, kind="stable"), kind="stable")
    tenth = (10 * rank // len(counts))[line]
    return min(inside[tenth == t].mean() for t in np.unique(tenth))


def measure(case, share, seed):
    order = np.random.default_rng(seed).permutation(len(case.values))
    fit, test = np.split(order, [int(share * len(order))])
    start = time.process_time()
    seen = curplus.Observation(
        shape=case.shape,
        i=case.i[fit],
        j=case.j[fit],
        values=case.values[fit],
        design=SamplingDesign(entries="uniform"),
    )
    i, j, values = case.i[test], case.j[test], case.values[test]
    found = curplus.predict_interval(curplus.approximate(seen), seen, i, j, level=LEVEL)
    seconds = time.process_time() - start
    inside = (found.low <= values) & (values <= found.high)
    by_row = least_of_tenths(inside, i, np.bincount(seen.i, minlength=case.shape[0]))
    by_column = least_of_tenths(inside, j, np.bincount(seen.j, minlength=case.shape[1]))
    return [inside.mean(), by_row, by_column, float(np.mean(found.high - found.low)) / np.std(values), seconds]


if __name__ == "__main__":
    options = data_parser(__doc__, seeds=1).parse_args()
    print("data,share,covered,least tenth of rows,least tenth of columns,width / standard deviation,seconds")
    for case in cases(options.data):
        for share in SHARES[case.name] if case.name.startswith(tuple(options.only)) else ():
            found = [measure(case, share, seed) for seed in range(options.seeds)]
            shown = ",".join(f"{x:.3f}" for x in np.mean(found, axis=0))
            print(f"{case.name},{share:g},{shown}", flush=True)
