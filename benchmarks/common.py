"""What the benchmarks share. Import it first: it fixes the number of BLAS threads to one before NumPy loads."""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import platform
import time
from collections.abc import Callable

import numpy as np
import scipy
import sklearn

import curplus


class LowRankSource:
    """The matrix ``left @ right.T``, read in part and never formed."""

    def __init__(self, left, right):
        self.left, self.right = left, right
        self.shape = (len(left), len(right))
        self.dtype = left.dtype

    def rows(self, index):
        return self.left[index] @ self.right.T

    def columns(self, index):
        return self.left @ self.right[index].T

    def entries(self, i, j):
        return np.einsum("tk,tk->t", self.left[i], self.right[j])

    def relative_error(self, approx: curplus.Factorization) -> float:
        """Relative Frobenius error of an answer, in factored form and to rounding."""
        left = np.hstack([self.left, approx.left.vectors @ approx.core.Z]).astype(np.float64)
        right = np.hstack([self.right, -approx.right.vectors]).astype(np.float64)
        error, norm = (
            np.linalg.norm(np.linalg.qr(x, mode="r") @ np.linalg.qr(y, mode="r").T)
            for x, y in ((left, right), (self.left, self.right))
        )
        return float(error / norm)


def gaussian_product(n: int, m: int, rank: int, seed: int, dtype=np.float64) -> LowRankSource:
    """Experiment I of the paper: a product of two Gaussian matrices."""
    rng = np.random.default_rng(seed)
    return LowRankSource(rng.standard_normal((n, rank)).astype(dtype), rng.standard_normal((m, rank)).astype(dtype))


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
