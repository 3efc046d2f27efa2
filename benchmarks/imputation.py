"""Tables with gaps: CURImputer beside KNNImputer, IterativeImputer, SoftImpute and cmfrec, errors and times in one run.

Run: python benchmarks/imputation.py genes --data DIR [--seeds 1] [--only NAME ...]
     python benchmarks/imputation.py small [--seeds 1]
     python benchmarks/imputation.py large [--rows 100000] [--method cmfrec]

cmfrec is left out where it is not installed; an environment of its own with cmfrec, scikit-learn, array-api-compat and
this package will do. The best setting of each neighbour is picked in hindsight, by the hidden values, and its time is
that of this setting alone, except for SoftImpute, which computes a path. Nothing is set for CURImputer, and its time
includes the fits that estimate its error. Seconds are those of the processor, so that others on the machine do not
count.
"""

import argparse
import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from curplus.estimators import CURImputer

try:
    from cmfrec import CMF
except ImportError:
    CMF = None

Fill = Callable[[Any], Any]
GENES = {"gene_prostate": True, "gene_stt": False}  # whether to turn it, so that genes are rows
SHARES = (0.2, 0.5)  # of the values that are hidden


def soft_impute(X: Any) -> Iterator[Any]:
    """Filled tables along a path of thresholds (Mazumder, Hastie and Tibshirani 2010), columns standardised."""
    known, mean, spread = np.isfinite(X), np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    Z = np.where(known, (X - mean) / spread, 0.0)
    tall = Z.shape[0] >= Z.shape[1]
    Z, known = (Z, known) if tall else (Z.T, known.T)
    filled, largest = np.zeros_like(Z), np.sqrt(np.linalg.eigvalsh(Z.T @ Z)[-1])
    for threshold in largest * np.geomspace(0.5, 0.0005, 30):
        for _ in range(100):
            A = np.where(known, Z, filled)
            squares, V = np.linalg.eigh(A.T @ A)
            s = np.sqrt(np.maximum(squares, 1e-300))
            before, filled = filled, (A @ V * np.maximum(1 - threshold / s, 0)) @ V.T
            if np.linalg.norm(filled - before) < 1e-3 * max(np.linalg.norm(before), 1e-9):
                break
        yield (filled if tall else filled.T) * spread + mean


def cmf(X: Any, k: int, penalty: float) -> Any:
    i, j = np.nonzero(np.isfinite(X))
    model = CMF(k=k, lambda_=penalty, nthreads=1, verbose=False)
    model.fit(scipy.sparse.coo_matrix((X[i, j], (i, j)), shape=X.shape))
    filled = X.copy()
    i, j = np.nonzero(np.isnan(X))
    filled[i, j] = model.predict(i, j)
    return filled


def ways() -> Iterator[tuple[str, str, Fill]]:
    """Name, setting, and how to fill a table."""
    yield "CURImputer", "", CURImputer().fit_transform
    yield "SimpleImputer", "", SimpleImputer().fit_transform
    for k in (5, 10, 20, 40):
        yield "KNNImputer", f"k={k}", KNNImputer(n_neighbors=k).fit_transform
    yield "IterativeImputer", "default", IterativeImputer(random_state=0).fit_transform
    for n in (10, 30):
        few = IterativeImputer(random_state=0, n_nearest_features=n)
        yield "IterativeImputer", f"nearest={n}", few.fit_transform
    if CMF is not None:
        for k in (10, 20, 40):
            for penalty in (0.3, 1, 3, 10, 30):
                yield "cmfrec", f"k={k} lambda={penalty}", lambda X, k=k, penalty=penalty: cmf(X, k, penalty)


def measure(X: Any, share: float, seed: int) -> dict[str, tuple[float, float, str]]:
    """Error, seconds and setting of each way, the best of its settings."""
    hidden = np.random.default_rng(seed).random(X.shape) < share
    table = np.where(hidden, np.nan, X)
    best: dict[str, tuple[float, float, str]] = {}
    for name, setting, fill in ways():
        start = time.process_time()
        filled = fill(table)
        result = _error(filled, X, hidden), time.process_time() - start, setting
        best[name] = min(best.get(name, result), result)
    start = time.process_time()
    errors = [_error(filled, X, hidden) for filled in soft_impute(table)]
    best["SoftImpute"] = min(errors), time.process_time() - start, f"threshold {int(np.argmin(errors)) + 1} of 30"
    return best


def _error(filled: Any, X: Any, hidden: Any) -> float:
    return float(np.sqrt(np.mean((filled - X)[hidden] ** 2)))


def genes(folder: str, seeds: int, only: list[str]) -> None:
    print("data,share hidden,seed,method,error,seconds,setting")
    for name, turn in GENES.items():
        if not name.startswith(tuple(only)):
            continue
        X = np.load(Path(folder) / f"{name}.npz")["X"].astype(float)
        for share in SHARES:
            for seed in range(seeds):
                for method, found in measure(X.T if turn else X, share, seed).items():
                    print(f"{name},{share},{seed},{method},{found[0]:.4f},{found[1]:.2f},{found[2]}", flush=True)


def small(seeds: int) -> None:
    """The tables that come with scikit-learn, each column in units of its standard deviation; means over the seeds."""
    print("data,shape,share hidden,method,error,seconds")
    for load in (load_iris, load_wine, load_diabetes, load_breast_cancer, load_digits):
        X = load().data
        X = X[:, np.std(X, axis=0) > 0]
        X = (X - np.mean(X, axis=0)) / np.std(X, axis=0)
        for share in (0.05, *SHARES):
            found = [measure(X, share, seed) for seed in range(seeds)]
            for method in found[0]:
                error, seconds = np.mean([[each[method][0], each[method][1]] for each in found], axis=0)
                name = load.__name__.removeprefix("load_")
                print(f"{name},{X.shape[0]} x {X.shape[1]},{share},{method},{error:.3f},{seconds:.2f}", flush=True)


def large(n_rows: int, method: str) -> None:
    """A table of rank 20 and noise, in single precision, half of it gaps; time, error and peak memory of one method."""
    rng = np.random.default_rng(0)
    m, rank = 500, 20
    V = rng.standard_normal((rank, m), dtype=np.float32) * np.float32(0.9) ** np.arange(rank, dtype=np.float32)[:, None]
    mean = rng.standard_normal(m, dtype=np.float32)
    X = np.empty((n_rows, m), dtype=np.float32)
    for start in range(0, n_rows, 1000):  # so that making it needs no memory besides it
        block = X[start : start + 1000]
        block[:] = mean + rng.standard_normal((len(block), rank), dtype=np.float32) @ V
        block += np.float32(0.5) * rng.standard_normal(block.shape, dtype=np.float32)
        block[rng.random(block.shape, dtype=np.float32) < 0.5] = np.nan
    i, j = rng.integers(n_rows, size=200_000), rng.integers(m, size=200_000)
    i, j = np.unravel_index(np.unique((i * m + j)[~np.isnan(X[i, j])]), X.shape)
    truth = X[i, j].copy()
    X[i, j] = np.nan
    before, start = _peak(), time.process_time()
    if method == "CURImputer":
        predicted = CURImputer().fit_transform(X)[i, j]
    else:
        settings = [(k, penalty) for k in (10, 20) for penalty in (3, 10)]
        known = scipy.sparse.coo_matrix((X[~np.isnan(X)], np.nonzero(~np.isnan(X))), shape=X.shape)
        fits = [CMF(k=k, lambda_=p, nthreads=1, verbose=False, use_float=True).fit(known) for k, p in settings]
        predicted = min((fit.predict(i, j) for fit in fits), key=lambda guess: np.mean((guess - truth) ** 2))
    seconds = time.process_time() - start
    error = float(np.sqrt(np.mean((predicted - truth) ** 2)))
    above = (_peak() - before) / X.nbytes
    print(
        f"{method},{n_rows} x {m},error {error:.4f},{seconds:.1f} s,peak {above:.2f} x the input above it", flush=True
    )


def _peak() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


if __name__ == "__main__":
    from common import versions

    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["genes", "small", "large"])
    parser.add_argument("--data", default=os.environ.get("CURPLUS_DATA", "."))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of names of data sets")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--method", choices=["CURImputer", "cmfrec"], default="CURImputer")
    options = parser.parse_args()
    print("#", versions(), flush=True)
    if options.what == "genes":
        genes(options.data, options.seeds, options.only)
    elif options.what == "small":
        small(options.seeds)
    else:
        large(options.rows, options.method)
