"""A matrix of low rank given as a function, far larger than memory: where the time goes, and how much memory it takes.

Run: python benchmarks/huge.py
     python benchmarks/huge.py --shape 10000000 100000 --lines 60 --most 12

Wall time. The source is the function itself; "products" are the two Gram matrices and the two products that no method
of this family does without, taken once more by themselves. It fails where the process takes more memory than ``--most``
gigabytes.
"""

import argparse
import resource
import time

from common import versions  # isort: skip

import numpy as np

import curplus
from curplus.paper.recovery import relative_error


class Timed:
    """A function of two indices that counts its calls, its numbers and its seconds."""

    def __init__(self, function):
        self.function, self.seconds, self.numbers = function, 0.0, 0

    def __call__(self, i, j):
        start = time.perf_counter()
        values = self.function(i, j)
        self.seconds += time.perf_counter() - start
        self.numbers += values.size
        return values


def peak() -> float:
    """Most memory that the process has taken so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def products(seen, rank) -> float:
    """Seconds of the two Gram matrices and the two products with as many columns as the rank."""
    start = time.perf_counter()
    for sample in (seen.columns, seen.rows.T):
        mixing = np.ones((sample.shape[1], rank))
        sample.T @ sample, sample @ mixing
    return time.perf_counter() - start


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", type=int, nargs=2, default=(10**6, 10**5))
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--lines", type=int, default=30, help="columns, and as many rows")
    parser.add_argument("--entries", type=int, default=4000)
    parser.add_argument("--most", type=float, default=2.0, help="gigabytes of the whole process")
    options = parser.parse_args()
    print(versions())
    matrix = curplus.datasets.make_low_rank(tuple(options.shape), rank=options.rank, rng=0)
    function, before = Timed(matrix.entries), peak()
    source = curplus.CallableSource(function, matrix.shape)
    start = time.perf_counter()
    seen = curplus.observe(source, n_columns=options.lines, n_rows=options.lines, n_entries=options.entries, rng=0)
    read = time.perf_counter() - start
    start = time.perf_counter()
    approx = curplus.cur_plus(seen, rank=options.rank)
    solved = time.perf_counter() - start
    most = peak()
    print(approx)
    print(f"relative error: {relative_error(matrix, approx):.1e}")
    print(f"numbers asked for: {function.numbers:,}, held: {seen.columns.size + seen.rows.size + seen.n_entries:,}")
    print(f"reading: {read:.1f} s, of which the function {function.seconds:.1f} s")
    print(f"cur_plus: {solved:.1f} s; Gram matrices and products alone: {products(seen, options.rank):.1f} s")
    print(f"peak memory of the process: {most / 1e9:.2f} GB, of which {before / 1e9:.2f} GB before curplus was called")
    raise SystemExit(most > options.most * 1e9)
