"""`approximate` on uniform samples of real data, under noise, and its cost.

Run: python benchmarks/approximation.py [--seeds 10] [--data DIR] [--parts real noise cost]

Part "real" needs the data sets (DIR, or the variable CURPLUS_DATA); part "noise" compares with cmfrec where that is
installed (pip install cmfrec).
"""

import argparse
import importlib.util
import os
import time

from common import neighbour, paper_entries, seconds, versions  # isort: skip

import numpy as np

import curplus
from curplus import metrics

RANK, N_COLUMNS, N_ROWS = 10, 50, 250
DATA = {"Dexter": "dexter", "Farm Ads": "farm_ads", "TDT2": "tdt2", "KOS": "kos", "MNIST": "mnist_test"}


def errors(target, answer):
    return (
        metrics.relative_frobenius_error(target, answer, RANK),
        metrics.relative_spectral_error(target, answer, RANK, tol=1e-4),
    )


def real(folder: str, seeds: int) -> None:
    print(
        f"\nReal data, uniform samples: rank {RANK}, {N_COLUMNS} columns, {N_ROWS} rows, Omega_0 entries, {seeds} draws"
    )
    print("| data | method | mean l_F | mean l_s | worst l_F | l_F / CUR-F | l_s / CUR-F |")
    print("|---|---|---|---|---|---|---|")
    for name, data_set in DATA.items():
        M = curplus.datasets.load(data_set, data_home=folder).matrix
        n_entries = paper_entries(M.shape, M.nnz, RANK)
        target = metrics.ReferenceMatrix(M)
        found: dict[str, list[tuple[float, float]]] = {}
        for seed in range(seeds):
            seen = curplus.observe(M, n_columns=N_COLUMNS, n_rows=N_ROWS, n_entries=n_entries, rng=seed)
            answers = {
                "CUR-F, rank 10": curplus.cur_full(M, seen).truncate(RANK),
                "approximate": curplus.approximate(seen, RANK),
                "CUR+": curplus.cur_plus(seen, RANK),
                "CUR-E, rank 10": curplus.cur_unbiased(seen).truncate(RANK),
            }
            for method, answer in answers.items():
                found.setdefault(method, []).append(errors(target, answer))
        zero = target.frobenius_norm / target.best_frobenius_error(RANK)
        zero_s = target.singular_values(1)[0] / target.best_spectral_error(RANK)
        full = np.mean(found["CUR-F, rank 10"], axis=0)
        for method, values in found.items():
            mean = np.mean(values, axis=0)
            worst = np.max(values, axis=0)[0]
            ratio = mean / full
            print(
                f"| {name} | {method} | {mean[0]:.4g} | {mean[1]:.4g} | {worst:.4g} | {ratio[0]:.3f} | {ratio[1]:.3f} |"
            )
        print(
            f"| {name} | zero matrix | {zero:.4g} | {zero_s:.4g} | {zero:.4g} "
            f"| {zero / full[0]:.3f} | {zero_s / full[1]:.3f} |"
        )
        ours, plus = (np.array(found[method])[:, 0] for method in ("approximate", "CUR+"))
        print(
            f"{name}: better than CUR+ in {np.sum(ours < plus)} of {seeds}, worst against zero {ours.max() / zero:.4f}",
            flush=True,
        )


def noise(seeds: int) -> None:
    n, m, rank, lines, budget = 3000, 2000, 10, 30, 300_000
    print(f"\nNoise: {n} x {m}, rank {rank}, 10 % noise, {lines} rows, {lines} columns, {budget} entries in all")
    print("| seed | cmfrec error | seconds | approximate error | seconds | CUR+ error |")
    print("|---|---|---|---|---|---|")
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        signal = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m))
        M = signal + 0.1 * signal.std() * rng.standard_normal((n, m))
        scattered = budget - lines * (n + m - lines)
        seen = curplus.observe(M, n_columns=lines, n_rows=lines, n_entries=scattered, rng=seed)
        known = np.zeros((n, m), dtype=bool)
        known[seen.row_index] = known[:, seen.column_index] = known[seen.i, seen.j] = True

        def error(dense, truth=signal, unseen=~known):
            return np.linalg.norm((dense - truth)[unseen]) / np.linalg.norm(truth[unseen])

        theirs = als(M, known, rank)
        start = time.perf_counter()
        ours = curplus.approximate(seen, rank)
        took = time.perf_counter() - start
        other = f"{error(theirs[0]):.5f} | {theirs[1]:.2f}" if theirs else "not installed | "
        plus = error(curplus.cur_plus(seen, rank).to_array())
        print(f"| {seed} | {other} | {error(ours.to_array()):.5f} | {took:.2f} | {plus:.4f} |", flush=True)


def als(M, known, rank):
    """The answer of cmfrec on the same entries, one thread, and its time; None where it is not installed."""
    if importlib.util.find_spec("cmfrec") is None:
        return None
    i, j = np.nonzero(known)
    plain = {"user_bias": False, "item_bias": False, "center": False}
    start = time.perf_counter()
    model = next(neighbour(i, j, M[i, j], M.shape, [rank], [1e-6], **plain))
    return model.A_ @ model.B_.T, time.perf_counter() - start


def cost() -> None:
    n, rank, d = 8000, 50, 100
    rng = np.random.default_rng(0)
    M = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, n))
    M += 0.01 * M.std() * rng.standard_normal((n, n))
    seen = curplus.observe(M, n_columns=d, n_rows=d, n_entries=10_000, rng=0)
    ours, plus = seconds(lambda: curplus.approximate(seen, rank)), seconds(lambda: curplus.cur_plus(seen, rank))
    error = [np.linalg.norm(f.to_array() - M) for f in (curplus.approximate(seen, rank), curplus.cur_plus(seen, rank))]
    print(f"\nCost: {n} x {n}, rank {rank}, {d} rows and columns: approximate / cur_plus = {ours / plus:.2f} in time, "
          f"{error[0] / error[1]:.3f} in error")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--data", default=os.environ.get("CURPLUS_DATA"))
    parser.add_argument("--parts", nargs="+", default=["real", "noise", "cost"])
    options = parser.parse_args()
    print(versions())
    if "cost" in options.parts:
        cost()
    if "noise" in options.parts:
        noise(options.seeds)
    if "real" in options.parts:
        if options.data:
            real(options.data, options.seeds)
        else:
            print("Real data: give --data or set CURPLUS_DATA")
