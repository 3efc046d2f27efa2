"""Scattered entries alone: errors on values that were not used, beside zero, the mean and the additive model.

Run: python benchmarks/values.py --data DIR [--seeds 3] [--only NAME ...], with the folder that has the data sets.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from common import data_parser  # isort: skip

import numpy as np

import curplus
from curplus.evaluation.additive import additive_model
from curplus.observation import Entries

TABLES = {"gdsc_log2ic50": "X", "oboe": "error", "norman_gi": "replicate1", "planetlab_rtt": "median"}
QUESTIONS = ("arc_challenge", "ifeval", "musr", "gsm")
RANKS = (None, 2, 5, 10, 20)


class Case(NamedTuple):
    name: str
    shape: tuple[int, int]
    i: Any
    j: Any
    values: Any
    shares: tuple[float, ...]  # of the known values that are given


def cases(folder: str) -> Iterator[Case]:
    for name in ("movielens_100k", "jester5k", "flixster"):
        ratings = curplus.datasets.load(name, data_home=folder)
        yield Case(name, ratings.shape, ratings.i, ratings.j, ratings.values, (0.9,))
    tables = list(TABLES.items()) + [("llm_items", name) for name in QUESTIONS]
    for name, array in tables:
        path = Path(folder) / f"{name}.npz"
        if path.exists():
            X = np.load(path, allow_pickle=False)[array].astype(float)
            i, j = np.nonzero(np.isfinite(X))
            yield Case(array if name == "llm_items" else name, X.shape, i, j, X[i, j], (0.05, 0.1, 0.2, 0.5))


def measure(case: Case, share: float, seed: int) -> list[float]:
    order = np.random.default_rng(seed).permutation(len(case.values))
    fit, test = np.split(order, [int(share * len(order))])
    i, j, values = case.i[test], case.j[test], case.values[test]
    seen = curplus.Observation(shape=case.shape, i=case.i[fit], j=case.j[fit], values=case.values[fit])
    entries = Entries(case.shape, seen.i, seen.j, seen.values, weights=np.ones(len(fit)))
    guesses = [0.0, float(np.mean(seen.values)), additive_model(entries).at(i, j)]
    start = time.perf_counter()
    guesses += [curplus.approximate(seen, rank).entries(i, j) for rank in RANKS]
    seconds = (time.perf_counter() - start) / len(RANKS)
    return [*(float(np.sqrt(np.mean((values - guess) ** 2))) for guess in guesses), seconds]


if __name__ == "__main__":
    options = data_parser(__doc__).parse_args()
    print("data,share,zero,mean,additive,rank None,rank 2,rank 5,rank 10,rank 20,seconds")
    for case in cases(options.data):
        for share in case.shares if case.name.startswith(tuple(options.only)) else ():
            found = np.mean([measure(case, share, seed) for seed in range(options.seeds)], axis=0)
            print(f"{case.name},{share:g}," + ",".join(f"{x:.4g}" for x in found), flush=True)
