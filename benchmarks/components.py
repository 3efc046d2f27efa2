"""What the components of the estimators are worth: accuracy of a classifier that sees nothing else.

Run: CURPLUS_DATA=DIR python benchmarks/components.py [--seeds 5]

Two pairs of newsgroups: tf-idf, the estimator, logistic regression; mean accuracy on five folds, then over seeds with
the range. Captured: the share of the squares of the other fold that the components keep. "With a fifth" may read a
fifth of the terms whole. CUR and CURPlus read equally many documents, terms and entries; TruncatedSVD reads everything.
"""

import argparse
import os
import sys
import time
from pathlib import Path

from common import versions  # isort: skip

import numpy as np
import scipy.sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from curplus.estimators import CUR, CURPlus

#: data set: (file, how many documents come first that are of one class)
PAIRS = {"BASEHOCK": ("basehock.npz", 994), "PCMAC": ("pcmac.npz", 982)}


def folds(path: Path, first: int):
    """Training and test part of five folds, weighted by tf-idf, with their classes."""
    X = scipy.sparse.load_npz(path).astype(float).tocsr()
    y = np.arange(X.shape[0]) >= first
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        weights = TfidfTransformer().fit(X[train])
        yield weights.transform(X[train]), y[train], weights.transform(X[test]), y[test]


def models(rank: int, n_features: int):
    """Estimators by name, each a function of the seed. The components of CUR do not depend on its form."""
    fifth = n_features // 5
    return {
        "CUR": lambda seed: CUR(rank, random_state=seed),
        "CURPlus": lambda seed: CURPlus(rank, random_state=seed),
        "CUR with a fifth": lambda seed: CUR(rank, n_columns=fifth, form="free", random_state=seed),
        "TruncatedSVD": lambda seed: TruncatedSVD(rank, random_state=seed),
    }


def judged(model, fold):
    """Accuracy, captured share and seconds of the fit."""
    X, y, X_new, y_new = fold
    start = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - start
    Z = model.transform(X_new)
    accuracy = LogisticRegression(max_iter=1000).fit(model.transform(X), y).score(Z, y_new)
    return accuracy, np.sum(Z**2) / X_new.multiply(X_new).sum(), seconds


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--data", type=Path, default=os.environ.get("CURPLUS_DATA"))
    options = parser.parse_args()
    print(versions(), file=sys.stderr)
    print("data,components,estimator,accuracy,worst seed,best seed,captured,seconds")
    for name, (file, first) in PAIRS.items():
        parts = list(folds(Path(options.data) / file, first))
        for rank in (10, 30):
            for label, make in models(rank, parts[0][0].shape[1]).items():
                per_fold = [[judged(make(seed), fold) for fold in parts] for seed in range(options.seeds)]
                runs = np.mean(per_fold, axis=1)
                accuracy, captured, seconds = runs.mean(axis=0)
                worst, best = runs[:, 0].min(), runs[:, 0].max()
                shown = f"{accuracy:.3f},{worst:.3f},{best:.3f},{captured:.3f},{seconds:.2f}"
                print(f"{name},{rank},{label},{shown}", flush=True)
