"""Every method on every data set, with the same budget: the table and the picture of the comparison page.

Run: python benchmarks/comparison.py [--seeds 10] [--data DIR] [--out docs/_static]

Writes comparison.csv, a row per run, and comparison.png, drawn from it.
"""

import argparse
import csv
import os
from pathlib import Path

from common import paper_entries, versions  # isort: skip

import numpy as np
import scipy.sparse

import curplus
from curplus import metrics

#: label: (data set, rank, columns, rows)
REAL = {
    "Dexter": ("dexter", 10, 50, 250),
    "Farm Ads": ("farm_ads", 10, 50, 250),
    "TDT2": ("tdt2", 10, 50, 250),
    "KOS": ("kos", 10, 50, 250),
    "MNIST test": ("mnist_test", 10, 50, 250),
    "Prostate genes": ("gene_prostate", 10, 30, 150),
    "Tumour genes": ("gene_stt", 5, 12, 60),
}
SYNTHETIC = {"power law": (10, 50, 250), "coherent": (10, 50, 250)}
METHODS = ("CUR+", "CUR-E", "CUR-F", "approximate", "acquire + approximate")
COLOURS = dict(zip(METHODS, ("#d55e00", "#cc79a7", "#999999", "#0072b2", "#009e73"), strict=True))


def synthetic(name: str):
    """1000 x 800 with singular values 1/k, or 1/k^2 and singular vectors that live on few rows and columns."""
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((1000, 800)), rng.standard_normal((800, 800))
    power = 1
    if name == "coherent":
        left, right, power = left * rng.pareto(1.5, (1000, 1)), right * rng.pareto(1.5, (800, 1)), 2
    U, V = np.linalg.qr(left).Q, np.linalg.qr(right).Q
    return (U / np.arange(1, 801) ** power) @ V.T


def answers(M, rank: int, counts: dict[str, int], seed: int):
    seen = curplus.observe(M, **counts, rng=seed)
    chosen = curplus.acquire(M, **counts, rng=seed)
    return {
        "CUR+": curplus.cur_plus(seen, rank, solver=curplus.solvers.MinimumNorm()),
        "CUR-E": curplus.cur_unbiased(seen).truncate(rank),
        "CUR-F": curplus.cur_full(M, seen).truncate(rank),
        "approximate": curplus.approximate(seen, rank),
        "acquire + approximate": curplus.approximate(chosen, rank),
    }


def measure(name: str, M, rank: int, d1: int, d2: int, seeds: int):
    """Rows of the table: data, method, seed, l_F, l_s."""
    nnz = M.nnz if scipy.sparse.issparse(M) else np.count_nonzero(M)
    counts = {"n_columns": d1, "n_rows": d2, "n_entries": paper_entries(M.shape, nnz, rank)}
    target = metrics.ReferenceMatrix(M)
    zero = target.frobenius_norm / target.best_frobenius_error(rank)
    yield name, "zero", 0, zero, target.singular_values(1)[0] / target.best_spectral_error(rank)
    for seed in range(seeds):
        for method, answer in answers(M, rank, counts, seed).items():
            l_f = metrics.relative_frobenius_error(target, answer, rank)
            yield name, method, seed, l_f, metrics.relative_spectral_error(target, answer, rank, tol=1e-4)


def draw(rows, path: Path) -> None:
    """Medians and ranges of both errors, a panel each; grey lines are the zero matrix."""
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(row[0] for row in rows))
    figure, axes = plt.subplots(1, 2, figsize=(11, 0.62 * len(names) + 1.6), sharey=True, layout="constrained")
    for k, (ax, label) in enumerate(zip(axes, (r"$\ell_F$", r"$\ell_s$"), strict=True)):
        for y, name in enumerate(names):
            zero = next(row[3 + k] for row in rows if row[0] == name and row[1] == "zero")
            ax.plot([zero, zero], [y - 0.4, y + 0.4], color="black", lw=1.5, label="zero matrix" if y == 0 else None)
            for place, method in enumerate(METHODS):
                values = [row[3 + k] for row in rows if row[0] == name and row[1] == method]
                height = y + 0.15 * (place - 2)
                ax.plot([min(values), max(values)], [height] * 2, color=COLOURS[method], lw=1.5, alpha=0.6)
                ax.plot(np.median(values), height, "o", color=COLOURS[method], ms=5, label=method if y == 0 else None)
        ax.set(xscale="log", xlabel=f"{label}, best rank-r matrix = 1")
        ax.axvline(1, color="black", lw=0.8, ls=":")
        ax.grid(axis="x", alpha=0.3)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(METHODS) + 1)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--data", default=os.environ.get("CURPLUS_DATA"))
    parser.add_argument("--out", type=Path, default=Path("docs/_static"))
    options = parser.parse_args()
    print(versions())
    rows = []
    if options.data:
        for name, (data_set, rank, d1, d2) in REAL.items():
            M = curplus.datasets.load(data_set, data_home=options.data).matrix
            rows += measure(name, M, rank, d1, d2, options.seeds)
            print(name, flush=True)
    for name, (rank, d1, d2) in SYNTHETIC.items():
        rows += measure(name, synthetic(name), rank, d1, d2, options.seeds)
    rows = [(*row[:3], float(f"{row[3]:.5g}"), float(f"{row[4]:.5g}")) for row in rows]
    with (options.out / "comparison.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["data", "method", "seed", "l_F", "l_s"])
        writer.writerows(rows)
    draw(rows, options.out / "comparison.png")
    print("| data | method | mean l_F | mean l_s | worst l_F |")
    print("|---|---|---|---|---|")
    for name, method in dict.fromkeys((row[0], row[1]) for row in rows):
        values = np.array([row[3:] for row in rows if row[:2] == (name, method)])
        mean = values.mean(axis=0)
        print(f"| {name} | {method} | {mean[0]:.4g} | {mean[1]:.4g} | {values[:, 0].max():.4g} |")
