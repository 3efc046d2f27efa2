"""Rows, columns and entries of panels: errors on values that were not read, beside zero and the additive model.

Run: python benchmarks/panels.py --data DIR [--seeds 3] [--only NAME ...] [--kind both], with the folder that has the
     data sets

A share of the matrix is read: half of it, or nine tenths, as rows and columns, as many of each (``--kind both``), or as
rows alone, or columns alone; the rest as entries; all drawn uniformly. The additive model (a constant with shrunken
offsets of rows and columns) has the same values. Rows and columns of GDSC have gaps: what was never measured is neither
known nor judged.
"""

from collections.abc import Iterator
from pathlib import Path

from common import data_parser  # isort: skip

import numpy as np

import curplus
from curplus.evaluation.additive import additive_model
from curplus.observation import Entries

TABLES = {"gdsc_log2ic50": "X", "oboe": "error", "norman_gi": "replicate1", "planetlab_rtt": "median"}
QUESTIONS = ("arc_challenge", "ifeval", "musr", "gsm")
RANKS = (None, 2, 5, 10, 20)
SHARES = {"gdsc_log2ic50": (0.1, 0.5), "norman_gi": (0.02, 0.05, 0.1, 0.2)}
USUAL_SHARES, LINES = (0.05, 0.1, 0.2), (0.5, 0.9)


def cases(folder: str) -> Iterator[tuple[str, np.ndarray]]:
    for name, array in [*TABLES.items(), *(("llm_items", name) for name in QUESTIONS)]:
        path = Path(folder) / f"{name}.npz"
        if path.exists():
            yield (array if name == "llm_items" else name), np.load(path, allow_pickle=False)[array].astype(float)
    rng = np.random.default_rng(0)
    yield "noise", rng.standard_normal((400, 300))
    yield "noise around 5", 5 + rng.standard_normal((400, 300))
    yield "constant", np.full((400, 300), 3.0)


def measure(M: np.ndarray, share: float, lines: float, kind: str, seed: int) -> list[float]:
    n, m = M.shape
    values = {"columns": n * (kind != "rows"), "rows": m * (kind != "columns")}
    d = max(1, round(share * n * m * lines / sum(values.values())))
    d1, d2 = (d if values[name] else 0 for name in ("columns", "rows"))
    size = int(share * n * m * (1 - lines))
    seen = curplus.observe(M, n_columns=d1, n_rows=d2, n_entries=size, gaps=True, rng=seed)
    read = np.zeros(M.shape, dtype=bool)
    read[seen.row_index], read[:, seen.column_index], read[seen.i, seen.j] = True, True, True
    i, j = np.nonzero(read & np.isfinite(M))
    additive = additive_model(Entries(M.shape, i, j, M[i, j], weights=np.ones(len(i))))
    i, j = np.nonzero(~read & np.isfinite(M))
    guesses = [0.0, additive.at(i, j)] + [curplus.approximate(seen, rank).entries(i, j) for rank in RANKS]
    return [float(np.sqrt(np.mean((M[i, j] - guess) ** 2))) for guess in guesses]


if __name__ == "__main__":
    parser = data_parser(__doc__)
    parser.add_argument("--kind", choices=("both", "rows", "columns"), default="both")
    options = parser.parse_args()
    print(
        "data,share read,in rows and columns,zero,additive,rank None,rank 2,rank 5,rank 10,rank 20,worst against zero"
    )
    for name, M in cases(options.data):
        for share in SHARES.get(name, USUAL_SHARES) if name.startswith(tuple(options.only)) else ():
            for lines in LINES:
                found = np.array([measure(M, share, lines, options.kind, seed) for seed in range(options.seeds)])
                worst = np.max(found[:, 2:] / found[:, :1])
                shown = ",".join(f"{x:.4g}" for x in found.mean(axis=0))
                print(f"{name},{share:g},{lines:g},{shown},{worst:.3f}", flush=True)
