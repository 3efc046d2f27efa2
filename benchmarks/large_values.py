"""Many scattered values: a million ratings beside cmfrec, few values in many rows, and a long table with gaps.

Run: python benchmarks/large_values.py [--cmfrec .venv-cmfrec/bin/python]

The ratings are 5,000 x 4,000: offsets, rank 10 and noise, items met by a power law; a tenth is left out to judge by.
cmfrec fits rank 10 once for each of three ridges, and the best in hindsight is shown with the time of that one fit.
Times are those of the processor, with one thread.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

from common import versions  # isort: skip

import numpy as np

import curplus

NEIGHBOUR = """
import sys, time, numpy as np
from cmfrec import CMF
from scipy.sparse import coo_matrix
x = np.load(sys.argv[1])
X = coo_matrix((x["values"], (x["i"], x["j"])), shape=tuple(x["shape"]))
found = []
for ridge in (2.5, 5.0, 10.0):
    start = time.process_time()
    model = CMF(k=10, lambda_=ridge, nthreads=1, use_float=False, verbose=False).fit(X)
    seconds = time.process_time() - start
    error = np.sqrt(np.mean((model.predict(x["test_i"], x["test_j"]) - x["test"]) ** 2))
    found.append((float(error), seconds, f"cmfrec, ridge {ridge:g}"))
print(*min(found), sep=";")
"""


def ratings(n=5_000, m=4_000, count=1_000_000, rank=10, seed=0):
    """Offsets, a low rank and noise, at different places: those to fit, and a tenth to judge by."""
    rng = np.random.default_rng(seed)
    chance = np.arange(1, m + 1) ** -0.7
    drawn = rng.integers(n, size=2 * count) * m + rng.choice(m, p=chance / chance.sum(), size=2 * count)
    i, j = np.divmod(rng.permutation(np.unique(drawn))[:count], m)
    U, V = rng.standard_normal((n, rank)), rng.standard_normal((m, rank))
    offsets = 3.5 + 0.4 * rng.standard_normal(n)[i] + 0.5 * rng.standard_normal(m)[j]
    values = offsets + 0.2 * np.einsum("tr,tr->t", U[i], V[j]) + 0.8 * rng.standard_normal(count)
    fit, test = np.split(np.arange(count), [9 * count // 10])
    given = {"shape": (n, m), "i": i[fit], "j": j[fit], "values": values[fit]}
    return given, {"test_i": i[test], "test_j": j[test], "test": values[test]}


def long_tables(seed=0):
    """Rank 3 with noise: three hundred thousand values of 10^6 x 50, and 10^5 x 50 with three tenths missing."""
    rng = np.random.default_rng(seed)
    U, V = rng.standard_normal((1_000_000, 3)), rng.standard_normal((50, 3))
    i, j = np.divmod(rng.choice(U.shape[0] * 50, 300_000, replace=False), 50)
    values = np.einsum("tr,tr->t", U[i], V[j]) + 0.3 * rng.standard_normal(len(i))
    yield "1e6 x 50, 300,000 values", curplus.Observation(shape=(1_000_000, 50), i=i, j=j, values=values)
    table = U[:100_000] @ V.T + 0.3 * rng.standard_normal((100_000, 50))
    table[rng.random(table.shape) < 0.3] = np.nan
    yield "1e5 x 50, 30 % gaps", curplus.Observation.from_table(table)


def timed(observation):
    approximate = curplus.approximate  # imports what a fit needs, outside of the times
    start = time.process_time()
    answer = approximate(observation)
    return answer, time.process_time() - start


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cmfrec", help="a Python that has cmfrec")
    options = parser.parse_args()
    print(versions())
    given, test = ratings()
    answer, seconds = timed(curplus.Observation(**given))
    error = np.sqrt(np.mean((answer.entries(test["test_i"], test["test_j"]) - test["test"]) ** 2))
    print(f"a million ratings, approximate: error {error:.4f}, {seconds:.1f} s", flush=True)
    if options.cmfrec:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "ratings.npz")
            np.savez(path, **given, **test)
            out = subprocess.run(
                [options.cmfrec, "-c", NEIGHBOUR, str(path)], capture_output=True, text=True, check=True
            )
        error, its_seconds, name = out.stdout.strip().split(";")
        print(f"a million ratings, {name}: error {float(error):.4f}, {float(its_seconds):.1f} s", flush=True)
    for name, observation in long_tables():
        print(f"{name}, approximate: {timed(observation)[1]:.1f} s", flush=True)
