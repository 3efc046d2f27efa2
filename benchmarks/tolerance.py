"""Functions of two indices, read until a tolerance is met, beside adaptive cross approximation (ACA).

Run: python benchmarks/tolerance.py [--size 100000] [--seeds 1] [--cases cauchy:1e-3 ...]
     python benchmarks/tolerance.py --size 20000 --seeds 20 --cases peaks:1e-3 blocks:1e-3 exponential:1e-2
     python benchmarks/tolerance.py --size 20000 --own --cases helmholtz5:1e-3 helmholtz5:1e-6 inverse3:1e-3 ...
     python benchmarks/tolerance.py --rare 100

The error of `approximate` on a million fresh entries, and what was read; how many crosses ACA with partial pivoting
needs until its error on 20,000 entries, which it cannot know, is below the tolerance; and processor seconds of
`acquire`, of `approximate` and of ACA. With --own, ACA stops by its own rule, the norm of the last cross below the
tolerance times that of all of them, and its error on the 20,000 entries is shown too. With --rare, matrices of rank 2
of which a few values are large: how many of so many runs say that they met the tolerance, and how many of these did
not.
"""

import argparse
import sys
import time
from functools import partial

from common import versions  # isort: skip

import numpy as np

import curplus


def line(n, separated):
    x = np.linspace(0, 1, n)[:, None]
    return x, x + 2 * separated


def cube(n, separated):
    rng = np.random.default_rng(0)
    return rng.random((n, 3)), rng.random((n, 3)) + np.array([2.0 * separated, 0, 0])


FUNCTIONS = {
    "cauchy": (lambda d: 1 / (1 + d**2), line, False),
    "gaussian": (lambda d: np.exp(-((d / 0.1) ** 2)), line, False),
    "logarithm": (np.log, line, True),
    "inverse": (lambda d: 1 / d, line, True),
    "logarithm3": (np.log, cube, True),
    "inverse3": (lambda d: 1 / d, cube, True),
    "cauchy3": (lambda d: 1 / (1 + d**2), cube, False),
    "exponential": (lambda d: np.exp(-5 * d), line, False),
}


def of_distance(name, n):
    """A function of the distance between two points."""
    function, points, separated = FUNCTIONS[name]
    x, y = points(n, separated)
    return lambda i, j: function(np.sqrt(np.sum((x[i] - y[j]) ** 2, axis=-1)))


def peaks(n):
    """Two peaks that do not touch each other, each with half of the squares."""
    x = np.linspace(0, 1, n)
    return lambda i, j: sum(np.exp(-((x[i] - a) ** 2 + (x[j] - a) ** 2) / 0.003) for a in (0.2, 0.8))


def blocks(n):
    """Ten equal blocks on the diagonal, each of rank 2."""
    x = np.linspace(0, 1, n)
    return lambda i, j: (10 * i // n == 10 * j // n) * (1 + x[i] * x[j])


def helmholtz(wave_number, n):
    """Waves between two cubes of unit side whose centres are 2 apart, exp(i k r) / r: complex numbers."""
    x, y = cube(n, separated=True)

    def value(i, j):
        r = np.sqrt(np.sum((x[i] - y[j]) ** 2, axis=-1))
        return np.exp(1j * wave_number * r) / r

    return value


OTHERS = {"peaks": peaks, "blocks": blocks}
WAVES = {"helmholtz5": partial(helmholtz, 5.0), "helmholtz50": partial(helmholtz, 50.0)}
CASES = [
    *(f"{name}:{tol}" for name in FUNCTIONS if name != "exponential" for tol in ("1e-3", "1e-6")),
    "cauchy:1e-9",
    "gaussian:1e-9",
    "logarithm:1e-9",
    "inverse:1e-9",
    "exponential:1e-2",
    *(f"{name}:1e-3" for name in OTHERS),
]


def aca(value, n, tol, i, j, most=150, own=False):
    """Crosses until the error on the entries (i, j) is below the tolerance, and that error; None if it stops before.

    With ``own``, until the norm of a cross is below the tolerance times that of the sum of all of them.
    """
    truth, left, squares = value(i, j), value(i, j), 0.0
    U, V, row, used = np.zeros((n, most), truth.dtype), np.zeros((most, n), truth.dtype), 0, []
    for k in range(most):
        used.append(row)
        residual = value(np.full(n, row), np.arange(n)) - U[row, :k] @ V[:k]
        column = int(np.argmax(np.abs(residual)))
        if residual[column] == 0:
            return None, np.linalg.norm(left) / np.linalg.norm(truth)
        U[:, k] = (value(np.arange(n), np.full(n, column)) - U[:, :k] @ V[:k, column]) / residual[column]
        V[k] = residual
        left = left - U[i, k] * V[k, j]
        error, size = np.linalg.norm(left) / np.linalg.norm(truth), np.linalg.norm(U[:, k]) * np.linalg.norm(V[k])
        squares += size**2 + 2 * np.sum((U[:, :k].conj().T @ U[:, k]) * (V[:k].conj() @ V[k])).real
        if size <= tol * np.sqrt(squares) if own else error <= tol:
            return k + 1, error
        pivots = np.abs(U[:, k])
        pivots[used] = 0
        row = int(np.argmax(pivots))
    return None, error


def timed(function, *args, **options):
    """What a function returns, and how many processor seconds it took."""
    start = time.process_time()
    return function(*args, **options), time.process_time() - start


def beside_aca(case, n, seeds, own):
    """One line for each seed: ours, and ACA."""
    name, tol = case.split(":")
    value = (OTHERS | WAVES)[name](n) if name in OTHERS | WAVES else of_distance(name, n)
    rng = np.random.default_rng(99)
    i, j = rng.integers(n, size=(2, 1_000_000))
    truth = value(i, j)
    (crosses, aca_error), aca_seconds = timed(
        aca, value, n, float(tol), i[:20_000], j[:20_000], 400 if own else 150, own
    )
    for seed in range(seeds):
        source = curplus.CallableSource(value, (n, n), dtype=truth.dtype)
        seen, seconds = timed(curplus.acquire, source, tol=float(tol), rng=seed)
        answer, fit_seconds = timed(curplus.approximate, seen)
        error = np.linalg.norm(truth - answer.entries(i, j)) / np.linalg.norm(truth)
        counts = f"{seen.n_rows},{seen.n_columns},{seen.n_entries}"
        shown = f"{crosses},{aca_error:.2e}" if own else f"{crosses}"
        print(f"{name},{tol},{seed},{error:.2e},{counts},{shown},", end="")
        print(f"{seconds:.2f},{fit_seconds:.2f},{aca_seconds:.2f}", flush=True)


def rare(share, tol, draws):
    """One line: runs on 240 x 150 of rank 2 with rare large values, those that stopped, and those of them above."""
    stopped, above = 0, 0
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        M = rng.standard_normal((240, 2)) @ rng.standard_normal((2, 150))
        few = rng.choice(M.size, round(share * M.size), replace=False)
        M.ravel()[few] += 30 * rng.standard_normal(len(few))
        seen = curplus.acquire(M, tol=tol, rng=seed)
        if seen.history[-1].startswith("stopped at the tolerance"):
            error = np.linalg.norm(M - curplus.approximate(seen).to_array()) / np.linalg.norm(M)
            stopped, above = stopped + 1, above + (error > tol)
    print(f"{share},{tol},{draws},{stopped},{above}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--cases", nargs="+", default=CASES)
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--rare", type=int, default=0)
    options = parser.parse_args()
    print("#", versions())
    if options.rare:
        print("share of large values,tolerance,draws,stopped at the tolerance,of these above it")
        rare(0.0005, 0.3, options.rare)
        rare(0.0025, 0.5, options.rare)
        sys.exit()
    print("function,tolerance,seed,error,rows,columns,entries,crosses of ACA,", end="")
    print("error of ACA," if options.own else "", end="")
    print("seconds to read,seconds to approximate,seconds of ACA")
    for case in options.cases:
        beside_aca(case, options.size, options.seeds, options.own)
