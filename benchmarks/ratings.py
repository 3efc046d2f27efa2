"""Ratings and panels beside cmfrec, a tuned program for matrix completion with biases, on the same values in one run.

Run, in an environment that has cmfrec (pip install cmfrec): python benchmarks/ratings.py --data DIR [--seeds 5]

MovieLens is split as published (u1 to u5), the others at random. cmfrec is shown at the best of four ranks and four
ridges, picked in hindsight on the test values; its time is that of all sixteen fits. Nothing is set on our side.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from common import data_parser  # isort: skip

import numpy as np
import pandas as pd
from cmfrec import CMF
from values import Case, cases

import curplus
from curplus.evaluation.additive import additive_model
from curplus.observation import Entries

WANTED = {"movielens_100k": (0.8,), "jester5k": (0.9,), "gdsc_log2ic50": (0.1, 0.5), "oboe": (0.1,)}
RANKS = (5, 10, 20, 40)
RIDGES = (1.0, 3.0, 10.0, 30.0)  # of cmfrec, in terms of the variance of the values


def splits(case: Case, share: float, folder: str, n_seeds: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Values to fit and values to test on: the published ones, or a random share."""
    if case.name == "movielens_100k":
        file = np.load(Path(folder) / f"{case.name}.npz", allow_pickle=False)
        folds = file["test_fold"][np.lexsort((file["cols"], file["rows"]))]  # in the order of the case, row by row
        yield from ((np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(1, 6))
        return
    for seed in range(n_seeds):
        order = np.random.default_rng(seed).permutation(len(case.values))
        yield order[: int(share * len(order))], order[int(share * len(order)) :]


def neighbour(i, j, values, test):
    """Least error of cmfrec, and the time of the search."""
    start = time.process_time()
    table = pd.DataFrame({"UserId": i, "ItemId": j, "Rating": values})
    errors = {}
    for rank in RANKS:
        for ridge in RIDGES:
            model = CMF(k=rank, lambda_=ridge * np.var(values), verbose=False, nthreads=1).fit(table)
            guess = model.predict(*test[:2])
            errors[rank, ridge] = float(np.sqrt(np.mean((test[2] - guess) ** 2)))
    return min(errors.values()), min(errors, key=errors.get), time.process_time() - start


if __name__ == "__main__":
    options = data_parser(__doc__, seeds=1, only=False).parse_args()
    print("data,share,additive model,approximate,seconds,cmfrec at its best,seconds of its search,ratio")
    for case in cases(options.data):
        for share in WANTED.get(case.name, ()):
            found = []
            for fit, test in splits(case, share, options.data, options.seeds):
                seen = curplus.Observation(shape=case.shape, i=case.i[fit], j=case.j[fit], values=case.values[fit])
                start = time.process_time()
                approx = curplus.approximate(seen)
                seconds = time.process_time() - start
                errors = case.values[test] - approx.entries(case.i[test], case.j[test])
                aside = (case.i[test], case.j[test], case.values[test])
                best, _, search = neighbour(case.i[fit], case.j[fit], case.values[fit], aside)
                given = Entries(case.shape, seen.i, seen.j, seen.values, weights=np.ones(len(fit)))
                rest = aside[2] - additive_model(given).at(*aside[:2])
                sizes = [float(np.sqrt(np.mean(x**2))) for x in (rest, errors)]
                found.append([*sizes, seconds, best, search])
            additive, ours, seconds, best, search = np.mean(found, axis=0)
            errors = f"{additive:.4g},{ours:.4g},{seconds:.1f},{best:.4g},{search:.1f},{ours / best:.3f}"
            print(f"{case.name},{share:g},{errors}", flush=True)
