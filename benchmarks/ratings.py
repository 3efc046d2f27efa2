"""Ratings and panels beside cmfrec, a tuned program for matrix completion with biases, on the same values in one run.

Run, in an environment that has cmfrec (pip install cmfrec): python benchmarks/ratings.py --data DIR [--seeds 5]

MovieLens is split as published (u1 to u5), the others at random. cmfrec is shown at the best of four ranks and four
ridges, picked in hindsight on the test values; its time is that of all sixteen fits. Nothing is set on our side.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from common import data_parser, neighbour, rms  # isort: skip

import numpy as np
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


def cmfrec_at_its_best(seen, i, j, values):
    """Least error of cmfrec at some places, and the time of the search."""
    start = time.process_time()
    models = neighbour(seen.i, seen.j, seen.values, seen.shape, RANKS, np.var(seen.values) * np.array(RIDGES))
    return min(rms(values - model.predict(i, j)) for model in models), time.process_time() - start


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
                i, j, values = case.i[test], case.j[test], case.values[test]
                best, search = cmfrec_at_its_best(seen, i, j, values)
                given = Entries(case.shape, seen.i, seen.j, seen.values, weights=np.ones(len(fit)))
                errors = (rms(values - guess) for guess in (additive_model(given).at(i, j), approx.entries(i, j)))
                found.append([*errors, seconds, best, search])
            additive, ours, seconds, best, search = np.mean(found, axis=0)
            errors = f"{additive:.4g},{ours:.4g},{seconds:.1f},{best:.4g},{search:.1f},{ours / best:.3f}"
            print(f"{case.name},{share:g},{errors}", flush=True)
