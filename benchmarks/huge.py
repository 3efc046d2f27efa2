"""A matrix of 10^6 x 10^5 entries of rank 20, given as a function, in less than 2 GB.

Run: python benchmarks/huge.py
"""

import resource
import time

from common import versions  # isort: skip

import curplus
from curplus.paper.recovery import relative_error

matrix = curplus.datasets.make_low_rank((10**6, 10**5), rank=20, rng=0)
source = curplus.CallableSource(matrix.entries, matrix.shape)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
seen = curplus.observe(source, n_columns=30, n_rows=30, n_entries=4000, rng=0)
read = time.perf_counter()
approx = curplus.cur_plus(seen, rank=20)
solved = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(versions())
print(approx)
print(f"relative error: {relative_error(matrix, approx):.1e}")
print(f"reading: {read - start:.1f} s, solving: {solved - read:.1f} s")
print(
    f"peak memory of the process: {peak / 2**20:.2f} GiB, of which {before / 2**20:.2f} GiB before curplus was called"
)
raise SystemExit(peak * 1024 > 2e9)
