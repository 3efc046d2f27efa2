"""Rows and columns with gaps at random: the error beside that of complete rows and columns.

Run: python benchmarks/gaps.py --data DIR [--seeds 3] [--only NAME ...]
"""

from pathlib import Path

from common import data_parser  # isort: skip

import numpy as np

import curplus
from curplus import metrics

RANK, N_COLUMNS, N_ROWS, N_ENTRIES = 10, 50, 250, 20_000
SHARES = (0.01, 0.1, 0.3)
DATA = ("kos", "mnist_test", "gene_prostate", "basehock")


def matrix(name: str, folder: str):
    if name == "gene_prostate":
        return np.load(Path(folder) / "gene_prostate.npz")["X"].astype(float).T
    return curplus.datasets.load(name, data_home=folder).matrix.astype(float)


def with_gaps(seen: curplus.Observation, share: float, seed: int) -> curplus.Observation:
    """The same sample, of whose rows and columns a share is hidden at random."""
    rng = np.random.default_rng(seed)
    rows, columns = np.array(seen.rows, dtype=float), np.array(seen.columns, dtype=float)
    rows[rng.random(rows.shape) < share] = np.nan
    columns[rng.random(columns.shape) < share] = np.nan
    crossing = np.isnan(rows[:, seen.column_index]) | np.isnan(columns[seen.row_index])
    rows[:, seen.column_index] = np.where(crossing, np.nan, rows[:, seen.column_index])
    columns[seen.row_index] = np.where(crossing, np.nan, columns[seen.row_index])
    lines = {"rows": rows, "columns": columns, "row_index": seen.row_index, "column_index": seen.column_index}
    return curplus.Observation(
        shape=seen.shape, **lines, i=seen.i, j=seen.j, values=seen.values, design=seen.design, gaps=True
    )


if __name__ == "__main__":
    options = data_parser(__doc__).parse_args()
    print("data,complete," + ",".join(f"{share:.0%} gaps" for share in SHARES))
    for name in filter(lambda name: name.startswith(tuple(options.only)), DATA):
        M = matrix(name, options.data)
        target = metrics.ReferenceMatrix(M)
        n_rows = min(N_ROWS, M.shape[0] // 3)
        n_columns = min(N_COLUMNS, M.shape[1] // 2)
        errors = []
        for seed in range(options.seeds):
            seen = curplus.acquire(M, n_columns=n_columns, n_rows=n_rows, n_entries=N_ENTRIES, rng=seed)
            samples = [seen, *(with_gaps(seen, share, seed) for share in SHARES)]
            errors.append(
                [
                    metrics.relative_frobenius_error(target, curplus.approximate(sample, RANK), RANK)
                    for sample in samples
                ]
            )
        mean = np.mean(errors, axis=0)
        print(f"{name},{mean[0]:.4f}," + ",".join(f"{x:.4f}" for x in mean[1:] / mean[0]), flush=True)
