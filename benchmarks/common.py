"""What the benchmarks share. Import it first: it fixes the number of BLAS threads to one before NumPy loads."""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy
import scipy.sparse
import sklearn

import curplus


def paper_entries(shape: tuple[int, int], nnz: int, rank: int) -> int:
    """The number of entries that the paper takes, Omega_0 = nm r^2 / nnz, if there are as many."""
    n, m = shape
    return min(round(n * m * rank**2 / nnz), n * m)


def data_parser(description: str, *, seeds: int = 3, only: bool = True) -> argparse.ArgumentParser:
    """The options of a benchmark on data sets: their folder, the number of seeds, and which of them.

    The versions are printed first.
    """
    print("#", versions(), flush=True)
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("CURPLUS_DATA"), required="CURPLUS_DATA" not in os.environ)
    parser.add_argument("--seeds", type=int, default=seeds)
    if only:
        parser.add_argument("--only", nargs="+", default=[""], help="names of data sets, or the beginnings of them")
    return parser


def only(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The rows, NaN outside the given columns."""
    known = np.full(rows.shape, np.nan)
    known[:, columns] = rows[:, columns]
    return known


def rms(x: Any) -> float:
    """Root mean square, also of numbers whose squares are too large."""
    x = np.asarray(x, dtype=float)
    largest = float(np.max(np.abs(x), initial=0.0))
    return largest * float(np.sqrt(np.mean((x / largest) ** 2))) if 0 < largest < np.inf else largest


def neighbour(
    i: np.ndarray,
    j: np.ndarray,
    values: np.ndarray,
    shape: tuple[int, int],
    ranks: Sequence[int],
    ridges: Sequence[float],
    **options: Any,
) -> Iterator[Any]:
    """Models of cmfrec, a tuned program for matrix completion, one for each rank and ridge; one thread."""
    from cmfrec import CMF

    X = scipy.sparse.coo_matrix((values, (i, j)), shape=shape)
    for rank in ranks:
        for ridge in ridges:
            yield CMF(k=rank, lambda_=ridge, nthreads=1, verbose=False, **options).fit(X)


def seconds(function: Callable[[], object], repeat: int = 7) -> float:
    """Least time of several calls, after one to warm up."""
    function()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def versions() -> str:
    """What was measured with, in one line."""
    return (
        f"curplus {curplus.__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
        f"scikit-learn {sklearn.__version__}, Python {platform.python_version()}, one BLAS thread"
    )
