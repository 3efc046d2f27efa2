"""Which model to run on a new data set, when models cost very different times: OBOE's errors and run times.

Run: python benchmarks/prices.py [--models 10] [--data DIR]

Ten folds over data sets. Models are chosen from the history by Q-DEIM, without prices and with their run time as price,
the median or the mean over the old data sets, run on each new data set, and the errors of the others are completed from
them. Regret is the error of the model that looks best less that of the best one; compute is the time of the chosen
models as a share of the time of all. Run times differ by a factor of a million: a mean is that of the largest data set.
"""

import argparse
import os
from pathlib import Path

from common import only, versions  # isort: skip

import numpy as np

import curplus

PRICES = {"none": None, "median run time": np.median, "mean run time": np.mean}


def fold_result(errors, seconds, new, k, price):
    """Mean regret and share of the compute on the new data sets."""
    old = np.setdiff1d(np.arange(len(errors)), new)
    history, cost = errors[old], None if price is None else price(seconds[old], axis=0)
    chosen = curplus.select_columns(history, k, method="qdeim", cost=cost)
    seen = curplus.Observation(shape=history.shape, row_index=np.arange(len(old)), rows=history)
    completed = curplus.approximate(seen).complete_rows(only(errors[new], chosen))
    picked = np.argmin(completed, axis=1)
    regret = errors[new, picked] - errors[new].min(axis=1)
    return regret, seconds[new][:, chosen].sum(axis=1), seconds[new].sum(axis=1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=10)
    parser.add_argument("--data", type=Path, default=os.environ.get("CURPLUS_DATA"))
    options = parser.parse_args()
    saved = np.load(Path(options.data) / "oboe.npz")
    errors, seconds = saved["error"].astype(float), saved["runtime"].astype(float)
    folds = np.array_split(np.random.default_rng(0).permutation(len(errors)), 10)
    print("#", versions())
    print("prices,mean regret,share of the compute")
    for name, price in PRICES.items():
        parts = [fold_result(errors, seconds, new, options.models, price) for new in folds]
        regret, paid, whole = (np.concatenate(x) for x in zip(*parts, strict=True))
        print(f"{name},{regret.mean():.4f},{paid.sum() / whole.sum():.4f}")
