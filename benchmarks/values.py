"""Values at known places of ratings and panels: what entry_intervals.py and ratings.py share."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import curplus

PANELS = {"gdsc_log2ic50": "X", "oboe": "error"}


class Case(NamedTuple):
    name: str
    shape: tuple[int, int]
    i: Any
    j: Any
    values: Any


def cases(folder: str) -> Iterator[Case]:
    for name in ("movielens_100k", "jester5k"):
        ratings = curplus.datasets.load(name, data_home=folder)
        yield Case(name, ratings.shape, ratings.i, ratings.j, ratings.values)
    for name, array in PANELS.items():
        X = np.load(Path(folder) / f"{name}.npz", allow_pickle=False)[array].astype(float)
        i, j = np.nonzero(np.isfinite(X))
        yield Case(name, X.shape, i, j, X[i, j])
