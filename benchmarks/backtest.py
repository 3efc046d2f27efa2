"""What would each share of the answers have bought? A backtest of 448 models on 541 questions, with its picture.

Run: python benchmarks/backtest.py [--seeds 10] [--jobs 2] [--data DIR] [--out docs/_static/backtest.png]
     python benchmarks/backtest.py --matrix planetlab_rtt.npz median --budgets 0.05 0.1 0.2 \\
         --strategies auto uniform pivoted residual_norm leverage
"""

import argparse
import os
import time
from pathlib import Path

from common import versions  # isort: skip

import matplotlib as mpl
import numpy as np

import curplus
from curplus.plotting import plot_backtest

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", type=Path, default=os.environ.get("CURPLUS_DATA"))
    parser.add_argument("--matrix", nargs=2, default=["llm_items.npz", "ifeval"], help="file in DIR, and array")
    parser.add_argument("--strategies", nargs="+", default=["auto", "uniform", "pivoted", "entries"])
    parser.add_argument("--budgets", nargs="+", type=float, default=[0.02, 0.05, 0.1, 0.2, 0.4])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    mpl.use("Agg")
    M = np.load(Path(options.data) / options.matrix[0])[options.matrix[1]].astype(float)
    print("#", versions(), f"{options.seeds} seeds, {options.jobs} processes")
    start = time.perf_counter()
    result = curplus.backtest(
        M,
        budgets=options.budgets,
        strategies=options.strategies,
        seeds=options.seeds,
        jobs=options.jobs,
    )
    print(f"# {time.perf_counter() - start:.0f} s")
    print(result)
    if options.out:
        shown = tuple(t for t in result.trials if t.method == "approximate" or t.strategy == "entries")
        plot_backtest(curplus.acquisition.Backtest(shown)).figure.savefig(options.out, dpi=150)
