"""What counts as evidence: lists that came back in part, places that are forbidden, old values, chances by value.

Run: python benchmarks/evidence.py [--draws 200] [--first 0] [--only CASE ...]    (about a second for each draw)

Rows of the matrix differ in level and in noise, so that a sample of some of the rows is none of all. For each case:
how often certify gives an interval (95 %), and how often it covers the error; how often estimate_means gives them, and
how often they cover the total (95 %) and all means at once (95 %); the share of the values that were not measured in
their intervals (90 %). The truth is that of the places that are not forbidden. A dash stands for no interval at all.
"""

import argparse
import tempfile

from common import versions  # isort: skip

import numpy as np
import pandas as pd

import curplus

SHAPE = (120, 60)


def matrix(rng):
    """Rank 2 and noise; later rows are larger and noisier."""
    (n, m), noise = SHAPE, rng.standard_normal(SHAPE)
    low_rank = rng.standard_normal((n, 2)) @ rng.standard_normal((2, m))
    return np.linspace(-1, 1, n)[:, None] + 0.7 * np.linspace(0.2, 2, n)[:, None] * (low_rank + noise)


def study(M, seed, *told, share=0.4, history=None, design=None, **wishes):
    """What a study knows after some lists of scattered cells, of each of which one of ``told`` says what came back."""
    with tempfile.TemporaryDirectory() as folder:
        known = curplus.Study.create(f"{folder}/study", rows=SHAPE[0], columns=SHAPE[1])
        if history is not None:
            i, j = np.divmod(history, SHAPE[1])
            known.tell(pd.DataFrame({"row": i, "column": j, "value": M[i, j]}))
        for part in told:
            cells = known.ask(share, whole=False, rng=seed, **wishes).cells
            known.tell(part(cells.assign(value=M[cells["row"], cells["column"]])), design=design)
        return known.observation()


def all_of_it(cells):
    return cells


def first_half(cells):
    return cells.iloc[: len(cells) // 2]


def sorted_half(cells):
    return first_half(cells.sort_values(["row", "column"]))


def forbidden_cells(M):
    """Large values, which somebody knows to be large."""
    return np.nonzero(np.abs(M) > np.quantile(np.abs(M), 0.9))


def large_history(M):
    return np.argsort(-np.abs(M), axis=None)[:1400:2]


def by_value(M, rng):
    """Independent draws: large values are likelier."""
    chances = (0.3 + M**2) / np.sum(0.3 + M**2)
    i, j = np.divmod(rng.choice(M.size, int(0.6 * M.size), p=chances.ravel()), SHAPE[1])
    return curplus.Observation(shape=SHAPE, i=i, j=j, values=M[i, j], probabilities=chances[i, j])


def acquired(M, seed):
    counts = {"n_columns": 0, "n_rows": 0, "n_entries": int(0.3 * M.size)}
    return curplus.acquire(M, **counts, forbidden={"cells": forbidden_cells(M)}, rng=seed)


CASES = {
    "a list": lambda M, k: study(M, k, all_of_it),
    "first half of a list": lambda M, k: study(M, k, first_half),
    "half of a list, sorted": lambda M, k: study(M, k, sorted_half),
    "half by chance, promised": lambda M, k: study(
        M, k, lambda cells: cells.sample(frac=0.5, random_state=k), design="uniform"
    ),
    "sorted half, then a list": lambda M, k: study(M, k, sorted_half, all_of_it, share=0.25),
    "rows forbidden": lambda M, k: study(M, k, all_of_it, forbidden={"rows": list(range(84, 120))}),
    "large cells forbidden": lambda M, k: study(
        M, k, all_of_it, forbidden={"cells": list(zip(*forbidden_cells(M), strict=True))}
    ),
    "acquire, cells forbidden": acquired,
    "large history, four lists": lambda M, k: study(M, k, *[all_of_it] * 4, share=0.1, history=large_history(M)),
    "chances by value": lambda M, k: by_value(M, np.random.default_rng([2, k])),
}


def measure(case, seed):
    """Certificate given, covers; means given, total covered, all means covered; share of values covered."""
    M = matrix(np.random.default_rng([1, seed]))
    seen = CASES[case](M, seed)
    i, j = np.divmod(np.arange(M.size), SHAPE[1])
    counts = ~seen.is_forbidden(i, j).reshape(SHAPE)
    answer = curplus.approximate(seen, 2)
    interval, error = curplus.certify(answer, seen).interval, np.linalg.norm((M - answer.to_array())[counts])
    certified = [True, interval[0] <= error <= interval[1]] if interval else [False, np.nan]
    means = curplus.estimate_means(answer, seen)
    given, (total_low, total_high) = not means.reason, means.total_interval or (np.nan, np.nan)
    rows = counts.any(axis=1)
    truth = np.sum(np.where(counts, M, 0.0), axis=1)[rows] / counts.sum(axis=1)[rows]
    inside = (means.joint_low[rows] <= truth + 1e-12) & (truth - 1e-12 <= means.joint_high[rows])
    single = curplus.predict_interval(answer, seen, i, j)
    unread = ~single.is_measured & counts.ravel()
    values = (single.low <= M.ravel()) & (M.ravel() <= single.high)
    shown = [given, total_low <= M[counts].sum() <= total_high if given else np.nan, inside.all() if given else np.nan]
    return [*certified, *shown, np.nan if single.reason else values[unread].mean()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--only", nargs="+", default=list(CASES), choices=list(CASES))
    options = parser.parse_args()
    print("#", versions(), f"{options.draws} draws")
    print("case,certificates given,cover,means given,total covered,all means covered,values covered")
    for case in options.only:
        found = np.array([measure(case, seed) for seed in range(options.first, options.first + options.draws)], float)
        shares = [f"{x[~np.isnan(x)].mean():.3f}" if not np.isnan(x).all() else "–" for x in found.T]
        print(f'"{case}",' + ",".join(shares), flush=True)
